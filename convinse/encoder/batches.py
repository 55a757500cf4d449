"""Batches of sequences by token budget: what is computed together has nearly the same length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np


def token_batches(lengths: Sequence[int] | np.ndarray, budget: int, padded: bool = True) -> Iterator[np.ndarray]:
    """Places of the sequences, batch by batch, longest first.

    The longest batch comes first, so that a budget that does not fit into memory fails at once. Equal lengths stay
    in the given order: the batches depend on the lengths only.

    Args:
        lengths: [n] tokens of each sequence.
        budget: most tokens of a batch, padding counted; a longer sequence is a batch of its own.
        padded: whether lengths may differ in a batch.

    Yields:
        Arrays of places; together each place once.
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    start = 0
    while start < len(order):
        longest = max(1, int(lengths[order[start]]))
        size = max(1, budget // longest)
        if not padded:
            alike = np.asarray(lengths)[order[start : start + size]] == lengths[order[start]]
            size = int(alike.sum())
        yield order[start : start + size]
        start += size
