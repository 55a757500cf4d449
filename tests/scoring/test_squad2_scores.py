"""The scores of SQuAD 2.0, by hand (tests/cases/extractive_scores.yml), beside the plain rules and by brute force."""

import plain_rules
import pytest
from hypothesis import given
from hypothesis import strategies as st

from case_tables import each_case
from convinse.scoring.squad2 import evaluate
from convinse.support.errors import ScoringError

TEXTS = st.lists(st.sampled_from(["the", "a", "cat", "dog", "Cat.", "?", "—"]), max_size=3).map(" ".join)
PROBABILITIES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5, 0.75, 1.0])
QUESTIONS = st.lists(st.tuples(st.lists(TEXTS, max_size=3), TEXTS, PROBABILITIES), min_size=1, max_size=8)


@each_case("extractive_scores", "squad2")
def test_scores_by_hand(case):
    result = evaluate({"q": case["gold"]}, {"q": case["squad2"]})
    group = "HasAns_" if case["gold"] else "NoAns_"
    values = {"exact": case["exact"], "f1": pytest.approx(case["f1"]), "total": 1}
    assert result == {**values, **{group + name: value for name, value in values.items()}}


def test_a_missing_prediction_is_skipped_with_a_warning(caplog):
    result = evaluate({"a": ["x"], "b": ["y"], "c": []}, {"a": "x", "other": "x"}, {"a": 0.5})
    assert result == {
        "exact": 100.0, "f1": 100.0, "total": 1, "HasAns_exact": 100.0, "HasAns_f1": 100.0, "HasAns_total": 1,
        "best_exact": 100.0, "best_exact_thresh": 0.5, "best_f1": 100.0, "best_f1_thresh": 0.5,
    }  # fmt: skip
    assert caplog.messages == ["2 of 3 questions have no prediction and are skipped: b, c"]
    assert caplog.records[0].levelname == "WARNING"


def test_groups_thresholds_and_the_order_of_the_keys():
    answers = {"a": ["one two"], "b": ["three"], "c": [], "d": []}
    predictions = {"a": "one", "b": "four", "c": "five", "d": ""}
    na_probs = {"a": 0.2, "b": 0.6, "c": 0.4, "d": 0.9}
    # walk: 2 unanswerable; +2/3 (a, F1) or +0 (exact); -1 (c); 0 (b); 0 (d)
    expected = {
        "exact": 25.0, "f1": 100 * (2 / 3 + 1) / 4, "total": 4,
        "HasAns_exact": 0.0, "HasAns_f1": 100 / 3, "HasAns_total": 2,
        "NoAns_exact": 50.0, "NoAns_f1": 50.0, "NoAns_total": 2,
        "best_exact": 50.0, "best_exact_thresh": 0.0, "best_f1": 100 * (2 + 2 / 3) / 4, "best_f1_thresh": 0.2,
    }  # fmt: skip
    result = evaluate(answers, predictions, na_probs)
    assert result == pytest.approx(expected)
    assert list(result) == list(expected)
    above = evaluate(answers, predictions, na_probs, na_prob_thresh=0.4)  # c is at the threshold, not above it
    assert (above["exact"], above["NoAns_exact"], above["HasAns_f1"]) == (25.0, 50.0, pytest.approx(100 / 3))
    above = evaluate(answers, predictions, na_probs, na_prob_thresh=0.3)
    assert (above["exact"], above["NoAns_exact"]) == (50.0, 100.0)
    assert above["best_f1"] == result["best_f1"]  # found on the scores without a threshold


@each_case("unscorable", "squad2")
def test_questions_that_cannot_be_scored(case):
    with pytest.raises(ScoringError, match=case["squad2"]):
        evaluate(case["answers"], case["predictions"], case["na_probs"])


@given(QUESTIONS, st.sampled_from([0.0, 0.25, 0.6, 1.0]), st.booleans())
def test_the_same_as_the_plain_rules(questions, threshold, with_probabilities):
    answers, predictions, na_probs = plain_rules.columns(questions)
    na_probs = na_probs if with_probabilities else None
    result = evaluate(answers, predictions, na_probs, threshold)
    assert result == plain_rules.squad2(answers, predictions, na_probs, threshold)
    assert all(0.0 <= value <= 100.0 for name, value in result.items() if not name.endswith("total"))


@given(
    st.lists(st.tuples(st.lists(TEXTS, max_size=2), st.sampled_from(["", "cat", "dog cat"])), min_size=1, max_size=7)
)
def test_thresholds_are_optimal_by_brute_force(questions):
    """Where no two probabilities are equal: no set of the surest questions does better, and the threshold gives the value."""
    answers, predictions = plain_rules.columns([(*question, None) for question in questions])[:2]
    na_probs = {qid: (number * 3 % 7 + 1) / 10 for number, qid in enumerate(answers)}
    result = evaluate(answers, predictions, na_probs)
    for name in ("exact", "f1"):
        thresholds = (0.0, *na_probs.values())
        by_threshold = {place: evaluate(answers, predictions, na_probs, place)[name] for place in thresholds}
        best, threshold = result[f"best_{name}"], result[f"best_{name}_thresh"]
        assert best == pytest.approx(max(by_threshold.values()))
        assert by_threshold[threshold] == pytest.approx(best)
        assert threshold == min(place for place, value in by_threshold.items() if value == pytest.approx(best))
