"""Files that are compared with the checksums of their blocks: each block once, before something of it is used.

The checksum is a CRC-32: it finds every change of a few bits in a row, and misses any other change once in 4 billion times.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .checksums import crc32
from .errors import IndexFileError, one_line, remedy_of

if TYPE_CHECKING:
    import numpy as np

# Bytes of a block: 2 ** 16. The first touch of one takes 40 microseconds; about as much as a disk reads ahead anyway.
SHIFT = 16
BLOCK = 1 << SHIFT
_AT_ONCE = 64  # blocks that a thread compares
_THREADS = 2  # they share a disk
# What an engine reads that cannot be told where is compared whole before its first use, in about a second for each 3 GB;
# what is larger by samples, for its first question would wait too long.
_MOST_WHOLE = 2 << 30
_SAMPLES = 32  # blocks of a file


def sums_of(path: Path) -> list[int]:
    """The checksums of a file's blocks."""
    with path.open("rb") as file:
        return [crc32(block) for block in iter(lambda: file.read(BLOCK), b"")]


class BlockFile:
    """A file whose blocks are compared with their checksums when they are first asked for; several threads may.

    Args:
        path: of the file.
        size: bytes of it that have checksums, from the first one on.
        sums: the checksum of each of its blocks.
        remedy: what to do about a damaged one.
    """

    def __init__(self, path: Path, size: int, sums: Sequence[int] | np.ndarray, remedy: str) -> None:
        self.path, self._size, self._sums, self._remedy = path, size, sums, remedy
        self.sound = bytearray(len(sums))  # 1: compared, and as it was written
        self.pending = len(sums)  # how many are not compared yet
        self._descriptor: int | None = None
        self._lock = threading.Lock()

    def read(self, start: int, size: int) -> bytes:
        """`size` bytes from `start`.

        Raises:
            IndexFileError: they are damaged, or cannot be read.
        """
        if self.pending:
            self.require(start, start + size)
        return self._pread(size, start)

    def require(self, start: int, end: int) -> None:
        """Compare the blocks of the bytes from `start` to `end`. Raises `IndexFileError`: something there is damaged."""
        if end > start:
            sound = self.sound
            for block in range(start >> SHIFT, (end - 1 >> SHIFT) + 1):
                if not sound[block]:
                    self.compare(block)

    def require_blocks(self, blocks: np.ndarray) -> None:
        """Compare some blocks, repeated ones once. Raises what `require` does."""
        sound = self._sounds.take(blocks)
        if not sound.all():
            for block in set(blocks[sound == 0].tolist()):
                self.compare(block)

    @cached_property
    def _sounds(self) -> np.ndarray:
        """`sound` as an array, which changes with it."""
        import numpy as np

        return np.frombuffer(self.sound, np.uint8)

    def require_all(self) -> None:
        """Compare the whole file. Raises what `require` does."""
        parts = range(0, len(self.sound), _AT_ONCE)
        if len(parts) < 2:
            self._compare_from(0)
        else:
            with ThreadPoolExecutor(_THREADS) as threads:
                list(threads.map(self._compare_from, parts))

    def require_samples(self, number: int) -> None:
        """Compare `number` blocks that are evenly spread. Raises what `require` does."""
        last = len(self.sound) - 1
        for block in {last * place // max(1, number - 1) for place in range(number)} if last >= 0 else ():
            self.compare(block)

    def open(self) -> BlockFile:
        """Open the file now, so that this stays the one that is read when another takes its place."""
        if self._descriptor is None:
            with self._lock:  # of two descriptors, the number of one would be closed twice, when somebody else has it
                if self._descriptor is None:
                    try:
                        descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
                    except OSError as error:
                        raise self._unreadable(error) from None
                    self._finalizer = weakref.finalize(self, os.close, descriptor)  # when nothing needs it
                    self._descriptor = descriptor
        return self

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._descriptor is not None:
                self._finalizer()
                self._descriptor = None

    def compare(self, block: int) -> None:
        """Compare a block. Raises what `require` does."""
        if self.sound[block]:
            return
        start = block << SHIFT
        wanted = min(BLOCK, self._size - start)
        if crc32(self._pread(wanted, start)) != int(self._sums[block]):
            raise IndexFileError(f"{self.path}: altered since it was built; {self._remedy}")
        with self._lock:
            if not self.sound[block]:
                self.sound[block] = 1
                self.pending -= 1

    def _compare_from(self, first: int) -> None:
        for block in range(first, min(first + _AT_ONCE, len(self.sound))):
            self.compare(block)

    def _pread(self, size: int, start: int) -> bytes:
        self.open()
        assert self._descriptor is not None
        try:
            return os.pread(self._descriptor, size, start)
        except OSError as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: OSError) -> IndexFileError:
        return IndexFileError(f"{self.path}: cannot be read: {one_line(error)}; {remedy_of(error, self._remedy)}")


class CheckedArray:
    """An array in a `BlockFile`, mapped into memory; it knows those operations of `numpy.ndarray` that look-ups need.

    Places count from 0, none from the end.

    Args:
        values: the whole array.
        file: that it is mapped from.
    """

    def __init__(self, values: np.ndarray, file: BlockFile) -> None:
        self._values, self._file = values, file
        self._shift = SHIFT - (values.itemsize.bit_length() - 1)
        self.dtype = values.dtype

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, key: Any) -> Any:
        """The value at a place, or an array of those of a slice or of an array of places."""
        if self._file.pending:
            self._require(key)
        return self._values[key]

    def _require(self, key: Any) -> None:
        if isinstance(key, int):
            if not self._file.sound[key >> self._shift]:
                self._file.compare(key >> self._shift)
        elif isinstance(key, slice):
            start, end, _ = key.indices(len(self._values))
            if start < end:
                first, last = start >> self._shift, end - 1 >> self._shift
                if first < last or not self._file.sound[first]:
                    self._file.require(first << SHIFT, last + 1 << SHIFT)
        else:
            self._file.require_blocks(key >> self._shift)

    def searchsorted(self, values: Any, side: Any = "left") -> Any:
        """The places of values in an ascending array.

        The search may have been led astray by damage; but where the two neighbours of its end are sound, it has found
        the one place there is, for it ends between a smaller and a greater value.
        """
        places = self._values.searchsorted(values, side)
        if self._file.pending and len(self._values):
            last = len(self._values) - 1
            if places.ndim:
                self._require((places - 1).clip(0))
                self._require(places.clip(0, last))
            else:
                self._require(max(0, int(places) - 1))
                self._require(min(last, int(places)))
        return places

    def tolist(self) -> list[Any]:
        """All values."""
        values: list[Any] = self[:].tolist()
        return values


def require_together(files: Sequence[BlockFile]) -> None:
    """Compare files that somebody else reads, who knows where: whole, or by samples where they are very large.

    Raises:
        IndexFileError: one is damaged.
    """
    whole = sum(len(file.sound) for file in files) << SHIFT <= _MOST_WHOLE
    for file in files:
        if whole:
            file.require_all()
        else:
            file.require_samples(_SAMPLES)
