"""Models that the users of one share, and the memory of what was read."""

import numpy as np
import pytest

from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.encoder.pool import ModelPool, ReadPair, SpanMemory
from convinse.encoder.reranker import BertReranker
from convinse.support.errors import ModelError
from refusals import refused
from tiny_models import Counted, copy_of, damage, joint, tiny

TEXTS = ["the hobbit", "город Толстой", "the author of the book " * 30, ""]


def users(folder, pool, **options):
    return [kind(folder, "cpu", models=pool, **options) for kind in (BertReranker, BiEncoder, ExtractiveReader)]


def test_a_joint_model_is_loaded_once():
    reranker, encoder, reader = users(joint(), ModelPool())
    assert reranker.engine is encoder.engine is reader.engine
    assert users(joint(), pool := ModelPool())[0].engine is users(joint(), pool)[2].engine


def test_each_precision_and_budget_has_its_own():
    pool = ModelPool()
    made = [
        BertReranker(joint(), "cpu", precision="bf16", models=pool),
        BertReranker(joint(), "cpu", token_budget=300, models=pool),
        BertReranker(joint(), "cpu", models=pool),
        BertReranker(joint(seed=1), "cpu", models=pool),
    ]
    assert len({id(one.engine) for one in made}) == len({id(one.engine.backend) for one in made}) == 4
    assert [one.engine.precision for one in made] == ["bf16", "fp32", "fp32", "fp32"]
    assert made[1].engine.token_budget == 300


def test_the_files_count_and_not_their_place(tmp_path):
    pool = ModelPool()
    first = BertReranker(joint(), "cpu", models=pool)
    folder = copy_of(joint(), tmp_path / "copy")
    assert BertReranker(folder, "cpu", models=pool).engine is first.engine
    damage(folder, lambda tensors: tensors["relevance.bias"].add_(1))
    changed = BertReranker(folder, "cpu", models=pool)
    assert changed.engine is not first.engine
    pair = [("who", "the author")]
    assert changed.predict(pair, logits=True) == pytest.approx(first.predict(pair, logits=True) + 1, abs=1e-5)


def test_other_models_are_loaded_as_ever():
    pool = ModelPool()
    pool.share_spans()
    one, other = (BertReranker(tiny(), "cpu", models=pool) for _ in range(2))
    assert one.engine is not other.engine
    one.predict([("who", "the author")])
    assert len(pool.spans) == 0


def test_each_cuts_to_its_own_length_and_texts_are_tokenised_once():
    pool = ModelPool()
    reranker = BertReranker(joint(), "cpu", max_length=64, models=pool)
    reader = ExtractiveReader(joint(), "cpu", max_length=10_000, models=pool)
    encoder = BiEncoder(joint(), "cpu", max_length=40, models=pool)
    lengths = (reranker.tokenizer.max_length, reader.tokenizer.max_length, encoder.tokenizer.max_length)
    assert lengths == (64, 512, 40)
    assert reranker.tokenizer.pairs([("who", TEXTS[2])]).lengths.tolist() == [64]
    assert encoder.tokenizer.singles([TEXTS[2]]).lengths.tolist() == [40]
    assert reader.tokenizer.ids(TEXTS)[2] is encoder.tokenizer.ids(TEXTS)[2]


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_what_is_shared_computes_the_same(precision):
    shared, alone = (users(joint(), pool, precision=precision) for pool in (ModelPool(), None))
    pairs = [("who wrote it", text) for text in TEXTS]
    np.testing.assert_allclose(shared[0].predict(pairs), alone[0].predict(pairs), atol=1e-5)
    np.testing.assert_allclose(shared[1].embed(TEXTS), alone[1].embed(TEXTS), atol=1e-5)
    assert shared[1].model_id == alone[1].model_id
    found, expected = (reader.read("who wrote it", TEXTS, 40) for reader in (shared[2], alone[2]))
    assert [span.score for span in found] == pytest.approx([span.score for span in expected], abs=1e-4)


def test_relevance_is_the_same_beside_spans():
    pool = ModelPool()
    reranker = BertReranker(joint(), "cpu", models=pool)
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


@pytest.mark.parametrize("kind", [BertReranker, BiEncoder, ExtractiveReader])
def test_errors_name_the_key_with_a_pool_too(tmp_path, kind):
    folder = copy_of(joint(), tmp_path / "model")
    (folder / "model.safetensors").write_bytes(b"{")
    places = {folder: "cannot be loaded", tmp_path / "none": "no such folder", folder / "config.json": "no such folder"}
    for place, words in places.items():
        message = refused(ModelError, lambda place=place: kind(place, "cpu", key="my_key", models=ModelPool()), words)
        assert message.startswith(f"my_key: {place}: ")
    for content in ("{", "[]", "\xff"):
        (folder / "config.json").write_text(content, encoding="latin-1")
        refused(ModelError, lambda: kind(folder, "cpu", models=ModelPool()), "cannot be loaded")


def read(tokens, value=0.0):
    return ReadPair(tokens + 3, np.full((tokens, 2), value, dtype=np.float32))


def test_the_memory_keeps_the_most_recent_pairs():
    memory = SpanMemory(most_tokens=100)
    pairs = [("who", f"text {number}") for number in range(30)]
    for number, pair in enumerate(pairs):
        memory.put("model", [pair], [read(10, number)])
    assert len(memory) == 10
    found = memory.get("model", pairs)
    assert [one is None for one in found] == [True] * 20 + [False] * 10
    assert [one.logits[0, 0] for one in found[20:]] == list(range(20, 30))
    memory.put("model", pairs[20:25], [read(10, 7)] * 5)  # the same again: no more room taken, and young again
    assert len(memory) == 10 and memory.get("model", pairs[20:21])[0].logits[0, 0] == 7
    memory.put("model", [("when", "new")], [read(50)])
    assert [one is None for one in memory.get("model", pairs[20:])] == [False] * 5 + [True] * 5
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
