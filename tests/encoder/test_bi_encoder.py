"""Embeddings: pooling, the id of a model, and what is kept."""

import numpy as np
import pytest

from case_tables import each_case
from convinse.encoder.bi_encoder import BiEncoder, KeptEmbeddings
from convinse.support.cache import Cache
from convinse.support.errors import ModelError
from convinse.support.vectors import VectorCache
from refusals import refused
from tiny_models import copy_of, own_forward, tiny
from written import write

LONG = "who wrote the lord of the rings " * 30
TEXTS = ["the hobbit", "", LONG, "中文字的", "titanic, director, james cameron", "film " * 40]
OLD = {"word_embedding_dimension": 32, "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False}


def pooled_by(target, settings, modules=None):
    copy_of(tiny("bert", "embedding"), target)
    write(target / "1_Pooling/config.json", settings)
    if modules is not None:
        write(target / "modules.json", [{"type": f"sentence_transformers.models.{name}"} for name in modules])
    return target


def unit(vectors):
    return np.array(vectors) / np.linalg.norm(vectors, axis=1, keepdims=True)


CLS = {**OLD, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
MEAN = {**OLD, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}


@pytest.mark.parametrize(
    ("kind", "settings", "first"),
    [("bert", CLS, True), ("bert", {"pooling_mode": "cls", "embedding_dimension": 32}, True),
     ("bert", MEAN, False), ("bert", {"pooling_mode": "mean"}, False), ("bert", {}, False),
     ("bert", None, False), ("roberta", None, False), ("distilbert", None, False)],
)  # fmt: skip
def test_a_vector_is_pooled_as_the_folder_says_and_without_padding(tmp_path, kind, settings, first):
    folder = tiny(kind, "embedding")
    if settings is not None:
        folder = pooled_by(tmp_path / "model", settings, ["Transformer", "Pooling", "Normalize"])
    tokens_of_texts = own_forward(folder, TEXTS, 64, "embedding")
    expected = unit([tokens[0] if first else tokens.mean(axis=0) for tokens in tokens_of_texts])
    encoder = BiEncoder(folder, "cpu", max_length=64, token_budget=1000)
    vectors = encoder.embed(TEXTS)
    assert vectors.dtype == np.float32 and encoder.dimension == 32 and encoder.embed([]).shape == (0, 32)
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


@each_case("faulty_models", "pooling")
def test_folder_of_another_pooling_is_refused(tmp_path, case):
    folder = pooled_by(tmp_path / "model", case["pooling"], case.get("modules"))
    message = refused(ModelError, lambda: BiEncoder(folder, "cpu"), case["words"])
    assert message.startswith(f"model: {folder}: ")


def test_the_id_changes_with_all_that_changes_the_vectors():
    def model_id(kind="bert", **options):
        return BiEncoder(tiny(kind, "embedding"), "cpu", **options).model_id

    ids = [model_id(), model_id("distilbert"), model_id(max_length=64), model_id(precision="bf16")]
    assert len(set(ids)) == 4
    assert model_id() == model_id(token_budget=77)


# --- kept embeddings


class Counting:
    """Embeds a text by its length, and remembers the texts of each call."""

    def __init__(self):
        self.calls = []

    def embed(self, texts):
        self.calls.append(list(texts))
        return np.array([(1 / 3, len(text)) for text in texts], dtype=np.float32).reshape(-1, 2)


def cached(path="cache"):
    """A new object over the same file, as in another run, and its bi-encoder."""
    bi_encoder = Counting()
    return KeptEmbeddings(bi_encoder, VectorCache(Cache(path), "counting", 2) if path else None), bi_encoder


def test_cached_text_is_not_computed_again(workdir):
    first, bi_encoder = cached()
    vectors = first.embed(["a", "bcd"])
    assert vectors.dtype == np.float16 and vectors[:, 1].tolist() == [1, 3]
    assert first.embed(["bcd", "ef", "a"])[:, 1].tolist() == [3, 2, 1]
    assert first.embed(["ef"])[:, 1].tolist() == [2]
    assert bi_encoder.calls == [["a", "bcd"], ["ef"]]
    other, bi_encoder = cached()
    assert (other.embed(["ef", "a", "g"])[:2] == first.embed(["ef", "a"])).all()
    assert bi_encoder.calls == [["g"]]
    alone, bi_encoder = cached(None)
    for _ in range(2):
        assert (alone.embed(["a", "bcd"]) == vectors).all()
    assert len(bi_encoder.calls) == 2 and first.embed([]).shape == (0, 2)


def test_cached_questions_have_full_precision():
    vectors, questions = (
        VectorCache(Cache(None), "counting", 2),
        VectorCache(Cache(None), "counting", 2, precision="float32"),
    )
    bi_encoder = Counting()
    cached = KeptEmbeddings(bi_encoder, vectors, questions)
    first = cached.embed_questions(["a", "bcd", "a"])
    assert first.dtype == np.float32 and (first == Counting().embed(["a", "bcd", "a"])).all()
    assert (cached.embed_questions(["bcd", "ef"]) == Counting().embed(["bcd", "ef"])).all()
    assert bi_encoder.calls == [["a", "bcd"], ["ef"]]
    alone = KeptEmbeddings(bi_encoder, vectors)
    assert (alone.embed_questions(["a", "bcd", "a"]) == first).all() and len(bi_encoder.calls) == 3
    assert not vectors.get(["a"])[1].any()
