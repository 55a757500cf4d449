"""`train ers` and `train retriever`: groups that are drawn, losses, validation, and the models that are written."""

import json
import random
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from case_tables import slow_but
from convinse.config import parse_config
from convinse.encoder import devices
from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.reranker import BertReranker
from convinse.passages.index import PassageIndex
from convinse.passages.search import passage_text
from convinse.records.conversation import asked_in_full
from convinse.scoring.convqa import has_answer
from convinse.support.errors import DataError, IndexFileError, ModelError
from convinse.training.conversations import understood_conversations
from convinse.training.passage_pairs import hold_out, read_examples
from convinse.training.rankers import (
    BiEncoderLearner,
    CrossEncoderLearner,
    Group,
    RankedTexts,
    draw_groups,
    ranked_anew,
)
from convinse.training.reranker import examples
from convinse.training.retriever import measures
from refusals import refused
from tiny_models import copy_of, tiny, torch
from trainings import KINDS, SOURCES, record, retrieve, write_judged
from written import names, write, write_lines


@pytest.fixture(autouse=True)
def exact(monkeypatch):
    """No bf16, so that scores are those of the same model at work."""
    monkeypatch.setattr(devices, "autocast", lambda device: nullcontext())


# --- groups of a right text and wrong ones


def groups(example, positives, negatives, seed):
    return draw_groups(*example.sides(), positives, negatives, random.Random(seed))


@given(
    st.lists(st.tuples(st.integers(0, 12).map(str), st.booleans()), max_size=40),
    st.integers(1, 5), st.integers(1, 12), st.integers(0, 99),
)  # fmt: skip
def test_no_right_text_is_a_negative(pairs, positives, negatives, seed):
    example = RankedTexts("query", [text for text, _ in pairs], [right for _, right in pairs])
    right = {text for text, is_right in pairs if is_right}
    made = groups(example, positives, negatives, seed)
    assert made == groups(example, positives, negatives, seed)
    wrong = {text for text, _ in pairs} - right
    assert len(made) == (min(positives, 8, sum(is_right for _, is_right in pairs)) if wrong else 0)
    for first, *others in made:
        assert first in right and 0 < len(others) <= negatives and not right & set(others)


def test_half_of_the_negatives_are_hard():
    texts = [f"right {n}" for n in range(20)] + [f"wrong {n}" for n in range(500)]
    example = RankedTexts("query", texts, [text.startswith("right") for text in texts])
    drawn = [group for seed in range(20) for group in groups(example, 3, 9, seed)]
    for first, *others in drawn:
        assert int(first.split()[1]) < 8  # of the best right ones
        assert len(set(others)) == len(others) == 9
        assert all(int(text.split()[1]) < 50 for text in others[:5])
    assert any(int(text.split()[1]) > 300 for group in drawn for text in group[6:])


# --- losses


def odds_of(pairs):
    return torch.from_numpy(BertReranker(tiny(), "cpu", max_length=64).predict(pairs, logits=True))


@pytest.fixture
def bi_encoder():
    return BiEncoderLearner(str(tiny("bert", "embedding")), "key", 64)


def test_the_loss_of_a_cross_encoder_is_its_formula():
    learner = CrossEncoderLearner(str(tiny()), "key", 64, 1)
    step = [("who", ["the author", "a film", "two city song"]), ("where", ["france", "book " * 20])]
    expected = []
    for query, group in step:
        odds = odds_of([(query, text) for text in group])
        expected.append(-torch.log_softmax(odds, 0)[0])
    (found,) = learner.loss(learner.checkpoint.model.eval(), [Group(*group) for group in step])
    assert found.item() == pytest.approx(torch.stack(expected).mean().item(), abs=1e-4)
    found.backward()
    assert learner.checkpoint.model.classifier.weight.grad.abs().sum() > 0


TEXTS = ("the author", "a film", "two city song", "france", "the author")


def group(query, numbers, relevant=()):
    return Group(query, [TEXTS[number] for number in numbers], numbers, relevant)


def test_the_loss_of_a_cross_encoder_leaves_out_equal_texts():
    learner = CrossEncoderLearner(str(tiny()), "key", 64, 1)
    model = learner.checkpoint.model.eval()
    (found,) = learner.loss(model, [group("who", [0, 1, 4, 2])])
    expected = -torch.log_softmax(odds_of([("who", text) for text in TEXTS[:3]]), 0)[0]
    assert found.item() == pytest.approx(expected.item(), abs=1e-4)
    assert list(learner.loss(model, [group("who", [0, 4])])) == []


def test_the_loss_of_a_bi_encoder_spares_other_relevant_passages(bi_encoder):
    # passage 4 says the same as passage 0
    step = [group("who", [0, 1], {0, 3}), group("where", [3, 2], {3}), group("what", [4, 1], {4})]
    (found,) = bi_encoder.loss(bi_encoder.checkpoint.model.eval(), step)
    encoder = BiEncoder(tiny("bert", "embedding"), "cpu", precision="fp32", max_length=64)
    texts = encoder.embed(["the author", "a film", "france", "two city song"])
    logits = torch.from_numpy(encoder.embed(["who", "where", "what"]) @ texts.T) / 0.05
    logits[0, 2] = -torch.inf
    expected = torch.nn.functional.cross_entropy(logits, torch.tensor([0, 2, 0]))
    assert found.item() == pytest.approx(expected.item(), abs=1e-3)


def test_cosines_keep_their_digits_in_mixed_precision(bi_encoder):
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        cosines = bi_encoder.scores(bi_encoder.checkpoint.model.eval(), "who", ["the author", "a film"])
    assert cosines.dtype == torch.float32 and not torch.equal(cosines, cosines.bfloat16().float())


# --- validation


def test_a_model_that_tells_nothing_apart_does_not_inherit_the_order_of_bm25():
    model = torch.nn.Linear(1, 1)
    model.device = torch.device("cpu")

    def first(*scores, digits=5):
        texts = [RankedTexts("q", ["b", "a"], [True, False])]
        return ranked_anew(model, texts, lambda *_: torch.tensor(scores), digits)[0][0]

    assert not first(0.0, 0.0) and first(0.1, 0.0)
    assert not first(1e-6, 0.0) and first(1e-6, 0.0, digits=None)
    assert measures(ranked_anew(model, [RankedTexts("q", [], [])], lambda *_: torch.zeros(0)))["mrr_at_10"] == 0


# --- evidences of conversations


@pytest.fixture
def kind(workdir):
    return KINDS["ers"]()


def test_examples_are_the_ranked_candidates_of_turns_with_right_and_wrong_ones(kind):
    module = kind.module(parse_config(kind.configuration()))
    found = examples(module, SOURCES, "train")
    assert 3 <= len(found) <= 10
    questions = [
        turn for one in json.loads(module.config.input_path("train").read_bytes()) for turn in one["questions"]
    ]
    understood = [turn for one in understood_conversations(module.config, "train") for turn in one["questions"]]
    turn_of = {asked_in_full(turn): turn for turn in understood}
    for example in found:
        assert any(example.right) and not all(example.right)
        query = turn_of[example.query]["structured_representation"]
        candidates = module.retrieve(turn_of[example.query], SOURCES)
        ranked = module.bm25.rank(query, candidates, len(candidates))
        assert example.texts == [evidence["evidence_text"] for evidence in ranked]
        assert example.right in [[has_answer(evidence, turn["answers"]) for evidence in ranked] for turn in questions]


@pytest.mark.parametrize(("labels", "outputs"), [(2, 2), (3, 1)])
def test_a_head_of_two_outputs_is_kept_and_one_of_three_replaced(kind, labels, outputs):
    kind.run("new", tiny(labels=labels), epochs=1)
    assert load_checkpoint("new", "sequence-classification").model.config.num_labels == outputs


# --- judged passages


@pytest.fixture
def judged(workdir):
    write_judged()
    index = PassageIndex(Path("index"))
    return index, read_examples(Path("pairs.tsv"), Path("questions.jl"), index, 100)


def measured(judged, rank):
    """What the held-out questions give when `rank` orders their candidates."""
    index, found = judged
    _, dev = hold_out(found, 0.25, 42)
    ranked = []
    for example in dev:
        texts = [passage_text(passage.title, passage.text) for passage in index.passages(example.ranked)]
        scores = rank(example.query, texts)
        order = sorted(range(len(texts)), key=lambda place: (-round(float(scores[place]), 5), texts[place]))
        ranked.append([example.ranked[place] in example.right for place in order])
    return measures(ranked)


def pooled(mode, folder):
    """A bi-encoder that says how it makes one vector of several."""
    base = copy_of(tiny("bert", "embedding", initializer_range=0.05), folder)
    write(base / "1_Pooling/config.json", {mode: True})
    return base


def test_a_cross_encoder_corrects_bm25_and_its_record_has_the_measures(judged):
    fitted, lexical, counts = retrieve(output="models/cross", epochs=6)
    assert names("models") == ["cross"]
    assert counts == {"train": 18, "dev": 6}
    assert lexical == {"mrr_at_10": 0.25, "hit_at_1": 0, "hit_at_10": 1}
    best = fitted.history[fitted.best]
    assert best["mrr_at_10"] > 0.9
    reranker = BertReranker("models/cross", "cpu", precision="fp32")
    texts = ("book, the author qq of a song", "qq qq film one", "qq qq film two")
    right, *wrong = reranker.predict([("who is qq", text) for text in texts])
    assert right > max(wrong)
    written = record("models/cross")
    assert written["epochs"] == fitted.history and written["best_epoch"] == fitted.best
    assert written["bm25"] == lexical and written["questions"] == counts
    found = measured(judged, lambda query, texts: reranker.predict([(query, text) for text in texts], logits=True))
    assert found == pytest.approx(best)
    card = Path("models/cross/README.md").read_text()
    for words in ("cross-encoder", "`pairs.tsv`: 18 questions", "96 passages", "- negatives: 3", "(kept)",
                  "| BM25 alone | 0.2500 |"):  # fmt: skip
        assert words in card, words


@pytest.mark.parametrize("pooling", slow_but(["cls"], ["mean", "cls"]))
def test_a_bi_encoder_learns_and_keeps_its_pooling(judged, tmp_path, pooling):
    base = pooled({"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens"}[pooling], tmp_path / "base")
    fitted, *_ = retrieve(base, bi_encoder=True, epochs=3)
    encoder = BiEncoder("new", "cpu", precision="fp32", backend="torch")
    assert encoder.engine.backend.pool_first == (pooling == "cls")
    found = measured(judged, lambda query, texts: encoder.embed(texts) @ encoder.embed([query])[0])
    assert found == pytest.approx(fitted.history[fitted.best])
    assert len({tuple(epoch.values()) for epoch in fitted.history}) > 1
    assert names() == ["index", "new", "pairs.tsv", "passages.jl", "questions.jl"]
    assert "sentence-similarity" in Path("new/README.md").read_text()
    if pooling == "mean":
        library = pytest.importorskip("sentence_transformers")
        texts = ["who is kw", "the author of a song"]
        expected = library.SentenceTransformer("new", device="cpu").encode(texts, normalize_embeddings=True)
        assert np.allclose(encoder.embed(texts), expected, atol=1e-4)


def test_data_and_bases_that_cannot_be_used_are_named(judged):
    base = pooled("pooling_mode_max_tokens", Path("max").absolute())
    refused(ModelError, lambda: retrieve(bi_encoder=True, base=base), "max")
    for file, header in (("questions.jl", 0), ("pairs.tsv", 1)):
        write_lines(file, *Path(file).read_text().splitlines()[: header + 1])
    refused(DataError, retrieve, "pairs.tsv: no question can be held out")
    Path("index").rename("elsewhere")
    refused(IndexFileError, retrieve, "index: no passage index here")
