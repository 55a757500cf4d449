"""What was computed of texts, as much as there is place for: what was used longest ago makes place for the new."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RecentlyUsed(Generic[K, V]):
    """Values that are found again by their keys; threads may share it.

    Args:
        most: the sum of sizes that is kept.
        size: of a value; by default each counts one.
    """

    def __init__(self, most: int, size: Callable[[V], int] = lambda _: 1) -> None:
        self._most, self._size_of = most, size
        self._values: OrderedDict[K, V] = OrderedDict()  # longest unused first
        self._size = 0
        self._lock = threading.Lock()

    def of(self, keys: Sequence[K], compute: Callable[[list[K]], Iterable[V]]) -> list[V]:
        """The values of keys, those that are not known computed together, each key once."""
        values: dict[K, V] = {}
        new: list[K] = []
        with self._lock:
            for key in dict.fromkeys(keys):
                if key in self._values:
                    values[key] = self._values[key]
                    self._values.move_to_end(key)
                else:
                    new.append(key)
        if new:
            made = dict(zip(new, compute(new), strict=True))
            values.update(made)
            with self._lock:
                self._keep(made)
        return [values[key] for key in keys]

    def _keep(self, made: dict[K, V]) -> None:
        for key, value in made.items():
            if key not in self._values:  # else another thread was faster
                self._size += self._size_of(value)
                self._values[key] = value
        while self._size > self._most:
            self._size -= self._size_of(self._values.popitem(last=False)[1])

    def __len__(self) -> int:
        return len(self._values)
