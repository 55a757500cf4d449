import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.evidence_retrieval_scoring.bm25 import BM25Scorer, QueryExpansion
from evidences import evidence, texts

PROPERTIES = [
    ("P50", "author", ["writer", "written by"]),
    ("P57", "director", ["directed by", "film director"]),
    ("P577", "publication date", ["release date", "released"]),
    ("P26", "spouse", ["wife", "husband", "married to"]),
]


BOOK = [
    evidence("The Hobbit, publication date, 21 September 1937", "kb"),
    evidence("The Hobbit, illustrated the dust jacket himself.", "text"),
    evidence("The Hobbit, author, J. R. R. Tolkien", "kb"),
    evidence("The Hobbit, country, United Kingdom", "kb"),
]


def test_the_evidence_with_the_words_of_the_query_comes_first():
    found = BM25Scorer().rank("Who illustrated the jacket?", BOOK, 10)
    assert found[0]["evidence_text"] == "The Hobbit, illustrated the dust jacket himself."
    assert len(found) == 4
    scores = [one["score"] for one in found]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[-1] == 0
    (best,) = BM25Scorer().rank("illustrating jackets", BOOK, 1)  # word forms do not matter
    assert best["evidence_text"] == found[0]["evidence_text"]


@pytest.mark.parametrize(("word_asked", "distractor"), [("before", "after"), ("after", "before"), ("most", "more")])
def test_words_that_carry_the_question_tell_evidences_apart(word_asked, distractor):
    texts = [f"The Hobbit sold {word} of all, 1937." for word in sorted((word_asked, distractor))]
    (best,) = BM25Scorer().rank(f"What sold {word_asked}?", [evidence(text, "text") for text in texts], 1)
    assert word_asked in best["evidence_text"]


def test_expansion_bridges_question_words_and_property_names():
    scorer = BM25Scorer(QueryExpansion(PROPERTIES))
    for question, best in [
        ("Who wrote The Hobbit?", "The Hobbit, author, J. R. R. Tolkien"),
        ("the writer of The Hobbit", "The Hobbit, author, J. R. R. Tolkien"),
        ("When did The Hobbit come out?", "The Hobbit, publication date, 21 September 1937"),
    ]:
        assert scorer.rank(question, BOOK, 4)[0]["evidence_text"] == best, question
    assert [one["score"] for one in BM25Scorer().rank("Who wrote it?", BOOK, 4)] == [0] * 4  # no word in common
    assert [one["score"] > 0 for one in scorer.rank("Who wrote it?", BOOK, 4)] == [True, False, False, False]


def test_own_words_weigh_more_than_added_ones():
    weights = QueryExpansion(PROPERTIES).weights("Who wrote it?")
    assert weights["wrote"] == 1
    assert 0 < weights["author"] < 1
    assert QueryExpansion([]).weights("green jacket") == {"green": 1, "jacket": 1}
    weights = QueryExpansion(PROPERTIES).weights("his wife")  # of several aliases
    assert "spous" in weights and "publication" not in weights


def test_a_word_of_an_alias_that_means_something_else_alone_is_no_bridge():
    properties = [("P800", "notable work", ["is known for", "works"]), ("P57", "director", ["directed by"])]
    weights = QueryExpansion(properties).weights("known directed works")
    assert "director" in weights and "notabl" in weights  # by "directed by" and by "works"
    assert "notabl" not in QueryExpansion(properties).weights("when was it known")


def test_names_of_the_items_weigh_less_than_what_is_asked():
    named = {"retrieved_for_entity": {"id": "Q74287", "label": "The Hobbit"}}

    def scores(**more):
        evidences = [evidence("Hobbit", **more), evidence("a jacket", **more), evidence("something else", **more)]
        found = BM25Scorer(QueryExpansion([])).rank("Hobbit jacket", evidences, 3)
        return {one["evidence_text"]: one["score"] for one in found}

    assert scores(**named)["Hobbit"] < scores()["Hobbit"]
    assert scores(**named)["a jacket"] == scores()["a jacket"] > 0


@given(
    st.lists(st.tuples(st.sampled_from(["dust", "jacket", "dust jacket", "z", "a"]), st.sampled_from(["kb", "text"]))),
    st.integers(0, 12),
)
def test_fewer_are_the_first_of_all(some, top_k):
    evidences = [evidence(text, source) for text, source in some]
    scorer = BM25Scorer()
    assert scorer.rank("dust jacket", evidences, top_k) == scorer.rank("dust jacket", evidences, 99)[:top_k]


def test_a_query_without_words_scores_nothing_and_keeps_all():
    found = BM25Scorer(QueryExpansion(PROPERTIES)).rank(" || || ", BOOK, 10)
    assert [one["score"] for one in found] == [0] * 4
    assert texts(found) == sorted(texts(BOOK))
