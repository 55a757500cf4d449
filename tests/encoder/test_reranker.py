"""The reranker: scores of transformers, the order of evidences and its ties, rows, checkpoints, and kept scores."""

import copy
import json
import random
from itertools import product

import numpy as np
import pytest

from convinse.encoder.pool import ModelPool, PairSpans
from convinse.encoder.reranker import BertReranker, ScoreCache
from convinse.support.cache import Cache
from evidences import evidence, same_ranking
from tiny_models import WORDS, Counted, joint, reference_outputs, tiny

QUERY = "|| The Hobbit || wrote || person"


def said(text, source="kb"):
    return evidence(text, source, ("J. R. R. Tolkien", "Q892"), mine=[1])


def many(number, seed=0):
    chance = random.Random(seed)
    return [said(" ".join(chance.choices(WORDS, k=chance.randint(1, 30))) + f" {n}") for n in range(number)]


def shuffled(evidences, seed):
    return random.Random(seed).sample(evidences, len(evidences))


EVIDENCES = [*many(40), said("город Толстой"), said("中文字的 😀", "text"), said("the author " * 300, "table")]
PAIRS = [(QUERY, one["evidence_text"]) for one in EVIDENCES]


@pytest.fixture(scope="module")
def reranker():
    return BertReranker(tiny(), "cpu")


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert"])
@pytest.mark.parametrize("labels", [1, 2])
def test_scores_equal_transformers(kind, labels):
    logits = np.array(reference_outputs(tiny(kind, labels=labels), PAIRS, 128))
    expected = logits[:, 0] if labels == 1 else logits[:, 1] - logits[:, 0]
    made = BertReranker(tiny(kind, labels=labels), "cpu", max_length=128)
    found = made.predict(PAIRS, logits=True)
    assert expected.std() > 0.1 and found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-5)
    probabilities = made.predict(PAIRS)
    assert probabilities.dtype == np.float32
    np.testing.assert_allclose(probabilities, 1 / (1 + np.exp(-expected)), atol=1e-5)
    if labels == 2:
        softmax = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(probabilities, softmax[:, 1], atol=1e-5)


def test_the_best_come_first_with_all_their_fields(reranker):
    evidences = copy.deepcopy(EVIDENCES)
    ranked = reranker.rank(QUERY, evidences)
    assert evidences == EVIDENCES
    scores = reranker.predict(PAIRS)
    for place, one in zip(np.argsort(-scores), ranked, strict=True):
        assert one == {**EVIDENCES[place], "score": pytest.approx(scores[place], abs=1e-5)}
        assert isinstance(one["score"], float)
    assert reranker.rank(QUERY, EVIDENCES, 7) == ranked[:7] and reranker.rank(QUERY, EVIDENCES, 0) == []
    for seed in range(5):
        same_ranking(reranker.rank(QUERY, shuffled(EVIDENCES, seed)), ranked)


def test_equal_scores_are_ordered_by_text_and_source(reranker):
    """Of an uncased model two spellings are one; the text that is cut is one too."""
    long = "the author " * 200
    ties = [said("the Hobbit"), said("The Hobbit", "text"), said("THE HOBBIT"), said("The Hobbit", "info"),
            said(long + "b"), said(long + "a"), *many(30)]  # fmt: skip
    for seed in range(5):
        found = reranker.rank(QUERY, shuffled(ties, seed))
        same = [(one["evidence_text"], one["source"]) for one in found if one["evidence_text"].lower() == "the hobbit"]
        assert same == [("THE HOBBIT", "kb"), ("The Hobbit", "info"), ("The Hobbit", "text"), ("the Hobbit", "kb")]
        assert [one["evidence_text"][-1] for one in found if one["evidence_text"].startswith(long)] == ["a", "b"]


class Noisy(BertReranker):
    """The last digits of a score depend on what is computed beside it."""

    def predict(self, pairs, *, logits=False):
        noise = np.random.default_rng(len(pairs[0][1])).normal(scale=3e-7, size=len(pairs))
        return (self.score + noise).astype(np.float32)


def test_rounding_does_not_order():
    noisy = Noisy(tiny(), "cpu")
    ties = [said("".join(letters)) for letters in product("tT", "hH", "eE")]
    for seed, noisy.score in product(range(5), np.linspace(0.2, 0.20001, 11)):  # whatever a machine computes
        found = noisy.rank(QUERY, shuffled(ties, seed))
        assert [one["evidence_text"] for one in found] == sorted(one["evidence_text"] for one in ties)
        assert len({one["score"] for one in found}) == 1


def test_rows_are_read_in_the_form_that_the_model_was_shown():
    cell = {"header": "author", "text": "Tolkien", "entities": [], "start": 16, "column": 0, "rank": "lowest"}
    row = {"caption": "", "section": "", "rank": "first", "behind": "James Cameron", "cells": [cell]}
    evidences = [evidence("Book, author is Tolkien", "table", row=row), *EVIDENCES[:3]]
    read = "Book [first] (before James Cameron), author: Tolkien [lowest]"
    for form, text in (("ranked", read), ("plain", evidences[0]["evidence_text"])):
        made = BertReranker(tiny(row_form=form), "cpu")
        assert made.row_form == form
        score = made.predict([(QUERY, text)])[0]
        (found,) = (one for one in made.rank(QUERY, evidences) if one["source"] == "table")
        assert found == {**evidences[0], "score": pytest.approx(score, abs=1e-5)}
    assert made.predict([(QUERY, read)])[0] != pytest.approx(score, abs=1e-4)


# --- cached scores: a second run finds them, the same to the last bit, and computes nothing


QUERIES = ["who wrote the hobbit", "when was it \ud800 written"]
TEXTS = [[" ".join(WORDS[n : n + 4]) for n in range(9)], ["the author", " ".join(WORDS) * 9, "город Толстой"]]


def evidences(listed):
    return [evidence(text, "kb") for text in listed]


CANDIDATES = [evidences(listed) for listed in TEXTS]


@pytest.fixture
def cached_reranker(closed):
    """A reranker as of another run over the same folder, its pool, and what it computes."""

    def make(path, model=None, reads=True, **options):
        pool = ModelPool()
        if reads:
            pool.share_spans()
        settings = {"max_length": 64, **options}
        made = closed(BertReranker(model or joint(), "cpu", models=pool, cache=Cache(path), **settings))
        return made, pool, Counted(made.engine)

    return make


def test_second_run_computes_nothing_and_ranks_the_same(cached_reranker, tmp_path):
    first, pool, counted = cached_reranker(tmp_path)
    ranked = first.rank_all(QUERIES, CANDIDATES)
    assert counted.sequences == sum(map(len, TEXTS))
    first.close()
    again, other, idle = cached_reranker(tmp_path)
    assert again.rank_all(QUERIES, CANDIDATES) == ranked
    assert idle.sequences == 0
    name, pairs = (
        f"{again.model_id}/fp32",
        [(query, text) for query, texts in zip(QUERIES, TEXTS, strict=True) for text in texts],
    )
    for one, two in zip(pool.spans.get(name, pairs), other.spans.get(name, pairs), strict=True):
        assert one is two is None or (one.tokens == two.tokens and np.array_equal(one.logits, two.logits))
    assert other.spans.get(name, [(QUERIES[1], TEXTS[1][1])]) == [None]  # was cut


SETTINGS = {
    "length": {"max_length": 65},
    "precision": {"precision": "bf16"},
    "reading": {"reads": False},
    "model": {"model": joint(seed=9)},
}


@pytest.mark.parametrize("change", ["query", "text", "order", *SETTINGS])
def test_other_question_text_model_or_setting_is_computed(cached_reranker, tmp_path, change):
    cached_reranker(tmp_path)[0].rank_all(QUERIES[:1], CANDIDATES[:1])
    query = QUERIES[0] + "?" * (change == "query")
    listed = TEXTS[0][::-1] if change == "order" else [text + " x" * (change == "text") for text in TEXTS[0]]
    options = SETTINGS.get(change, {})
    other, _, counted = cached_reranker(tmp_path, **options)
    found = other.rank_all([query], [evidences(listed)])
    assert counted.sequences == len(listed)
    assert found == cached_reranker(None, **{**options, "reads": False})[0].rank_all([query], [evidences(listed)])


def test_scores_without_spans_are_cached_too_but_nothing_without_a_cache(cached_reranker, tmp_path):
    for path, model, counts in ((tmp_path / "cache", tiny(), [len(TEXTS[0]), 0]), (None, None, [len(TEXTS[0])] * 2)):
        for sequences in counts:
            made, _, counted = cached_reranker(path, model=model)
            ranked = made.rank_all(QUERIES[:1], CANDIDATES[:1])
            assert counted.sequences == sequences and len(ranked[0]) == len(TEXTS[0])
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_entry_of_another_form_counts_as_missing(tmp_path):
    read = [PairSpans(5, np.ones((3, 2), np.float32)), None]
    cache = Cache(tmp_path)
    pairs = ScoreCache(cache, "model", 64, True)
    pairs.put("q", ["a", "b"], (np.array([1, 2], np.float32), read))
    odds, spans = pairs.get("q", ["a", "b"])
    assert odds.tolist() == [1, 2] and spans[1] is None and spans[0].logits.shape == (3, 2)
    parts = json.loads(cache.keys()[0])
    cache.put(*parts, value=[1])
    assert pairs.get("q", ["a", "b"]) is None
