"""The campaign's part on killed workers: it holds for a good builder and notices bad ones."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.faults import workers
from bench.faults.campaign import Trial
from convinse.support import workers as pool

# writes the sum of what its workers made, or does what one should not
PROGRAM = """
import sys, time
from contextlib import closing
from pathlib import Path
from convinse.support import errors, workers
from test_bench_faults_workers import Slow
fault, given, output = sys.argv[1], *map(Path, sys.argv[2:])
if fault == "orphans":
    workers._die_with = lambda parent: None
seconds = 60 if fault == "orphans" else 0.02
try:
    with closing(workers.in_order(range(int(given.read_text())), Slow, (seconds,), 2, "numbers", "try again")) as parts:
        total = sum(parts)
except errors.DataError as error:
    if fault == "hangs":
        time.sleep(60)
    if fault == "spoils":
        output.write_text("half")
    if fault == "litters":
        output.with_name("left").touch()
    if fault == "raises":
        raise
    print(error, file=sys.stderr)
    sys.exit(1)
output.write_text(str(total))
"""


class Slow:
    def __init__(self, seconds):
        self._seconds = seconds

    def __call__(self, piece):
        time.sleep(self._seconds)
        return piece


class Program(workers.Builder):
    """A builder whose command is the fault of the program."""

    def start(self, given, output, errors):
        with errors.open("wb") as file:
            return subprocess.Popen([sys.executable, "-c", PROGRAM, *self.command, given, output], stderr=file)


def tried(fault, whom, tmp_path, monkeypatch):
    builder = Program((fault,), (), lambda path, n: path.write_text(str(n)), lambda path: path.read_text(), (2, 50))
    monkeypatch.setattr(workers, "BUILDERS", {"numbers": builder})
    monkeypatch.setattr(workers, "_SECONDS", 3 if fault == "hangs" else 60)
    monkeypatch.setattr(workers, "_LEFT", 0.2 if fault == "orphans" else 60)
    paths = Path(pool.__file__).parents[2], Path(__file__).parent, Path(workers.__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, paths)))
    kept, work = tmp_path / "kept", tmp_path / "work"
    kept.mkdir(), work.mkdir()
    if fault or whom == "parent":  # one that is built, and others as if; their kills come early
        (kept / "input").write_text("50")
        (kept / "older").write_text("1")
        prepared = workers.Prepared(kept / "input", kept / "older", "1225", 0.05)
        monkeypatch.setattr(workers, "_prepared", lambda *_: prepared)
    return workers.attempt("numbers", whom == "parent", Trial("numbers", 1, work, kept))


@pytest.mark.parametrize("whom", ["worker", "parent"])
def test_a_good_builder_holds(whom, tmp_path, monkeypatch):
    assert tried("", whom, tmp_path, monkeypatch) == ""


@pytest.mark.parametrize(
    ("fault", "whom", "reason"),
    [
        ("hangs", "worker", "runs on 3 s after a worker was killed"),
        ("spoils", "worker", "the older output is not as it was"),
        ("litters", "worker", "left is left beside the output"),
        ("raises", "worker", "status 1: "),
        ("orphans", "parent", "2 processes are left"),
    ],
)
def test_faults_are_noticed(fault, whom, reason, tmp_path, monkeypatch):
    assert tried(fault, whom, tmp_path, monkeypatch).startswith(reason)
