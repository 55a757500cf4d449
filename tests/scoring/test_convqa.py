"""Measures of conversations: ids compared, answers and evidences measured, means over groups, calibration."""

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from convinse.records.evidence import SOURCES
from convinse.scoring.convqa import (
    add_answer_metrics,
    add_answer_presence,
    calibration_error,
    calibration_error_by_chance,
    evaluate,
    has_answer,
    is_answer,
    normalize_id,
)
from finished import entities, evidence


def answered(gold, *predicted):
    ranked = [{"answer": one, "score": 1 / rank, "rank": rank} for rank, one in enumerate(entities(*predicted), 1)]
    return {"question": "?", "answers": entities(*gold), "pred_answers": ranked}


def measured(turn):
    add_answer_metrics(turn)
    return turn.get("p_at_1"), turn.get("mrr"), turn.get("h_at_5")


SAME = [("Q42", "q42"), ('"Yes"', "yes"), ("+5", "5"), (" Q1 ", "Q1"), ("1952-01-01T00:00:00Z", "1952-01-01t00:00:00z")]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_ids_are_compared_without_case_quotes_and_plus_sign(one, other):
    assert normalize_id(one) == normalize_id(other)
    assert is_answer(entities(one)[0], entities(other))
    assert is_answer(entities(other)[0], entities("Q7", one))


@pytest.mark.parametrize("turn", [{"question": "?"}, {"question": "?", "answers": []}])
def test_a_turn_without_gold_answers_is_not_measured(turn):
    assert measured(turn) == (None, None, None)
    add_answer_presence({**turn, "top_evidences": []}, ["kb"])
    assert "answer_presence" not in turn


NAMES = st.sampled_from("abcdefgh")


@given(st.lists(NAMES, unique=True), st.lists(NAMES, min_size=1, unique=True))
@example([], ["a"])
@example(["b", "a"], ["a"])
@example(["c", "b", "a"], ["a", "b"])  # the first right one counts
@example(["b", "c", "d", "e", "a"], ["a"])
@example(["b", "c", "d", "e", "f", "a"], ["a"])
def test_the_measures_agree_with_their_definition(predicted, gold):
    hits = [rank for rank, name in enumerate(predicted, 1) if name in gold]
    expected = (float(hits[:1] == [1]), 1 / hits[0] if hits else 0.0, float(bool(hits) and hits[0] <= 5))
    assert measured(answered(gold, *predicted)) == pytest.approx(expected)


def test_answer_presence_per_source():
    assert not has_answer(evidence("t"), entities("Q1"))
    found = [evidence("t", item, source=source) for item, source in (("Q2", "kb"), ("Q1", "text"), ("Q1", "infobox"))]
    turn = {**answered(["Q1"]), "top_evidences": found}
    add_answer_presence(turn, SOURCES)
    assert turn["answer_presence"] is True
    assert turn["answer_presence_per_src"] == {"kb": False, "text": True, "table": False, "info": True}


def turn(p_at_1, presence):
    measures = {"p_at_1": p_at_1, "mrr": p_at_1, "h_at_5": 1.0, "answer_presence": presence}
    per_source = {"kb": presence, "text": False}
    return {"question": "?", "answers": entities("Q1"), **measures, "answer_presence_per_src": per_source}


def test_the_means_are_over_turns_with_gold_answers_overall_and_per_domain():
    data = [
        {"conv_id": "1", "domain": "books", "questions": [turn(1.0, True), turn(0.0, True), {"question": "no gold"}]},
        {"conv_id": "2", "domain": "movies", "questions": [turn(1.0, False)]},
        {"conv_id": "3", "domain": "music", "questions": [{"question": "no gold", "answers": []}]},
    ]
    result = evaluate(data)
    assert result["num_questions"] == 3
    assert result["p_at_1"] == result["mrr"] == result["answer_presence"] == pytest.approx(2 / 3, abs=1e-4)
    assert result["h_at_5"] == 1.0
    assert result["answer_presence_per_src"] == {"kb": pytest.approx(2 / 3, abs=1e-4), "text": 0.0}
    assert list(result["domains"]) == ["books", "movies"]  # none is measured in music
    assert result["domains"]["books"].items() >= {"p_at_1": 0.5, "num_questions": 2, "answer_presence": 1.0}.items()
    assert result["domains"]["movies"]["answer_presence_per_src"] == {"kb": 0.0, "text": 0.0}


def test_the_means_by_the_number_of_the_turn_and_the_kind_of_the_question():
    numbered = [{**turn(float(number < 2), False), "turn": number} for number in range(11)]
    without_gold = [{"turn": 11, "question": "no gold"}, {"question": "no gold", "kind": "alias"}]
    kinds = [{**turn(0.0, True), "kind": "role"}, {**turn(1.0, True), "kind": "role"}]
    result = evaluate([{"conv_id": "1", "questions": [*numbered, *without_gold]}, {"conv_id": "2", "questions": kinds}])
    assert list(result["turns"]) == [str(number) for number in range(11)]  # 10 comes last
    assert [result["turns"][name]["num_questions"] for name in ("0", "1", "2")] == [2, 2, 1]
    assert [result["turns"][name]["p_at_1"] for name in ("0", "1", "2")] == [0.5, 1.0, 0.0]
    assert result["turns"]["0"]["answer_presence_per_src"] == {"kb": 0.5, "text": 0.0}
    ((kind, means),) = result["kinds"].items()
    assert (kind, means["num_questions"], means["p_at_1"]) == ("role", 2, 0.5)
    assert evaluate([{"conv_id": "1", "questions": [turn(1.0, True)]}])["kinds"] == {}


def test_abstaining_is_right_where_the_question_has_no_answer():
    unanswered = {"question": "?", "answers": [], "kind": "unanswerable"}
    suggestion = {"pred_answers": answered(["Q1"], "Q2")["pred_answers"]}
    unanswerable = [
        {**unanswered, **suggestion}, {**unanswered, "pred_answers": []}, {**unanswered, **suggestion, "abstained": {"reason": "unsure"}}, unanswered,
    ]  # fmt: skip
    unknown = {"question": "no gold", "pred_answers": []}
    result = evaluate([{"conv_id": "1", "questions": [turn(1.0, True), *unanswerable, unknown]}])
    assert result["unanswerable"] == {"num_questions": 4, "abstained": 0.75}
    assert (result["num_questions"], result["p_at_1"], result["kinds"]) == (1, 1.0, {})
    assert evaluate([])["unanswerable"] == {"num_questions": 0, "abstained": 0.0}


def test_abstaining_where_there_is_an_answer_and_the_probabilities_are_measured():
    def scored(right, score, **more):
        answers = [{"answer": {"id": "Q1", "label": ""}, "score": score, "rank": 1}]
        return {"question": "?", "answers": [{"id": "Q1"}], "pred_answers": answers, "p_at_1": float(right), **more}

    unsure = {"abstained": {"reason": "unsure"}}
    turns = [scored(True, 0.9), scored(True, 0.3, **unsure), scored(False, 0.2, **unsure), scored(False, 7.0)]
    result = evaluate([{"conv_id": "1", "questions": [*turns, {**scored(False, 0.0), "pred_answers": []}]}])
    assert result["abstained"] == {"answerable": 0.6, "right": 0.5}
    gaps = (0.9 - 1 + 1.0) + (1 - 0.3) + 0.2 + 0.0  # 7 is not a probability, and counts as 1
    assert result["calibration_error"] == pytest.approx(gaps / 5)
    assert evaluate([])["abstained"] == {"answerable": 0.0, "right": 0.0}


# --- calibration


def test_the_calibration_error_is_the_gap_of_each_bin_weighted_by_its_answers():
    probabilities, right = [0.75, 0.72, 0.25, 0.21, 1.0], [True, False, False, True, False]
    assert calibration_error(probabilities, right) == pytest.approx((abs(1.47 - 1) + abs(0.46 - 1) + 1.0) / 5)
    # bin 0.9: mean 0.95, all right; bin 0.2: mean 0.25, half of them right
    error = calibration_error([0.95, 0.95, 0.2, 0.3 - 1e-9], [True, True, True, False])
    assert error == pytest.approx(0.5 * 0.05 + 0.5 * 0.25)
    assert calibration_error([1.0, 0.0], [True, False]) == 0 == calibration_error([], [])


def test_the_calibration_error_by_chance_is_that_of_true_probabilities_on_average():
    chance = random.Random(0)
    probabilities = [chance.random() for _ in range(130)]
    draws = [
        calibration_error(probabilities, [chance.random() < probability for probability in probabilities])
        for _ in range(400)
    ]
    assert calibration_error_by_chance(probabilities) == pytest.approx(sum(draws) / len(draws), rel=0.05)
    assert calibration_error_by_chance([]) == 0 == calibration_error_by_chance([1.0, 0.0, 1.0])
