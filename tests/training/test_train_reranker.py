"""`train ers`: what is learned from, and the command from conversations to a model folder."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.config import parse_config
from convinse.encoder import devices
from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.reranker import BertReranker
from convinse.evidence_retrieval_scoring.native import NativeERS
from convinse.records.conversation import asked_in_full
from convinse.scoring.convqa import has_answer
from convinse.support.errors import DataError
from convinse.training.conversations import understood_conversations
from convinse.training.rankers import CrossEncoderLearner
from convinse.training.ranking import Group, RankedTexts, draw_groups
from convinse.training.reranker import examples, validate
from refusals import refused
from tiny_models import tiny, torch
from trainings import SOURCES, change_json, record, same, stage_settings, weights, write_benchmark


@pytest.fixture
def settings(tmp_path):
    """A benchmark of three conversations of the snapshot, and what training on it takes."""
    data = write_benchmark(tmp_path / "data", 2, 1)

    def make(**keys):
        training = {"negatives": 3, "learning_rate": 3e-3}
        given = {"evr_max_entities": 2, "evs_max_evidences": 5, "evs_model": str(tiny()), **keys}
        return stage_settings(data, "evs", training, **given)

    return make


@pytest.fixture
def ers(settings):
    return lambda **keys: NativeERS(parse_config(settings(**keys)))


def groups(example, positives, negatives, chance):
    return draw_groups(*example.sides(), positives, negatives, chance)


# --- what is learned from


@given(
    st.lists(st.tuples(st.integers(0, 12).map(str), st.booleans()), max_size=40),
    st.integers(1, 5), st.integers(1, 12), st.integers(0, 99),
)  # fmt: skip
def test_no_right_text_is_a_negative(pairs, positives, negatives, seed):
    example = RankedTexts("query", [text for text, _ in pairs], [right for _, right in pairs])
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
    example = RankedTexts("query", texts, [text.startswith("right") for text in texts])
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
    understood = [
        turn for conversation in understood_conversations(module.config, "train") for turn in conversation["questions"]
    ]
    turn_of = {asked_in_full(turn): turn for turn in understood}
    for example in found:
        assert any(example.right) and not all(example.right)
        query = turn_of[example.query]["structured_representation"]
        candidates = module.retrieve(turn_of[example.query], SOURCES)
        ranked = module.bm25.rank(query, candidates, len(candidates))
        assert example.texts == [evidence["evidence_text"] for evidence in ranked]
        assert example.right in [[has_answer(evidence, turn["answers"]) for evidence in ranked] for turn in questions]


@pytest.mark.parametrize("loss", ["listwise", "pairwise"])
def test_the_losses_are_their_formulas(loss):
    learner = CrossEncoderLearner(str(tiny()), "key", 64, loss, 1)
    step = [("who", ["the author", "a film", "two city song"]), ("where", ["france", "book " * 20])]
    reranker = BertReranker(tiny(), "cpu", max_length=64)
    expected = []
    for query, group in step:
        odds = torch.from_numpy(reranker.predict([(query, text) for text in group], logits=True))
        if loss == "listwise":
            expected.append(-torch.log_softmax(odds, 0)[0])
        else:
            expected.append(-torch.log(torch.sigmoid(odds[0] - odds[1:])).mean())
    (found,) = learner.loss(learner.checkpoint.model.eval(), [Group(*group) for group in step])
    assert found.item() == pytest.approx(torch.stack(expected).mean().item(), abs=1e-4)
    found.backward()
    assert learner.checkpoint.model.classifier.weight.grad.abs().sum() > 0


def test_validation_ranks_anew(monkeypatch):
    monkeypatch.setattr(devices, "autocast", lambda device: torch.inference_mode())  # exact scores
    learner = CrossEncoderLearner(str(tiny()), "key", 64, "listwise", 1)
    reranker = BertReranker(tiny(), "cpu", max_length=64)
    texts = [f"{word} {other}" for word in ("author", "film", "france", "song") for other in ("one", "two", "three")]
    order = sorted(texts, key=lambda text: -reranker.predict([("who", text)], logits=True)[0])

    def measures(*ranks):
        dev = [RankedTexts("who", texts, [order.index(text) + 1 in (rank, 11) for text in texts]) for rank in ranks]
        return validate(learner.checkpoint.model, learner, dev, 7)

    assert measures(1) == {"answer_presence": 1, "answer_presence_at_5": 1, "mrr": 1}
    assert measures(6, 2) == {"answer_presence": 1, "answer_presence_at_5": 0.5, "mrr": (1 / 6 + 1 / 2) / 2}
    assert measures(8) == {"answer_presence": 0, "answer_presence_at_5": 0, "mrr": 1 / 8}


# --- the command


def test_training_changes_the_weights_and_keeps_the_best(ers, workdir):
    module = ers(evs_training={"epochs": 3, "output": "new"})
    module.train(SOURCES)
    kept = record("new")
    assert same(weights("new"), weights(tiny())) == (kept["best_epoch"] == 0)
    # the written model has the figures that the record says
    learner = CrossEncoderLearner("new", "key", 256, "listwise", 1)
    found = validate(learner.checkpoint.model, learner, examples(module, SOURCES, "dev"), 5)
    assert found == pytest.approx(kept["epochs"][kept["best_epoch"]])


@pytest.mark.parametrize(("labels", "outputs"), [(2, 2), (3, 1)])
def test_other_heads(ers, workdir, labels, outputs):
    ers(evs_model=str(tiny(labels=labels)), evs_training={"epochs": 1}).train(SOURCES)
    assert load_checkpoint("results/mine/evs_model", "sequence-classification").model.config.num_labels == outputs


# --- errors


def test_nothing_to_learn_from(ers, settings):
    def nothing(conversations):
        for turn in conversations[0]["questions"]:
            turn["answers"] = [{"id": "Q99999999", "label": "nothing"}]

    change_json(Path(settings()["benchmark_path"]) / "dev.json", nothing)
    refused(DataError, lambda: ers().train(SOURCES), "no turn of the dev part has right and wrong evidences")
