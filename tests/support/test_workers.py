"""The pool of the builders: order, errors, and that neither a worker nor its parent's end leaves anything behind."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from convinse.support import workers
from convinse.support.errors import DataError, NetworkError
from convinse.support.workers import in_order
from patience import PATIENCE

PROGRAM = """
import sys
from convinse.support import workers
from test_workers import Harm
for result in workers.in_order([b"x" * 300_000] * 9, Harm, sys.argv[1:], 2, "numbers", "try again"):
    print(result, flush=True)
"""


class Harm:
    """The number of a process for each piece; what is done to it instead for piece 5."""

    def __init__(self, harm=""):
        self._harm = harm

    def __call__(self, piece):
        if self._harm == "sleep":
            time.sleep(600)
        if piece == 5 and self._harm:
            if self._harm == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if self._harm == "memory":
                raise MemoryError
            raise NetworkError("no such host", 404)
        return os.getpid()


def results(harm="", count=9, processes=2, about="numbers"):
    return in_order(range(count), Harm, (harm,), processes, about, "try again")


def is_alive(pid):
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pids, seconds=PATIENCE):
    """Whether processes end in time."""
    end = time.monotonic() + seconds
    while any(map(is_alive, pids)):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class Squares:
    def __init__(self, power):
        self._power = power

    def __call__(self, piece):
        time.sleep(0.002 * (piece % 3))  # later pieces are ready before
        return b"x" * 300_000, piece**self._power


@pytest.mark.parametrize("processes", [1, 3])
def test_large_results_come_in_order_and_few_pieces_are_under_way(processes):
    taken = []
    pieces = (taken.append(piece) or piece for piece in range(30))
    for number, (data, square) in enumerate(in_order(pieces, Squares, (2,), processes, "", "")):
        assert square == number**2 and len(data) == 300_000
        assert len(taken) <= number + processes + 2
    assert number == 29 and not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("harm", "message"), [("kill", "was killed, perhaps for its memory"), ("memory", "ran out of memory")]
)
def test_dead_worker_is_named_in_one_line(harm, message):
    with pytest.raises(DataError) as caught:
        list(results(harm))
    assert str(caught.value) == f"numbers: a worker process {message}; try again"
    assert not multiprocessing.active_children()


def test_errors_reach_the_parent_as_they_are():
    with pytest.raises(NetworkError, match="no such host") as caught:
        list(results("error"))
    assert caught.value.status == 404 and "in __call__" in str(caught.value.__cause__)
    assert not multiprocessing.active_children()


def test_an_error_of_the_pieces_or_the_caller_ends_the_workers():
    def pieces():
        yield from range(4)
        raise DataError("cut off")

    with pytest.raises(DataError, match="cut off"):
        list(in_order(pieces(), Harm, ("",), 2, "", ""))
    with closing(results()) as parts:
        assert next(parts) in {process.pid for process in multiprocessing.active_children()}
    assert not multiprocessing.active_children()


@pytest.fixture
def program():
    """Starts a program with a pool; what is left of it is ended."""
    started = []

    def start(harm="sleep"):
        folders = Path(workers.__file__).parents[2], Path(__file__).parents[1], Path(__file__).parent
        paths = os.pathsep.join(map(str, folders))
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, harm],
            env={**os.environ, "PYTHONPATH": paths}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.append(process)
        end = time.monotonic() + PATIENCE
        while len(below := children_of(process.pid)) < 2 and time.monotonic() < end and process.poll() is None:
            time.sleep(0.01)
        started.extend(below)
        return process, below

    yield start
    for left in started:
        if isinstance(left, int):
            if is_alive(left):
                os.kill(left, signal.SIGKILL)
        else:
            left.kill()
            left.communicate()


def children_of(pid):
    return [int(child) for path in Path(f"/proc/{pid}/task").glob("*/children") for child in path.read_text().split()]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_worker_outlives_its_parent(program, number):
    process, below = program()
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == -number and len(below) == 2 and gone(below)
    if number == signal.SIGINT:  # Ctrl-C is one traceback, of the parent
        assert errors.count("Traceback") == 1 and errors.endswith("KeyboardInterrupt\n")
