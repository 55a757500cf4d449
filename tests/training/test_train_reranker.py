"""`train ers`: what is learned from, and the command from conversations to a model folder."""

import json
import random
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.cli import main
from convinse.config import parse_config
from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.reranker import BertReranker
from convinse.encoder.tokens import TextTokenizer
from convinse.evidence_retrieval_scoring.native import NativeERS
from convinse.records.evidence import asked_in_full
from convinse.scoring.convqa import has_answer
from convinse.support.errors import ConfigError, DataError, ModelError, OutputError
from convinse.training import loop as fit_module
from convinse.training import reranker as training
from convinse.training.conversations import understood_conversations
from convinse.training.reranker import Example, examples, groups, validate
from tiny_models import copy_of, damage, tiny, torch

SOURCES = ("kb", "text")


@pytest.fixture
def settings(tmp_path):
    """A benchmark of three conversations of the snapshot, and what training on it takes."""
    data = tmp_path / "data"
    data.mkdir()
    config = parse_config({})
    for part, number in (("train", 2), ("dev", 1)):
        (data / f"{part}.json").write_text(json.dumps(json.loads(config.input_path(part).read_bytes())[:number]))

    def make(**keys):
        wanted = {"epochs": 2, "negatives": 3, "learning_rate": 3e-3, "batch_turns": 4, **keys.pop("evs_training", {})}
        return {"name": "mine", "benchmark_path": str(data), "ers_use_cache": False, "evr_max_entities": 2, "evs_max_evidences": 5,
                "device": "cpu", "evs_model": str(tiny()), "evs_training": wanted, **keys}  # fmt: skip

    return make


@pytest.fixture
def ers(settings):
    return lambda **keys: NativeERS(parse_config(settings(**keys)))


def weights(folder):
    return load_checkpoint(folder, "sequence-classification").model.state_dict()


def files(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


# --- what is learned from


@given(
    st.lists(st.tuples(st.integers(0, 12).map(str), st.booleans()), max_size=40),
    st.integers(1, 5), st.integers(1, 12), st.integers(0, 99),
)  # fmt: skip
def test_no_right_text_is_a_negative(pairs, positives, negatives, seed):
    example = Example("query", [text for text, _ in pairs], [right for _, right in pairs])
    right = {text for text, is_right in pairs if is_right}
    made = groups(example, positives, negatives, random.Random(seed))
    assert made == groups(example, positives, negatives, random.Random(seed))
    wrong = {text for text, _ in pairs} - right
    possible = min(positives, 8, sum(is_right for _, is_right in pairs)) if wrong else 0
    assert len(made) == possible
    for first, *others in made:
        assert first in right and others
        assert len(others) <= negatives
        assert not right & set(others)


def test_half_of_the_negatives_are_hard():
    texts = [f"right {n}" for n in range(20)] + [f"wrong {n}" for n in range(500)]
    example = Example("query", texts, [text.startswith("right") for text in texts])
    for seed in range(20):
        for first, *others in groups(example, 3, 9, random.Random(seed)):
            assert int(first.split()[1]) < 8  # of the best right ones
            assert len(set(others)) == len(others) == 9
            assert all(int(text.split()[1]) < 50 for text in others[:5])
    easy = {text for seed in range(20) for group in groups(example, 3, 9, random.Random(seed)) for text in group[6:]}
    assert any(int(text.split()[1]) > 300 for text in easy)


def test_examples_are_the_ranked_candidates_of_turns_with_right_and_wrong_ones(ers):
    module = ers()
    found = examples(module, SOURCES, "train")
    assert 3 <= len(found) <= 10
    conversations = json.loads(module.config.input_path("train").read_bytes())
    questions = [turn for conversation in conversations for turn in conversation["questions"]]
    understood = [turn for one in understood_conversations(module.config, "train") for turn in one["questions"]]
    representations = {asked_in_full(turn): turn["structured_representation"] for turn in understood}
    for example in found:
        assert any(example.right) and not all(example.right)
        query = representations[example.query]
        candidates = module.retrieve({"structured_representation": query}, SOURCES)
        ranked = module.bm25.rank(query, candidates, len(candidates))
        assert example.texts == [one["evidence_text"] for one in ranked]
        assert example.right in [[has_answer(one, turn["answers"]) for one in ranked] for turn in questions]


@pytest.mark.parametrize("loss", ["listwise", "pairwise"])
def test_the_losses_are_their_formulas(loss):
    checkpoint = load_checkpoint(tiny(), "sequence-classification")
    tokenizer = TextTokenizer.of(checkpoint, 64)
    step = [("who", ["the author", "a film", "two city song"]), ("where", ["france", "book " * 20])]
    reranker = BertReranker(tiny(), "cpu", max_length=64)
    expected = []
    for query, group in step:
        odds = torch.from_numpy(reranker.predict([(query, text) for text in group], logits=True))
        if loss == "listwise":
            expected.append(-torch.log_softmax(odds, 0)[0])
        else:
            expected.append(-torch.log(torch.sigmoid(odds[0] - odds[1:])).mean())
    found = training._loss(checkpoint.model.eval(), step, tokenizer, loss)
    assert found.item() == pytest.approx(torch.stack(expected).mean().item(), abs=1e-4)
    found.backward()
    assert checkpoint.model.classifier.weight.grad.abs().sum() > 0


def test_validation_ranks_anew(monkeypatch):
    monkeypatch.setattr(fit_module, "autocast", lambda device: torch.inference_mode())  # exact scores
    checkpoint = load_checkpoint(tiny(), "sequence-classification")
    tokenizer = TextTokenizer.of(checkpoint, 64)
    reranker = BertReranker(tiny(), "cpu", max_length=64)
    texts = [f"{word} {other}" for word in ("author", "film", "france", "song") for other in ("one", "two", "three")]
    order = sorted(texts, key=lambda text: -reranker.predict([("who", text)], logits=True)[0])

    def measures(*ranks):
        dev = [Example("who", texts, [order.index(text) + 1 in (rank, 11) for text in texts]) for rank in ranks]
        return validate(checkpoint.model, dev, tokenizer, parse_config({"evs_max_evidences": 7}))

    assert measures(1) == {"answer_presence": 1, "answer_presence_at_5": 1, "mrr": 1}
    assert measures(6, 2) == {"answer_presence": 1, "answer_presence_at_5": 0.5, "mrr": (1 / 6 + 1 / 2) / 2}
    assert measures(8) == {"answer_presence": 0, "answer_presence_at_5": 0, "mrr": 1 / 8}


# --- the command


def train(settings, **keys):
    Path("my.yml").write_text(json.dumps(settings(**keys)))
    return main(["train", "ers", "kb_text", "my.yml", "--quiet"])


def test_training_writes_a_model_that_evs_model_takes(settings, workdir, capfd):
    assert train(settings, evs_training={"output": "models/new", "learning_rate": 1e-3}) == 0
    assert capfd.readouterr() == ("", "")
    folder = workdir / "models/new"
    assert files("models") == ["new"]
    assert not list(folder.glob("*.bin"))
    record = json.loads((folder / "training.json").read_text())
    assert len(record["epochs"]) == 3 and set(record["epochs"][0]) == {"answer_presence", "answer_presence_at_5", "mrr"}
    score = [measures["answer_presence"] + measures["mrr"] for measures in record["epochs"]]
    assert record["best_epoch"] == score.index(max(score))
    card = (folder / "README.md").read_text()
    for words in ("Benchmark `embedded`", "turns to train on", "- loss: listwise", "- learning_rate: 0.001", "seed 42",
                  str(tiny()), "kb_text", f"| {record['best_epoch']} (kept) | {max(record['epochs'], key=lambda m: m['mrr'])['mrr']:.4f}"[:12],
                  f"{record['epochs'][2]['mrr']:.4f}"):  # fmt: skip
        assert words in card, words
    assert 0 <= BertReranker(folder, "cpu").predict([("who", "the author")])[0] <= 1
    Path("my.yml").write_text(json.dumps(settings(evs_model=str(folder))))
    assert main(["pipeline", "kb", "my.yml", "--part", "dev", "--quiet"]) == 0


@pytest.mark.parametrize("more", [[], ["--quiet"]])
def test_quiet_silences_the_progress_bar(settings, workdir, capfd, monkeypatch, more):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    Path("my.yml").write_text(json.dumps(settings(evs_training={"epochs": 1})))
    assert main(["train", "ers", "kb", "my.yml", *more]) == 0
    assert ("train ers, epoch 1" in capfd.readouterr().err) == (not more)


def test_training_changes_the_weights_and_keeps_the_best(ers, workdir):
    module = ers(evs_training={"epochs": 3, "output": "new"})
    module.train(SOURCES)
    record = json.loads(Path("new/training.json").read_text())
    assert same(weights("new"), weights(tiny())) == (record["best_epoch"] == 0)
    # the written model has the figures that the record says
    checkpoint = load_checkpoint("new", "sequence-classification")
    found = validate(
        checkpoint.model, examples(module, SOURCES, "dev"), TextTokenizer.of(checkpoint, 256), module.config
    )
    assert found == pytest.approx(record["epochs"][record["best_epoch"]])


def test_an_encoder_gets_a_head(ers, workdir):
    ers(evs_model=None, evs_training={"base": str(tiny("bert", "embedding")), "epochs": 1, "loss": "pairwise"}).train(
        SOURCES
    )
    folder = workdir / "results/mine/evs_model"
    assert load_checkpoint(folder, "sequence-classification").model.config.num_labels == 1
    assert json.loads((folder / "training.json").read_text())["best_epoch"] == 1  # a random head is no epoch


@pytest.mark.parametrize(("labels", "outputs"), [(2, 2), (3, 1)])
def test_other_heads(ers, workdir, labels, outputs):
    ers(evs_model=str(tiny(labels=labels)), evs_training={"epochs": 1}).train(SOURCES)
    assert load_checkpoint("results/mine/evs_model", "sequence-classification").model.config.num_labels == outputs


def test_a_stopped_training_goes_on(ers, workdir, monkeypatch):
    keys = {"evs_training": {"epochs": 3, "output": "whole"}}
    ers(**keys).train(SOURCES)
    original, calls = training.validate, []

    def stop(*arguments):
        calls.append(1)
        if len(calls) == 3:  # before training, after epoch 1, after epoch 2
            raise KeyboardInterrupt
        return original(*arguments)

    keys["evs_training"]["output"] = "parts"
    monkeypatch.setattr(training, "validate", stop)
    with pytest.raises(KeyboardInterrupt):
        ers(**keys).train(SOURCES)
    assert files(".") == [".parts.training", "whole"]
    counted = []
    monkeypatch.setattr(training, "validate", lambda *arguments: counted.append(1) or original(*arguments))
    ers(**keys).train(SOURCES)
    assert len(counted) == 2  # of epochs 2 and 3
    assert files(".") == ["parts", "whole"]
    assert same(weights("parts"), weights("whole"))
    assert Path("parts/training.json").read_bytes() == Path("whole/training.json").read_bytes()


def test_other_data_begin_anew(ers, settings, workdir, monkeypatch):
    original = training.validate
    calls = []

    def stop(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(training, "validate", stop)
    with pytest.raises(KeyboardInterrupt):
        ers(evs_training={"output": "new"}).train(SOURCES)
    calls.clear()
    path = Path(settings()["benchmark_path"]) / "train.json"
    path.write_text(json.dumps(json.loads(path.read_text())[:1]))
    with pytest.raises(KeyboardInterrupt):
        ers(evs_training={"output": "new"}).train(SOURCES)
    assert len(calls) == 3


def test_a_trained_model_is_replaced_and_nothing_else(ers, workdir):
    ers(evs_training={"epochs": 1}).train(SOURCES)
    first = weights("results/mine/evs_model")
    ers(evs_training={"epochs": 2}).train(SOURCES)
    assert not same(first, weights("results/mine/evs_model"))
    Path("precious").mkdir()
    Path("precious/thesis.tex").write_text("mine")
    with pytest.raises(OutputError, match="precious: is no model that was trained here, so it is not replaced"):
        ers(evs_training={"output": "precious"}).train(SOURCES)
    assert files("precious") == ["thesis.tex"]


# --- errors


def test_no_checkpoint_to_start_from(settings, workdir, capsys):
    assert train(settings, evs_model=None) == 1
    assert "set evs_training: {base: FOLDER or hub name}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("keys", "key"),
    [({"evs_model": "./none"}, "evs_model"), ({"evs_training": {"base": "./none"}}, "evs_training.base")],
)
def test_a_missing_checkpoint_names_its_key(ers, keys, key):
    with pytest.raises(ModelError, match=rf"^{key}: \./none: no such folder"):
        ers(**keys).train(SOURCES)


def test_clocq_bm25_is_refused(settings, workdir, capsys):
    assert train(settings, ers="clocq_bm25") == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "'clocq_bm25' has nothing to train" in line


def test_a_missing_part(ers, settings):
    (Path(settings()["benchmark_path"]) / "dev.json").unlink()
    with pytest.raises(DataError, match="dev.json: no such file; training needs it"):
        ers().train(SOURCES)


def test_turns_without_answers(ers, settings):
    path = Path(settings()["benchmark_path"]) / "train.json"
    conversations = json.loads(path.read_text())
    del conversations[1]["questions"][2]["answers"]
    path.write_text(json.dumps(conversations))
    with pytest.raises(DataError, match=r"train.json: conversation .*, turn 2 has no answers; training needs them"):
        ers().train(SOURCES)


def test_nothing_to_learn_from(ers, settings):
    path = Path(settings()["benchmark_path"]) / "dev.json"
    conversations = json.loads(path.read_text())
    for turn in conversations[0]["questions"]:
        turn["answers"] = [{"id": "Q99999999", "label": "nothing"}]
    path.write_text(json.dumps(conversations))
    with pytest.raises(DataError, match="no turn of the dev part has right and wrong evidences"):
        ers().train(SOURCES)


def test_weights_that_are_no_numbers(ers, tmp_path):
    damage(copy_of(tiny(), tmp_path / "model"), lambda tensors: tensors["classifier.bias"].fill_(float("nan")))
    with pytest.raises((ModelError, ConfigError), match="the loss is nan"):
        ers(evs_model=str(tmp_path / "model")).train(SOURCES)
