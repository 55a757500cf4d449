"""The vectors of a dump: 8-bit integers with a scale, searched exhaustively or looked up by the text."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Sequence

import numpy as np

ROWS_PER_PAGE = (
    1 << 20
)  # the most evidences of a page; the row of an evidence: the page's row times this, plus its place
_MOST_LEVEL = 127  # of int8
_HEAD = 12  # bytes before the numbers of a vector: the key of its text and the scale
_BLOCK = 1 << 14  # vectors that are converted to floats at once


class StoredVectors:
    """The vectors of all evidences, in the order of their pages.

    `pages` are pairs of a page's row and its `packed` vectors in a frame of zlib, without compression.
    """

    def __init__(self, pages: Iterable[tuple[int, bytes]], dimension: int) -> None:
        rows, parts = [np.zeros(0, np.int64)], [np.zeros((0, _HEAD + dimension), np.int8)]
        for page, framed in pages:
            parts.append(np.frombuffer(zlib.decompress(framed), np.int8).reshape(-1, _HEAD + dimension))
            rows.append(page * ROWS_PER_PAGE + np.arange(len(parts[-1])))
        whole = np.concatenate(parts)
        self._rows = np.concatenate(rows)  # [n] of the evidences
        self._keys = whole[:, :8].copy().view(np.int64)[:, 0]  # [n] hashes of the texts
        self._by_key = np.argsort(self._keys)
        self.levels = whole[:, _HEAD:].copy()  # [n, dimension] int8
        self._scales = whole[:, 8:_HEAD].copy().view(np.float32)[:, 0]  # [n]

    def nearest(self, question: np.ndarray, limit: int) -> np.ndarray:
        """Return the rows of the vectors nearest to a question's [dimension] float32, nearest first."""
        starts = range(0, len(self._rows), _BLOCK)
        parts = [self.levels[start : start + _BLOCK].astype(np.float32) @ question for start in starts]
        closeness = np.concatenate([np.zeros(0, np.float32), *parts]) * self._scales
        if len(closeness) > limit:  # with all ties at the limit, of which the rows decide
            least = np.partition(closeness, -limit)[-limit]
            best = np.flatnonzero(closeness >= least)
        else:
            best = np.arange(len(closeness))
        nearest: np.ndarray = self._rows[best[np.lexsort((self._rows[best], -closeness[best]))[:limit]]]
        return nearest

    def of_texts(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the vectors of texts, [n, dimension] float32 (zeros for an unknown text), and a mask of the known ones, bool [n]."""
        keys = np.array([text_key(text) for text in texts], np.int64)
        vectors = np.zeros((len(texts), self.levels.shape[1]), np.float32)
        if not len(self._keys):
            return vectors, np.zeros(len(texts), bool)
        # not `np.isin`, which sorts all keys for each question
        places = self._by_key.take(np.searchsorted(self._keys, keys, sorter=self._by_key), mode="clip")
        is_stored = self._keys[places] == keys
        vectors[is_stored] = (self.levels[places] * self._scales[places, None])[is_stored]
        return vectors, is_stored


def packed(texts: Sequence[str], vectors: np.ndarray) -> np.ndarray:
    """Return [n, bytes] stored vectors: the key of the text, the scale and 8-bit integers."""
    keys = np.array([text_key(text) for text in texts], np.int64)[:, None]
    scales = np.maximum(np.abs(vectors).max(axis=1, keepdims=True) / _MOST_LEVEL, 1e-12).astype(np.float32)
    levels = np.round(vectors / scales).astype(np.int8)
    return np.hstack([keys.view(np.int8), scales.view(np.int8), levels])


def text_key(text: str) -> int:
    """Return a 64-bit hash of a text, signed as an integer of SQLite."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
