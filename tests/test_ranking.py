import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convinse.ranking import bm25_order, bm25_scores
from convinse.text import stem

VOCABULARY = ["album", "band", "song", "guitar", "london", "the", "1975"]
TEXTS = st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=6).map(" ".join), max_size=8)
QUERIES = st.lists(st.sampled_from([*VOCABULARY, "nowhere"]), max_size=4).map(" ".join)


@given(QUERIES, TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_the_texts_does_not_count(query, texts, random):
    shuffled = random.sample(texts, len(texts))
    one = [(texts[place], score) for place, score in bm25_order(query, texts)]
    other = [(shuffled[place], score) for place, score in bm25_order(query, shuffled)]
    assert one == other


@given(QUERIES, TEXTS)
def test_every_text_is_ranked_once_best_first_with_ties_by_text(query, texts):
    order = bm25_order(query, texts)
    assert sorted(place for place, _ in order) == list(range(len(texts)))
    assert [score for _, score in order] == [bm25_scores(query, texts)[place] for place, _ in order]
    keys = [(-score, texts[place], place) for place, score in order]
    assert keys == sorted(keys)


@given(QUERIES, TEXTS)
def test_only_texts_with_a_word_of_the_query_score(query, texts):
    wanted = set(query.split()) - {"the"}  # a stop word
    for text, score in zip(texts, bm25_scores(query, texts), strict=True):
        assert (score > 0) == bool(wanted & set(text.split()))


@given(TEXTS, st.floats(0.1, 5))
@settings(max_examples=30)
def test_a_score_is_linear_in_its_words(texts, weight):
    words = {stem("album"): 1.0, stem("guitar"): weight}
    total = bm25_scores(words, texts)
    parts = zip(bm25_scores("album", texts), bm25_scores("guitar", texts), strict=True)
    assert total == pytest.approx([one + weight * other for one, other in parts], abs=1e-4)


def test_a_rarer_and_a_repeated_word_count_more():
    scores = bm25_scores("band album", ["band london", "band guitar", "band song", "album 1975"])
    assert scores[3] > scores[0] == scores[1] == scores[2] > 0
    once, twice = bm25_scores("album", ["album other", "album album"])
    assert twice > once


@pytest.mark.parametrize("query", ["", "the of", "nowhere", {}, {"album": 0.0}, {"album": -1.0}, {"nowhere": 2.0}])
def test_nothing_to_look_for_scores_nothing(query):
    assert bm25_scores(query, ["album", "the"]) == [0.0, 0.0]
    assert bm25_order(query, ["b", "a"]) == [(1, 0.0), (0, 0.0)]


def test_no_texts():
    assert bm25_scores("album", []) == []
    assert bm25_order("album", []) == []


def test_ranking_is_silent(capfd):
    bm25_scores("album", ["album", "band"])
    assert capfd.readouterr() == ("", "")
