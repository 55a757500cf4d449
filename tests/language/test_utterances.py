"""Words around a question, and questions inside it."""

from case_tables import each_case
from convinse.language.language import english


@each_case("utterances")
def test_words_around_a_question(case):
    talk, utterance = english().talk, case["utterance"]
    if "bare" in case:
        assert talk.bare(utterance) == case["bare"]
    if "topic" in case:
        found = talk.topic_first(utterance)
        assert found == (case["topic"] and (case["topic"], case["named"]))
    if "replacement" in case:
        assert talk.replacement(utterance) == case["replacement"]


@each_case("steps")
def test_questions_inside_a_question(case):
    text = case["question"]
    names = [(text.index(name), text.index(name) + len(name)) for name in case["names"]]
    parts = english().steps.descriptions(text, names, has_topic=case.get("topic", False))
    found = {text[part.start : part.end]: part.question for part in parts}
    assert found == case.get("parts", {})
