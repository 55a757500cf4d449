"""The shared part of the trainings of rankers: groups of a right text and wrong ones, and the ranks of right texts."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..config import EvsTraining, RetrieverTraining
from .objective import Measures, shuffled_batches

if TYPE_CHECKING:
    import torch

T = TypeVar("T")
E = TypeVar("E")

_HARD = 50  # best-ranked wrong texts that hard negatives are drawn from
_BEST_POSITIVES = 8  # best-ranked right texts that positives are drawn from


class RankedTexts(NamedTuple):
    """A question, its texts, best by BM25 first, and whether each is right."""

    query: str
    texts: list[str]
    right: list[bool]

    def sides(self) -> tuple[list[str], list[str]]:
        """Return the right texts and the wrong ones. Two sources may have the same text: if it is right once, it is right."""
        right = [text for text, is_right in zip(self.texts, self.right, strict=True) if is_right]
        held = set(right)
        return right, [text for text in self.texts if text not in held]


class Group(NamedTuple):
    """A question with a right text and wrong ones behind it.

    Attributes:
        query: the question.
        texts: the right text, then wrong ones.
        numbers: of the texts; a bi-encoder needs them.
        relevant: the numbers of all texts that are right for the question; a bi-encoder needs them.
    """

    query: str
    texts: Sequence[str]
    numbers: Sequence[int] = ()
    relevant: Collection[int] = ()


def draw_groups(
    right: Sequence[T], wrong: Sequence[T], positives: int, negatives: int, chance: random.Random
) -> list[list[T]]:
    """Draw groups to train on: in each a right text first, then wrong ones, half of them hard and half from anywhere.

    Args:
        right, wrong: the texts of a question, the best-ranked first.
        positives: the most groups.
        negatives: the most wrong texts in a group.
        chance: draws the texts.
    """
    if not wrong:
        return []
    best, groups = right[:_BEST_POSITIVES], []
    for positive in chance.sample(best, min(positives, len(best))):
        hard = chance.sample(wrong[:_HARD], min((negatives + 1) // 2, len(wrong[:_HARD])))
        held = set(hard)
        rest = [text for text in wrong if text not in held]
        groups.append([positive, *hard, *chance.sample(rest, min(negatives - len(hard), len(rest)))])
    return groups


def group_steps(
    examples: Iterable[tuple[E, Sequence[T], Sequence[T]]],
    settings: EvsTraining | RetrieverTraining,
    size: int,
    seed: int,
    epoch: int,
) -> list[list[tuple[E, list[T]]]]:
    """Return the steps of an epoch, always the same for its number: shuffled groups of all examples, `size` a step.

    Args:
        examples: each with its right and its wrong texts; see `draw_groups`.
    """
    chance = random.Random(seed * 1000 + epoch)
    groups = [
        (example, group)
        for example, right, wrong in examples
        for group in draw_groups(right, wrong, settings.positives, settings.negatives, chance)
    ]
    return shuffled_batches(groups, size, chance)


def ranked_anew(
    model: Any,
    questions: Iterable[RankedTexts],
    scores: Callable[[Any, str, Sequence[str]], torch.Tensor],
    digits: int | None = None,
) -> list[list[bool]]:
    """Rank the texts of each question anew; returns whether each is right, best score first, ties in alphabetical order.

    Args:
        scores: from the model, a query and n texts to [n] scores.
        digits: of scores that count (None: all).
    """
    from ..encoder.devices import inference

    ranked = []
    with inference(model):
        for query, texts, right in questions:
            values = scores(model, query, texts).float().tolist() if texts else []
            if digits is not None:
                values = [round(value, digits) for value in values]
            order = sorted(range(len(texts)), key=lambda place: (-values[place], texts[place]))
            ranked.append([right[place] for place in order])
    return ranked


def rank_measures(ranked: Iterable[Sequence[bool]], within: Mapping[str, int | None]) -> Measures:
    """Measure rankings (best text first).

    Args:
        within: by the name of a measure the number of first texts that must hold a right one, for the share of such
            rankings; None for the mean reciprocal rank of the first right text.
    """
    firsts = [next((rank for rank, right in enumerate(flags, 1) if right), math.inf) for flags in ranked]
    return {
        name: sum(1 / first if most is None else first <= most for first in firsts) / len(firsts)
        for name, most in within.items()
    }
