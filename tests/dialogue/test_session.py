"""A conversation that goes on: what a turn costs, what is kept, and that a failing turn changes nothing."""

import copy
import json

import pytest

from case_tables import each_case
from convinse import HeterogeneousAnswering
from convinse.dialogue.session import NextQuestion, ask_together
from convinse.records.evidence import SOURCES
from convinse.records.replies import SpokenReply
from convinse.support.errors import DataError, ModuleError
from convinse.testing import without
from memory import memory_below
from refusals import refused
from test_pipeline import CONFIG, FixedAnswer, Recorder, make

QUESTIONS = ["Who directed the film Titanic?", "When was he born?", "And where?"]


@pytest.fixture(scope="module")
def answered(lexical):
    return lexical.ask(QUESTIONS, "kb_text")


def counting():
    """A pipeline that answers at once, and its question understanding, which knows what it was told."""
    qu = Recorder(CONFIG)
    return make(qu), qu


class Failing(HeterogeneousAnswering):
    """Fails on questions with `fail`; gives what is not JSON to those with `odd`."""

    def inference_on_turn(self, turn, sources):
        if "fail" in turn["question"]:
            raise ValueError("as asked")
        if "odd" in turn["question"]:
            turn["odd"] = object()
        return [{"answer": {"id": "Q9", "label": "nine"}, "score": 1.0, "rank": 1}]


def test_a_session_answers_as_the_whole_conversation(lexical, answered):
    session = lexical.session("kb_text")
    assert [session.ask(question) for question in QUESTIONS] == answered["questions"]
    assert session.conversation == answered
    (run,) = lexical.run([answered], "kb_text", use_gold_answers=False)
    spoken = SpokenReply.__annotations__
    assert run["questions"] == [without(turn, *spoken) for turn in answered["questions"]]
    assert session.sources == ("kb", "text") and len(session) == 3


def test_what_a_thing_is_is_a_sentence_or_its_description_and_what_follows_is_about_the_thing(lexical):
    session = lexical.session(SOURCES)
    described = session.ask("Who directed Jaws?"), session.ask("tell me about Titanic"), session.ask("how long is it")
    assert described[1]["pred_answers"][0]["answer"]["id"] == "Q44578"
    assert described[1]["pred_answers"][0]["answer"]["label"].startswith("Titanic is a 1997 American")
    assert "Titanic" in described[2]["resolved_question"] and "1997" not in described[2]["resolved_question"]
    author = session.ask("who was Jane Austen")
    best = author["pred_answers"][0]
    assert (best["answer"]["label"], best["reasons"]) == ("English novelist", ["definition"])
    assert (
        author["top_evidences"][best["evidences"][0]]["evidence_text"] == "Jane Austen, description, English novelist"
    )
    assert session.ask("what is The X-Files")["pred_answers"][0]["reasons"] == ["definition"]  # no talk of sources
    assert session.ask("are you sure it is The X-Files?")["act"] == "doubt"
    unknown = session.ask("tell me about flarbo mint")["pred_answers"]
    assert all("definition" not in ranked.get("reasons", ()) for ranked in unknown)


def test_a_turn_costs_one_turn():
    pipeline, qu = counting()
    session = pipeline.session("kb")
    for number in range(3):
        session.ask(f"{number}?")
    assert qu.histories == [[], [("0?", ["Q9"])], [("0?", ["Q9"]), ("1?", ["Q9"])]]


def test_an_answer_that_was_abstained_from_is_text_to_later_turns():
    class Unsure(FixedAnswer):
        def inference_on_turn(self, turn, sources):
            turn["abstained"] = {"reason": "not sure"}
            return super().inference_on_turn(turn, sources)

    qu = Recorder(CONFIG)
    make(qu, ha=Unsure(CONFIG)).ask(["a?", "b?"], "kb")
    assert qu.histories == [[], [("a?", ["nine"])]]


def test_a_session_is_taken_up_from_its_json(lexical, answered):
    begun = {**answered, "conv_id": "mine", "note": 1, "questions": answered["questions"][:2]}
    session = lexical.session("kb_text", json.loads(json.dumps(begun)))
    assert session.conversation == begun
    assert session.ask(QUESTIONS[2]) == answered["questions"][2]
    assert session.conversation == {**answered, "conv_id": "mine", "note": 1}


def test_changing_a_returned_turn_changes_nothing():
    pipeline, qu = counting()
    session = pipeline.session("kb")
    returned = session.ask("a?")
    copied = copy.deepcopy(returned)
    returned["pred_answers"][0]["answer"]["id"] = "Q1"
    session.conversation["questions"].clear()
    assert session.conversation["questions"] == [copied]
    session.ask("b?")
    assert qu.histories[1] == [("a?", ["Q9"])]


@pytest.mark.parametrize(
    ("question", "error"),
    [("fail", ValueError), ("odd?", ModuleError), ("", DataError), ("stopped", KeyboardInterrupt)],
)
def test_a_turn_that_fails_leaves_its_session_as_it_was(question, error):
    def progress(stage, turn):
        if stage == "ers" and turn["question"] == "stopped":
            raise KeyboardInterrupt

    session = make(ha=Failing(CONFIG)).session("kb")
    session.ask("a?")
    before = session.conversation
    with pytest.raises(error):
        session.ask(question, progress)
    assert session.conversation == before
    assert session.ask("b?")["turn"] == 1


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("x" * 2001, "2001 characters; 2000"),
        (None, "NoneType, not text"),
        ("a\ud800", "character 2"),
    ],
)
def test_invalid_questions_are_refused(question, words):
    session = counting()[0].session("kb")
    refused(DataError, lambda: session.ask(question), words)
    (result,) = ask_together([NextQuestion(session, question)])
    assert isinstance(result, DataError) and len(session) == 0


def turn_with(**keys):
    return {"conv_id": "a", "questions": [{"question": "a?", "structured_representation": "a", "pred_answers": [], **keys}]}  # fmt: skip


def cannot_be_taken_up(conversation, words):
    with pytest.raises(DataError, match=words) as caught:
        counting()[0].session("kb", conversation)
    assert "\n" not in str(caught.value)


@each_case("conversations")
def test_an_invalid_conversation_is_refused(case):
    cannot_be_taken_up(turn_with(**case["turn"]) if "turn" in case else case["conversation"], case["says"])


def test_a_conversation_of_too_long_or_no_texts_is_refused():
    cannot_be_taken_up(turn_with(question="x" * 2001), "2000")
    cannot_be_taken_up(turn_with(top_evidences=[object()]), "not JSON")


def test_sessions_asked_together_are_answered_as_alone(lexical, answered):
    first, second, third = (lexical.session(sources, answered) for sources in ("kb_text", "kb_text", "kb"))
    first.back()
    second.back()
    second.back()
    alone = lexical.session("kb", answered).ask("Who is his wife?")
    next_questions = [NextQuestion(first, QUESTIONS[2]), NextQuestion(second, QUESTIONS[1]), NextQuestion(third, "Who is his wife?")]  # fmt: skip
    assert ask_together(next_questions) == [answered["questions"][2], answered["questions"][1], alone]
    assert first.conversation == answered and len(second) == 2 and len(third) == 4


def test_sessions_asked_together_share_batches():
    batches = []

    class OfBatches(Recorder):
        def inference_on_turns(self, turns, histories):
            batches.append(len(turns))
            return ["x"] * len(turns)

    pipeline = make(OfBatches(CONFIG))
    sessions = [pipeline.session(sources) for sources in ("kb", "text", "kb", "kb")]
    ask_together([NextQuestion(session, "a?") for session in sessions])
    assert batches == [3, 1] and all(len(session) == 1 for session in sessions)


def test_one_of_several_that_fails_fails_alone():
    def gone(stage, turn):
        raise ConnectionError

    pipeline = make(ha=Failing(CONFIG))
    questions = ["a?", "fail", "odd?", "", "b?", "c?"]
    sessions = [pipeline.session("kb") for _ in questions]
    next_questions = [NextQuestion(session, question) for session, question in zip(sessions, questions, strict=True)]
    next_questions[4] = next_questions[4]._replace(progress=gone)
    results = ask_together(next_questions)
    assert [type(result) for result in results] == [dict, ValueError, ModuleError, DataError, ConnectionError, dict]
    assert [len(session) for session in sessions] == [1, 0, 0, 0, 0, 1]


def test_abandoned_turns_are_not_computed_to_their_end():
    class Never(HeterogeneousAnswering):
        def inference_on_turn(self, turn, sources):
            raise AssertionError

    def gone(stage, turn):
        if stage == "ers":
            raise ConnectionError

    pipeline = make(ha=Never(CONFIG))
    results = ask_together([NextQuestion(pipeline.session("kb"), "a?", gone) for _ in range(2)])
    assert [type(result) for result in results] == [ConnectionError, ConnectionError]


def test_one_session_twice():
    session = counting()[0].session("kb")
    refused(DataError, lambda: ask_together([NextQuestion(session, "a?")] * 2), "asked twice")
    assert len(session) == 0


@pytest.mark.slow
def test_a_thousand_open_sessions_are_small(lexical, answered):
    """Of three turns with 100 evidences: 200 MB for 1,000."""
    with memory_below(4e6):
        sessions = [lexical.session("kb_text", answered) for _ in range(20)]
    assert len(sessions) == 20


def test_a_copy_goes_on_by_itself(lexical):
    session = lexical.session("kb")
    session.ask("who directed Titanic?")
    copy = session.copy()
    copy.sources = "kb_text"
    assert copy.back()["question"] == "who directed Titanic?"
    copy.ask("who directed Avatar?")
    copy.ask("when was it released?")
    assert (len(session), session.sources, len(copy)) == (1, ("kb",), 2)
    assert session.conversation["questions"][0]["question"] == "who directed Titanic?"
