"""Finds the facts with a property, as predicate or in qualifiers, by reading all facts: an index has no list of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from .layout import PAIRS_SHIFT, PROPERTY_MASK, pairs_in

BLOCK = 1 << 22  # tokens that are read at once


class PropertyFacts:
    """Counts and places of the facts of properties, in the arrays of an index (see `layout`).

    The first call reads all facts; `places` reads them again for a property that is not too frequent.
    """

    def __init__(self, fact_start: Any, fact_size: Any, tokens: Any) -> None:
        self._fact_start, self._fact_size, self._tokens = fact_start, fact_size, tokens
        self._lock = Lock()  # other threads wait while the facts are counted

    def count(self, number: int) -> int:
        """Return the number of facts that a property occurs in."""
        with self._lock:
            counts = self._counts
        return int(counts[number]) if number < len(counts) else 0

    def places(self, number: int, most: int) -> list[int]:
        """Return the places in `tokens` of the facts of a property, ascending; empty if there are more than `most`."""
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
        """Blocks of facts: the start of a block, places of facts in it, and a property of the fact at each place."""
        starts, sizes = np.asarray(self._fact_start[:], np.int64), np.asarray(self._fact_size[:], np.int64)
        order = np.argsort(starts[sizes > 0])
        starts, ends = starts[sizes > 0][order], (starts + sizes)[sizes > 0][order]
        first = 0
        while first < len(starts):
            start = int(starts[first])
            last = max(first + 1, int(ends.searchsorted(start + BLOCK, "right")))
            tokens = np.asarray(self._tokens[start : int(ends[last - 1])], np.int64)
            places = fact_places(tokens, starts[first:last] - start, ends[first:last] - start)
            headers = tokens[places + 1]
            at, of = [places], [headers & PROPERTY_MASK]
            pairs, number = pairs_in(headers), 0
            while len(
                places := places[pairs > number]
            ):  # the facts with a first qualifier, then with a second, and so on
                pairs = pairs[pairs > number]
                at.append(places)
                of.append(tokens[places + 3 + 2 * number])
                number += 1
            yield start, np.concatenate(at), np.concatenate(of)
            first = last


def fact_places(tokens: np.ndarray, at: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the places of the facts of items in `tokens`: the first facts of all items, then the second facts, and so on.

    Args:
        tokens: facts, see `layout`.
        at, end: the pieces of `tokens` that hold the facts of the items.
    """
    places = [np.zeros(0, np.int64)]
    while len(at):
        places.append(at)
        at = at + 3 + 2 * pairs_in(tokens[at + 1]).astype(np.int64)
        at, end = at[at < end], end[at < end]
    return np.concatenate(places)
