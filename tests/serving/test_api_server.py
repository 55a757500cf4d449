"""The service of conversations, in a thread, and in a process where a signal ends it."""

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from convinse.serving import api_server, conversation_store
from convinse.serving.api_server import LIMITS, ServiceOptions, create_app
from loopback import served
from places import ROOT
from services import ask, asked, begun, events

QUESTIONS = ["who directed Titanic?", "when was it released?", "who directed Avatar?"]
pytestmark = pytest.mark.usefixtures("released")


@pytest.fixture(scope="module")
def server(pipeline):
    with served(create_app(pipeline, ServiceOptions(sources="kb_text"))) as port:
        yield port


def serving(pipeline, **options):
    limits = replace(LIMITS, **options.pop("limits", {}))
    return served(create_app(pipeline, ServiceOptions(limits=limits, **options)), limits=limits)


def refused(port, path, value, status=400):
    error = asked(port, "POST", path, value, status)["error"]
    assert "\n" not in error and "secret" not in error
    return error


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_conversation_is_that_of_the_pipeline(server, pipeline):
    path = begun(server)
    turns = [asked(server, "POST", f"{path}/turns", {"question": question}) for question in QUESTIONS]
    assert turns == pipeline.ask(QUESTIONS, "kb_text")["questions"]
    found = asked(server, "GET", path)
    assert (found["sources"], found["turns"], found["conversation"]["questions"]) == ("kb_text", 3, turns)


def test_a_stored_conversation_is_taken_up(server, pipeline):
    stored = json.loads(json.dumps(pipeline.ask(QUESTIONS[:1], "kb")))
    path = begun(server, conversation=stored, sources=["kb"])
    turn = asked(server, "POST", f"{path}/turns", {"question": QUESTIONS[1]})
    assert turn == pipeline.ask(QUESTIONS[:2], "kb")["questions"][1]


def test_the_stages_are_told_of(server, pipeline):
    path = begun(server)
    status, headers, body = ask(server, "POST", f"{path}/turns", {"question": QUESTIONS[0]}, Accept="text/event-stream")
    assert status == 200 and headers["Content-Type"].startswith("text/event-stream")
    (waiting, *stages, last) = events(body)
    assert waiting == ("waiting", {}) and last == ("turn", pipeline.ask(QUESTIONS[:1], "kb_text")["questions"][0])
    assert [(name, stage["stage"]) for name, stage in stages] == [("stage", "qu"), ("stage", "ers"), ("stage", "ha")]
    assert stages[0][1]["representation"] == last[1]["representation"]
    assert sum(stages[1][1]["evidences"].values()) == len(last[1]["top_evidences"])
    assert stages[2][1]["pred_answers"] == last[1]["pred_answers"]


def test_the_first_event_does_not_wait_for_the_turn(server, pipeline):
    path = begun(server)
    pipeline.hold()
    with asking(server, f"{path}/turns", QUESTIONS[0], "Accept: text/event-stream\r\n") as client:
        assert pipeline.entered.wait(60)
        received = b""
        while b"event: waiting" not in received:
            received += client.recv(1000)


def test_a_deleted_conversation_is_gone(server):
    path = begun(server)
    assert ask(server, "DELETE", path)[0] == 204
    for method in ("GET", "DELETE"):
        assert "no such conversation" in asked(server, method, path, status=404)["error"]
    assert "no such conversation" in refused(server, f"{path}/turns", {"question": "who"}, 404)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "not JSON"),
        (b"{", 400, "not JSON"),
        (b"[]", 400, "object"),
        (b"[" * 100_000, 400, ""),
        ({}, 400, "question"),
        ({"question": 5}, 400, "question"),
        ({"question": None}, 400, "question"),
        ({"question": "who", "source": "kb"}, 400, "source"),
        ({"question": " \n"}, 400, "empty"),
        (b'{"question": "\\ud800"}', 400, "not JSON"),
        ({"question": "who " * 501}, 413, "2000"),
        ({"question": "x" * 10_000_001}, 413, "10000000 bytes"),
    ],
)
def test_what_is_no_question(server, body, status, words):
    assert words in refused(server, f"{begun(server)}/turns", body, status)


@pytest.mark.parametrize(
    ("wanted", "status", "words"),
    [
        ({"sources": "kb_wiki"}, 400, "wiki"),
        ({"sources": []}, 400, "no source"),
        ({"sources": 5}, 400, "sources"),
        ({"source": "kb"}, 400, "source"),
        ({"conversation": []}, 400, "conversation"),
        ({"conversation": {}}, 400, "conv_id"),
        ({"conversation": {"conv_id": "x", "questions": 5}}, 400, "questions"),
        ({"conversation": {"conv_id": "x", "questions": [{"question": "who"}]}}, 400, "turn 0"),
        ({"conversation": {"conv_id": "x", "questions": [{}] * 101}}, 413, "101 turns"),
    ],
)
def test_what_is_no_conversation(server, wanted, status, words):
    assert words in refused(server, "/v1/conversations", wanted, status)


def test_wrong_paths_and_methods(server):
    assert "unknown path" in refused(server, "/v1/talks", {}, 404)
    assert "wrong method" in asked(server, "PUT", "/v1/conversations", {}, 405)["error"]


def asking(port, path, question, headers=""):
    """A client that has sent its question and has not read the answer."""
    body = json.dumps({"question": question}).encode()
    client = socket.create_connection(("127.0.0.1", port), timeout=60)
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
    client.sendall(head.encode() + body)
    return client


def waiting(port):
    return int(re.search(rb"^convinse_waiting (\d+)", ask(port, "GET", "/metrics")[2], re.MULTILINE)[1])


def test_turns_that_wait_are_computed_together(server, pipeline):
    paths = [begun(server) for _ in range(4)]
    pipeline.hold()
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(asked, server, "POST", f"{paths[0]}/turns", {"question": QUESTIONS[0]})
        assert pipeline.entered.wait(60)
        later = [pool.submit(asked, server, "POST", f"{path}/turns", {"question": QUESTIONS[2]}) for path in paths[1:]]
        wait_until(lambda: waiting(server) == 3)
        pipeline.go.set()
        turns = [first.result(), *(future.result() for future in later)]
    assert pipeline.calls == [QUESTIONS[:1], QUESTIONS[2:] * 3]
    expected = [pipeline.ask([question], "kb_text")["questions"][0] for question in (QUESTIONS[0], QUESTIONS[2])]
    assert turns == [expected[0], *[expected[1]] * 3]


def test_a_turn_that_fails_does_not_fail_those_beside_it(server, pipeline, caplog):
    paths = [begun(server) for _ in range(3)]
    pipeline.hold()
    questions = ["who directed Inception?", "why does this fail?", "who directed Avatar?"]
    with ThreadPoolExecutor(3) as pool:
        futures = []
        for path, question in zip(paths, questions, strict=True):
            futures.append(pool.submit(ask, server, "POST", f"{path}/turns", {"question": question}))
            assert pipeline.entered.wait(60)
            wait_until(lambda: waiting(server) == len(futures) - 1)
        pipeline.go.set()
        assert [future.result()[0] for future in futures] == [200, 500, 200]
    assert "a secret" in caplog.text and "secret" not in str(futures[1].result()[2])
    assert asked(server, "GET", paths[1])["turns"] == 0
    status, _, body = ask(server, "POST", f"{paths[1]}/turns", {"question": "fail"}, Accept="text/event-stream")
    assert status == 200 and events(body)[-1] == (
        "error",
        {"error": "the server failed; its log says why", "status": 500},
    )


@pytest.mark.parametrize("accept", ["", "Accept: text/event-stream\r\n"])
def test_a_second_turn_of_a_conversation_is_refused_while_the_first_is_under_way(server, pipeline, accept):
    path = begun(server)
    pipeline.hold()
    with asking(server, f"{path}/turns", QUESTIONS[0], accept) as client:
        assert pipeline.entered.wait(60)
        status, headers, _ = ask(server, "POST", f"{path}/turns", {"question": QUESTIONS[1]})
        assert (status, headers["Retry-After"]) == (409, "1")
        assert ask(server, "GET", path)[0] == 200
        pipeline.go.set()
        assert client.recv(12) == b"HTTP/1.1 200"
        wait_until(lambda: ask(server, "POST", f"{path}/turns", {"question": QUESTIONS[1]})[0] == 200)


@pytest.mark.parametrize("accept", ["", "Accept: text/event-stream\r\n"])
def test_the_turn_of_a_client_that_goes_away_ends_before_the_next_stage(server, pipeline, accept):
    path = begun(server)
    pipeline.hold()
    with asking(server, f"{path}/turns", QUESTIONS[0], accept):
        assert pipeline.entered.wait(60)
    wait_until(lambda: b'outcome="given_up"' in ask(server, "GET", "/metrics")[2])
    with ThreadPoolExecutor(1) as pool:  # its place is free
        later = pool.submit(asked, server, "POST", f"{path}/turns", {"question": QUESTIONS[2]})
        wait_until(lambda: waiting(server) == 1)
        pipeline.go.set()
        assert later.result()["turn"] == 0
    assert pipeline.stages == ["qu", "qu", "ers", "ha"]
    assert asked(server, "GET", path)["turns"] == 1


def test_a_turn_that_takes_too_long(pipeline):
    with serving(pipeline, limits={"work_seconds": 0.3}) as port:
        path = begun(port)
        pipeline.hold()
        status, headers, body = ask(port, "POST", f"{path}/turns", {"question": QUESTIONS[0]})
        assert status == 503 and headers["Retry-After"] and b"0.3 s" in body
        status, _, body = ask(port, "POST", f"{path}/turns", {"question": QUESTIONS[0]}, Accept="text/event-stream")
        assert events(body)[-1][0] == "error" and events(body)[-1][1]["status"] == 503
        pipeline.go.set()
        assert asked(port, "GET", path)["turns"] == 0


def test_a_full_queue_says_when_to_come_again(pipeline):
    with serving(pipeline, limits={"queue": 1}) as port:
        paths = [begun(port) for _ in range(3)]
        pipeline.hold()
        with asking(port, f"{paths[0]}/turns", QUESTIONS[0]):
            assert pipeline.entered.wait(60)
            with asking(port, f"{paths[1]}/turns", QUESTIONS[0]):
                wait_until(lambda: waiting(port) == 1)
                for accept in ("application/json", "text/event-stream"):
                    value = {"question": QUESTIONS[0]}
                    status, headers, _ = ask(port, "POST", f"{paths[2]}/turns", value, Accept=accept)
                    assert (status, headers["Retry-After"]) == (429, "1")
                pipeline.go.set()


def test_idle_conversations_make_room(pipeline):
    with serving(pipeline, most_conversations=2) as port:
        paths = [begun(port), begun(port)]
        pipeline.hold()
        with asking(port, f"{paths[0]}/turns", QUESTIONS[0]):
            assert pipeline.entered.wait(60)
            paths.append(begun(port))
            assert [ask(port, "GET", path)[0] for path in paths] == [200, 404, 200]
            assert b"convinse_conversations_dropped_total 1\n" in ask(port, "GET", "/metrics")[2]
            with asking(port, f"{paths[2]}/turns", QUESTIONS[0]):
                wait_until(lambda: waiting(port) == 1)
                assert "2 conversations" in refused(port, "/v1/conversations", {}, 429)
                pipeline.go.set()


def test_a_conversation_has_an_end(pipeline, monkeypatch):
    monkeypatch.setattr(conversation_store, "MOST_TURNS", 1)
    with serving(pipeline) as port:
        path = begun(port)
        asked(port, "POST", f"{path}/turns", {"question": QUESTIONS[0]})
        assert "begin a new one" in refused(port, f"{path}/turns", {"question": QUESTIONS[0]}, 413)


def test_a_token_is_asked_for(pipeline):
    with serving(pipeline, token="of-sixteen-letters") as port:
        for given in ({}, {"Authorization": "Bearer of-sixteen-letter"}, {"Authorization": "of-sixteen-letters"}):
            status, headers, _ = ask(port, "GET", "/v1/models", **given)
            assert (status, headers["WWW-Authenticate"]) == (401, "Bearer")
        assert ask(port, "GET", "/v1/models", Authorization="Bearer of-sixteen-letters")[0] == 200
        assert asked(port, "GET", "/healthz") == {"status": "ok"}
        assert ask(port, "GET", "/metrics")[0] == 401


def test_pages_of_other_sites_ask_where_they_are_named(pipeline):
    site, token = "https://example.org", "of-sixteen-letters"
    app = create_app(pipeline, ServiceOptions(origins=[site], token=token))
    with served(app, origins=[site]) as port:
        leave = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "authorization"}
        status, headers, _ = ask(port, "OPTIONS", "/v1/conversations", Origin=site, **leave)
        assert (status, headers["Access-Control-Allow-Origin"]) == (200, site)
        status, headers, _ = ask(port, "GET", "/v1/models", Origin=site)
        assert (status, headers["Access-Control-Allow-Origin"]) == (401, site)
        assert ask(port, "GET", "/v1/models", Origin=site, Authorization=f"Bearer {token}")[0] == 200
        assert ask(port, "GET", "/healthz", Origin="https://example.com")[0] == 403


def test_pages_of_other_sites_are_not_answered_unless_named(server):
    assert ask(server, "GET", "/healthz", Origin="https://example.org")[0] == 403


def test_a_signal_answers_what_has_arrived():
    command = [sys.executable, "-m", "convinse", "serve", "api", "--port", "0", "--config", "lexical.yml"]
    environment = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())[1])
        paths = [begun(port) for _ in range(12)]
        clients = [asking(port, f"{path}/turns", QUESTIONS[0]) for path in paths]
        process.send_signal(signal.SIGTERM)
        for client in clients:
            with client:
                assert client.recv(12) == b"HTTP/1.1 200"
        assert process.wait(60) == 0, process.communicate()
    finally:
        process.kill()
        process.communicate()


def test_what_is_under_way_at_the_end_does_not_outlive_the_service(pipeline):
    """Its pipeline is closed next."""

    async def begin_and_leave():
        service = api_server.ConversationService(pipeline, ServiceOptions())
        queue = service._queue
        task = asyncio.create_task(queue.answer(pipeline.session(), QUESTIONS[0]))
        await asyncio.to_thread(pipeline.entered.wait, 20)
        return service, task

    pipeline.hold()
    loop = asyncio.new_event_loop()
    service, task = loop.run_until_complete(begin_and_leave())
    releasing = threading.Timer(0.1, pipeline.go.set)
    releasing.start()
    service.close()
    assert pipeline.stages == ["qu"]
    loop.run_until_complete(asyncio.wait([task]))
    assert task.exception() is not None
    loop.close()
