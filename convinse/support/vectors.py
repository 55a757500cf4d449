"""Vectors that models make of texts, such as embeddings, found again by text: in memory, and in a `Cache` if there is one."""

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
_HALF = 8  # bytes of a hash; the first half is the number of an entry of the cache


class VectorCache:
    """Vectors of texts. Threads may share an object, and processes the cache.

    Args:
        cache: keeps the vectors between runs; None, or one without a folder: they stay in memory only.
        model_id: the model that makes the vectors; whatever changes them belongs into it.
        dimension: the length of a vector.
        most: vectors in memory; those used longest ago go. With 12,000 and no folder, the embedded conversations have 4 % more
            evidences embedded than without a limit.
        precision: of the numbers: half is enough for embeddings; float32 gives back exactly what a model computed.
    """

    def __init__(
        self,
        cache: Cache | None,
        model_id: str,
        dimension: int,
        most: int = EVIDENCES_KEPT,
        precision: Literal["float16", "float32"] = "float16",
    ) -> None:
        self._cache = cache if cache is not None and cache.enabled else None
        self._salt = hashlib.blake2b(f"{model_id}/{dimension}/{precision}".encode(), digest_size=16).digest()
        self._dimension, self._numbers = dimension, np.dtype(precision).newbyteorder("<")
        self._recent: LRUCache[bytes, np.ndarray] = LRUCache(most)
        self._lock = threading.Lock()

    def found_or_computed(self, texts: Sequence[str], compute: Callable[[Sequence[str]], np.ndarray]) -> np.ndarray:
        """Return [n, d] vectors of distinct texts: those that are kept, and all others computed, and kept from now on.

        What is computed is returned as it is kept, so that the next run finds the same.
        """
        vectors, known = self.get(texts)
        unknown = np.flatnonzero(~known)
        for start in range(0, len(unknown), _KEEP_EVERY):
            places = unknown[start : start + _KEEP_EVERY]
            new = [texts[place] for place in places]
            vectors[places] = compute(new)
            self.put(new, vectors[places])
        return vectors

    def get(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the kept vectors of texts, [n, d], zeros for an unknown one; and which are known, bool [n]."""
        vectors, known = np.zeros((len(texts), self._dimension), self._numbers), np.zeros(len(texts), bool)
        keys = [self._key(text) for text in texts]
        with self._lock:
            for place, key in enumerate(keys):
                if (vector := self._recent.get(key)) is not None:
                    vectors[place], known[place] = vector, True
        if self._cache is None or known.all():
            return vectors, known
        missing = np.flatnonzero(~known).tolist()
        kept = self._cache.get_vectors([_number(keys[place]) for place in missing])
        size = _HALF + vectors.itemsize * self._dimension
        found = [place for place in missing
                 if (content := kept.get(_number(keys[place]), b"")).startswith(keys[place][_HALF:]) and len(content) == size]  # fmt: skip
        if found:
            content = b"".join([kept[_number(keys[place])][_HALF:] for place in found])
            vectors[found] = np.frombuffer(content, self._numbers).reshape(len(found), self._dimension)
            known[found] = True
            self._remember([keys[place] for place in found], vectors[found])
        return vectors, known

    def put(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        """Keep the vectors [n, d] of texts.

        Raises:
            ModelError: a vector is not finite in this precision.
        """
        with np.errstate(over="ignore"):
            numbers = np.asarray(vectors).astype(self._numbers).reshape(len(texts), self._dimension)
        if len(bad := np.flatnonzero(~np.isfinite(numbers).all(axis=1))):
            raise ModelError(f"the embedding of {texts[bad[0]][:80]!r} is not finite; the model is broken")
        keys = [self._key(text) for text in texts]
        self._remember(keys, numbers)
        if self._cache is not None:
            self._cache.put_vectors(
                (_number(key), key[_HALF:] + row.tobytes()) for key, row in zip(keys, numbers, strict=True)
            )

    def _remember(self, keys: Sequence[bytes], vectors: np.ndarray) -> None:
        with self._lock:
            for key, vector in zip(keys, vectors, strict=True):
                self._recent[key] = vector.copy()  # of its own, that a batch may go

    def _key(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=2 * _HALF, salt=self._salt).digest()


def _number(key: bytes) -> int:
    return int.from_bytes(key[:_HALF], "little", signed=True)
