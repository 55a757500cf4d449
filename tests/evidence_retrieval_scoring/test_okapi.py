"""CONVINSE's own scoring: the same first evidence, of the same candidates, as its formula gives."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.evidence_retrieval_scoring.okapi import OkapiScorer, okapi_scores
from evidences import evidence, scores, texts

STOP_WORDS = frozenset(["the", "of", "who", "in"])
WORDS = st.sampled_from(
    ["Titanic", "titanic", "the", "The", "director,", "director", "James", "Cameron.", "||", "film"]
)
TEXT = st.lists(WORDS, max_size=7).map(" ".join)


def tokens(text):
    return [word.lower() for word in text.replace(",", " ").replace("||", " ").split() if word not in STOP_WORDS]


def plain_okapi(query, documents):
    """Okapi as rank_bm25 has it: k1 1.5, b 0.75, epsilon 0.25."""
    size, mean = len(documents), sum(map(len, documents)) / len(documents)
    having = {word: sum(word in document for document in documents) for document in documents for word in document}
    idf = {word: math.log(size - n + 0.5) - math.log(n + 0.5) for word, n in having.items()}
    floor = 0.25 * sum(idf.values()) / max(len(idf), 1)
    weights = {word: value if value >= 0 else floor for word, value in idf.items()}

    def score(scorer):
        norm = 1.5 * (1 - 0.75 + 0.75 * len(scorer) / mean) if mean else 1
        return sum(weights.get(word, 0) * scorer.count(word) * 2.5 / (scorer.count(word) + norm) for word in query)

    return [score(document) for document in documents]


@given(TEXT, st.lists(TEXT, min_size=1, max_size=8))
def test_scores_are_those_of_the_formula(query, candidates):
    documents = [tokens(text) for text in candidates]
    assert okapi_scores(tokens(query), documents) == pytest.approx(plain_okapi(tokens(query), documents), abs=1e-9)


@given(TEXT, st.lists(TEXT, min_size=1, max_size=8))
def test_the_ranking_is_by_score_then_place_and_of_equal_words_the_last(query, candidates):
    ranked = OkapiScorer(STOP_WORDS, " || ").rank(query, [evidence(text) for text in candidates], 99)
    documents = [tuple(tokens(text)) for text in candidates]
    expected = okapi_scores(tokens(query), documents)
    best = min(range(len(expected)), key=lambda place: (-expected[place], place))
    last = max(place for place, words in enumerate(documents) if words == documents[best])
    assert ranked[0]["evidence_text"] == candidates[last]
    assert sorted(texts(ranked)) == sorted(candidates)
    assert scores(ranked) == sorted(expected, reverse=True)


def test_words_are_as_convinse_reads_them():
    """No stems, punctuation kept, stop words as they are written, a repeated word counted again."""
    scorer = OkapiScorer(STOP_WORDS, " || ")

    def first(query, *candidates):
        return scorer.rank(query, [evidence(text) for text in candidates], 1)[0]["evidence_text"]

    assert first("jackets", "a jacket", "other words", "some jackets") == "some jackets"
    assert first("jacket", "x", "the jacket.", "y z", "the jacket") == "the jacket"
    assert first("Who", "a, b", "c d", "WHO, is, x") == "WHO, is, x"  # capitalised, it is not a stop word
    assert first("who", "a, b", "c d", "WHO, is, x") == "a, b"
    assert first("a b b", "a x", "b y", "c z", "d z", "e z") == "b y"
    assert first("a||b", "x", "y", "a b z") == "a b z"
    assert scorer.rank("a", [], 5) == [] and scores(scorer.rank("a", [evidence("the")], 5)) == [0]
    assert OkapiScorer(STOP_WORDS, " ").rank("a b", [evidence("b")], 1)
