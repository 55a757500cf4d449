"""The service on a Ray cluster of three nodes: the answers are those of one without, and no turn is lost, whatever happens to workers."""

import functools
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

from convinse import Pipeline, load_config
from convinse.cluster import head_watch, ray_replicas
from convinse.cluster.connection import connected
from convinse.serving.api_server import ServiceOptions, create_app
from convinse.support.errors import ConfigError, ConvinseError, NetworkError
from loopback import served
from refusals import refused
from services import ask, asked, begun, events

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="the extra ray is not installed"),
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("default"),  # Ray's own are not ours to mend
]
QUESTIONS = ["who directed Titanic?", "when was it released?", "who directed Avatar?"]
PATIENCE = 60  # seconds
ENDED = threading.Event()  # the cluster is lost


def settings(**options):
    return load_config("lexical.yml", ers_use_cache=False, ha="cluster_work:SlowVotes", **options)


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture(scope="module")
def crew(cluster):
    with connected("ray") as workers:
        yield workers


class Renewed:
    """What the service reads when it is to go on with other settings."""

    def __init__(self):
        self.config = settings()

    def __call__(self):
        if self.config is None:
            raise ConfigError("config.yml: no such key")
        return self.config


@pytest.fixture(scope="module")
def renewed():
    return Renewed()


@pytest.fixture(scope="module")
def pipeline(crew, renewed):
    from convinse.cluster.cluster_pipeline import ClusterPipeline

    with ClusterPipeline(crew, settings(), ["kb", "text"], renewed, 1, ENDED.set) as remote:
        yield remote


@pytest.fixture(scope="module")
def server(pipeline):
    with served(create_app(pipeline, ServiceOptions(sources="kb_text"))) as port:
        yield port


def expected(questions, **options):
    with Pipeline(settings(**options)) as local:
        return local.ask(questions, "kb_text")["questions"]


def turn(port, question=QUESTIONS[0]):
    return asked(port, "POST", f"{begun(port)}/turns", {"question": question})


def figure(port, name):
    return float(re.search(rf"^convinse_{name} (\S+)", ask(port, "GET", "/metrics")[2].decode(), re.MULTILINE)[1])


@contextmanager
def clients(port, number=8):
    """Clients that ask without end; at the end of the block each has asked once more."""
    stopped, told = threading.Event(), []

    def client():
        while True:
            last = stopped.is_set()
            told.append(turn(port))
            if last:
                return

    with ThreadPoolExecutor(number) as pool:
        futures = [pool.submit(client) for _ in range(number)]
        try:
            yield told
        finally:
            stopped.set()
        for future in futures:
            future.result()


def test_answers_are_those_of_a_service_without_a_cluster(server):
    path = begun(server)
    local = expected(QUESTIONS)
    turns = [asked(server, "POST", f"{path}/turns", {"question": question}) for question in QUESTIONS[:2]]
    *stages, last = events(
        ask(server, "POST", f"{path}/turns", {"question": QUESTIONS[2]}, Accept="text/event-stream")[2]
    )
    assert [*turns, last[1]] == local
    assert [stage.get("stage", name) for name, stage in stages] == ["waiting", "qu", "ers", "ha"]
    assert sum(stages[2][1]["evidences"].values()) == len(last[1]["top_evidences"])
    messages = [
        {"role": "user", "content": QUESTIONS[0]},
        {"role": "assistant", "content": "James Cameron (Q42574, score 0.98)"},
        {"role": "user", "content": QUESTIONS[1]},
    ]
    chat = {"messages": messages}
    with Pipeline(settings()) as here, served(create_app(here, ServiceOptions(sources="kb_text"))) as port:
        wanted = asked(port, "POST", "/v1/chat/completions", chat)
        assert asked(server, "POST", "/v1/chat/completions", chat)["convinse"] == wanted["convinse"]
    assert "no such table" in asked(server, "GET", "/v1/tables/Q1/5", status=404)["error"]
    assert figure(server, 'stage_seconds_total{stage="ers"}'.replace("{", r"\{")) > 0


def test_workers_grow_and_shrink_with_the_queue(server, monkeypatch):
    monkeypatch.setattr(ray_replicas, "_UNUSED", 1.0)
    wait_until(lambda: figure(server, "workers") == 1)
    with clients(server, 24) as told:
        wait_until(lambda: figure(server, "workers") == 3)
        before = len(told)
        wait_until(lambda: len(told) > before + 24)
    assert all(answered == told[0] for answered in told)
    assert figure(server, "batched_turns_total") > figure(server, "batches_total")
    wait_until(lambda: figure(server, "workers") == 1)
    assert turn(server) == told[0]


def test_the_turns_of_a_killed_worker_are_answered_by_another(server, pipeline, crew, caplog):
    def lost(replica):
        return replica not in pipeline._replicas._replicas

    with clients(server) as told:
        wait_until(lambda: figure(server, "workers") > 1)
        for _ in range(2):
            wait_until(lambda: any(replica.turns for replica in pipeline._replicas._replicas))
            busy = next(replica for replica in pipeline._replicas._replicas if replica.turns)
            crew.ray.kill(busy.member.actor)
            wait_until(functools.partial(lost, busy))
        before = len(told)
        wait_until(lambda: len(told) > before + 8)
    assert all(answered == told[0] for answered in told)
    assert "are done again" in caplog.text


def test_workers_are_replaced_and_no_turn_is_lost(server, pipeline, renewed, caplog):
    renewed.config = None
    pipeline.renew()
    wait_until(lambda: "nothing is replaced: config.yml: no such key" in caplog.text)
    renewed.config = settings(kb_path="nowhere")
    with clients(server) as told:
        pipeline.renew()
        wait_until(lambda: "the workers stay as they were: " in caplog.text)
        renewed.config = settings(ha_max_answers=1)
        before = told[0] if told else turn(server)
        assert len(before["pred_answers"]) > 1
        pipeline.renew()
        new = expected(QUESTIONS[:1], ha_max_answers=1)[0]
        wait_until(lambda: told[-8:] == [new] * 8)
    assert all(answered in (before, new) for answered in told)


def test_an_error_in_a_worker_is_one_line_and_fails_nobody_else(server):
    with ThreadPoolExecutor(4) as pool:
        others = [pool.submit(turn, server) for _ in range(3)]
        status, _, body = ask(server, "POST", f"{begun(server)}/turns", {"question": "fail"})
        assert (status, body) == (500, b'{"error":"the question cannot be answered"}')
        assert len({str(other.result()) for other in others}) == 1


def test_a_turn_that_ends_every_worker_is_told(server):
    error = asked(server, "POST", f"{begun(server)}/turns", {"question": "end"}, 500)["error"]
    assert error.startswith("the workers that should have answered were lost, 3 in a row") and "\n" not in error
    assert turn(server)["pred_answers"]


def test_a_pipeline_that_no_worker_can_open(crew):
    from convinse.cluster.cluster_pipeline import ClusterPipeline

    def begin():
        ClusterPipeline(crew, settings(kb_path="nowhere"), ["kb"], settings, 1, lambda: None)

    refused(ConvinseError, begin, "nowhere: no knowledge base here")


def test_a_signal_replaces_workers_and_another_answers_what_has_arrived(cluster):
    command = [
        sys.executable,
        "-m",
        "convinse",
        "serve",
        "api",
        "--port",
        "0",
        "--config",
        "lexical.yml",
        "--on",
        "ray",
    ]
    process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ))
    try:
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())[1])
        process.send_signal(signal.SIGHUP)
        turn(port)
        paths = [begun(port) for _ in range(12)]
        with ThreadPoolExecutor(12) as pool:
            turns = [pool.submit(asked, port, "POST", f"{path}/turns", {"question": QUESTIONS[0]}) for path in paths]
            wait_until(lambda: figure(port, "waiting") > 0 or all(future.done() for future in turns))
            process.send_signal(signal.SIGTERM)
            assert len({str(future.result()) for future in turns}) == 1
        _, told = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, told
        assert "the workers are replaced one by one" in told and "Traceback" not in told
    finally:
        process.kill()
        process.communicate()


def test_workers_belong_to_a_cluster(command_error):
    assert "--on" in command_error("serve", "api", "--min-workers", "2")
    assert "--min-workers 3" in command_error("serve", "api", "--on", "ray", "--min-workers", "3", "--workers", "2")


def test_a_lost_head_node_ends_the_service_with_one_line(cluster, server, pipeline, monkeypatch):
    monkeypatch.setattr(head_watch, "_NO_HEAD", 2)
    cluster.head_node.kill_gcs_server()
    assert ENDED.wait(PATIENCE)
    refused(NetworkError, pipeline.check, "the head node of the Ray cluster is lost", "start the cluster again")
