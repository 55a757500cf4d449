"""Large files of lines in blocks that several processes work on: shared by the builders."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from . import workers
from .errors import DataError
from .jsonlines import BOM, reading, too_long, unpacked
from .limits import LONGEST_LINE

T = TypeVar("T")

LOGGER = logging.getLogger(__name__)
_PATIENCE = 10  # bad entries that never stop a build under way
_MAX_BAD_SHARE = 0.01  # beyond it, the file is taken to be something else


class Block(NamedTuple):
    """Whole lines of a file: their bytes, the number of the first from 1, and the bytes of the (packed) file read so far."""

    data: bytes
    first_line: int
    position: int

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that hold more than blanks, without their ends, with their numbers."""
        for number, line in enumerate(self.data.split(b"\n"), self.first_line):
            if line and not line.isspace():
                yield number, line.removesuffix(b"\r")


def read_blocks(path: Path, size: int) -> Iterator[Block]:
    """Yield the lines of a file, plain or packed, in blocks of about `size` bytes. Raises `DataError` with the line where it broke off."""
    line = 1
    with unpacked(path) as (raw, file), reading(path, lambda: line):
        start = file.read(len(BOM)).removeprefix(BOM)
        while data := start + file.read(size):
            data += file.readline(LONGEST_LINE + 1)
            last = data.rfind(b"\n", 0, -1) + 1
            if len(data) - last > LONGEST_LINE:
                raise too_long(path, line + data.count(b"\n", 0, last))
            start = b""
            yield Block(data, line, raw.tell())
            line += data.count(b"\n")


def cores() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    path: Path,
    blocks: Iterator[Block],
    make: Callable[..., Callable[[Block], T]],
    arguments: tuple[Any, ...],
    processes: int,
    remedy: str,
) -> Generator[T, None, None]:
    """Yield the results of a function over the blocks of a file, in their order, from processes if there are several; see `workers.in_order`."""
    first = list(islice(blocks, 2))
    if processes == 1 or len(first) < 2:
        yield from map(make(*arguments), chain(first, blocks))
        return
    yield from workers.in_order(chain(first, blocks), make, arguments, processes, str(path), remedy)


class Faults:
    """Reports bad entries with their place, and stops when they are more than 1 % (and more than 10).

    While more than 1 % are bad their report waits: if the file turns out to be something else, the error is all there is.
    `unit` is what is counted, such as "lines"; `hint` says what may be wrong with the file.
    """

    def __init__(self, path: Path, unit: str, hint: str) -> None:
        self._path, self._unit, self._hint = path, unit, hint
        self.seen = self.bad = 0
        self._waiting: list[str] = []

    def count(self, seen: int, bad: Iterable[tuple[str, str]] = (), final: bool = False) -> None:
        """Count `seen` more, of which `bad` (place, reason) are bad. Raises `DataError` if too many are."""
        self.seen += seen
        for place, reason in bad:
            self.bad += 1
            self._waiting.append(f"{place}: {reason}")
        most = self.seen * _MAX_BAD_SHARE
        if self.bad > max(0 if final else _PATIENCE, most):
            counts = f"{self.bad} of the first {self.seen} {self._unit} are bad"
            raise DataError(f"{self._path}: {counts} ({self._waiting[0]}); {self._hint}")
        if self.bad <= most:
            self.report()

    def report(self) -> None:
        """Report the bad entries that wait, of a file that is read to its end."""
        for fault in self._waiting:
            LOGGER.warning("%s: %s; skipped", self._path, fault)
        self._waiting.clear()
