"""Embeddings that are kept, over a bi-encoder that counts what it is asked."""

import numpy as np
import pytest

from convinse.encoder.bi_encoder import KeptEmbeddings
from convinse.support.cache import Cache
from convinse.support.vectors import VectorCache


class Counting:
    """Embeds a text by its length; keeps what it was asked, call by call."""

    def __init__(self):
        self.calls = []

    def embed(self, texts):
        self.calls.append(list(texts))
        return np.array([(1 / 3, len(text)) for text in texts], dtype=np.float32).reshape(-1, 2)


@pytest.fixture
def made(workdir):
    """A new object over the same file, as in another run, and its bi-encoder."""

    def make(path="cache"):
        bi_encoder = Counting()
        return KeptEmbeddings(bi_encoder, VectorCache(Cache(path), "counting", 2) if path else None), bi_encoder

    return make


def test_what_is_known_is_not_computed_again(made):
    first, bi_encoder = made()
    vectors = first.embed(["a", "bcd"])
    assert vectors.dtype == np.float16 and vectors[:, 1].tolist() == [1, 3]
    assert first.embed(["bcd", "ef", "a"])[:, 1].tolist() == [3, 2, 1]
    assert first.embed(["ef"])[:, 1].tolist() == [2]
    assert bi_encoder.calls == [["a", "bcd"], ["ef"]]
    other, bi_encoder = made()
    assert (other.embed(["ef", "a", "g"])[:2] == first.embed(["ef", "a"])).all()
    assert bi_encoder.calls == [["g"]]


def test_without_a_cache_the_results_are_the_same(made):
    kept, _ = made()
    alone, bi_encoder = made(None)
    for _ in range(2):
        assert (alone.embed(["a", "bcd"]) == kept.embed(["a", "bcd"])).all()
    assert len(bi_encoder.calls) == 2
    assert kept.embed([]).shape == (0, 2)


def test_questions_are_kept_as_they_were_computed():
    vectors, questions = VectorCache(None, "counting", 2), VectorCache(None, "counting", 2, precision="float32")
    bi_encoder = Counting()
    kept = KeptEmbeddings(bi_encoder, vectors, questions)
    first = kept.embed_questions(["a", "bcd", "a"])
    assert first.dtype == np.float32 and (first == Counting().embed(["a", "bcd", "a"])).all()
    assert (kept.embed_questions(["bcd", "ef"]) == Counting().embed(["bcd", "ef"])).all()
    assert bi_encoder.calls == [["a", "bcd"], ["ef"]]
    alone = KeptEmbeddings(bi_encoder, vectors)
    assert (alone.embed_questions(["a", "bcd", "a"]) == first).all() and len(bi_encoder.calls) == 3
    assert not vectors.get(["a"])[1].any()
