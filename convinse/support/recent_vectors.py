"""Vectors in the memory of the process, as many as there is place for: those used longest ago make place for new ones."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np


class RecentVectors:
    """Vectors by the hashes of their texts. Memory grows up to that of `most` vectors and stays there.

    Args:
        dimension: the length of a vector.
        numbers: the type of its numbers.
        most: vectors that are kept.
    """

    def __init__(self, dimension: int, numbers: np.dtype[np.floating], most: int) -> None:
        self._table = np.empty((most, dimension), numbers)  # its pages are taken when they are first written
        self._rows: OrderedDict[bytes, int] = OrderedDict()  # longest unused first

    def get(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The vectors [n, d] of keys [n, 2], zeros where one is unknown; and which are known, bool [n]."""
        rows = np.array([self._row(key.tobytes()) for key in keys], dtype=int)
        known = rows >= 0
        vectors = np.zeros((len(keys), self._table.shape[1]), self._table.dtype)
        vectors[known] = self._table[rows[known]]
        return vectors, known

    def put(self, keys: np.ndarray, vectors: np.ndarray) -> None:
        """Keep vectors [n, d] of keys [n, 2]; those that are known stay as they are. Of more than `most` the last stay."""
        for key, vector in zip(keys, vectors, strict=True):
            name = key.tobytes()
            if self._row(name) < 0:
                full = len(self._rows) == len(self._table)
                row = self._rows.popitem(last=False)[1] if full else len(self._rows)
                self._table[row], self._rows[name] = vector, row

    def clear(self) -> None:
        """Forget all."""
        self._rows.clear()

    def __len__(self) -> int:
        return len(self._rows)

    def _row(self, key: bytes) -> int:
        """Its row, which is now the one used last; -1 where it is unknown."""
        row = self._rows.get(key, -1)
        if row >= 0:
            self._rows.move_to_end(key)
        return row
