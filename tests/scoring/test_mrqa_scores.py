import plain_rules
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.scoring.mrqa import evaluate, macro_average
from convinse.support.errors import ConvinseError, ScoringError

TEXTS = st.lists(
    st.sampled_from(["the", "a", "An", "cat", "cats", "Cat.", "U.S.", "?", "—", "2,000", "책을", "the—cat", "\n"]),
    max_size=4,
).map(" ".join)
ANSWERS = st.dictionaries(
    st.sampled_from("abcdefgh"), st.lists(TEXTS, min_size=1, max_size=3), min_size=1, max_size=8
)  # fmt: skip
PREDICTIONS = st.dictionaries(st.sampled_from("abcdefghx"), TEXTS)


@pytest.mark.parametrize(
    ("gold", "prediction", "exact", "f1"),
    [
        (["Harrison Ford"], "harrison ford.", 100.0, 100.0),
        (["Harrison Ford"], "Ford", 0.0, 200 / 3),
        (["a fine", "the heavy fine"], "heavy fine", 100.0, 100.0),
        (["one two", "two three"], "two three four", 0.0, 80.0),  # the best answer, not the first
        (["one two", "two three"], "zero two three", 0.0, 80.0),
        (["x y z", "x"], "x y", 0.0, 80.0),
        # what sets this scorer apart from SQuAD 2.0's: nothing in common is F1 0
        ([""], "", 100.0, 0.0),
        (["the"], "the", 100.0, 0.0),
        (["the"], "", 100.0, 0.0),
        (["?", "cat"], "an", 100.0, 0.0),
        (["the cat"], "the", 0.0, 0.0),
        (["cat"], "", 0.0, 0.0),
    ],
)
def test_hand_computed(gold, prediction, exact, f1):
    assert evaluate({"q": gold}, {"q": prediction}) == {"exact_match": exact, "f1": pytest.approx(f1)}


def test_a_missing_prediction_counts_0_with_a_warning(caplog):
    answers = {"a": ["x"], "b": ["y"], "c": ["z"], "d": ["z"]}
    assert evaluate(answers, {"a": "x", "other": "y"}) == {"exact_match": 25.0, "f1": 25.0}
    assert caplog.messages == ["3 of 4 questions have no prediction and count 0: b, c, d"]
    assert caplog.records[0].levelname == "WARNING"


def test_questions_without_a_prediction_can_be_left_out(caplog):
    answers = {"a": ["x"], "b": ["y"], "none": []}
    assert evaluate(answers, {"a": "x", "none": ""}, skip_no_answer=True) == {"exact_match": 100.0, "f1": 100.0}
    assert not caplog.messages


def test_what_cannot_be_scored():
    with pytest.raises(ScoringError, match="dev: question 'q7' has no accepted answer; --skip-no-answer"):
        evaluate({"q7": []}, {"q7": ""}, name="dev")
    for answers, predictions, skip in (({}, {}, False), ({"q": ["x"]}, {}, True)):
        with pytest.raises(ConvinseError, match="no question"):
            evaluate(answers, predictions, skip)


@given(ANSWERS, PREDICTIONS)
def test_the_same_as_the_plain_rules(answers, predictions):
    result = evaluate(answers, predictions)
    assert result == plain_rules.mrqa(answers, predictions)
    assert all(0.0 <= value <= 100.0 for value in result.values())


def test_the_macro_average_weighs_data_sets_equally():
    results = {"small": {"exact_match": 100.0, "f1": 50.0}, "large": {"exact_match": 0.0, "f1": 25.0}}
    assert macro_average(results) == {"exact_match": 50.0, "f1": 37.5}
    with pytest.raises(ScoringError):
        macro_average({})
