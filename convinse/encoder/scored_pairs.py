"""A cache of a cross-encoder's scores of the candidates of a query: a second run computes nothing.

The key of an entry is a query, a list of texts, a model with its precision and a `max_length`. Its value has the log odds
and, if a joint model has read the pairs in the same pass, their start and end logits, exactly as they were computed.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from ..support.cache import Cache
from .pool import ReadPair


class Scored(NamedTuple):
    """The scores of the texts of a query.

    Attributes:
        odds: [n] float32, log odds of relevance.
        read: [n] their spans; None for a text that was cut, or not read.
    """

    odds: np.ndarray
    read: list[ReadPair | None]


class _ScoredEntry(msgspec.Struct):
    odds: bytes
    tokens: list[int]  # of each pair, 0 where nothing was read
    sizes: list[int]  # rows of its logits
    logits: bytes


class ScoredPairs:
    """A cache of `Scored` by query and texts.

    Args:
        cache: may have entries of other kinds.
        identity: of the model's weights and precision.
        max_length: tokens that a pair is cut to.
        reads: whether the entries have spans.
    """

    def __init__(self, cache: Cache, identity: str, max_length: int, reads: bool) -> None:
        self._cache = cache
        self._key = ("scored pairs", identity, max_length, reads)

    def get(self, query: str, texts: Sequence[str]) -> Scored | None:
        """Return the scores of texts for a query, or None."""
        value = self._cache.get(*self._key, _digest([query, *texts]))
        if value is None:
            return None
        try:
            entry = msgspec.convert(value, _ScoredEntry)
            odds, logits = (np.frombuffer(part, "<f4").copy() for part in (entry.odds, entry.logits))
            whole = logits.reshape(-1, 2)
            if not len(odds) == len(entry.tokens) == len(entry.sizes) == len(texts) or sum(entry.sizes) != len(whole):
                return None
        except ValueError:  # not an entry of this version; it is computed again
            return None
        ends = np.cumsum(entry.sizes)
        read = [
            ReadPair(tokens, whole[end - size : end]) if tokens else None
            for tokens, size, end in zip(entry.tokens, entry.sizes, ends.tolist(), strict=True)
        ]
        return Scored(odds, read)

    def put(self, query: str, texts: Sequence[str], scored: Scored) -> None:
        """Store the scores of texts for a query."""
        logits = [np.zeros((0, 2), "<f4") if pair is None else pair.logits.astype("<f4") for pair in scored.read]
        entry = _ScoredEntry(
            scored.odds.astype("<f4").tobytes(),
            [0 if pair is None else pair.tokens for pair in scored.read],
            [len(part) for part in logits],
            np.concatenate(logits).tobytes() if logits else b"",
        )
        self._cache.put(*self._key, _digest([query, *texts]), value=msgspec.to_builtins(entry))


def _digest(texts: Sequence[str]) -> str:
    made = hashlib.blake2b(digest_size=16)
    for text in texts:
        made.update(f"{len(text)}:".encode() + text.encode("utf-8", "surrogatepass"))
    return base64.b64encode(made.digest()).decode()
