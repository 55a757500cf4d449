"""Calls and commands in processes of their own: seconds, and bytes in memory."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from convinse.support.errors import ConvinseError

from .harness import SCRIPTS, timed

_CHILD = "from bench.processes import child; child()"
_EVERY = 0.05  # seconds between two looks at the memory of a process


class ChildError(ConvinseError):
    """A process that a bench has started failed."""


class Usage(NamedTuple):
    """What a process took: seconds, bytes at the most; what its call returned."""

    seconds: float
    peak: int
    result: Any = None


def apart(function: Callable[..., Any], *arguments: Any) -> Usage:
    """Call a function of a module in a new process, with arguments and a result that JSON can hold (or paths).

    The seconds are those of the call; the memory is that of all its processes, pages shared by them counted once. Raises
    `ChildError` with the last line that the process wrote to standard error.
    """
    module = function.__module__
    if module == "__main__":
        module = sys.modules[module].__spec__.name  # type: ignore[union-attr]
    call = json.dumps([module, function.__name__, arguments], default=str)
    usage = _process(["-c", _CHILD], f"{module}.{function.__name__}", call)
    seconds, peak, result = json.loads(usage.result.splitlines()[-1])
    return Usage(seconds, max(usage.peak, peak), result)  # what is done between two looks knows its own peak


def child() -> None:
    """What the process of `apart` does."""
    module, name, arguments = json.loads(sys.stdin.read())
    seconds, result = timed(lambda: getattr(importlib.import_module(module), name)(*arguments))
    print(f"\n{json.dumps([seconds, own_memory().get('VmHWM', 0), result])}")


def command(arguments: Sequence[str], folder: Path) -> Usage:
    """Run a command of the project in a folder; the seconds are those of the whole process."""
    return _process(["-m", "convinse", *arguments], f"convinse {' '.join(arguments)}", folder=folder)


def _process(arguments: Sequence[str], what: str, given: str = "", folder: Path | None = None) -> Usage:
    """Run Python; the result is what it writes."""
    path = os.pathsep.join(filter(None, [str(SCRIPTS), os.environ.get("PYTHONPATH")]))
    with (
        tempfile.TemporaryFile("w+") as read,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as errors,
    ):
        read.write(given)
        read.seek(0)
        start = time.perf_counter()
        process = psutil.Popen(
            [sys.executable, *arguments], cwd=folder, stdin=read, stdout=out, stderr=errors, text=True,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        peak, status = 0, None
        while status is None:
            peak = max(peak, _memory(process))
            try:
                status = process.wait(_EVERY)
            except (subprocess.TimeoutExpired, psutil.TimeoutExpired):
                continue
        seconds = time.perf_counter() - start
        errors.seek(0)
        out.seek(0)
        if status:
            raise ChildError(f"{what}: {(errors.read().strip().splitlines() or [f'status {status}'])[-1]}")
        return Usage(seconds, peak, out.read())


def _memory(root: psutil.Process) -> int:
    """Bytes of a process and those below it: their proportional set sizes."""
    total = 0
    try:
        for process in (root, *root.children(recursive=True)):
            total += process.memory_full_info().pss
    except psutil.Error:  # it has ended
        return total
    return total


def own_memory() -> dict[str, int]:
    """Bytes of this process now (`VmRSS`), of it no file (`RssAnon`), and at the most (`VmHWM`). Linux only."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    sizes = (line.split() for line in lines if line.endswith(" kB"))
    return {name.rstrip(":"): 1024 * int(number) for name, number, _ in sizes}


def disk(path: Path) -> int:
    """Bytes of a file, or of all files of a folder."""
    return sum(file.stat().st_size for file in [path, *path.rglob("*")] if file.is_file())
