"""Memory that is given back."""

from pathlib import Path

import pytest

from convinse.support import memory

HOLES = """
from pathlib import Path
from convinse.support.memory import give_back
def own():
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "RssAnon" in line)
blocks = [b"x" * (1000 + number % 7) for number in range(100_000)]
del blocks[:-1:2], blocks[:-1:2], blocks[:-1:2], blocks[:-1:2], blocks[:-1:2], blocks[:-1:2]
before = own()
give_back()
print(before - own())
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists() or memory._trim() is None, reason="glibc on Linux only")
def test_what_lies_in_pieces_is_given_back(run_python):
    assert int(run_python(HOLES)) > 30_000  # of 100 MB


def test_elsewhere_it_does_nothing(monkeypatch):
    monkeypatch.setattr(memory, "_trim", lambda: None)
    memory.give_back()
