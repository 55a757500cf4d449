"""Normalisation, F1 of tokens and the scores of MRQA, by hand (tests/cases/extractive_scores.yml) and beside the plain rules."""

import plain_rules
import pytest
from hypothesis import given
from hypothesis import strategies as st

from case_tables import each_case
from convinse.scoring.extractive import normalize, overlap_f1
from convinse.scoring.mrqa import evaluate, macro_average
from convinse.support.errors import ConvinseError, ScoringError

WORDS = ["the", "a", "An", "cat", "cats", "Cat.", "U.S.", "?", "—", "2,000", "책을", "the—cat", "\n"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
GOLD = st.lists(TEXTS, min_size=1, max_size=3)
TOKENS = st.lists(st.sampled_from("abcd"), max_size=6)


# --- the parts that all rules share


@each_case("extractive_scores", "normal")
def test_a_normalised_text_normalises_to_itself(case):
    assert normalize(case["text"]) == case["normal"] == normalize(case["normal"])


@given(st.text(alphabet=st.sampled_from("aAnNtThHeE _-—'’.,!\t\u00a0\u3000İß한《é5"), max_size=30))
def test_normalisation_is_the_plain_one(text):
    assert normalize(text).split() == plain_rules.words(text)


@each_case("extractive_scores", "overlap")
def test_f1_of_tokens(case):
    assert overlap_f1(case["predicted"].split(), case["gold"].split()) == pytest.approx(case["overlap"])


@given(TOKENS, TOKENS)
def test_f1_is_symmetric_in_range_and_the_plain_one(one, other):
    value = overlap_f1(one, other)
    assert value == plain_rules.f1(one, other)
    assert value == pytest.approx(overlap_f1(other, one)) and 0.0 <= value <= 1.0
    assert (value == 1.0) == (bool(one) and sorted(one) == sorted(other))


# --- MRQA


@each_case("extractive_scores", "mrqa")
def test_scores_by_hand(case):
    scores = {"exact_match": case["exact"], "f1": pytest.approx(case["f1"])}
    assert evaluate({"q": case["gold"]}, {"q": case["mrqa"]}) == scores


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), GOLD, min_size=1, max_size=8),
    st.dictionaries(st.sampled_from("abcdefghx"), TEXTS),
)
def test_the_same_as_the_plain_rules(answers, predictions):
    result = evaluate(answers, predictions)
    assert result == plain_rules.mrqa(answers, predictions)
    assert all(0.0 <= value <= 100.0 for value in result.values())


def test_a_missing_prediction_counts_0_with_a_warning_or_is_left_out(caplog):
    answers = {"a": ["x"], "b": ["y"], "c": ["z"], "d": ["z"]}
    assert evaluate(answers, {"a": "x", "other": "y"}) == {"exact_match": 25.0, "f1": 25.0}
    assert caplog.messages == ["3 of 4 questions have no prediction and count 0: b, c, d"]
    assert caplog.records[0].levelname == "WARNING"
    caplog.clear()
    answers = {"a": ["x"], "b": ["y"], "none": []}
    assert evaluate(answers, {"a": "x", "none": ""}, skip_no_answer=True) == {"exact_match": 100.0, "f1": 100.0}
    assert not caplog.messages


def test_without_accepted_answers_or_questions_there_is_no_score():
    with pytest.raises(ScoringError, match="dev: question 'q7' has no accepted answer; --skip-no-answer"):
        evaluate({"q7": []}, {"q7": ""}, name="dev")
    for answers, predictions, skip in (({}, {}, False), ({"q": ["x"]}, {}, True)):
        with pytest.raises(ConvinseError, match="no question"):
            evaluate(answers, predictions, skip)


def test_the_macro_average_weighs_data_sets_equally():
    results = {"small": {"exact_match": 100.0, "f1": 50.0}, "large": {"exact_match": 0.0, "f1": 25.0}}
    assert macro_average(results) == {"exact_match": 50.0, "f1": 37.5}
    with pytest.raises(ScoringError):
        macro_average({})
