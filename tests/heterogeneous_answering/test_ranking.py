"""Candidates of several origins as one ranking."""

import pytest

from convinse.heterogeneous_answering.ranking import AnswerCandidate, answers, in_shares, in_years, merged, ordered

DAY, JUNE, YEAR = (f"{date}T00:00:00Z" for date in ("1952-03-11", "1953-06-01", "1952-01-01"))


def candidates(*pairs, reason="reader"):
    """Candidates of (id, score), each supported by the evidence of its own place, from 1 on."""
    return [
        AnswerCandidate({"id": name, "label": f"label of {name}"}, score, (place,), (reason,))
        for place, (name, score) in enumerate(pairs, 1)
    ]


def shown(given):
    return [(candidate.entity["id"], candidate.score) for candidate in given]


def ids(given):
    return [candidate.entity["id"] for candidate in given]


READ = candidates(("A", 0.5), ("B", 0.3), ("C", 0.2))
VOTED = candidates(("C", 0.6), ("D", 0.4), reason="votes")


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.0, [("A", 0.5), ("B", 0.3), ("C", 0.2)]),
        (0.25, [("A", 0.375), ("C", 0.3), ("B", 0.225), ("D", 0.1)]),
        (0.5, [("C", 0.4), ("A", 0.25), ("D", 0.2), ("B", 0.15)]),
        (1.0, [("C", 0.6), ("D", 0.4)]),
    ],
)
def test_scores_are_added_by_their_weights(share, expected):
    both = merged((1 - share, READ), (share, VOTED))
    assert shown(both) == [(name, pytest.approx(score)) for name, score in expected]
    other_way = merged((share, VOTED), (1 - share, READ))
    assert shown(other_way) == [(name, pytest.approx(score)) for name, score in expected]


def test_an_answer_of_both_has_the_reasons_of_both_and_label_and_places_of_the_first():
    again = AnswerCandidate({"id": "A", "label": "another label"}, 1.0, (7, 8, 9), ("votes",))
    best, *_ = merged((0.1, READ), (0.9, [again]))
    assert best == ({"id": "A", "label": "label of A"}, pytest.approx(0.95), (1,), ("reader", "votes"))
    assert merged((1.0, []), (0.9, [again])) == [again._replace(score=0.9)]
    assert merged((0.0, READ), (0.9, [again])) == [again._replace(score=0.9)]  # what has no weight is no reason
    assert merged((1.0, READ), (0.0, [again]))[0].reasons == ("reader",)


def test_of_equal_scores_dates_go_by_age_and_others_by_the_place_of_their_evidence():
    assert ids(ordered(candidates((DAY, 0.3), (YEAR, 0.3), (JUNE, 0.4)))) == [JUNE, YEAR, DAY]
    equal = candidates(("Q9", 0.4), ("Q10", 0.4), ("Q7", 0.2))
    assert ids(ordered(equal[::-1])) == ["Q9", "Q10", "Q7"]
    assert ids(ordered([candidate._replace(places=()) for candidate in equal])) == ["Q10", "Q9", "Q7"]
    unequal_in_the_last_digit = candidates(("a", 0.3), ("b", 0.1 + 0.2))
    assert ids(ordered(unequal_in_the_last_digit)) == ["a", "b"]


def test_shares_are_of_all_and_what_has_none_is_left_out():
    assert shown(in_shares(candidates(("A", 1.0), ("B", 0.0), ("C", 3.0)))) == [("C", 0.75), ("A", 0.25)]
    assert in_shares([]) == in_shares(candidates(("A", 0.0))) == []
    assert shown(merged((0.5, candidates(("A", 1.0), ("B", 0.0), ("C", 1e-7))))) == [("A", 0.5)]


def test_dates_of_one_year_are_one_answer_in_years():
    given = candidates((JUNE, 0.4), (DAY, 0.35), (YEAR, 0.2), ("7", 0.05), reason="dates")
    years = in_years(given)
    assert [candidate.entity["label"] for candidate in years] == ["1952", "1953", "label of 7"]
    assert ids(years) == [YEAR, "1953-01-01T00:00:00Z", "7"]
    assert years[0].score == pytest.approx(0.55) and years[0].places == (2,)
    assert given[1].entity["id"] == DAY and given[1].score == 0.35  # not changed
    assert in_years([]) == []


def test_answers_have_ranks_and_at_most_three_evidences_and_are_copies():
    given = [READ[0]._replace(places=(4, 2, 7, 1), reasons=("reader", "votes"), score=0.12345678), READ[1]]
    first, second = answers(given, 10)
    assert first == {
        "answer": {"id": "A", "label": "label of A"}, "score": 0.123457, "rank": 1, "evidences": [4, 2, 7],
        "reasons": ["reader", "votes"],
    }  # fmt: skip
    assert second["rank"] == 2 and answers(given, 1) == [first] and answers(given, 0) == answers([], 3) == []
    first["answer"]["label"] = "changed"
    assert READ[0].entity["label"] == "label of A"
