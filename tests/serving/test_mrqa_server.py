"""The MRQA prediction server: the task's own client, batches of what waits, wrong bodies, signals."""

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress

import pytest
import requests

from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.serving.reader import create_app
from loopback import served
from patience import PATIENCE
from places import ROOT
from services import ask, exchange
from tiny_models import tiny
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
def server(reader):
    with served(create_app(reader)) as port:
        yield port


@pytest.fixture(scope="module")
def expected(reader):
    return {
        qa["qid"]: reader.read(qa["question"], [context["context"]])[0].text
        for context in CONTEXTS for qa in context["qas"]
    }  # fmt: skip


def answers_of(context, expected):
    return {qa["qid"]: expected[qa["qid"]] for qa in context["qas"]}


def post(port, body):
    status, _, answer = ask(port, "POST", "/", body)
    return status, json.loads(answer)


def refused(port, body, status=400):
    error = exchange(port, "POST", "/", body, status)["error"]
    assert "\n" not in error and "Traceback" not in error
    return error


@contextmanager
def started(*arguments, program=("-m", "convinse")):
    """`convinse serve reader` in a process of its own; yields it and its port."""
    arguments_ = ["serve", "reader", "--port", "0", "--device", "cpu", *map(str, arguments)]
    process = subprocess.Popen(
        [sys.executable, *program, *arguments_], text=True,
        env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        found = re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())
        assert found, process.communicate(timeout=PATIENCE)
        yield process, int(found[1])
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_the_client_of_the_task_and_the_settings_of_the_command(expected, tmp_path):
    """The client knocks at the port, then posts a file's lines and joins the answers."""
    file = write_lines(tmp_path / "data.jsonl", {"header": {"dataset": "x", "split": "dev"}}, *CONTEXTS)
    config = write("my.yml", f"ha: extractive\nha_model: {MODEL}\n")
    with started("--config", config, "--max-body", "5000", "--allow-host", "reader.example") as (_, port):
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE):
            pass  # says nothing, and goes
        found = {}
        for line in json_lines(file):
            response = requests.post(f"http://127.0.0.1:{port}", json=line, timeout=PATIENCE)
            assert response.status_code == 200 and response.headers["Content-Type"] == "application/json"
            found.update(response.json())
        assert "5000 bytes" in refused(port, {"context": "x" * 5000, "qas": []}, 413)
        assert ask(port, "GET", "/healthz", Host="reader.example")[0] == 200
    assert found == expected


def test_a_request_of_too_many_questions_is_refused(server):
    qas = [{"qid": str(n), "question": "who"} for n in range(100)]
    assert "100 questions" in refused(server, {"context": "the " * 100_000, "qas": qas}, 413)


class HeldReader:
    """A reader whose calls wait until they are let go; notes how many questions each call has."""

    def __init__(self, reader):
        self._reader = reader
        self.model_id = reader.model_id
        self.calls = []
        self.entered, self.go = threading.Event(), threading.Event()

    def read_all(self, questions, contexts, top_k=None):
        self.calls.append(len(questions))
        self.entered.set()
        assert self.go.wait(PATIENCE)
        if any("number 3" in text for texts in contexts for text in texts):
            raise ValueError("a secret")
        return self._reader.read_all(questions, contexts, top_k)


@contextmanager
def sent(port, body):
    """A connection over which a context was sent, and its answer not read."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        connection.request("POST", "/", json.dumps(body), {"Content-Type": "application/json"})
        yield connection


def test_requests_that_wait_are_read_together_and_one_that_fails_fails_alone(reader, expected, caplog):
    held = HeldReader(reader)
    with served(create_app(held)) as port, ExitStack() as stack:
        connections = [stack.enter_context(sent(port, CONTEXTS[0]))]
        assert held.entered.wait(PATIENCE)
        connections += [stack.enter_context(sent(port, context)) for context in CONTEXTS[1:]]
        exchange(port, "GET", "/healthz")  # what was sent before has arrived by now
        held.go.set()
        responses = [connection.getresponse() for connection in connections]
        found = [(response.status, json.loads(response.read())) for response in responses]
        assert found.pop(3) == (500, {"error": "the server failed; its log says why"})
        assert found == [(200, answers_of(context, expected)) for n, context in enumerate(CONTEXTS) if n != 3]
        assert held.calls[0] == 2 and max(held.calls) > 2
        assert "a secret" in caplog.text
        assert post(port, CONTEXTS[0])[0] == 200


HELD = """
import sys
from convinse.cli import main
from convinse.encoder.extractive_reader import ExtractiveReader

read = ExtractiveReader.read_all

def held(*arguments, **options):
    print("entered", flush=True)
    sys.stdin.readline()
    return read(*arguments, **options)

ExtractiveReader.read_all = held
sys.exit(main())
"""  # its readings wait for a line


def test_a_signal_answers_what_is_in_flight():
    with started("--model", MODEL, program=["-c", HELD]) as (process, port), ThreadPoolExecutor(1) as pool:
        answer = pool.submit(post, port, CONTEXTS[0])
        assert process.stdout.readline() == "entered\n"
        process.send_signal(signal.SIGTERM)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with suppress(ConnectionRefusedError, ConnectionResetError):
                socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
                time.sleep(0.01)
                continue
            break  # no further client is taken
        assert not answer.done()
        assert process.communicate("\n", timeout=PATIENCE) == ("", "") and process.returncode == 0
        status, value = answer.result()
        assert status == 200 and set(value) == {qa["qid"] for qa in CONTEXTS[0]["qas"]}
