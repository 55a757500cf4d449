"""Calls that wait, several at once: order, errors, and an end."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from convinse.language_models.model_server import in_flight
from model_servers import model_server
from patience import PATIENCE
from written import write


def test_results_in_the_thread_of_the_caller():
    done, threads = {}, set()

    def take(place, result):
        done[place] = result
        threads.add(threading.current_thread())

    in_flight(range(50), lambda number: number * number, 7, take)
    assert done == {number: number * number for number in range(50)} and threads == {threading.current_thread()}
    in_flight([], lambda number: number, 7, take)


def test_after_an_error_no_call_begins_and_running_calls_count():
    failed, begun, done = threading.Event(), [], []

    def call(number):
        begun.append(number)
        if number == 1:
            failed.set()
            raise ValueError("one")
        failed.wait(PATIENCE)
        return number

    with pytest.raises(ValueError, match="one"):
        in_flight(range(100), call, 2, lambda place, _: done.append(place))
    assert 0 in done and len(begun) < 10 and sorted(done) == sorted(set(begun) - {1})


def test_ctrl_c_ends_a_run_whose_server_says_nothing(workdir):
    received = threading.Event()

    def reply(body, request):
        received.set()
        server.stopped.wait(PATIENCE)
        return b""

    with model_server(reply) as server:
        write("my.yml", f"ha: llm\nha_llm: {{base_url: '{server.url}', model: m, timeout: 100}}\n")
        command = [sys.executable, "-m", "convinse", "pipeline", "kb", "my.yml", "--quiet", "--limit", "2"]
        process = subprocess.Popen(
            command, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        try:
            assert received.wait(PATIENCE)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 130 and "Traceback" not in errors
