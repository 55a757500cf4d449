"""Memory that is given back."""

from pathlib import Path

import pytest

from convinse.support import memory
from memory import COUNT_HEAPS, has_heaps

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

HEAPS = f"""{COUNT_HEAPS}
import sys, threading
from convinse.support.memory import share_heap
if sys.argv[1:] == ["shared"]:
    share_heap()
together = threading.Barrier(4)
def work():
    together.wait(10)
    blocks = [bytes(1000 + number) for number in range(1000)]
    together.wait(10)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(heaps())
"""


@has_heaps
def test_threads_share_a_heap(run_python, monkeypatch):
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    assert int(run_python(HEAPS)) > 1
    assert int(run_python(HEAPS, "shared")) == 1


@has_heaps
def test_the_environment_says_how_many_heaps(run_python, monkeypatch):
    monkeypatch.setenv("MALLOC_ARENA_MAX", "3")
    assert int(run_python(HEAPS, "shared")) == 3


@pytest.mark.skipif(not Path("/proc/self/status").exists() or memory._trim() is None, reason="glibc on Linux only")
def test_what_lies_in_pieces_is_given_back(run_python):
    assert int(run_python(HOLES)) > 30_000  # of 100 MB


def test_elsewhere_it_does_nothing(monkeypatch):
    monkeypatch.setattr(memory, "_trim", lambda: None)
    memory.give_back()
