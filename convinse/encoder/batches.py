"""Batches of sequences by token budget: what is computed together has nearly the same length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np


def token_batches(
    lengths: Sequence[int] | np.ndarray, budget: int, padded: bool = True, most_padding: int | None = None
) -> Iterator[np.ndarray]:
    """Yield the places of the sequences, batch by batch.

    The longest batch comes first, so that a budget that does not fit into memory fails at once. Equal lengths stay in their
    order: the batches depend on the lengths only.

    Args:
        lengths: [n] tokens of each sequence.
        budget: most tokens of a batch, padding counted; a longer sequence is a batch of its own.
        padded: whether lengths may differ in a batch.
        most_padding: most tokens of padding in a batch; None: as many as there are.
    """
    tokens = np.asarray(lengths, dtype=np.int64)
    order = np.argsort(-tokens, kind="stable")
    most_padding = most_padding if padded else 0
    start = 0
    while start < len(order):
        longest = max(1, int(tokens[order[start]]))
        size = max(1, budget // longest)
        if most_padding is not None:
            padding = np.cumsum(tokens[order[start]] - tokens[order[start : start + size]])
            size = int(np.searchsorted(padding, most_padding, side="right"))
        yield order[start : start + size]
        start += size


def shared_batches(lengths: np.ndarray, budget: int, workers: int, overhead: int) -> list[np.ndarray]:
    """Return the places of the sequences in batches for workers that compute side by side, the most work first.

    A batch ends before it has more padding than another batch's `overhead`, in tokens; and of several workers none has a
    batch of more than its share of all tokens, so that few sequences keep all of them busy.
    """
    if workers > 1:
        budget = max(1, min(budget, -(-int(lengths.sum()) // workers)))
    batches = list(token_batches(lengths, budget, most_padding=overhead))
    return sorted(batches, key=lambda places: -len(places) * int(lengths[places[0]]))
