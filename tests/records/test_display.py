"""How turns, answers, evidences, conversations and sessions are shown: a line, and HTML in a notebook."""

import copy
import json
import pickle
import pprint

import msgspec
import pytest

from convinse import Pipeline
from convinse.records.display import turn_record
from evidences import evidence


@pytest.fixture(scope="module")
def answered():
    with Pipeline("lexical.yml") as pipeline:
        session = pipeline.session("kb_text")
        session.ask("Who directed the film Titanic?")
        return pipeline.ask(["Who directed the film Titanic?", "thanks"]), session


def test_what_python_returns_is_shown_in_a_line_and_in_little_html(answered):
    conversation, session = answered
    turn, thanks = conversation["questions"]
    answer, fact = turn["pred_answers"][0], turn["top_evidences"][0]
    assert repr(answer).startswith("<1. James Cameron (Q42574), 0.")
    assert repr(turn).startswith("<Turn 0: 'Who directed the film Titanic?' -> James Cameron (0.")
    assert repr(thanks).startswith("<Turn 1: 'thanks' -> You are welcome.")
    assert repr(fact).startswith(f"<{fact['source']} ") and fact["evidence_text"] in repr(fact)
    assert repr(conversation).startswith("<Conversation 'ask', turns: 2, last <Turn 1: 'thanks'")
    assert repr(session).startswith("<Session over kb_text: <Conversation 'ask', turns: 1, last <Turn 0:")
    for shown in (turn, answer, fact, conversation, session):
        assert len(repr(shown)) < 500 and len(pprint.pformat(shown)) < 700
        assert 20 < len(shown._repr_html_()) < 4000


def test_it_stays_a_dictionary(answered):
    conversation, session = answered
    text = json.dumps(conversation)
    plain = json.loads(text)
    assert conversation == plain == msgspec.json.decode(msgspec.json.encode(conversation))
    for copied in (copy.deepcopy(conversation), pickle.loads(pickle.dumps(conversation))):
        assert json.dumps(copied) == text
        assert repr(copied) == repr(conversation)
    turn = session.copy().back()
    assert turn == session.conversation["questions"][0] and repr(turn) == repr(session.conversation["questions"][0])


def test_texts_are_escaped_and_cut():
    hostile = "<script>alert(1)</script>"
    answer = {"answer": {"id": f'Q1"{hostile}', "label": hostile}, "score": 1, "rank": 1, "evidences": [0]}
    found = {"pred_answers": [answer], "top_evidences": [evidence(hostile * 99, hostile)]}
    turn = turn_record({"turn": 0, "question": hostile, "sentence": hostile, **found})
    for shown in (turn, *turn["pred_answers"], *turn["top_evidences"]):
        assert "<script" not in shown._repr_html_() and len(repr(shown)) < 500


ONE = {"answer": {"id": "Q1", "label": "one"}, "rank": 1}


@pytest.mark.parametrize(
    ("keys", "reply"),
    [
        ({}, "no answer"),
        ({"pred_answers": []}, "no answer"),
        ({"clarification": {"question": "Which one?", "choices": []}}, "Which one?"),
        ({"pred_answers": [ONE]}, "one ()"),
        ({"pred_answers": [{**ONE, "score": 0.1}], "abstained": {"reason": "low"}}, "not sure: one (0.100)"),
    ],
)
def test_the_reply_of_a_turn(keys, reply):
    turn = turn_record({"turn": 3, "question": "who?", **keys})
    assert repr(turn) == f"<Turn 3: 'who?' -> {reply}>" and reply in turn._repr_html_()
