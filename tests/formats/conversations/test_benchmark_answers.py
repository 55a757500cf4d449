"""Answers as benchmarks publish them, and the ids and labels of the contract."""

from case_tables import each_case
from convinse.formats.conversations.answers import contract_answer, item_id


@each_case("benchmark_answers")
def test_a_benchmark_answer_becomes_an_id_and_a_label(case):
    text, question = case["text"], case.get("question", "When was it published?")
    answer = contract_answer(text, case.get("label", ""), question)
    assert [*answer.items()] == [("id", case["is"][0]), ("label", case["is"][1])]
    if "label" not in case:
        assert contract_answer(text, "a label", question) == {"id": case["is"][0], "label": "a label"}
    assert contract_answer(answer["id"], answer["label"], question) == answer  # converting again changes nothing
    assert item_id(text) == case.get("item")
