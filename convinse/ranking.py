"""BM25 over a handful of texts, through bm25s (Lù 2024), with ties broken by the texts themselves."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from .text import stems


def bm25_scores(query: str | Mapping[str, float], texts: Sequence[str]) -> list[float]:
    """The BM25 score of every text for a query, or for weighted stems (a score is linear in its query terms)."""
    import bm25s
    import numpy as np

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it reports every index at the level that it sets itself

    weights = query if isinstance(query, Mapping) else dict.fromkeys(stems(query), 1.0)
    tokens = [stems(text) for text in texts]
    known = set().union(*tokens) if tokens else set()
    weights = {word: weight for word, weight in weights.items() if word in known and weight > 0}
    if not weights:
        return [0.0] * len(texts)
    engine = bm25s.BM25()
    engine.index(tokens, show_progress=False)
    total = np.zeros(len(texts), dtype=np.float64)
    by_weight: dict[float, list[str]] = {}
    for word, weight in weights.items():
        by_weight.setdefault(weight, []).append(word)
    for weight in sorted(by_weight):
        total += weight * engine.get_scores(sorted(by_weight[weight]))
    return [round(float(score), 6) for score in total]


def bm25_order(query: str | Mapping[str, float], texts: Sequence[str]) -> list[tuple[int, float]]:
    """(place, score) of the texts, best first; equal scores in the order of the texts' characters."""
    scores = bm25_scores(query, texts)
    return sorted(enumerate(scores), key=lambda pair: (-pair[1], texts[pair[0]], pair[0]))
