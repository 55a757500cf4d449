"""Feedback over HTTP: what is kept of it, and what is refused."""

import pytest

from convinse.records.feedback import AnsweredQuestion, Feedback, read_feedback
from convinse.serving.api import ServiceOptions, create_app
from loopback import served
from services import ask, begun, exchange, turn_of

QUESTIONS = ["who directed Titanic?", "when was it released?"]
CAMERON = {"id": "Q42574", "label": "James Cameron"}
pytestmark = pytest.mark.usefixtures("released")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "feedback.jsonl"


@pytest.fixture
def port(pipeline, file):
    with served(create_app(pipeline, ServiceOptions(feedback=file, uploads=True))) as port:
        yield port


def rate(port, path, status=204, **rating):
    found, _, body = ask(port, "POST", f"{path}/feedback", rating)
    assert found == status, body
    return body.decode()


def test_a_rating_is_kept_with_its_question_and_the_history_and_no_id(port, file):
    path = begun(port)
    turns = [turn_of(port, path, question) for question in QUESTIONS]
    rate(port, path, turn=0, rating="up")
    rate(port, path, turn=1, rating="down", answer=" 19 December\n1997", comment="look again")
    first = AnsweredQuestion(QUESTIONS[0], [CAMERON])
    up, down = read_feedback(file)
    assert up == Feedback(conversation=up.conversation, history=[], rated=first, rating="up")
    assert down == Feedback(
        conversation=up.conversation,
        history=[first],
        rated=AnsweredQuestion(QUESTIONS[1], [turns[1]["pred_answers"][0]["answer"]]),
        rating="down",
        answer="19 December 1997",
        comment="look again",
    )
    assert path.rpartition("/")[2] not in file.read_text() and file.stat().st_mode & 0o777 == 0o600
    assert exchange(port, "GET", "/v1/examples")["feedback"] is True


def test_ratings_of_files_and_of_turns_that_are_not_there_are_refused(port, file):
    path = begun(port)
    assert "no turn 3" in rate(port, path, 400, turn=3, rating="up")
    assert "answer" in rate(port, path, 400, turn=0, rating="up", answer="x" * 201)
    ask(port, "PUT", f"{path}/files/ships.txt", b"The Aurelia is six metres long.")
    turn_of(port, path, "How long is the Aurelia?")
    assert "of which nothing is kept" in rate(port, path, 403, turn=0, rating="up")
    assert not file.exists()


def test_what_is_rated_is_the_question_that_was_answered(port, file):
    path = begun(port)
    for said in (QUESTIONS[0], "thanks", "no, Jaws"):
        turn_of(port, path, said)
    assert "asks nothing" in rate(port, path, 400, turn=1, rating="up")
    rate(port, path, turn=2, rating="up")
    (line,) = read_feedback(file)
    assert (line.rated.question, line.history) == ("who directed Jaws?", [AnsweredQuestion(QUESTIONS[0], [CAMERON])])
