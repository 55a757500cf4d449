"""Measures of answers and of rankings, and a blend's weight that is chosen on other questions than it is measured on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from convinse.scoring import squad2

Rank = int | None  # of the first text that answers, from 1


class AnswerScores(NamedTuple):
    """Exact match and F1 in percent, SQuAD's normalisation, the best over the references."""

    exact: float
    f1: float


def answer_scores(predictions: Sequence[str], references: Sequence[Sequence[str]]) -> AnswerScores:
    """The scores of predicted answers ("" for none), each against its references (at least one)."""
    found = squad2.evaluate(
        {str(number): answers for number, answers in enumerate(references)},
        {str(number): text for number, text in enumerate(predictions)},
    )
    return AnswerScores(found["exact"], found["f1"])


def first_right(order: Sequence[int], right: Collection[int]) -> Rank:
    """The rank of the first of the right places in an order of places."""
    return next((rank for rank, place in enumerate(order, 1) if place in right), None)


def mean_reciprocal_rank(ranks: Sequence[Rank]) -> float:
    """The mean of 1 / rank; 0 for a question without one."""
    return sum(1 / rank for rank in ranks if rank is not None) / max(1, len(ranks))


def share_within(ranks: Sequence[Rank], depth: int) -> float:
    """The share of questions with a right text among the best `depth`."""
    return sum(rank is not None and rank <= depth for rank in ranks) / max(1, len(ranks))


def same_share(first: Sequence[object], second: Sequence[object]) -> float:
    """How often two systems give the same."""
    return sum(a == b for a, b in zip(first, second, strict=True)) / max(1, len(first))


class CrossFitted(NamedTuple):
    """Ranks of all questions, and the weights that were chosen for the even and for the odd ones."""

    ranks: list[Rank]
    weights: tuple[float, float]


def cross_fitted(ranks_of: Mapping[float, Sequence[Rank]]) -> CrossFitted:
    """Each question with the weight that has the best mean reciprocal rank on the other half of the questions.

    Args:
        ranks_of: the ranks of all questions with each weight. Of equally good weights the first one is taken.
    """
    chosen: list[float] = []
    ranks: list[Rank] = [None] * len(next(iter(ranks_of.values())))
    for half in (0, 1):
        best = max(ranks_of, key=lambda weight: mean_reciprocal_rank(ranks_of[weight][1 - half :: 2]))
        ranks[half::2] = ranks_of[best][half::2]
        chosen.append(best)
    return CrossFitted(ranks, (chosen[0], chosen[1]))
