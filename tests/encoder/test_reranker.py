"""The reranker: scores of transformers, the order of evidences and its ties, rows, checkpoints."""

import copy
import random
from itertools import product

import numpy as np
import pytest

from convinse.encoder.reranker import BertReranker
from convinse.support.errors import ModelError
from evidences import evidence, same_ranking
from refusals import refused
from tiny_models import WORDS, Counted, own_forward, tiny

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
def test_scores_are_those_of_transformers(kind, labels):
    logits = np.array(own_forward(tiny(kind, labels=labels), PAIRS, 128))
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
    given = copy.deepcopy(EVIDENCES)
    ranked = reranker.rank(QUERY, given)
    assert given == EVIDENCES
    scores = reranker.predict(PAIRS)
    for place, one in zip(np.argsort(-scores), ranked, strict=True):
        assert one == {**EVIDENCES[place], "score": pytest.approx(scores[place], abs=1e-5)}
        assert isinstance(one["score"], float)
    assert reranker.rank(QUERY, EVIDENCES, 7) == ranked[:7] and reranker.rank(QUERY, EVIDENCES, 0) == []
    for seed in range(5):
        same_ranking(reranker.rank(QUERY, shuffled(EVIDENCES, seed)), ranked)


def test_together_is_as_one_by_one_and_equal_pairs_are_computed_once():
    made = BertReranker(tiny(), "cpu")
    queries = [QUERY, "who directed titanic", "", QUERY]
    evidences = [EVIDENCES, EVIDENCES[10:30], many(25, seed=4), []]
    together = made.rank_all(queries, evidences, 12)
    for query, candidates, found in zip(queries, evidences, together, strict=True):
        same_ranking(found, made.rank(query, candidates, 12))
    assert made.rank_all([], [], 5) == []
    counted = Counted(made.engine)
    made.rank_all([QUERY, QUERY, "who"], [EVIDENCES[:5], EVIDENCES[3:9], EVIDENCES[:5]], 3)
    assert counted.sequences == 9 + 5


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


def test_a_long_evidence_is_cut_and_not_the_query():
    made = BertReranker(tiny(), "cpu", max_length=64)
    counted = Counted(made.engine)
    query = "who wrote the book of the rings"
    made.predict([(query, "the author " * 5000)])
    ((ids,),) = counted.batches
    assert len(ids) == 64
    assert made.tokenizer.pairs([(query, "")]).ids[0].tolist()[:-1] == ids[: len(query.split()) + 2].tolist()


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"labels": 3}, "has 3 outputs; a reranker has one"),
        ({"labels": 5}, "has 5 outputs; a reranker has one"),
        ({"task": "embedding"}, "is no sequence-classification checkpoint: classifier.bias"),
        ({"task": "question-answering"}, "is no sequence-classification checkpoint"),
    ],
)
def test_other_checkpoints_are_refused(options, fault):
    folder = tiny(**options)
    message = refused(ModelError, lambda: BertReranker(folder, "cpu", key="evs_model"), fault)
    assert message.startswith(f"evs_model: {folder}: ")


def test_rows_are_read_in_the_form_that_the_model_was_shown():
    cell = {"header": "author", "text": "Tolkien", "entities": [], "start": 16, "column": 0, "rank": "lowest"}
    row = {"caption": "", "section": "", "rank": "first", "behind": "James Cameron", "cells": [cell]}
    given = [evidence("Book, author is Tolkien", "table", row=row), *EVIDENCES[:3]]
    read = "Book [first] (before James Cameron), author: Tolkien [lowest]"
    for form, text in (("ranked", read), ("plain", given[0]["evidence_text"])):
        made = BertReranker(tiny(row_form=form), "cpu")
        assert made.row_form == form
        score = made.predict([(QUERY, text)])[0]
        (found,) = (one for one in made.rank(QUERY, given) if one["source"] == "table")
        assert found == {**given[0], "score": pytest.approx(score, abs=1e-5)}
    assert made.predict([(QUERY, read)])[0] != pytest.approx(score, abs=1e-4)
