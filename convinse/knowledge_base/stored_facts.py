"""The facts of an index as numbers: subject, property and rank, object, qualifier property, qualifier object ... (see `layout`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from threading import Lock
from typing import Any

import numpy as np

from .layout import PAIRS_SHIFT, PROPERTY_MASK, RANKED_PROPERTY, pairs_in

Tokens = list[int]
BLOCK = 1 << 22  # tokens that are read at once for the facts of properties, of which an index has no list


class StoredFacts:
    """The facts of items, in the arrays of an index (see `layout`); an item is identified by its place."""

    def __init__(self, fact_start: Any, fact_size: Any, tokens: Any, inverse_start: Any, postings: Any) -> None:
        self._fact_start, self._fact_size, self._tokens = fact_start, fact_size, tokens
        self._inverse_start, self._postings = inverse_start, postings
        self._lock = Lock()  # other threads wait while the facts of properties are counted

    def first(self, place: int, limit: int) -> list[Tokens]:
        """Return the first `limit` facts of an item: facts with it as subject, then its other facts."""
        facts = list(islice(self.as_subject(place), max(0, limit)))
        return facts + self.as_other(place, limit - len(facts))

    def as_subject(self, place: int) -> Iterator[Tokens]:
        """Yield the facts that an item is the subject of."""
        start = int(self._fact_start[place])
        tokens = self._tokens[start : start + int(self._fact_size[place])].tolist()
        at = 0
        while at < len(tokens):
            end = at + 3 + 2 * pairs_in(tokens[at + 1])
            tokens[at + 1] &= RANKED_PROPERTY
            yield tokens[at:end]
            at = end

    def as_other(self, place: int, limit: int) -> list[Tokens]:
        """Return the first `limit` facts that an item occurs in without being the subject."""
        start, end = int(self._inverse_start[place]), int(self._inverse_start[place + 1])
        return [self.at(at) for at in self._postings[start : min(end, start + max(0, limit))].tolist()]

    def at(self, at: int) -> Tokens:
        """Return the fact whose first token is at a place of `tokens`."""
        head: Tokens = self._tokens[at : at + 3].tolist()
        pairs = pairs_in(head[1])
        head[1] &= RANKED_PROPERTY
        return head + self._tokens[at + 3 : at + 3 + 2 * pairs].tolist() if pairs else head

    def property_count(self, number: int) -> int:
        """Return the number of facts that a property occurs in; the first call reads all facts."""
        with self._lock:
            counts = self._counts
        return int(counts[number]) if number < len(counts) else 0

    def property_places(self, number: int, most: int) -> list[int]:
        """Return the places in `tokens` of the facts of a property, ascending; empty if there are more than `most`."""
        if not 0 < self.property_count(number) <= most:
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
            # the facts with a first qualifier, then with a second, and so on
            while len(places := places[pairs > number]):
                pairs = pairs[pairs > number]
                at.append(places)
                of.append(tokens[places + 3 + 2 * number])
                number += 1
            yield start, np.concatenate(at), np.concatenate(of)
            first = last


def fact_places(tokens: np.ndarray, at: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the places of the facts in pieces of `tokens`: the first facts of all pieces, then the second facts, and so on."""
    places = [np.zeros(0, np.int64)]
    while len(at):
        places.append(at)
        at = at + 3 + 2 * pairs_in(tokens[at + 1]).astype(np.int64)
        at, end = at[at < end], end[at < end]
    return np.concatenate(places)
