"""Results of texts in bounded memory: the least recently used make room for new ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

from cachetools import LRUCache

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RecentlyUsed(Generic[K, V]):
    """Values that are found again by their keys, up to a sum of their sizes; by default each counts one. Threads may share it."""

    def __init__(self, most: int, size: Callable[[V], int] = lambda _: 1) -> None:
        self._values: LRUCache[K, V] = LRUCache(most, getsizeof=size)
        self._lock = threading.Lock()

    def of(self, keys: Sequence[K], compute: Callable[[list[K]], Iterable[V]]) -> list[V]:
        """Return the values of keys; unknown ones are computed together, each key once."""
        with self._lock:
            values = {key: self._values[key] for key in dict.fromkeys(keys) if key in self._values}
        new = [key for key in dict.fromkeys(keys) if key not in values]
        if new:
            computed = dict(zip(new, compute(new), strict=True))
            values |= computed
            with self._lock:
                for key, value in computed.items():
                    with suppress(ValueError):  # larger than all together may be
                        self._values[key] = value
        return [values[key] for key in keys]

    def __len__(self) -> int:
        return len(self._values)
