import logging
import sys

import pytest

from convinse.support import progress as progress_module
from convinse.support.progress import progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    now = [100.0]
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def log(caplog, monkeypatch):
    caplog.set_level(logging.INFO, logger="convinse")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    return caplog


def test_a_log_gets_a_line_now_and_then_and_one_at_the_end(log, clock):
    with progress("kb", 100, "conversations") as advance:
        for _ in range(100):
            clock[0] += 0.5
            advance()
    assert 4 <= len(log.messages) <= 10
    assert log.messages[0].startswith("kb: 20 of 100 conversations, 40 s left")
    assert log.messages[-1].startswith("kb: 100 of 100 conversations, 0 s left")


def test_no_work_and_quiet_work_are_silent(log, capfd):
    with progress("kb", 0, "turns"):
        pass
    with progress("kb", 2, "turns", quiet=True) as advance:
        advance()
        advance(1)
    assert log.messages == []
    assert capfd.readouterr() == ("", "")
