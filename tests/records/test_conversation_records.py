"""Turns as records: what is shown of the question in full."""

from case_tables import each_case
from convinse.records.conversation import read_differently


@each_case("read_differently")
def test_the_question_in_full_is_shown_only_if_it_says_more(case):
    turn = {
        "question": case["typed"],
        "structured_representation": "Titanic || directed",
        "resolved_question": case["full"],
    }
    assert read_differently(turn) == case["shown"]
    part = {**turn, "question": "the whole question", "actual_question": case["typed"]}
    assert read_differently(part) == case["shown"]
