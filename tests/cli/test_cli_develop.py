"""`test`: what pytest is started with."""

import subprocess
import sys
from pathlib import Path

import pytest

from convinse.cli import main
from places import ROOT

TESTS = str(ROOT / "tests")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], [TESTS]),
        (["-x", "-k", "some words"], [TESTS, "-x", "-k", "some words"]),
        (["-n", "0"], [TESTS, "-n", "0"]),
        (["a.py", "b.py::test_b", "-q"], ["{here}/a.py", "{here}/b.py::test_b", "-q"]),
    ],
)
def test_pytest_gets_files_and_options_as_they_are_given(workdir, monkeypatch, words, expected):
    calls = []
    monkeypatch.setattr(subprocess, "call", lambda command, **options: calls.append((command, options)) or 5)
    assert main(["test", *words]) == 5
    ((command, options),) = calls
    workers = [word for word in command if word.startswith(("--numprocesses=", "--dist="))]
    assert len(workers) == (2 if TESTS in expected else 0)  # one file is soon done in one process
    here = str(Path().resolve())
    assert command == [sys.executable, "-m", "pytest", *workers, *(word.format(here=here) for word in expected)]
    assert options == {"cwd": ROOT}
