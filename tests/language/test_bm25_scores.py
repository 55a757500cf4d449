import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from convinse.language import bm25 as ranking
from convinse.language.language import english

WORDS, BM25 = english().words, english().bm25
VOCABULARY = ["album", "band", "song", "guitar", "london", "the", "1975"]
TEXTS = st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=6).map(" ".join), max_size=8)
QUERIES = st.lists(st.sampled_from([*VOCABULARY, "nowhere"]), max_size=4).map(" ".join)

WEIGHTS = st.dictionaries(st.sampled_from([WORDS.stem(word) for word in [*VOCABULARY, "nowhere"]]), st.floats(-1, 3))
ANY_TEXTS = st.lists(st.text(max_size=12) | st.text(alphabet=st.sampled_from(list("aB é'&\0\n.1s")), max_size=12))


def plain_bm25(weights, texts):
    """The formula as it is printed, one text and one word at a time."""
    documents = [WORDS.stems(text) for text in texts]
    lengths = sum(map(len, documents)) / max(len(documents), 1)
    having = {word: sum(word in document for document in documents) for document in documents for word in document}

    def score(document):
        return sum(
            weight
            * math.log(1 + (len(documents) - having[word] + 0.5) / (having[word] + 0.5))
            * document.count(word)
            / (document.count(word) + 1.5 * (0.25 + 0.75 * len(document) / lengths))
            for word, weight in weights.items()
            if word in document and weight > 0
        )

    return [score(document) for document in documents]


@given(QUERIES | WEIGHTS, TEXTS)
@example("album", ["album other", "album album", "band", "band"])  # one has it twice, two are the same
@example({"album": 0.0, "band": -1.0, "nowhere": 2.0}, ["album", "band", "the"])
@example("the of", [])
def test_the_scores_equal_the_formula(query, texts):
    weights = query if isinstance(query, dict) else dict.fromkeys(WORDS.stems(query), 1.0)
    assert BM25.scores(query, texts) == pytest.approx(plain_bm25(weights, texts), abs=1e-6)


@given(ANY_TEXTS)
def test_texts_of_any_characters_are_read_as_they_are_one_by_one(texts):
    weights = dict.fromkeys([word for text in texts for word in WORDS.stems(text)][:5], 1.0)
    assert BM25.scores(weights, texts) == pytest.approx(plain_bm25(weights, texts), abs=1e-6)


@given(QUERIES, st.lists(TEXTS, min_size=2, max_size=5))
def test_earlier_scores_do_not_change_later_ones(query, turns):
    used = ranking.BM25(WORDS)
    warm = [used.scores(query, texts) for texts in (*turns, *turns)]
    cold = [ranking.BM25(WORDS).scores(query, texts) for texts in turns]
    assert warm == [*cold, *cold]


def test_equal_words_score_equally_wherever_they_stand():
    texts = ["band album", "the album, a band", "album band"] * 40 + ["guitar song"] * 7
    scores = BM25.scores({"band": 0.3, "album": 0.7, "guitar": 0.1}, texts)
    assert len(set(scores[:120])) == 1
    order = [texts[place] for place, _ in BM25.order({"band": 0.3, "album": 0.7}, texts)]
    assert order[:120] == sorted(texts[:120])


@given(QUERIES, TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_the_texts_does_not_count(query, texts, random):
    shuffled = random.sample(texts, len(texts))
    ordered = [
        [(sequence[place], score) for place, score in BM25.order(query, sequence)] for sequence in (texts, shuffled)
    ]
    assert ordered[0] == ordered[1]


@given(QUERIES, TEXTS)
def test_every_text_is_ranked_once_best_first_with_ties_by_text(query, texts):
    order = BM25.order(query, texts)
    assert sorted(place for place, _ in order) == list(range(len(texts)))
    assert [score for _, score in order] == [BM25.scores(query, texts)[place] for place, _ in order]
    keys = [(-score, texts[place], place) for place, score in order]
    assert keys == sorted(keys)
