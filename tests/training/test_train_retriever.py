"""`train retriever`: from judged passages to model folders that search takes."""

import dataclasses
import json
import random
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.reranker import BertReranker
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import Parameters
from convinse.passages.search import passage_text
from convinse.support.errors import DataError, IndexFileError, ModelError, OutputError
from convinse.training import loop as fit_module
from convinse.training import retriever as retriever_training
from convinse.training.passage_pairs import Example, hold_out, read_examples
from convinse.training.retriever import Ranked, RetrieverTraining, measures, steps, train_retriever, validate
from convinse.training.retriever_learners import BiEncoderLearner, CrossEncoderLearner
from tiny_models import copy_of, tiny, torch

NAMES = [f"{first}{second}" for first in "klmnop" for second in "vwxz"]


@pytest.fixture(autouse=True)
def exact(monkeypatch):
    """No bf16, so that scores are those of the same model at work."""
    monkeypatch.setattr(fit_module, "autocast", lambda device: nullcontext())


@pytest.fixture
def data(workdir):
    """Of each name one passage says "author" and is relevant; BM25 prefers three others, which name it more often."""
    passages, questions, pairs = [], [], ["question-id\tpassage-id\tscore"]
    for name in NAMES:
        passages.append({"id": f"{name}-0", "title": "book", "text": f"the author {name} of a song"})
        passages += [
            {"id": f"{name}-{n}", "text": f"{name} {name} film {number}"}
            for n, number in enumerate(("one", "two", "three"), 1)
        ]
        questions.append({"id": f"q-{name}", "text": f"who is {name}"})
        pairs.append(f"q-{name}\t{name}-0\t1")
    for file, rows in (("passages.jl", passages), ("questions.jl", questions)):
        Path(file).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    Path("pairs.tsv").write_text("".join(f"{row}\n" for row in pairs))
    build_index(Path("passages.jl"), Path("index"), Parameters("en"))
    return workdir


def train(base=None, output="new", **keys):
    kind = "embedding" if keys.get("bi_encoder") else "sequence-classification"
    base = base or tiny("bert", kind, initializer_range=0.05)
    given = {
        "held_out": 0.25,
        "epochs": 2,
        "negatives": 3,
        "learning_rate": 3e-3,
        "batch_questions": 6,
        "device": "cpu",
        "patience": 10,
        **keys,
    }
    settings = RetrieverTraining(base=str(base), output=Path(output), **given)
    return train_retriever(Path("pairs.tsv"), Path("questions.jl"), Path("index"), settings, quiet=True)


def files(folder="."):
    return sorted(path.name for path in Path(folder).iterdir())


def weights(folder, task="sequence-classification"):
    return load_checkpoint(folder, task).model.state_dict()


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def examples():
    index = PassageIndex(Path("index"))
    return index, read_examples(Path("pairs.tsv"), Path("questions.jl"), index, 100)


def own_measures(rank):
    """What the held-out questions give when `rank` orders their candidates."""
    index, found = examples()
    _, dev = hold_out(found, 0.25, 42)
    ranked = []
    for example in dev:
        texts = [passage_text(one.title, one.text) for one in index.passages(example.ranked)]
        scores = rank(example.query, texts)
        order = sorted(range(len(texts)), key=lambda place: (-round(float(scores[place]), 5), texts[place]))
        ranked.append([example.ranked[place] in example.right for place in order])
    return measures(ranked)


# --- what a model learns


def test_a_cross_encoder_learns_what_bm25_mistakes(data):
    trained = train(epochs=6)
    assert (trained.train, trained.dev) == (18, 6)
    assert trained.lexical == {"mrr_at_10": 0.25, "hit_at_1": 0, "hit_at_10": 1}
    assert trained.fitted.history[trained.fitted.best]["mrr_at_10"] > 0.9
    reranker = BertReranker("new", "cpu")
    right, *wrong = reranker.predict([("who is qq", f"{text}") for text in ("book, the author qq of a song", "qq qq film one", "qq qq film two")])  # fmt: skip
    assert right > max(wrong)


def test_the_written_model_has_the_measures_of_the_record(data):
    trained = train(output="models/cross")
    assert files("models") == ["cross"]
    record = json.loads(Path("models/cross/training.json").read_text())
    assert record["epochs"] == trained.fitted.history and record["best_epoch"] == trained.fitted.best
    assert record["bm25"] == trained.lexical and record["questions"] == {"train": 18, "dev": 6}
    reranker = BertReranker("models/cross", "cpu", precision="fp32")
    found = own_measures(lambda query, texts: reranker.predict([(query, text) for text in texts], logits=True))
    assert found == pytest.approx(record["epochs"][record["best_epoch"]])
    card = Path("models/cross/README.md").read_text()
    for words in (
        "cross-encoder",
        "`pairs.tsv`: 18 questions",
        "96 passages",
        "- negatives: 3",
        "| BM25 alone | 0.2500 |",
        "(kept)",
    ):
        assert words in card, words


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_a_bi_encoder_keeps_its_pooling(data, tmp_path, pooling):
    base = copy_of(tiny("bert", "embedding", initializer_range=0.05), tmp_path / "base")
    (base / "1_Pooling").mkdir()
    mode = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens"}[pooling]
    (base / "1_Pooling/config.json").write_text(json.dumps({mode: True}))
    trained = train(base, bi_encoder=True, epochs=3)
    encoder = BiEncoder("new", "cpu", precision="fp32")
    assert encoder._pool_first == (pooling == "cls")
    found = own_measures(lambda query, texts: encoder.embed(texts) @ encoder.embed([query])[0])
    assert found == pytest.approx(trained.fitted.history[trained.fitted.best])
    assert len({tuple(measures.values()) for measures in trained.fitted.history}) > 1  # it learned
    assert files() == ["index", "new", "pairs.tsv", "passages.jl", "questions.jl"]
    assert "sentence-similarity" in Path("new/README.md").read_text()


def test_sentence_transformers_reads_a_bi_encoder(data):
    library = pytest.importorskip("sentence_transformers")
    train(bi_encoder=True, epochs=1)
    texts = ["who is kw", "the author of a song"]
    expected = library.SentenceTransformer("new", device="cpu").encode(texts, normalize_embeddings=True)
    assert np.allclose(BiEncoder("new", "cpu", precision="fp32").embed(texts), expected, atol=1e-4)


# --- steps and losses


def test_steps_are_drawn_anew_in_each_epoch(data):
    _, found = examples()
    settings = RetrieverTraining("base", Path("new"), batch_questions=5, negatives=2)
    one = steps(found, settings, 1)
    assert one == steps(found, settings, 1) != steps(found, settings, 2)
    assert [len(step) for step in one] == [5, 5, 5, 5, 4]
    assert {example.query for step in one for example, _ in step} == {example.query for example in found}
    for step in one:
        for example, (right, *wrong) in step:
            assert right in example.right and len(wrong) == 2 and set(wrong) <= set(example.wrong)


def passages(*texts):
    return lambda numbers: [texts[number] for number in numbers]


def test_the_loss_of_a_cross_encoder_leaves_out_equal_texts():
    learner = CrossEncoderLearner(str(tiny()), "key", 64, "listwise", 1)
    model = learner.checkpoint.model.eval()
    example = Example("who", (0,), (), (1, 2, 3))
    texts = passages("the author", "a film", "the author", "two city song")
    (found,) = learner.loss(model, [(example, [0, 1, 2, 3])], texts)
    odds = torch.from_numpy(BertReranker(tiny(), "cpu", max_length=64).predict(
        [("who", text) for text in ("the author", "a film", "two city song")], logits=True))  # fmt: skip
    assert found.item() == pytest.approx(-torch.log_softmax(odds, 0)[0].item(), abs=1e-4)
    assert list(learner.loss(model, [(example, [0, 2])], texts)) == []


def test_the_loss_of_a_bi_encoder_spares_other_relevant_passages():
    learner = BiEncoderLearner(str(tiny("bert", "embedding")), "key", 64, "listwise", 1)
    texts = ("the author", "a film", "two city song", "france", "the author")
    step = [
        (Example("who", (0, 3), (), ()), [0, 1]),
        (Example("where", (3,), (), ()), [3, 2]),
        (Example("what", (4,), (), ()), [4, 1]),  # says the same as passage 0
    ]
    (found,) = learner.loss(learner.checkpoint.model.eval(), step, passages(*texts))
    encoder = BiEncoder(tiny("bert", "embedding"), "cpu", precision="fp32", max_length=64)
    cosines = (
        encoder.embed(["who", "where", "what"]) @ encoder.embed(["the author", "a film", "france", "two city song"]).T
    )
    logits = torch.from_numpy(cosines) / 0.05
    logits[0, 2] = -torch.inf
    expected = torch.nn.functional.cross_entropy(logits, torch.tensor([0, 2, 0]))
    assert found.item() == pytest.approx(expected.item(), abs=1e-3)


def test_cosines_keep_their_digits_in_mixed_precision():
    learner = BiEncoderLearner(str(tiny("bert", "embedding")), "key", 64, "listwise", 1)
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        found = learner.scores(learner.checkpoint.model.eval(), "who", ["the author", "a film"])
    assert found.dtype == torch.float32 and not torch.equal(found, found.bfloat16().float())


def test_a_model_that_tells_nothing_apart_does_not_inherit_the_order_of_bm25():
    ranked = [Ranked("q", ["b", "a"], [True, False])]
    model = torch.nn.Linear(1, 1)
    model.device = torch.device("cpu")
    assert validate(model, ranked, lambda *_: torch.zeros(2))["mrr_at_10"] == 0.5
    assert validate(model, ranked, lambda *_: torch.tensor([0.1, 0.0]))["mrr_at_10"] == 1
    assert validate(model, [Ranked("q", [], [])], lambda *_: torch.zeros(0))["mrr_at_10"] == 0


def test_measures():
    flags = [[False, True], [False] * 10 + [True], [True], []]
    assert measures(flags) == {"mrr_at_10": (1 / 2 + 1) / 4, "hit_at_1": 1 / 4, "hit_at_10": 2 / 4}


# --- the run


def test_the_epoch_with_the_best_mrr_is_kept(data, monkeypatch):
    values = iter([(0.2, 0.9), (0.5, 0.1), (0.4, 1.0)])

    def scripted(*_):
        mrr, hit = next(values)
        return {"mrr_at_10": mrr, "hit_at_1": hit, "hit_at_10": hit}

    monkeypatch.setattr(retriever_training, "validate", scripted)
    assert train(epochs=2).fitted.best == 1


def test_a_stopped_training_goes_on(data, monkeypatch):
    train(output="whole", epochs=3)
    original, calls = retriever_training.validate, []

    def stop(*arguments):
        calls.append(1)
        if len(calls) == 3:  # before training, after epoch 1, after epoch 2
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(retriever_training, "validate", stop)
    with pytest.raises(KeyboardInterrupt):
        train(output="parts", epochs=3)
    assert ".parts.training" in files() and "parts" not in files()
    calls = []
    monkeypatch.setattr(retriever_training, "validate", lambda *arguments: calls.append(1) or original(*arguments))
    torch.rand(9)
    random.random()
    train(output="parts", epochs=3)
    assert len(calls) == 2
    assert same(weights("parts"), weights("whole"))
    assert Path("parts/training.json").read_bytes() == Path("whole/training.json").read_bytes()
    assert ".parts.training" not in files()


@pytest.mark.parametrize("changed", ["pairs.tsv", "questions.jl", "settings", "index"])
def test_other_data_begin_anew(data, monkeypatch, changed):
    original, calls = retriever_training.validate, []

    def stop(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(retriever_training, "validate", stop)
    with pytest.raises(KeyboardInterrupt):
        train()
    if changed == "index":
        build_index(Path("passages.jl"), Path("index"), Parameters("en", k1=0.9), force=True)
    elif changed != "settings":
        Path(changed).write_text(Path(changed).read_text() + "\n")
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        train(**({"learning_rate": 1e-4} if changed == "settings" else {}))
    assert len(calls) == 3  # that before training among them


def test_an_encoder_gets_a_head(data):
    train(tiny("bert", "embedding"), epochs=1, loss="pairwise")
    assert load_checkpoint("new", "sequence-classification").model.config.num_labels == 1
    assert json.loads(Path("new/training.json").read_text())["best_epoch"] == 1


def test_a_trained_model_is_replaced_and_nothing_else(data):
    new_head = tiny("bert", "embedding")
    train(new_head, epochs=1)
    first = weights("new")
    train(new_head, epochs=1, seed=5)
    assert not same(first, weights("new"))
    Path("precious").mkdir()
    Path("precious/thesis.tex").write_text("mine")
    with pytest.raises(
        OutputError, match="precious: is no model that was trained here, so it is not replaced; name another --output"
    ):
        train(output="precious")
    assert files("precious") == ["thesis.tex"]


# --- errors


def test_a_missing_base_and_index(data):
    with pytest.raises(ModelError, match=r"^--base: \./none: no such folder"):
        train("./none")
    with pytest.raises(ModelError, match="max"):
        train(bi_encoder=True, base=_max_pooled(data))
    Path("index").rename("elsewhere")
    with pytest.raises(IndexFileError, match="index: no passage index here"):
        train()


def _max_pooled(folder):
    base = copy_of(tiny("bert", "embedding"), folder / "max")
    (base / "1_Pooling").mkdir()
    (base / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_max_tokens": True}))
    return base


def test_one_question_is_too_few(data):
    for file, header in (("questions.jl", 0), ("pairs.tsv", 1)):
        Path(file).write_text("".join(Path(file).read_text().splitlines(keepends=True)[: header + 1]))
    with pytest.raises(DataError, match="^pairs.tsv: no question can be held out"):
        train()


def test_questions_without_a_negative(data):
    rows = [row for row in map(json.loads, Path("passages.jl").read_text().splitlines()) if row["id"].endswith("-0")]
    for row in rows:
        row |= {"title": None, "text": row["id"][:2]}
    Path("passages.jl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    build_index(Path("passages.jl"), Path("index"), Parameters("en"), force=True)
    with pytest.raises(DataError, match="^pairs.tsv: no question has a negative"):
        train()


def test_settings_are_in_the_run_id_but_for_output_and_device():
    settings = RetrieverTraining("base", Path("new"))
    own = retriever_training._run_id
    Path("file").write_text("x")
    ids = {own(one, "model", "build", Path("file"), Path("file")) for one in (
        settings, dataclasses.replace(settings, output=Path("other"), device="cpu"))}  # fmt: skip
    assert len(ids) == 1
    ids |= {own(dataclasses.replace(settings, **{key: 7}), "model", "build", Path("file"), Path("file"))
            for key in ("candidates", "seed", "max_length")}  # fmt: skip
    assert len(ids) == 4
