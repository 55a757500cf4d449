"""A file of records of equal size behind a header: its map in memory, and an index of what the records begin with."""

from __future__ import annotations

import mmap
import os
import weakref

import numpy as np


class RecordFile:
    """An open file of records: its map, and an index of the first halves of the keys."""

    def __init__(self, descriptor: int, write: bool) -> None:
        self.descriptor = descriptor
        self.rows = 0
        self.table: np.ndarray  # [rows, bytes of a record]
        self._write = write
        self._process = os.getpid()
        self._runs: list[tuple[np.ndarray, np.ndarray]] = []  # (sorted keys, rows), older ones first
        self.close = weakref.finalize(self, os.close, descriptor)

    def serves(self, write: bool) -> bool:
        """Whether this is still the right file to use: opened by this process, writable if need be, not deleted."""
        return self._process == os.getpid() and (self._write or not write) and os.fstat(self.descriptor).st_nlink > 0

    def read(self, start: int, size: int, rows: int) -> None:
        """Map `rows` records of `size` bytes from `start` on, and index the new ones."""
        if rows < self.rows:  # someone has cut the file
            self.rows, self._runs = 0, []
        if rows == self.rows:
            return
        view = mmap.mmap(self.descriptor, start + rows * size, access=mmap.ACCESS_READ)
        self.table = np.frombuffer(view, np.uint8, rows * size, start).reshape(rows, size)
        keys = np.ndarray((rows - self.rows,), "<u8", view, start + self.rows * size, (size,)).copy()
        self._add(keys, np.arange(self.rows, rows))
        self.rows = rows

    def _add(self, keys: np.ndarray, rows: np.ndarray) -> None:
        """Merge with the runs that are not much longer, so that there are few, and few long ones are sorted again."""
        while self._runs and len(self._runs[-1][0]) < 4 * len(keys):
            older = self._runs.pop()
            keys, rows = np.concatenate([older[0], keys]), np.concatenate([older[1], rows])
        order = np.argsort(keys)
        if (keys[order][1:] == keys[order][:-1]).any():
            order = np.lexsort([rows, keys])  # the later one of equal keys is to be found
        self._runs.append((keys[order], rows[order]))

    def find(self, keys: np.ndarray) -> np.ndarray:
        """The last row of each key, or -1."""
        last_rows = np.full(len(keys), -1)
        for known, rows in self._runs:
            at = np.searchsorted(known, keys, side="right") - 1
            hit = (at >= 0) & (known[at] == keys)
            last_rows[hit] = rows[at[hit]]
        return last_rows
