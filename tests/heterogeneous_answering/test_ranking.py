"""The ranking: probabilities of candidates and of none, its file, and answers in their order."""

import math

import pytest
from answer_models import answer_model, measured_of

from convinse.heterogeneous_answering.ranked_answers import AnswerCandidate, answers, merged, ordered
from convinse.heterogeneous_answering.ranking import FILE, YES_NO_FILE, AnswerRanking
from convinse.heterogeneous_answering.yes_no import YesNoFeatures
from convinse.support.errors import ModelError
from refusals import refused

DAY, JUNE, YEAR = (f"{date}T00:00:00Z" for date in ("1952-03-11", "1953-06-01", "1952-01-01"))


def candidates(*pairs):
    """Candidates of (id, score), each supported by the evidence of its own place, from 1 on."""
    return [
        AnswerCandidate({"id": name, "label": f"label of {name}"}, score, (place,), ("reader",))
        for place, (name, score) in enumerate(pairs, 1)
    ]


def ids(ranked):
    return [candidate.entity["id"] for candidate in ranked]


def test_odds_are_the_exponential_of_weighted_features_and_none_has_its_own():
    model = answer_model(read=1.0, covered=2.0, none_score=3.0, none=-0.5)
    measured = measured_of({"read": -1.0}, {"covered": 0.5}, score=0.2)
    ranked = model.ranked(*measured, lambda _: True)
    odds = {"Q0": math.exp(-1.0), "Q1": math.exp(1.0)}
    total = sum(odds.values()) + math.exp(0.1)
    assert [(answer.entity["id"], pytest.approx(answer.score)) for answer in ranked] == [
        ("Q1", odds["Q1"] / total), ("Q0", odds["Q0"] / total),
    ]  # fmt: skip
    # what is not admitted keeps its share
    assert model.ranked(*measured, lambda candidate: candidate.entity["id"] == "Q0") == [ranked[1]]
    assert model.ranked(*measured_of(), lambda _: True) == []


def test_yes_is_a_logistic_of_its_features():
    model = answer_model(yes_no={"read": 2.0, "none": -0.3})
    assert model.yes(YesNoFeatures(read=0.5, covered=9.0)) == pytest.approx(1 / (1 + math.exp(-1.3)))


@pytest.mark.parametrize("missing", [FILE, YES_NO_FILE])
def test_a_written_ranking_is_read_again_and_needs_both_files(tmp_path, missing):
    model = answer_model(fit=1.0, yes_no={"read": 2.0})
    model.write(tmp_path)
    again = AnswerRanking.read(tmp_path)
    assert (again.candidates, again.yes_no) == (model.candidates, model.yes_no)
    (tmp_path / missing).unlink()
    refused(ModelError, lambda: AnswerRanking.read(tmp_path), "ha_ranker", missing, "train it again")


def test_of_equal_scores_dates_go_by_age_and_others_by_their_evidence():
    assert ids(ordered(candidates((DAY, 0.3), (YEAR, 0.3), (JUNE, 0.4)))) == [JUNE, YEAR, DAY]
    equal = candidates(("Q9", 0.4), ("Q10", 0.4), ("Q7", 0.2))
    assert ids(ordered(equal[::-1])) == ["Q9", "Q10", "Q7"]
    assert ids(ordered(candidates(("a", 0.3), ("b", 0.1 + 0.2)))) == ["a", "b"]  # unequal in the last digit


def test_an_entity_given_twice_has_both_scores():
    twice = [*candidates(("A", 0.3), ("B", 0.4)), AnswerCandidate({"id": "A", "label": "x"}, 0.2, (7,), ("written",))]
    first, second = merged(twice)
    assert first == ({"id": "A", "label": "label of A"}, pytest.approx(0.5), (1,), ("reader", "written"), False)
    assert second.entity["id"] == "B"


def test_answers_have_ranks_and_at_most_three_evidences():
    listed = candidates(("A", 0.5), ("B", 0.3))
    listed = [listed[0]._replace(places=(4, 2, 7, 1), score=0.12345678, is_listed=True), listed[1]]
    first, second = answers(listed, 10)
    assert first == {
        "answer": {"id": "A", "label": "label of A"}, "score": 0.123457, "rank": 1, "evidences": [4, 2, 7],
        "reasons": ["reader"], "list": True,
    }  # fmt: skip
    assert second["rank"] == 2 and "list" not in second
    assert answers(listed, 1) == [first] and answers(listed, 0) == answers([], 3) == []
