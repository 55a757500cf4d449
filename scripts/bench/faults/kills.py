"""Kills at any instant of every command that writes: the older output or the newer is whole, nothing runs on, another run mends all."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from ..harness import Bench, Figures
from .campaign import Trial, measured
from .commands import Prepared, attempts, to_its_end

_AMOUNTS = (1, 2, 17)  # kills of a command; the last are 204 in all
_GRACE = 5.0  # seconds that the processes of a killed command have to end
_EVERY = 0.05


def kills(bench: Bench) -> Figures:
    return measured(bench, "kills", attempts(bench, _killed), _AMOUNTS[bench.size])


def _killed(name: str, trial: Trial) -> str:
    prepared = Prepared(trial.kept, name)
    prepared.put_older(trial.work)
    started = prepared.start(trial.work)
    time.sleep(trial.random.uniform(0.0, prepared.seconds))
    started.process.kill()
    ended = to_its_end(started)
    try:
        if ended.status > 0:
            return f"it ended before it was killed, with {ended.status}: {ended.errors.strip()}"
        if left := prepared.is_whole(trial.work):
            return left
        if running := _running_after(started.process.pid, _GRACE):
            return f"{running} of its processes run on after {_GRACE:.0f} s"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(started.process.pid, signal.SIGKILL)
    return prepared.again(trial.work)


def _running_after(group: int, seconds: float) -> int:
    """How many processes of a group run after so many seconds at the most; Linux only."""
    end = time.monotonic() + seconds
    while (
        running := sum(_group_of(path) == group for path in Path("/proc").glob("[0-9]*/stat"))
    ) and time.monotonic() < end:
        time.sleep(_EVERY)
    return running


def _group_of(path: Path) -> int | None:
    """The group of a process that runs; None for one that has ended."""
    try:
        state, _, group = path.read_text().rpartition(")")[2].split()[:3]
    except OSError:
        return None
    return None if state in "ZX" else int(group)
