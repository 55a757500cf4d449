"""Running a command or a function of the project in this process, and what is wrong with how it ended."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import convinse
from convinse.support.errors import ConvinseError

_CPU_SECONDS, _SECONDS = 5, 60  # of work, which other processes do not slow down; of waiting for anything
_SHOWN = 160  # characters of what is wrong

Step = Sequence[str] | Callable[[], object]  # a command line, or a function of the project where no command is light


class _TooSlowError(BaseException):
    """It takes too long; no `except Exception` keeps it."""


class Ending(NamedTuple):
    """How a step ended: what is wrong with it (nothing where it ended as it should), and its exit status."""

    fault: str
    status: int = 0


def ended(step: Step) -> Ending:
    """Run a step. It should end well, or with one line of a `ConvinseError`; of a command log lines may stand before it."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict")
    shown = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    with _counted() as logged, contextlib.redirect_stdout(out), contextlib.redirect_stderr(shown):
        ending = _called(step) if callable(step) else _called(partial(_command, step))
        out.flush()
        shown.flush()
    text = shown.buffer.getvalue().decode()  # type: ignore[attr-defined]
    lines = text.removesuffix("\n").split("\n") if text else []
    told = 0 if callable(step) else ending.status
    if ending.fault or (len(lines) == len(logged) + told and (not told or lines[-1].startswith("convinse: "))):
        return ending
    return Ending(
        f"{len(logged)} log lines and status {ending.status}, but on standard error {text[-_SHOWN:]!r}", ending.status
    )


def _command(arguments: Sequence[str]) -> int:
    from convinse.cli import main

    return main([*arguments, "--quiet"])


def _called(function: Callable[[], Any]) -> Ending:
    try:
        with _limited():
            result = function()
            sys.stdout.flush()
        return Ending("", result if isinstance(result, int) else 0)
    except ConvinseError as error:
        text = str(error)
        return Ending("" if "\n" not in text else f"{type(error).__name__} of several lines: {text[:_SHOWN]!r}", 1)
    except _TooSlowError as error:
        return Ending(f"more than {_CPU_SECONDS} s of work{_place(error)}", 1)
    except (Exception, SystemExit) as error:  # whatever comes out is what is looked for
        return Ending(f"{type(error).__name__}: {' '.join(str(error).split())[:_SHOWN]}{_place(error)}", 1)


class _Counter(logging.Handler):
    """Keeps log records."""

    def __init__(self, records: list[logging.LogRecord]) -> None:
        super().__init__(logging.WARNING)
        self.emit = records.append  # type: ignore[method-assign]


@contextlib.contextmanager
def _counted() -> Iterator[list[logging.LogRecord]]:
    """What the project logs; afterwards logging is as it was, for a command sets up its own."""
    logger, root = logging.getLogger("convinse"), logging.getLogger()
    handlers, levels = root.handlers[:], (root.level, logger.level)
    records: list[logging.LogRecord] = []
    counter = _Counter(records)
    logger.addHandler(counter)
    try:
        yield records
    finally:
        logger.removeHandler(counter)
        root.handlers[:] = handlers
        root.setLevel(levels[0])
        logger.setLevel(levels[1])


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Raise `_TooSlowError` in the block after some seconds of work, or many of waiting."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TooSlowError

    handlers = {number: signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _place(error: BaseException) -> str:
    """The last place of the project that an exception came from."""
    package = Path(convinse.__file__).parent
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if package in Path(frame.filename).parents]
    return f" (at {Path(frames[-1].filename).name}:{frames[-1].lineno}, {frames[-1].name})" if frames else ""


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder, with room for what a deep recursion needs."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        sys.stdout.flush()
