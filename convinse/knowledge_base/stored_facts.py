"""The facts of an index as numbers: subject, property and rank, object, qualifier property, qualifier object ... (see `layout`)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from .layout import RANKED_PROPERTY, pairs_in

Tokens = list[int]


class StoredFacts:
    """The facts of items, in the arrays of an index (see `layout`); an item is identified by its place."""

    def __init__(self, fact_start: Any, fact_size: Any, tokens: Any, inverse_start: Any, postings: Any) -> None:
        self._fact_start, self._fact_size, self._tokens = fact_start, fact_size, tokens
        self._inverse_start, self._postings = inverse_start, postings

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
