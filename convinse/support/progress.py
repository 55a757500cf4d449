"""Progress of long work: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

LOGGER = logging.getLogger(__name__)
T = TypeVar("T")
LOG_EVERY = 10.0  # seconds between two lines in a log


class Advance(Protocol):
    """Call it with the number of finished units."""

    def __call__(self, units: int = 1) -> None:
        """Count `units` more."""


@contextmanager
def progress(
    title: str, total: int | None, unit: str, quiet: bool = False, done: int = 0, note: Callable[[], str] = lambda: ""
) -> Iterator[Advance]:
    """Show how far work of `total` units (None: unknown) is while the block runs, and the `note` of each moment.

    Work that goes on has `done` units already; they do not count in the estimate of the time left.

    Nothing is shown if `quiet`, or if the log of the project is set to warnings only.
    """
    if quiet or logging.getLogger("convinse").level > logging.INFO:
        yield lambda units=1: None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

        shares = BarColumn(), MofNCompleteColumn(), unit
        columns = "{task.description}", *shares, TimeElapsedColumn(), "<", TimeRemainingColumn(), "{task.fields[note]}"
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task(title, total=total, completed=done, note="")
            yield lambda units=1: bar.update(task, advance=units, note=note())
    else:
        yield _LogProgress(title, total, unit, done, note)


def tracked(items: Collection[T], title: str, unit: str) -> Iterator[T]:
    """Yield items, and show how many of them are done."""
    with progress(title, len(items), unit) as advance:
        for item in items:
            yield item
            advance()


class _LogProgress:
    def __init__(self, title: str, total: int | None, unit: str, done: int, note: Callable[[], str]) -> None:
        self._title, self._total, self._unit, self._note = title, total, unit, note
        self._done = self._before = done
        self._start = self._last = time.monotonic()

    def __call__(self, units: int = 1) -> None:
        self._done += units
        now = time.monotonic()
        if now - self._last >= LOG_EVERY or self._done == self._total:
            self._last = now
            rate = (self._done - self._before) / max(now - self._start, 1e-9)
            if self._total is None:
                LOGGER.info("%s: %d %s, %.1f a second", self._title, self._done, self._unit, rate)
                return
            left = (self._total - self._done) / rate if rate else 0.0
            note = f", {text}" if (text := self._note()) else ""
            LOGGER.info("%s: %d of %d %s, %.0f s left%s", self._title, self._done, self._total, self._unit, left, note)
