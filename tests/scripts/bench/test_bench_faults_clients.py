"""The part `clients` of the campaign: it holds against the servers as they are, and tells what a worse one does."""

import random
import socket
import threading
from argparse import Namespace
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.faults import clients
from bench.faults.campaign import Trial
from bench.faults.judging import judged
from bench.harness import Bench
from convinse import Pipeline, load_config
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.knowledge_base import server as kb_server
from convinse.serving import api_server, reader_server
from convinse.support.http_limits import Limits
from loopback import served
from tiny_models import tiny

SHORT = {**clients._SHORT, "header_seconds": 0.5, "body_seconds": 0.5, "idle_seconds": 0.5, "drained_seconds": 0.5}


class InThread:
    """As `RunningServer`, in a thread of the test."""

    def __init__(self, kind, port, limits):
        self.kind, self.port, self.limits = kind, port, limits

    ask = clients.RunningServer.ask

    def wrong(self):
        return ""


@pytest.fixture
def apps(world_kb, closed):
    pipeline = closed(Pipeline(load_config("lexical.yml", ers_use_cache=False)))
    return {
        "kb": lambda limits: kb_server.create_app(world_kb, limits),
        "reader": lambda limits: reader_server.create_app(ExtractiveReader(tiny(task="question-answering"), "cpu"), limits),
        "plain api": lambda limits: api_server.create_app(pipeline, api_server.ServiceOptions(limits=limits)),
    }  # fmt: skip


@pytest.fixture
def in_threads(apps, monkeypatch):
    """The campaign against servers in threads, and with less patience."""

    @contextmanager
    def running(kind, work, **changes):
        limits = Limits(**{**changes, **SHORT, "body": 1_000_000})
        with served(apps[kind](limits), limits=limits) as port:
            yield InThread(kind, port, limits)

    monkeypatch.setattr(clients, "running", running)
    monkeypatch.setattr(clients, "_BODIES", (3, 3, 3))
    monkeypatch.setattr(clients, "_MANY", 120)


def measured(tmp_path, group=None):
    bench = Bench(Namespace(group=group, seed=None), 0, 1, tmp_path, tmp_path)
    return clients.clients(bench)


def test_the_servers_hold(tmp_path, in_threads, capsys):
    figures = measured(tmp_path)
    assert figures["failures"] == []
    assert len(figures["groups"]) == 3 * (len(clients._ATTACKS) + 1)


@contextmanager
def answering(*answers):
    """A server that sends each client some bytes, and closes; with none it keeps all connections open."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        kept = []

        def serve():
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                kept.append(client)
                client.settimeout(5)
                for answer in answers:
                    client.recv(1 << 16)
                    client.sendall(answer)
                    client.close()

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield InThread("kb", listener.getsockname()[1], Limits())
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for client in kept:
                client.close()


HEAD = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
STREAM = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
GOOD = HEAD % (b"200 OK", 2) + b"{}"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"", ""),
        (GOOD * 2, ""),
        (HEAD % (b"400 Bad", 13) + b'{"error":"x"}', ""),
        (HEAD % (b"400 Bad", 2) + b"{}", "without an error"),
        (HEAD % (b"400 Bad", 5) + b"wrong", "without JSON"),
        (HEAD % (b"500 Error", 13) + b'{"error":"x"}', "status 500"),
        (GOOD[:-1], "half of an answer"),
        (b"Traceback", "no answer of HTTP"),
        (HEAD % (b"401 No", 25) + b'{"error":{"message":"x"}}', ""),
        (HEAD % (b"200 OK", 5) + b"", ""),
        (STREAM + b"8\r\ndata: {}\r\n0\r\n\r\n" + GOOD, ""),
        (STREAM + b"8\r\ndata: {}\r\n", "half of a stream"),
        (STREAM + b'14\r\ndata: {"status":500}\r\n0\r\n\r\n', "a stream that failed"),
        (STREAM + b"1\r\n\n\r\n0\r\n\r\n", "without events"),
    ],
)
def test_what_is_wrong_with_an_answer(answer, words):
    assert words in judged(answer) and bool(words) == bool(judged(answer))


def test_a_server_that_answers_other_sites_is_noticed():
    with answering(GOOD) as server:
        assert "another site" in clients._cross_site(server, random.Random(0))


def test_a_server_that_keeps_a_connection_open_is_noticed(monkeypatch):
    monkeypatch.setattr(clients, "_PATIENCE", 0.3)
    with answering() as server:
        assert "stays open" in clients._together(clients._half, server, random.Random(0))


def test_a_good_client_that_is_not_served_is_noticed(monkeypatch, tmp_path):
    monkeypatch.setattr(clients, "_PATIENCE", 0.3)
    with answering() as server:
        trial = Trial("kb: none", 0, tmp_path, tmp_path)
        assert "not served" in clients._tried(server, lambda *_: threading.Event().wait(0.5) and "" or "", trial)


@pytest.mark.parametrize("text", ["Traceback (most recent call last):\n  x\nValueError: y", "x" * 20_000])
def test_a_log_that_grows_is_noticed(tmp_path, text):
    class Alive:
        def poll(self):
            return None

    log = tmp_path / "log"
    log.write_text(text)
    server = clients.RunningServer("kb", Alive(), 1, Limits(), Path(log))
    assert "log" in server.wrong()
    log.write_text("")
    assert server.wrong() == ""
