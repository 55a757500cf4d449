"""Conversations over HTTP: turns, their queue, the limits of memory, figures, the end of the service."""

import json
import random
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from convinse.serving.api import ServiceOptions, create_app
from loopback import served
from patience import PATIENCE, wait_until
from services import ask, begun, events, exchange, turn_of

QUESTIONS = ["who directed Titanic?", "when was it released?", "who directed Avatar?"]
STREAM = {"Accept": "text/event-stream"}
pytestmark = pytest.mark.usefixtures("released")


@pytest.fixture(scope="module")
def server(pipeline):
    with served(create_app(pipeline, ServiceOptions(sources="kb_text"))) as port:
        yield port


def serving(pipeline, **options):
    return served(create_app(pipeline, ServiceOptions(**options)))


def refused(port, path, value, status=400, method="POST"):
    error = exchange(port, method, path, value, status)["error"]
    assert "\n" not in error and "secret" not in error
    return error


def figure(port, name):
    """A figure of Prometheus."""
    text = ask(port, "GET", "/metrics")[2].decode()
    match = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(match[1]) if match else 0.0


def waiting(port):
    return figure(port, "convinse_waiting")


def asking(port, path, question, headers=""):
    """A client that has sent its question and has not read the answer."""
    body = json.dumps({"question": question}).encode()
    client = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
    client.sendall(head.encode() + body)
    return client


@contextmanager
def held_turn(pipeline, port, path, question=QUESTIONS[0], headers=""):
    """A client whose turn the pipeline has begun, and computes when `go` is set."""
    pipeline.hold()
    with asking(port, f"{path}/turns", question, headers) as client:
        assert pipeline.entered.wait(PATIENCE)
        yield client


# -- turns -------------------------------------------------------------------------------------------------------------


def test_a_conversation_is_that_of_the_pipeline(server, pipeline):
    path = begun(server)
    turns = [turn_of(server, path, question) for question in QUESTIONS]
    assert turns == pipeline.ask(QUESTIONS, "kb_text")["questions"]
    found = exchange(server, "GET", path)
    assert (found["sources"], found["turns"], found["conversation"]["questions"]) == ("kb_text", 3, turns)


def test_a_stored_conversation_is_taken_up(server, pipeline):
    stored = json.loads(json.dumps(pipeline.ask(QUESTIONS[:1], "kb")))
    path = begun(server, conversation=stored, sources=["kb"])
    assert turn_of(server, path, QUESTIONS[1]) == pipeline.ask(QUESTIONS[:2], "kb")["questions"][1]


def test_the_stages_are_told_of(server, pipeline):
    path = f"{begun(server)}/turns"
    status, headers, body = ask(server, "POST", path, {"question": QUESTIONS[0]}, **STREAM)
    assert status == 200 and headers["Content-Type"].startswith("text/event-stream")
    (first, *stages, last) = events(body)
    assert first == ("waiting", {}) and last == ("turn", pipeline.ask(QUESTIONS[:1], "kb_text")["questions"][0])
    assert [(name, stage["stage"]) for name, stage in stages] == [("stage", "qu"), ("stage", "ers"), ("stage", "ha")]
    assert stages[0][1]["representation"] == last[1]["representation"]
    assert sum(stages[1][1]["evidences"].values()) == len(last[1]["top_evidences"])
    assert stages[2][1]["pred_answers"] == last[1]["pred_answers"]


def test_the_first_event_does_not_wait_for_the_turn(server, pipeline):
    with held_turn(pipeline, server, begun(server), headers="Accept: text/event-stream\r\n") as client:
        received = b""
        while b"event: waiting" not in received:
            received += client.recv(1000)


def test_a_turn_is_asked_again_from_other_sources(server):
    path = begun(server, sources="kb_text")
    turns = [turn_of(server, path, question) for question in QUESTIONS[:2]]
    again = exchange(server, "POST", f"{path}/turns", {"again": True, "sources": ["info"]})
    assert (again["turn"], again["question"]) == (1, QUESTIONS[1])
    assert {evidence["source"] for evidence in again["top_evidences"]} == {"info"}
    state = exchange(server, "GET", path)
    assert state["sources"] == "info" and state["conversation"]["questions"] == [turns[0], again]
    other = turn_of(server, path, "how long is it?", again=True, sources="kb")
    assert (other["turn"], other["question"]) == (1, "how long is it?")
    assert exchange(server, "GET", path)["turns"] == 2


def test_a_turn_that_cannot_be_asked_leaves_the_conversation_as_it_was(server):
    path = begun(server, sources="kb_text")
    turn_of(server, path, QUESTIONS[0])
    before = exchange(server, "GET", path)
    for value, status in (
        ({"again": True, "question": "who will fail?"}, 500),
        ({"again": True, "sources": "kb_wiki"}, 400),
        ({"again": True, "question": " "}, 400),
    ):
        refused(server, f"{path}/turns", value, status)
    assert exchange(server, "GET", path) == before


def test_the_last_turn_is_taken_back(server, pipeline):
    path = begun(server)
    turns = [turn_of(server, path, question) for question in QUESTIONS[:2]]
    assert exchange(server, "DELETE", f"{path}/turns/last")["turns"] == 1
    assert exchange(server, "GET", path)["conversation"]["questions"] == turns[:1]
    with held_turn(pipeline, server, path, QUESTIONS[1]) as client:
        assert "under way" in refused(server, f"{path}/turns/last", None, 409, "DELETE")
        pipeline.go.set()
        assert client.recv(12) == b"HTTP/1.1 200"
    for left in (1, 0):
        assert exchange(server, "DELETE", f"{path}/turns/last")["turns"] == left
    assert "no turn" in refused(server, f"{path}/turns/last", None, 400, "DELETE")


def conversation(**turn):
    understood = {"question": "who?", "structured_representation": "who", "pred_answers": [], "top_evidences": []}
    return {"conversation": {"conv_id": "x", "questions": [{**understood, **turn}]}}


# -- the queue ---------------------------------------------------------------------------------------------------------


def test_a_turn_that_fails_does_not_fail_those_beside_it(server, pipeline, caplog):
    paths = [begun(server) for _ in range(3)]
    pipeline.hold()
    questions = ["who directed Inception?", "who will fail?", "who directed Avatar?"]
    with ThreadPoolExecutor(3) as pool:
        futures = []
        for path, question in zip(paths, questions, strict=True):
            futures.append(pool.submit(ask, server, "POST", f"{path}/turns", {"question": question}))
            assert pipeline.entered.wait(PATIENCE)
            wait_until(lambda: waiting(server) == len(futures) - 1)
        pipeline.go.set()
        assert [future.result()[0] for future in futures] == [200, 500, 200]
    assert "a secret" in caplog.text and "secret" not in str(futures[1].result()[2])
    assert exchange(server, "GET", paths[1])["turns"] == 0
    status, _, body = ask(server, "POST", f"{paths[1]}/turns", {"question": "fail"}, **STREAM)
    failure = {"error": "the server failed; its log says why", "status": 500}
    assert status == 200 and events(body)[-1] == ("error", failure)


def test_a_second_turn_of_a_conversation_is_refused_while_the_first_is_under_way(server, pipeline):
    path = begun(server)
    with held_turn(pipeline, server, path) as client:
        status, headers, _ = ask(server, "POST", f"{path}/turns", {"question": QUESTIONS[1]})
        assert (status, headers["Retry-After"]) == (409, "1")
        assert ask(server, "GET", path)[0] == 200
        pipeline.go.set()
        assert client.recv(12) == b"HTTP/1.1 200"
        wait_until(lambda: ask(server, "POST", f"{path}/turns", {"question": QUESTIONS[1]})[0] == 200)


@pytest.mark.parametrize("accept", ["", "Accept: text/event-stream\r\n"])
def test_the_turn_of_a_client_that_goes_away_ends_before_the_next_stage(server, pipeline, accept):
    path, given_up = begun(server), 'convinse_turns_total{outcome="given_up"}'
    before = figure(server, given_up)
    with held_turn(pipeline, server, path, headers=accept):
        pass
    wait_until(lambda: figure(server, given_up) > before)
    with ThreadPoolExecutor(1) as pool:  # its place is free
        later = pool.submit(turn_of, server, path, QUESTIONS[2])
        wait_until(lambda: waiting(server) == 1)
        pipeline.go.set()
        assert later.result()["turn"] == 0
    assert pipeline.stages == ["qu", "qu", "ers", "ha"]
    assert exchange(server, "GET", path)["turns"] == 1


def test_a_turn_that_takes_too_long(pipeline):
    with serving(pipeline, turn_seconds=0.3) as port:
        path = f"{begun(port)}/turns"
        pipeline.hold()
        status, headers, body = ask(port, "POST", path, {"question": QUESTIONS[0]})
        assert status == 503 and headers["Retry-After"] and b"0.3 s" in body
        status, _, body = ask(port, "POST", path, {"question": QUESTIONS[0]}, **STREAM)
        assert events(body)[-1][0] == "error" and events(body)[-1][1]["status"] == 503
        pipeline.go.set()
        assert exchange(port, "GET", path.removesuffix("/turns"))["turns"] == 0


def test_a_full_queue_says_when_to_come_again(pipeline):
    with serving(pipeline, most_waiting=1) as port:
        paths = [begun(port) for _ in range(3)]
        with held_turn(pipeline, port, paths[0]), asking(port, f"{paths[1]}/turns", QUESTIONS[0]):
            wait_until(lambda: waiting(port) == 1)
            for accept in ("application/json", "text/event-stream"):
                question = {"question": QUESTIONS[0]}
                status, headers, _ = ask(port, "POST", f"{paths[2]}/turns", question, Accept=accept)
                assert (status, headers["Retry-After"]) == (429, "1")
            pipeline.go.set()


# -- memory ------------------------------------------------------------------------------------------------------------


def test_idle_conversations_make_room(pipeline):
    with serving(pipeline, most_conversations=2) as port:
        paths = [begun(port), begun(port)]
        with held_turn(pipeline, port, paths[0]):
            paths.append(begun(port))
            assert [ask(port, "GET", path)[0] for path in paths] == [200, 404, 200]
            assert figure(port, "convinse_conversations_dropped_total") == 1
            with asking(port, f"{paths[2]}/turns", QUESTIONS[0]):
                wait_until(lambda: waiting(port) == 1)
                assert "2 conversations" in refused(port, "/v1/conversations", {}, 429)
                pipeline.go.set()


def test_conversations_have_a_limit_of_bytes(pipeline):
    def stored(size):
        noise = random.Random(7).randbytes(size // 2).hex()  # packs to half of it
        return conversation(note=noise)["conversation"]

    with serving(pipeline, most_bytes=400_000) as port:
        paths = [begun(port, conversation=stored(150_000)) for _ in range(20)]
        assert 1 < figure(port, "convinse_conversations") < 8
        assert [ask(port, "GET", path)[0] for path in (paths[0], paths[-1])] == [404, 200]
        assert "400000 bytes" in refused(port, "/v1/conversations", {"conversation": stored(2_000_000)}, 413)
        for _ in range(8):
            turn_of(port, paths[-1], QUESTIONS[0])  # one that grows makes room, too
        assert ask(port, "GET", paths[-1])[0] == 200 and figure(port, "convinse_conversations") < 8


# -- figures and description -------------------------------------------------------------------------------------------


def counted(port, path, method, status):
    return figure(port, f'convinse_requests_total{{method="{method}",path="{path}",status="{status}"}}')


def test_figures_of_turns_have_their_names_and_few_labels(server):
    turn_of(server, begun(server), QUESTIONS[0])
    for number in range(20):
        ask(server, f"BREW{number}", f"/v1/pot/{number}")
    text = ask(server, "GET", "/metrics")[2].decode()
    names = set(re.findall(r"^(convinse_\w+)", text, re.MULTILINE))
    assert names >= {
        "convinse_requests_total", "convinse_turns_total", "convinse_turn_seconds_bucket", "convinse_turn_seconds_sum",
        "convinse_turn_seconds_count", "convinse_stage_seconds_total", "convinse_batches_total", "convinse_workers",
        "convinse_batched_turns_total", "convinse_conversations", "convinse_conversations_dropped_total", "convinse_waiting",
    }  # fmt: skip
    assert text.count("BREW") == 0 and counted(server, "other", "other", 404) >= 20
    assert figure(server, 'convinse_stage_seconds_total{stage="ers"}') > 0


def test_the_description_has_every_request(server):
    document = exchange(server, "GET", "/openapi.json")
    assert set(document["paths"]) == {
        "/v1/conversations", "/v1/conversations/{id}", "/v1/conversations/{id}/turns", "/v1/conversations/{id}/turns/last",
        "/v1/conversations/{id}/files", "/v1/conversations/{id}/files/{name}", "/v1/conversations/{id}/passages",
        "/v1/conversations/{id}/pages/{page}", "/v1/examples", "/v1/tables/{page}/{table}", "/v1/chat/completions", "/v1/models", "/v1/models/{model}",
        "/healthz", "/metrics",
    }  # fmt: skip


# -- the end -----------------------------------------------------------------------------------------------------------


def test_a_turn_that_outlasts_the_patience_ends_before_the_service_does(pipeline):
    """Its pipeline is closed next."""
    with ExitStack() as clients:
        with served(create_app(pipeline), patience=1) as port:
            clients.enter_context(held_turn(pipeline, port, begun(port)))
            threading.Timer(3, pipeline.go.set).start()
        assert pipeline.stages == ["qu"]
