"""Ranking has read the evidences: the reader finds the same answers in what it left as in a pass of its own."""

import random

import numpy as np
import pytest

from case_tables import slow_but
from convinse.config import parse_config
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.encoder.pool import ModelPool
from convinse.encoder.reranker import BertReranker
from convinse.formats.convmix import read_conversations
from convinse.heterogeneous_answering.extractive import ExtractiveAnswering
from convinse.pipeline import Pipeline
from convinse.support.errors import ModelError
from convinse.testing import without
from evidences import evidence, same_ranking, same_spans
from tiny_models import WORDS, Counted, copy_of, damage, joint, word_pieces

CHANCE = random.Random(5)
TEXTS = [
    *(" ".join(CHANCE.choices(WORDS, k=CHANCE.randint(1, 40))) for _ in range(15)),
    "", " ", "\u200b", "The Hobbit, by J. R. R. Tolkien (1937)", "город Толстой", "中文字的 😀 the author",
    "cafe\u0301 and the nai\u0308ve book", "the \ud800 author\r\nof  it ", " ".join(WORDS), " ".join(WORDS * 3),
    " ".join(CHANCE.choices(WORDS, k=900)),
]  # fmt: skip
QUERIES = ["who wrote the hobbit", "", "город 😀", " ".join(WORDS), " ".join(WORDS * 9)]


def both(reranker_length, reader_length, precision="fp32", pool=None, **options):
    pool = ModelPool() if pool is None else pool
    pool.share_spans()
    reranker = BertReranker(joint(), "cpu", max_length=reranker_length, precision=precision, models=pool)
    settings = {"max_length": reader_length, "stride": 16, "precision": precision, "models": pool, **options}
    return pool, reranker, ExtractiveReader(joint(), "cpu", **settings)


def evidences(texts):
    return [evidence(text, score=1.0) for text in texts]


# of the reranker, of the reader
LENGTHS = [(64, 64), (64, 128), (128, 64), (256, 512), (100, 101)]


@pytest.mark.parametrize("lengths", slow_but([(64, 128), (128, 64)], LENGTHS), ids=str)
def test_the_answers_are_those_of_a_pass_of_the_reader_s_own(lengths):
    reranker_length, reader_length = lengths
    pool, reranker, reader = both(reranker_length, reader_length)
    counted = Counted(reader.engine)
    expected = reader.read_all(QUERIES, [TEXTS] * len(QUERIES))
    alone = counted.sequences
    ranked = reranker.rank_all(QUERIES, [evidences(TEXTS)] * len(QUERIES))
    assert all(np.isfinite(one["score"]) for best in ranked for one in best)
    ranking = counted.sequences - alone
    assert ranking == len(QUERIES) * len(TEXTS)
    found = reader.read_all(QUERIES, [TEXTS] * len(QUERIES))
    same_spans(found, expected, 1e-4)
    assert sum(map(len, found)) > 1000
    # what is computed again is what was cut
    tokenizer = word_pieces(10**5)
    pairs = [(query, text) for query in QUERIES for text in TEXTS if text.strip()]
    lengths = [len(tokenizer([query], [text.replace("\ud800", "?")])["input_ids"][0]) for query, text in pairs]
    most = min(reranker_length - 1, reader_length)
    cut = [pair for pair, length in zip(pairs, lengths, strict=True) if length > most]
    windows = reader.tokenizer.windows(cut, 16).sequences.ids
    assert counted.sequences - alone - ranking == len(windows)
    assert 0 < len(cut) < len(pairs)


def test_in_half_precision_too():
    _, reranker, reader = both(128, 200, "bf16", best=5)
    expected = reader.read_all(QUERIES[:3], [TEXTS] * 3)
    reranker.rank_all(QUERIES[:3], [evidences(TEXTS)] * 3)
    found = reader.read_all(QUERIES[:3], [TEXTS] * 3)
    # another batch, another order of sums, and half precision keeps three digits
    scores = {(number, s.context, s.start, s.end): s.score for number, one in enumerate(expected) for s in one}
    shared = [
        abs(scores[number, s.context, s.start, s.end] - s.score)
        for number, one in enumerate(found) for s in one if (number, s.context, s.start, s.end) in scores
    ]  # fmt: skip
    assert len(shared) > 0.97 * len(scores) and np.median(shared) < 1e-4 and max(shared) < 0.2


def test_nothing_is_computed_where_all_was_read():
    _, reranker, reader = both(256, 512)
    counted = Counted(reader.engine)
    texts = [text for text in TEXTS[:20] if text.strip()]
    reranker.rank("who", evidences(TEXTS[:20]))
    before = counted.sequences
    read = {span.context for span in reader.read("who", texts)}
    assert read == set(range(len(texts))) - {texts.index("\u200b")}  # no word there
    assert counted.sequences == before
    reader.read("when", texts[:3])  # another question
    assert counted.sequences == before + 3


def test_another_model_or_precision_reads_itself():
    pool, reranker, _ = both(256, 512)
    reranker.predict([("who", text) for text in TEXTS])
    for model, precision in ((joint(), "bf16"), (joint(seed=1), "fp32")):
        other = ExtractiveReader(model, "cpu", models=pool, precision=precision)
        counted = Counted(other.engine)
        other.read("who", TEXTS[:4])
        assert counted.sequences == 4


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_no_score_of_an_empty_or_very_long_text_is_not_a_number(precision):
    _, reranker, reader = both(256, 512, precision)
    texts = ["", " ", "\n", "\u200b", "the", " ".join(WORDS * 12), "#" * 600, "中" * 600]
    for query in ("", "who", " ".join(WORDS * 12)):
        assert np.isfinite(reranker.predict([(query, text) for text in texts])).all()
        spans = reader.read(query, texts)
        assert {span.context for span in spans} == {4, 5, 6, 7}
        assert all(np.isfinite([span.score, span.probability, span.no_answer]).all() for span in spans)


def test_spans_that_are_not_numbers_are_an_error(tmp_path):
    folder = damage(copy_of(joint(), tmp_path / "model"), lambda tensors: tensors["span.bias"].fill_(float("nan")))
    pool = ModelPool()
    pool.share_spans()
    reranker, reader = (kind(folder, "cpu", models=pool) for kind in (BertReranker, ExtractiveReader))
    assert np.isfinite(reranker.predict([("who", "the author")])).all()
    counted = Counted(reader.engine)
    with pytest.raises(ModelError, match="the author.*not a number"):
        reader.read("who", ["the author"])
    assert counted.sequences == 0


SOURCES = ("kb", "text", "table", "info")


def config(**keys):
    return parse_config(
        {
            "ha": "extractive", "ha_model": str(joint()), "evs_model": str(joint()), "evs_bi_encoder": str(joint()),
            "evs_cascade": 10, "evs_max_evidences": 30, "evr_max_entities": 3,
            "ers_use_cache": False, "device": "cpu", **keys,
        }
    )  # fmt: skip


@pytest.fixture(scope="module")
def conversations():
    first, second, *_ = read_conversations(parse_config({}).input_path("test"))
    return [{**first, "questions": first["questions"][:3]}, {**second, "questions": second["questions"][:2]}]


def run(conversations, **keys):
    with Pipeline(config(**keys)) as pipeline:
        counted = Counted(pipeline.ers.scorer.reranker.engine)
        is_apart = pipeline.ha.reader.engine is not pipeline.ers.scorer.reranker.engine
        reading = Counted(pipeline.ha.reader.engine) if is_apart else None
        done = pipeline.run(conversations, SOURCES)
    return done, counted.sequences + (reading.sequences if is_apart else 0)


ANSWERED = ("pred_answers", "abstained", "p_at_1", "mrr", "h_at_5")


def test_the_pipeline_answers_alike_with_and_without_sharing(conversations, monkeypatch):
    shared, fewer = run(conversations)
    monkeypatch.setattr(ModelPool, "share_spans", lambda _: None)
    apart, more = run(conversations)
    for one, other in zip(shared, apart, strict=True):
        for turn, twin in zip(one["questions"], other["questions"], strict=True):
            assert turn["pred_answers"] and without(turn, *ANSWERED) == without(twin, *ANSWERED)
            same_ranking(turn["pred_answers"], twin["pred_answers"], 1e-4)
    assert more - fewer >= 10 * len(shared[0]["questions"])


def test_the_model_of_all_stages_is_loaded_once(conversations):
    with Pipeline(config()) as pipeline:
        pipeline.run(conversations[:1], ["kb"])
        scorer = pipeline.ers.scorer
        assert scorer.reranker.engine is scorer.embeddings.bi_encoder.engine is pipeline.ha.reader.engine
        assert len(pipeline.resources.models.spans) > 0
        pipeline.resources.models.clear_spans()
        assert len(pipeline.resources.models.spans) == 0
    with Pipeline(config(ha="entity_voting")) as pipeline:
        pipeline.run(conversations[:1], ["kb"])
        assert pipeline.resources.models.spans is None
        scorer = pipeline.ers.scorer
        assert scorer.reranker.engine is scorer.embeddings.bi_encoder.engine


def test_readings_are_forgotten_with_the_next_turns(conversations):
    with Pipeline(config()) as pipeline:
        pipeline.run(conversations[:1], ["kb"], use_gold_answers=False)  # turn by turn
        assert 0 < len(pipeline.resources.models.spans) <= 20


@pytest.mark.parametrize("scores", [(0.9, 0.0, 0.4, 0.0), (0.0, 0.0, 0.0, 0.0), (-1.0, -2.0, -1.0, 0.0)])
def test_evidences_that_count_for_nothing_are_not_read(scores):
    found = [evidence(text, score=score) for text, score in zip(TEXTS, scores, strict=False)]
    turn = {"question": "Who?", "top_evidences": found}
    made = ExtractiveAnswering(config())
    counted = Counted(made.reader.engine)
    found = made.inference_on_turn(turn, SOURCES)
    assert counted.sequences == (2 if max(scores) > 0 else 4)
    places = {place for answer in found for place in answer["evidences"]}
    assert places and places <= ({0, 2} if max(scores) > 0 else {0, 1, 2, 3})
