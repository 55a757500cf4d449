"""Systems timed in turn; calls and commands in processes of their own: seconds, and bytes in memory."""

from __future__ import annotations

import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import psutil

from convinse.support.errors import ConvinseError

W = TypeVar("W")
R = TypeVar("R")
_SCRIPTS = str(Path(__file__).resolve().parents[1])
_CHILD = "from bench.timing import child; child()"
_EVERY = 0.05  # seconds between two looks at the memory of a process


class Spread(NamedTuple):
    """The median of some values; as text with the least and the most in brackets."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values))

    def __format__(self, form: str) -> str:
        return f"{self.median:{form}} ({self.least:{form}}-{self.most:{form}})"


def in_turn(
    systems: Mapping[str, Callable[[W], R]], works: Iterable[W], clock: Callable[[], float] = time.perf_counter
) -> Iterator[tuple[str, W, float, R]]:
    """(system, work, seconds, result): all systems do a piece of work before the next; every other one backwards."""
    for number, work in enumerate(works):
        for name in list(systems) if number % 2 == 0 else reversed(list(systems)):
            start = clock()
            result = systems[name](work)
            yield name, work, clock() - start, result


def interleaved(systems: Mapping[str, Callable[[], R]], rounds: int) -> tuple[dict[str, list[float]], dict[str, R]]:
    """Each system once a round: the seconds of all rounds, the results of the last."""
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    results: dict[str, R] = {}
    calls = {name: lambda _, call=call: call() for name, call in systems.items()}
    for name, _, spent, result in in_turn(calls, range(rounds)):
        seconds[name].append(spent)
        results[name] = result
    return seconds, results


def timed(call: Callable[[], R]) -> tuple[float, R]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def percentile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


# -- processes ---------------------------------------------------------------------------------------------------------


class ChildError(ConvinseError):
    """A process that a bench has started failed."""


class Usage(NamedTuple):
    seconds: float
    peak: int
    result: Any = None


def apart(function: Callable[..., Any], *arguments: Any) -> Usage:
    """Call a function of a module in a new process, with arguments and a result that JSON can hold (or paths)."""
    module = function.__module__
    if module == "__main__":
        module = sys.modules[module].__spec__.name  # type: ignore[union-attr]
    call = json.dumps([module, function.__name__, arguments], default=str)
    usage = python(["-c", _CHILD, call])
    seconds, result = json.loads(usage.result.splitlines()[-1])
    return Usage(seconds, usage.peak, result)


def child() -> None:
    module, name, arguments = json.loads(sys.argv[1])
    seconds, result = timed(lambda: getattr(importlib.import_module(module), name)(*arguments))
    print(f"\n{json.dumps([seconds, result])}")


def command(arguments: Sequence[str], folder: Path, root: Path | None = None) -> Usage:
    """Run a command of the project in a folder; the seconds are those of the whole process."""
    return python(["-m", "convinse", *arguments], folder, root)


def python(arguments: Sequence[str], folder: Path | None = None, root: Path | None = None) -> Usage:
    """Run Python, with the project's files in `root` if it is given; the result is what it prints.

    The memory is that of all its processes, pages shared by them counted once.
    """
    path = os.pathsep.join(filter(None, [root and str(root), _SCRIPTS, os.environ.get("PYTHONPATH")]))
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        process = psutil.Popen(
            [sys.executable, *arguments], cwd=folder, stdout=out, stderr=errors, env={**os.environ, "PYTHONPATH": path}
        )
        peak, status = 0, None
        while status is None:
            with suppress(psutil.Error):  # it has ended
                family = (process, *process.children(recursive=True))
                peak = max(peak, sum(member.memory_full_info().pss for member in family))
            with suppress(subprocess.TimeoutExpired, psutil.TimeoutExpired):
                status = process.wait(_EVERY)
        seconds = time.perf_counter() - start
        errors.seek(0)
        out.seek(0)
        if status:
            lines = errors.read().strip().splitlines()
            raise ChildError(f"{' '.join(arguments)[:80]}: {lines[-1] if lines else f'status {status}'}")
        return Usage(seconds, peak, out.read())


def disk(path: Path) -> int:
    return sum(file.stat().st_size for file in [path, *path.rglob("*")] if file.is_file())
