"""Measures of answers and rankings that several benches share."""

from collections.abc import Collection, Sequence

import numpy as np

from convinse.scoring import squad2

Rank = int | None  # of the first text that answers, from 1


def answer_scores(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> dict[str, float]:
    """Exact match and F1 in percent of predicted answers ("" for none), each against its references (at least one)."""
    scores = squad2.evaluate(
        {str(place): answers for place, answers in enumerate(references)},
        {str(place): text for place, text in enumerate(predictions)},
    )
    return {"exact": scores["exact"], "f1": scores["f1"]}


def first_right(order: Sequence[object], right: Collection[object]) -> Rank:
    return next((rank for rank, place in enumerate(order, 1) if place in right), None)


def mean_reciprocal_rank(ranks: Sequence[Rank]) -> float:
    return sum(1 / rank for rank in ranks if rank is not None) / max(1, len(ranks))


def share_within(ranks: Sequence[Rank], depth: int) -> float:
    return sum(rank is not None and rank <= depth for rank in ranks) / max(1, len(ranks))


def same_share(first: Sequence[object], second: Sequence[object]) -> float:
    return sum(a == b for a, b in zip(first, second, strict=True)) / max(1, len(first))


def spearman(first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray) -> float:
    """The rank correlation of two scorings; equal scores share their mean rank."""
    ranks = []
    for scores in (first, second):
        _, places, counts = np.unique(np.asarray(scores), return_inverse=True, return_counts=True)
        ranks.append((np.cumsum(counts) - (counts - 1) / 2)[places])
    return float(np.corrcoef(*ranks)[0, 1])


def top_overlap(first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray, top: int) -> float:
    """The share of the best `top` places of one scoring that are among the best of the other."""
    best = [set(sorted(range(len(scores)), key=lambda place: -scores[place])[:top]) for scores in (first, second)]
    return len(best[0] & best[1]) / max(1, len(best[0]))


def best_first(scores: Sequence[float] | np.ndarray, texts: Sequence[str]) -> list[int]:
    """Places, best first; scores that are equal to 6 digits in the order of the texts."""
    return sorted(range(len(texts)), key=lambda place: (-round(float(scores[place]), 6), texts[place]))
