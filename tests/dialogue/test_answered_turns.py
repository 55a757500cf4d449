"""What a conversation adds to answered turns."""

import pytest

from convinse import Pipeline, load_config
from convinse.dialogue.answered_turns import confidence
from convinse.dialogue.session import NextQuestion, ask_together
from convinse.records.replies import SpokenReply

KEYS = set(SpokenReply.__annotations__)


def test_a_turn_of_a_conversation_has_what_people_read(lexical):
    session = lexical.session()
    turn = session.ask("Who directed Titanic?")
    assert turn.keys() >= KEYS
    assert turn["sentence"].startswith("James Cameron directed Titanic [")
    reason, evidences = turn["attribution"][0], turn["top_evidences"]
    assert "James Cameron" in evidences[reason["evidence"]]["evidence_text"]
    assert reason["without"] != "James Cameron"
    assert len(turn["follow_ups"]) == 3 and "Who directed Titanic?" not in turn["follow_ups"]
    assert session.conversation["questions"] == [turn]


def test_suggestions_can_be_answered_and_are_new(lexical):
    session = lexical.session()
    turns = [session.ask(question) for question in ("Who directed Titanic?", "When was he born?")]
    assert "When was James Cameron born?" in turns[0]["follow_ups"]
    assert "When was James Cameron born?" not in turns[1]["follow_ups"]
    answered = ask_together([NextQuestion(session.copy(), question) for question in turns[0]["follow_ups"]])
    assert all(turn["pred_answers"] and "abstained" not in turn for turn in answered)
    assert lexical.session("text").ask("Who directed Titanic?")["follow_ups"] == []  # facts are not asked


def test_runs_and_single_questions_of_others_have_none_of_it(lexical):
    unanswered = {"conv_id": "x", "questions": [{"question": "Who directed Titanic?"}]}
    (done,) = lexical.run([unanswered])
    assert KEYS.isdisjoint(done["questions"][0])


def test_reasons_can_be_left_out():
    with Pipeline(load_config("lexical.yml", ers_use_cache=False, attribution=False)) as pipeline:
        turn = pipeline.session().ask("Who directed Titanic?")
    assert "attribution" not in turn and turn["sentence"] == "James Cameron directed Titanic [1]."


@pytest.mark.parametrize(("score", "word"), [(0.7, "likely"), (0.69, "perhaps")])
def test_confidence_in_words(score, word):
    turn = {"pred_answers": [{"answer": {"id": "x", "label": "x"}, "score": score, "rank": 1}]}
    assert confidence(turn) == word
    assert confidence({**turn, "abstained": {"reason": "x"}}) == confidence({"pred_answers": []}) == "not known"
