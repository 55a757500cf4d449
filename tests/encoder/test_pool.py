"""What is read of pairs while they are ranked, and the memory of it."""

import numpy as np
from model_heads import whole

from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.encoder.pool import ModelPool, ReadPair, SpanMemory
from convinse.encoder.reranker import BertReranker
from tiny_models import Counted, tiny

TEXTS = ["the hobbit", "город Толстой", "the author of the book " * 30, ""]


def test_each_head_cuts_to_its_own_length_and_texts_are_tokenised_once():
    pool = ModelPool()
    reranker = BertReranker(whole(), "cpu", max_length=64, models=pool)
    reader = ExtractiveReader(whole(), "cpu", max_length=10_000, models=pool)
    encoder = BiEncoder(whole(), "cpu", max_length=40, models=pool)
    assert [model.tokenizer.max_length for model in (reranker, reader, encoder)] == [64, 512, 40]
    assert reranker.tokenizer.pairs([("who", TEXTS[2])]).lengths.tolist() == [64]
    assert encoder.tokenizer.singles([TEXTS[2]]).lengths.tolist() == [40]
    assert reader.tokenizer.ids(TEXTS)[2] is encoder.tokenizer.ids(TEXTS)[2]


def test_relevance_is_the_same_beside_spans():
    pool = ModelPool()
    reranker = BertReranker(whole(), "cpu", models=pool)
    pairs = [(query, text) for query in ("who", "") for text in TEXTS]
    alone = reranker.predict(pairs, logits=True)
    counted = Counted(reranker.engine)
    pool.share_spans()
    np.testing.assert_array_equal(reranker.predict(pairs, logits=True), alone)
    assert counted.sequences == len(pairs) == len(pool.spans)
    pool.share_spans()
    assert len(pool.spans) == len(pairs)
    pool.forget()
    assert len(pool.spans) == 0
    BertReranker(tiny(), "cpu", models=pool).predict(pairs)  # a model that reads no spans
    assert len(pool.spans) == 0


def read(tokens, value=0.0):
    return ReadPair(tokens + 3, np.full((tokens, 2), value, dtype=np.float32))


def test_the_memory_keeps_the_most_recent_pairs():
    memory = SpanMemory(most_tokens=100)
    pairs = [("who", f"text {number}") for number in range(30)]
    for number, pair in enumerate(pairs):
        memory.put("model", [pair], [read(10, number)])
    assert len(memory) == 10
    found = memory.get("model", pairs)
    assert [pair is None for pair in found] == [True] * 20 + [False] * 10
    assert [pair.logits[0, 0] for pair in found[20:]] == list(range(20, 30))
    memory.put("model", pairs[20:25], [read(10, 7)] * 5)  # the same again: no more room taken, and young again
    assert len(memory) == 10 and memory.get("model", pairs[20:21])[0].logits[0, 0] == 7
    memory.put("model", [("when", "new")], [read(50)])
    assert [pair is None for pair in memory.get("model", pairs[20:])] == [False] * 5 + [True] * 5
    memory.put("model", [("when", "too long")], [read(101)])
    assert len(memory) == 0


def test_the_memory_tells_models_and_questions_apart():
    memory = SpanMemory()
    memory.put("one/fp32", [("who", "text")], [read(3, 1)])
    assert memory.get("one/int8", [("who", "text")]) == memory.get("one/fp32", [("text", "who")]) == [None]
    memory.put("one/int8", [("who", "text")], [read(3, 2)])
    assert memory.get("one/fp32", [("who", "text"), ("who", "other")])[0].logits[0, 0] == 1
    memory.clear()
    assert memory.get("one/fp32", [("who", "text")]) == [None]
