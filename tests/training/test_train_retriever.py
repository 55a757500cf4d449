"""`train retriever`: from judged passages to model folders that search takes."""

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from convinse.config import RetrieverTraining
from convinse.encoder import devices
from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.reranker import BertReranker
from convinse.passages.build import build_index
from convinse.passages.index import PassageIndex
from convinse.passages.layout import Parameters
from convinse.passages.search import passage_text
from convinse.support.errors import DataError, IndexFileError, ModelError
from convinse.training.passage_pairs import hold_out, read_examples
from convinse.training.rankers import BiEncoderLearner, CrossEncoderLearner
from convinse.training.ranking import Group, RankedTexts, group_steps, ranked_anew
from convinse.training.retriever import measures
from refusals import refused
from tiny_models import copy_of, tiny, torch
from trainings import record, write_judged
from trainings import retrieve as train
from written import json_lines, names, write, write_lines


@pytest.fixture(autouse=True)
def exact(monkeypatch):
    """No bf16, so that scores are those of the same model at work."""
    monkeypatch.setattr(devices, "autocast", lambda device: nullcontext())


@pytest.fixture
def data(workdir):
    write_judged()
    return workdir


def examples():
    index = PassageIndex(Path("index"))
    return index, read_examples(Path("pairs.tsv"), Path("questions.jl"), index, 100)


def own_measures(rank):
    """What the held-out questions give when `rank` orders their candidates."""
    index, found = examples()
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
    assert names("models") == ["cross"]
    kept = record("models/cross")
    assert kept["epochs"] == trained.fitted.history and kept["best_epoch"] == trained.fitted.best
    assert kept["bm25"] == trained.lexical and kept["questions"] == {"train": 18, "dev": 6}
    reranker = BertReranker("models/cross", "cpu", precision="fp32")
    found = own_measures(lambda query, texts: reranker.predict([(query, text) for text in texts], logits=True))
    assert found == pytest.approx(kept["epochs"][kept["best_epoch"]])
    card = Path("models/cross/README.md").read_text()
    for words in ("cross-encoder", "`pairs.tsv`: 18 questions", "96 passages", "- negatives: 3", "(kept)",
                  "| BM25 alone | 0.2500 |"):  # fmt: skip
        assert words in card, words


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_a_bi_encoder_keeps_its_pooling(data, tmp_path, pooling):
    base = pooled({"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens"}[pooling], tmp_path / "base")
    trained = train(base, bi_encoder=True, epochs=3)
    encoder = BiEncoder("new", "cpu", precision="fp32", backend="torch")
    assert encoder.engine.backend.pool_first == (pooling == "cls")
    found = own_measures(lambda query, texts: encoder.embed(texts) @ encoder.embed([query])[0])
    assert found == pytest.approx(trained.fitted.history[trained.fitted.best])
    assert len({tuple(measures.values()) for measures in trained.fitted.history}) > 1  # it learned
    assert names() == ["index", "new", "pairs.tsv", "passages.jl", "questions.jl"]
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
    settings = RetrieverTraining(base="base", output="new", batch_questions=5, negatives=2)
    sides = [(example, example.right, example.wrong) for example in found]
    first, again, second = (group_steps(sides, settings, settings.batch_questions, 42, epoch) for epoch in (1, 1, 2))
    assert first == again != second
    assert [len(step) for step in first] == [5, 5, 5, 5, 4]
    assert {example.query for step in first for example, _ in step} == {example.query for example in found}
    for step in first:
        for example, (right, *wrong) in step:
            assert right in example.right and len(wrong) == 2 and set(wrong) <= set(example.wrong)


def group(query, numbers, relevant=()):
    texts = ("the author", "a film", "two city song", "france", "the author")
    return Group(query, [texts[number] for number in numbers], numbers, relevant)


def test_the_loss_of_a_cross_encoder_leaves_out_equal_texts():
    learner = CrossEncoderLearner(str(tiny()), "key", 64, "listwise", 1)
    model = learner.checkpoint.model.eval()
    (found,) = learner.loss(model, [group("who", [0, 1, 4, 2])])
    odds = torch.from_numpy(BertReranker(tiny(), "cpu", max_length=64).predict(
        [("who", text) for text in ("the author", "a film", "two city song")], logits=True))  # fmt: skip
    assert found.item() == pytest.approx(-torch.log_softmax(odds, 0)[0].item(), abs=1e-4)
    assert list(learner.loss(model, [group("who", [0, 4])])) == []


@pytest.fixture
def bi_encoder():
    return BiEncoderLearner(str(tiny("bert", "embedding")), "key", 64)


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


def test_a_model_that_tells_nothing_apart_does_not_inherit_the_order_of_bm25():
    model = torch.nn.Linear(1, 1)
    model.device = torch.device("cpu")

    def first(*scores, digits=5):
        return ranked_anew(
            model, [RankedTexts("q", ["b", "a"], [True, False])], lambda *_: torch.tensor(scores), digits
        )[0][0]

    assert not first(0.0, 0.0) and first(0.1, 0.0)
    assert not first(1e-6, 0.0) and first(1e-6, 0.0, digits=None)
    assert measures(ranked_anew(model, [RankedTexts("q", [], [])], lambda *_: torch.zeros(0)))["mrr_at_10"] == 0


def test_measures():
    flags = [[False, True], [False] * 10 + [True], [True], []]
    assert measures(flags) == {"mrr_at_10": (1 / 2 + 1) / 4, "hit_at_1": 1 / 4, "hit_at_10": 2 / 4}


# --- the run


# --- errors


def test_a_base_that_does_not_fit_and_a_missing_index(data):
    refused(ModelError, lambda: train(bi_encoder=True, base=pooled("pooling_mode_max_tokens", data / "max")), "max")
    Path("index").rename("elsewhere")
    refused(IndexFileError, train, "index: no passage index here")


def test_one_question_is_too_few(data):
    for file, header in (("questions.jl", 0), ("pairs.tsv", 1)):
        write_lines(file, *Path(file).read_text().splitlines()[: header + 1])
    with pytest.raises(DataError, match="^pairs.tsv: no question can be held out"):
        train()


def test_questions_without_a_negative(data):
    rows = [row for row in json_lines("passages.jl") if row["id"].endswith("-0")]
    for row in rows:
        row |= {"title": None, "text": row["id"][:2]}
    build_index(write_lines("passages.jl", *rows), Path("index"), Parameters("en"), force=True)
    with pytest.raises(DataError, match="^pairs.tsv: no question has a negative"):
        train()
