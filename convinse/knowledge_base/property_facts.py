"""The facts that a property occurs in, as predicate or in qualifiers. An index has no list of them: its facts are read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from .layout import PAIRS_SHIFT, PROPERTY_MASK, pairs_in

BLOCK = 1 << 22  # tokens that are read at once


class PropertyFacts:
    """Counts and places of the facts of properties.

    The first question reads all facts; a later one does so again only for a property that is not too frequent.

    Args:
        fact_start, fact_size, tokens: arrays of an index, see `layout`.
    """

    def __init__(self, fact_start: Any, fact_size: Any, tokens: Any) -> None:
        self._fact_start, self._fact_size, self._tokens = fact_start, fact_size, tokens
        self._lock = Lock()  # who asks while the facts are read waits, and reads them not again

    def count(self, number: int) -> int:
        """In how many facts a property occurs."""
        with self._lock:
            counts = self._counts
        return int(counts[number]) if number < len(counts) else 0

    def places(self, number: int, most: int) -> list[int]:
        """Where the facts of a property stand in `tokens`, ascending; none where there are more than `most`."""
        if not 0 < self.count(number) <= most:
            return []
        blocks = [start + np.unique(places[of == number]) for start, places, of in self._occurrences()]
        places: list[int] = np.concatenate(blocks).tolist()
        return places

    @cached_property
    def _counts(self) -> np.ndarray:
        counts = np.zeros(PROPERTY_MASK + 1, np.int64)
        for _, places, of in self._occurrences():
            pairs = np.unique(places << PAIRS_SHIFT | of)  # a fact that has a property more than once counts once
            counts += np.bincount(pairs & PROPERTY_MASK, minlength=len(counts))
        return counts

    def _occurrences(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Of each block of facts: its start, the places of facts in it, and a property of each."""
        starts, sizes = np.asarray(self._fact_start[:], np.int64), np.asarray(self._fact_size[:], np.int64)
        order = np.argsort(starts[sizes > 0])
        starts, ends = starts[sizes > 0][order], (starts + sizes)[sizes > 0][order]
        first = 0
        while first < len(starts):
            start = int(starts[first])
            last = max(first + 1, int(ends.searchsorted(start + BLOCK, "right")))
            tokens = np.asarray(self._tokens[start : int(ends[last - 1])], np.int64)
            places = _fact_places(tokens, starts[first:last] - start, ends[first:last] - start)
            occurrences = list(_properties(tokens, places))
            yield start, np.concatenate([at for at, _ in occurrences]), np.concatenate([of for _, of in occurrences])
            first = last


def _fact_places(tokens: np.ndarray, at: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The places of all facts of items, whose facts stand from `at` to `end`: the first of each, then the second ..."""
    places = []
    while len(at):
        places.append(at)
        at = at + 3 + 2 * pairs_in(tokens[at + 1])
        at, end = at[at < end], end[at < end]
    return np.concatenate(places)


def _properties(tokens: np.ndarray, places: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Places of facts and their predicates, then places of those with a first qualifier and its property, and so on."""
    headers = tokens[places + 1]
    yield places, headers & PROPERTY_MASK
    pairs, number = pairs_in(headers), 0
    while len(places := places[pairs > number]):
        pairs = pairs[pairs > number]
        yield places, tokens[places + 3 + 2 * number]
        number += 1
