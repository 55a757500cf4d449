"""Talk around questions: what a turn has after it, and what later turns know of it."""

import json
import re

from case_tables import each_case
from convinse.question_understanding.base import history_turn


def _matches(expected, text):
    return text is None if expected is None else text is not None and re.search(expected, text) is not None


@each_case("talk")
def test_talk(lexical, case):
    session = lexical.session("kb_text")
    turn = [session.ask(text) for text in case["said"]][-1]
    assert turn["question"] == case["said"][-1]
    back = turn.get("clarification", {}).get("question")
    entities = [entity["id"] for entity in turn.get("representation", {}).get("entities", [])]
    checks = {
        "answers": lambda expected: bool(turn["pred_answers"]) == expected,
        "act": lambda expected: turn.get("act") == expected,
        "entity": lambda expected: entities == [expected],
        "parts": lambda expected: [part["question"] for part in turn.get("parts", [])] == expected,
        "clarification": lambda expected: _matches(expected, back),
        "in_full": lambda expected: _matches(expected, turn.get("resolved_question")),
        "sentence": lambda expected: _matches(expected, turn.get("sentence")),
        "actual_question": lambda expected: _matches(expected, turn.get("actual_question")),
    }
    assert {key: turn for key, expected in case["has"].items() if not checks[key](expected)} == {}


def test_a_conversation_with_talk_is_taken_up_from_its_json(lexical):
    said = ["hi", "Where is Washington?", "2", "thanks", "Who directed Titanic and when was it released?"]
    session = lexical.session("kb_text")
    for text in said:
        session.ask(text)
    again = lexical.session("kb_text", json.loads(json.dumps(session.conversation)))
    assert again.ask("are you sure?") == session.ask("are you sure?")


def test_other_answers_are_those_that_were_not_said(lexical):
    session = lexical.session("kb_text")
    first, further = session.ask("Who played in Titanic?"), session.ask("others?")
    answers = [answer for answer in first["pred_answers"] if answer.get("list")] or first["pred_answers"][:1]
    said = {answer["answer"]["id"] for answer in answers}
    ids = [answer["answer"]["id"] for answer in further["pred_answers"]]
    assert further["act"] == "more" and said.isdisjoint(ids)
    assert [answer["rank"] for answer in further["pred_answers"]] == list(range(1, len(ids) + 1))


def test_runs_over_data_know_no_talk(lexical):
    turns = [{"turn": 0, "question": "thanks"}, {"turn": 1, "question": "how old is he?"}]
    (done,) = lexical.run([{"conv_id": "a", "questions": turns}], "kb")
    assert not any({"act", "clarification", "sentence"} & turn.keys() for turn in done["questions"])


def test_gold_history_is_as_it_was():
    turn = {"question": "a?", "structured_representation": "a", "answers": [], "act": "more", "pred_answers": []}
    assert "act" not in history_turn(turn, use_gold_answers=True)


def test_later_turns_are_about_the_name_that_nothing_is_known_of_and_not_about_a_guess():
    representation = {"context": [], "entities": [], "predicate": "", "answer_type": "", "candidates": []}
    guess = {"answer": {"id": "Q42574", "label": "James Cameron"}, "score": 0.1, "rank": 1}
    turn = {
        "question": "who is flarbo mint?",
        "representation": {**representation, "unlinked": [{"name": "flarbo mint"}]},
        "pred_answers": [guess],
        "abstained": {"reason": "nothing is known of 'flarbo mint'"},
    }
    later = history_turn(turn, use_gold_answers=False)
    assert later["representation"]["entities"] == [{"id": "flarbo mint", "label": "flarbo mint"}]
    assert later["answers"] == []
