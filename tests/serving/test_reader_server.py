"""The MRQA prediction server, in a process as a user starts it and in a thread where its insides are looked at."""

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import patch

import pytest
import requests

from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.serving import reader_server
from convinse.support.http_server import listen
from loopback import served
from places import ROOT
from tiny_models import Counted, copy_of, damage, tiny
from written import json_lines, write, write_lines

MODEL = tiny(task="question-answering")
CONTEXTS = [
    {
        "context": f"[TLE] The Hobbit [PAR] Tolkien wrote the book number {n} in cafe\u0301 😀 of England",
        "context_tokens": [["[TLE]", 0]],
        "qas": [
            {"qid": f"{n}-a", "question": "who wrote the book", "question_tokens": [["who", 0]], "answers": ["x"],
             "detected_answers": [{"text": "x", "char_spans": [[0, 0]], "token_spans": [[0, 0]]}]},
            {"qid": f"{n}-b", "question": f"where {n}"},
        ],
    }
    for n in range(6)
]  # fmt: skip


@pytest.fixture(scope="module")
def reader():
    return ExtractiveReader(MODEL, "cpu")


@pytest.fixture(scope="module")
def expected(reader):
    return {
        qa["qid"]: reader.read(qa["question"], [context["context"]])[0].text
        for context in CONTEXTS for qa in context["qas"]
    }  # fmt: skip


def answers_of(context, expected):
    return {qa["qid"]: expected[qa["qid"]] for qa in context["qas"]}


@contextmanager
def started(*arguments, program=("-m", "convinse")):
    """`convinse serve reader` in a process of its own; yields it and its port."""
    given = ["serve", "reader", "--port", "0", "--device", "cpu", *map(str, arguments)]
    command = [sys.executable, *program, *given]
    process = subprocess.Popen(
        command, env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        assert found, process.communicate(timeout=10)
        yield process, int(found[1])
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def server():
    """The port of a server that all tests with good and bad requests share."""
    with started("--model", MODEL) as (process, port):
        yield port
        assert process.poll() is None


def in_thread(reader, **changes):
    return served(reader_server.create_app(reader, replace(reader_server.LIMITS, **changes)))


def post(port, body, path="/", method="POST"):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request(method, path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert response.headers["Content-Type"] == "application/json"
        return response.status, json.loads(response.read())


def refused(port, body, status=400, **options):
    found, value = post(port, body, **options)
    assert found == status, value
    assert list(value) == ["error"] and "\n" not in value["error"] and "Traceback" not in value["error"]
    return value["error"]


def test_the_clients_of_the_task(server, expected, tmp_path):
    """As the task's own client does: it knocks at the port, then posts a file's contexts and joins the answers."""
    file = write_lines(tmp_path / "data.jsonl", {"header": {"dataset": "x", "split": "dev"}}, *CONTEXTS)
    with socket.create_connection(("127.0.0.1", server), timeout=5):
        pass  # says nothing, and goes
    found = {}
    for line in json_lines(file):
        response = requests.post(f"http://127.0.0.1:{server}", json=line, timeout=30)
        assert response.status_code == 200 and response.headers["Content-Type"] == "application/json"
        found.update(response.json())
    assert found == expected


def test_get_tells_what_it_is(server):
    status, value = post(server, None, method="GET")
    assert status == 200 and "MRQA" in value["use"] and value["model"]


def test_contexts_without_questions_or_words(server):
    assert post(server, '{"context": "the book", "qas": []}') == (200, {})
    assert post(server, '{"context": " \\r\\n", "qas": [{"qid": "a", "question": "who"}]}') == (200, {"a": ""})
    assert post(server, '{"header": {"dataset": "x"}}') == (200, {})


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"qid=1", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 100_000, ""),
        (b"[]", "object"),
        (b"null", "object"),
        (b"{}", "context"),
        (b'{"context": "the book"}', "qas"),
        (b'{"qas": []}', "context"),
        (b'{"context": 5, "qas": []}', "context"),
        (b'{"context": "x", "qas": {}}', "qas"),
        (b'{"context": "x", "qas": [{"qid": "a"}]}', "question"),
        (b'{"context": "x", "qas": [{"question": "a"}]}', "qid"),
        (b'{"context": "x", "qas": [{"qid": 1, "question": "a"}]}', "qas[0].qid"),
        (b'{"context": "x", "qas": [{"qid": "a", "question": null}]}', "qas[0].question"),
        (b'{"context": "x", "qas": [{"qid": "a", "question": "b"}, {"qid": "a", "question": "c"}]}', "'a' appears 2 times"),
        (b'{"context": "\\ud800", "qas": []}', "not JSON"),
        (b'{"context": NaN, "qas": []}', "not JSON"),
        (b'{"header": 5}', "context"),
    ],
)  # fmt: skip
def test_bodies_that_are_no_context(server, body, words):
    assert words in refused(server, body)


def test_a_large_body_and_then_a_good_one(server, expected):
    assert "10000000" in refused(server, b'{"context": "' + b"x" * 50_000_000, 413)
    chunks = iter([b"x" * 1_000_000] * 11)
    assert refused(server, chunks, 413)
    assert post(server, json.dumps(CONTEXTS[0])) == (200, answers_of(CONTEXTS[0], expected))


def test_too_many_questions_on_a_long_context(server):
    qas = [{"qid": str(n), "question": "who"} for n in range(100)]
    assert "100 questions" in refused(server, json.dumps({"context": "the " * 100_000, "qas": qas}), 413)


def test_wrong_paths_and_methods(server):
    refused(server, b"{}", 404, path="/predict")
    refused(server, b"{}", 405, method="PUT")


def test_max_body_is_obeyed(reader):
    with in_thread(reader, body=100) as port:
        assert post(port, json.dumps({"context": "x" * 50, "qas": []}))[0] == 200
        assert "100 bytes" in refused(port, json.dumps({"context": "x" * 100, "qas": []}), 413)


class Held:
    """A reader whose first call waits until it is let go; notes how many questions each call has."""

    def __init__(self, reader):
        self._reader = reader
        self.model_id = reader.model_id
        self.calls = []
        self.entered, self.go = threading.Event(), threading.Event()

    def reading(self, questions, contexts, top_k=None):
        self.calls.append(len(questions))
        self.entered.set()
        assert self.go.wait(30)
        return (yield from self._reader.reading(questions, contexts, top_k))


def while_held(port, held, bodies):
    """Post a first body, and the others while it is being read; all responses in order."""
    arrived, decode = threading.Semaphore(0), reader_server._decode

    def noted(body):
        arrived.release()
        return decode(body)

    with ThreadPoolExecutor(len(bodies)) as pool, patch.object(reader_server, "_decode", noted):
        first = pool.submit(post, port, bodies[0])
        assert held.entered.wait(30)
        others = [pool.submit(post, port, body) for body in bodies[1:]]
        for _ in bodies:
            assert arrived.acquire(timeout=60)
        held.go.set()
        return [first.result(), *(other.result() for other in others)]


def test_requests_that_wait_are_read_together(reader, expected):
    held = Held(reader)
    with in_thread(held) as port:
        found = while_held(port, held, [json.dumps(context) for context in CONTEXTS])
        assert held.calls == [2, 10]
        assert found == [(200, answers_of(context, expected)) for context in CONTEXTS]
        counted = Counted(reader.engine)
        assert post(port, json.dumps(CONTEXTS[1]))[0] == 200  # and on it goes
        assert held.calls == [2, 10, 2] and len(counted.batches) == 1


def test_what_waits_is_read_in_parts_where_it_is_too_much(reader, expected, monkeypatch):
    size = reader_server._PostedContext(
        CONTEXTS[0]["context"], [reader_server._PostedQuestion(**{"qid": "", "question": "who wrote the book"})] * 2
    ).size
    monkeypatch.setattr(reader_server, "_READ_TOGETHER", 2 * size + 10)
    held = Held(reader)
    with in_thread(held) as port:
        found = while_held(port, held, [json.dumps(context) for context in CONTEXTS])
    assert held.calls == [2, 4, 4, 2]
    assert found == [(200, answers_of(context, expected)) for context in CONTEXTS]


class Failing(Held):
    def reading(self, questions, contexts, top_k=None):
        found = yield from super().reading(questions, contexts, top_k)
        if any("number 3" in text for texts in contexts for text in texts):
            raise ValueError("a secret")
        return found


def test_a_request_that_fails_does_not_fail_the_others(reader, expected, caplog):
    failing = Failing(reader)
    with in_thread(failing) as port:
        found = while_held(port, failing, [json.dumps(context) for context in CONTEXTS])
        assert found.pop(3) == (500, {"error": "the server failed; its log says why"})
        assert found == [(200, answers_of(context, expected)) for n, context in enumerate(CONTEXTS) if n != 3]
        assert "a secret" in caplog.text
        assert post(port, json.dumps(CONTEXTS[0]))[0] == 200


def test_a_model_that_is_broken_is_an_error_with_its_reason(tmp_path, caplog):
    folder = damage(copy_of(MODEL, tmp_path / "broken"), lambda tensors: tensors["qa_outputs.bias"].fill_(float("nan")))
    with in_thread(ExtractiveReader(folder, "cpu")) as port:
        assert "not numbers" in refused(port, json.dumps(CONTEXTS[0]), 500)


def test_a_client_that_goes_away_leaves_the_others_alone(reader, expected):
    held = Held(reader)
    with in_thread(held) as port:
        body = json.dumps(CONTEXTS[0]).encode()
        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            assert held.entered.wait(30)
        held.go.set()
        assert post(port, json.dumps(CONTEXTS[1])) == (200, answers_of(CONTEXTS[1], expected))


HELD = """
import sys
from convinse.cli import main
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.serving import reader_server

read, decode = ExtractiveReader.reading, reader_server._decode

def noted(body):
    print("arrived", flush=True)
    return decode(body)

def held(*arguments, **options):
    sys.stdin.readline()
    return (yield from read(*arguments, **options))

reader_server._decode, ExtractiveReader.reading = noted, held
sys.exit(main())
"""  # its readings wait for a line each


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_answers_what_is_in_flight(ending):
    with started("--model", MODEL, program=["-c", HELD]) as (process, port), ThreadPoolExecutor(2) as pool:
        answers = []
        for context in CONTEXTS[:2]:
            answers.append(pool.submit(post, port, json.dumps(context)))
            assert process.stdout.readline() == "arrived\n"
        process.send_signal(ending)
        end = time.monotonic() + 30
        while True:
            with suppress(ConnectionRefusedError, ConnectionResetError):
                socket.create_connection(("127.0.0.1", port), timeout=30).close()
                assert time.monotonic() < end
                time.sleep(0.01)
                continue
            break
        assert not any(answer.done() for answer in answers)
        out, err = process.communicate("\n\n", timeout=100)
        assert (process.returncode, out, err) == (0, "", "")
        for answer, context in zip(answers, CONTEXTS, strict=False):
            assert answer.result()[0] == 200 and set(answer.result()[1]) == {qa["qid"] for qa in context["qas"]}


def test_wrong_starts_are_one_line(command_error):
    def fails(*arguments, words):
        line = command_error("serve", "reader", "--device", "cpu", *arguments)
        assert all(word in line for word in words), line

    fails("--config", "lexical.yml", words=["ha_model", "--model"])
    fails("--model", "./nowhere", words=["./nowhere", "no such folder"])
    fails("--model", tiny(), words=["question-answering"])
    fails("--model", MODEL, "--precision", "fp8", words=["precision: ", "valid: auto, fp32"])
    fails("--config", "nothing.yml", words=["nothing.yml"])
    fails("--model", MODEL, "--host", "192.0.2.1", words=["192.0.2.1", "--host"])
    with listen("127.0.0.1", 0) as taken:
        fails("--model", MODEL, "--port", taken.getsockname()[1], words=["cannot listen", "--port"])


def test_the_model_of_a_configuration(command, monkeypatch):
    config = write("my.yml", f"ha: extractive\nha_model: {MODEL}\n")
    given = {}

    def serve(reader, *rest, **more):
        given.update(reader=reader, rest=rest, **more)

    monkeypatch.setattr(reader_server, "serve", serve)
    command("serve", "reader", "--config", config, *"--device cpu --precision bf16 --max-body 2MB".split())
    assert given["reader"].engine.precision == "bf16"
    assert given["rest"][:2] == ("127.0.0.1", 8888) and given["most"] == 2_000_000


@pytest.mark.parametrize("arguments", [[], ["cat"], ["reader", "--port", "x"], ["reader", "--max-body", "much"]])
def test_wrong_usage(usage_error, arguments):
    assert usage_error("serve", *arguments)


class Steps(Held):
    """A reader whose texts take so many steps as they have words; notes what is read in which order."""

    def __init__(self):
        super().__init__(SimpleNamespace(model_id="steps"))
        self.steps, self.closed = [], []

    def reading(self, questions, contexts, top_k=None):
        name = questions[0]
        try:
            for _ in contexts[0][0].split():
                self.entered.set()
                assert self.go.wait(30)
                self.steps.append(name)
                yield
        except GeneratorExit:
            self.closed.append(name)
            raise
        return [[] for _ in questions]


def asked(name, words):
    return json.dumps({"context": "word " * words, "qas": [{"qid": "1", "question": name}]})


@pytest.fixture
def steps(monkeypatch):
    """A turn is one step, and what has more than ten words is long."""
    monkeypatch.setattr(reader_server, "_TURN", 0)
    monkeypatch.setattr(reader_server, "_READ_TOGETHER", 60)
    return Steps()


def test_short_requests_do_not_wait_for_the_end_of_long_ones(steps):
    with in_thread(steps) as port:
        found = while_held(port, steps, [asked("long", 100), asked("longer", 200), asked("short", 3)])
    assert [status for status, _ in found] == [200] * 3
    assert steps.steps.index("short") <= 3
    last = len(steps.steps) - 1 - steps.steps[::-1].index("short")
    assert last <= 12 and steps.steps.count("short") == 3  # while both long ones went on
    assert steps.steps[last:].count("long") > 90


def test_so_many_long_requests_are_under_way_and_short_ones_beside_them(steps, monkeypatch):
    monkeypatch.setattr(reader_server, "_LONG_AT_ONCE", 1)
    with in_thread(steps) as port:
        while_held(port, steps, [asked("first", 50), asked("second", 50), asked("short", 3)])
    ends = {name: len(steps.steps) - steps.steps[::-1].index(name) for name in ("first", "second", "short")}
    assert ends["short"] < ends["first"] <= steps.steps.index("second") < ends["second"]


def test_what_nobody_waits_for_is_read_no_further(steps):
    with in_thread(steps) as port:
        body = asked("gone", 1_000_000 // 5).encode()
        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            assert steps.entered.wait(30)
        steps.go.set()
        assert post(port, asked("next", 3)) == (200, {"1": ""})
        end = time.monotonic() + 20
        while steps.closed != ["gone"]:
            assert time.monotonic() < end
            time.sleep(0.01)
    assert steps.steps.count("gone") < 200_000


def test_a_full_queue(steps):
    with in_thread(steps, queue=1) as port, ThreadPoolExecutor(3) as pool:
        first = pool.submit(post, port, asked("first", 50))
        assert steps.entered.wait(30)
        rest = [pool.submit(post, port, asked("rest", 3)) for _ in range(2)]
        refused_ = next(as_completed(rest)).result()
        assert refused_[0] == 429 and "1 requests wait" in refused_[1]["error"]
        steps.go.set()
        assert first.result()[0] == 200 and sorted(other.result()[0] for other in rest) == [200, 429]


def test_a_context_that_is_too_long(server):
    text = json.dumps({"context": "x" * 1_000_001, "qas": [{"qid": "1", "question": "who"}]})
    assert "at most 1000000" in refused(server, text, 413)
