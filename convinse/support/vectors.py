"""Vectors that models make of texts, such as embeddings, found again by text: in a `Cache`, or without one in memory."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from cachetools import LRUCache

from .cache import Cache
from .errors import ModelError

EVIDENCES_KEPT = 12_000  # embeddings, in memory: 9 MB in 384 dimensions
_KEEP_EVERY = 4096  # vectors: what a killed run loses at most
_KEY = 16  # bytes of a hash


class VectorCache:
    """Vectors of texts, by a model's id. Threads may share an object, and processes the cache.

    With a cache that is not enabled the `most` that were used last stay in memory: with 12,000 the embedded conversations have 4 % more
    evidences embedded than without a limit. Half precision is enough for embeddings; float32 gives back exactly what a model computed.
    """

    def __init__(
        self,
        cache: Cache,
        model_id: str,
        dimension: int,
        most: int = EVIDENCES_KEPT,
        precision: Literal["float16", "float32"] = "float16",
    ) -> None:
        self._cache = cache
        self._salt = hashlib.blake2b(f"{model_id}/{dimension}/{precision}".encode(), digest_size=_KEY).digest()
        self._dimension, self._numbers = dimension, np.dtype(precision).newbyteorder("<")
        self._recent: LRUCache[bytes, bytes] = LRUCache(most)
        self._lock = threading.Lock()

    def found_or_computed(self, texts: Sequence[str], compute: Callable[[Sequence[str]], np.ndarray]) -> np.ndarray:
        """Return [n, d] vectors of distinct texts: those that are kept, and all others computed, and kept from now on.

        Computed vectors are returned in the stored precision, so that the next run gets the same.
        """
        vectors, is_cached = self.get(texts)
        unknown = np.flatnonzero(~is_cached)
        for start in range(0, len(unknown), _KEEP_EVERY):
            places = unknown[start : start + _KEEP_EVERY]
            new = [texts[place] for place in places]
            vectors[places] = compute(new)
            self.put(new, vectors[places])
        return vectors

    def get(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the kept vectors of texts, [n, d], zeros for an unknown one; and which are known, bool [n]."""
        vectors, is_cached = np.zeros((len(texts), self._dimension), self._numbers), np.zeros(len(texts), bool)
        keys = [self._key(text) for text in texts]
        if not self._cache.enabled:
            with self._lock:
                rows = {place: row for place, key in enumerate(keys) if (row := self._recent.get(key)) is not None}
        else:
            entries = self._cache.get_vectors(_numbers(keys))
            size = _KEY + vectors.itemsize * self._dimension
            rows = {
                place: entry
                for place, (key, entry) in enumerate(zip(keys, map(entries.get, _numbers(keys)), strict=True))
                if entry is not None and len(entry) == size and entry.startswith(key)
            }
        if rows:
            is_cached[list(rows)] = True
            table = np.frombuffer(b"".join(rows.values()), np.uint8).reshape(len(rows), -1)[:, _KEY:]
            vectors[is_cached] = np.ascontiguousarray(table).view(self._numbers)
        return vectors, is_cached

    def put(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        """Keep the vectors [n, d] of texts. Raises `ModelError`: a vector is not finite in this precision."""
        with np.errstate(over="ignore"):
            numbers = np.asarray(vectors).astype(self._numbers).reshape(len(texts), self._dimension)
        if len(bad := np.flatnonzero(~np.isfinite(numbers).all(axis=1))):
            raise ModelError(f"the embedding of {texts[bad[0]][:80]!r} is not finite; the model is broken")
        keys = [self._key(text) for text in texts]
        entries = [key + row.tobytes() for key, row in zip(keys, numbers, strict=True)]
        if self._cache.enabled:
            self._cache.put_vectors(zip(_numbers(keys), entries, strict=True))
            return
        with self._lock:
            self._recent.update(zip(keys, entries, strict=True))

    def _key(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY, salt=self._salt).digest()


def _numbers(keys: Sequence[bytes]) -> list[int]:
    numbers: list[int] = np.frombuffer(b"".join(keys), "<i8")[::2].tolist()
    return numbers
