"""What the trainings of rankers share: groups of one right text and wrong ones, and the ranks of right texts."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..config import EvsTraining, RetrieverTraining
from .learning import Measures, shuffled_batches

if TYPE_CHECKING:
    import torch

T = TypeVar("T")
E = TypeVar("E")

_HARD = 50  # best-ranked wrong texts that hard negatives are drawn from
_BEST_POSITIVES = 8  # best-ranked right texts that positives are drawn from


class RankedTexts(NamedTuple):
    """A question and the texts that are ranked for it, best by BM25 first, and which of them are right."""

    query: str
    texts: list[str]
    right: list[bool]

    def sides(self) -> tuple[list[str], list[str]]:
        """The right texts and the wrong ones, none of which is right in any way: two sources may have one text."""
        right = [text for text, is_right in zip(self.texts, self.right, strict=True) if is_right]
        held = set(right)
        return right, [text for text in self.texts if text not in held]


class Group(NamedTuple):
    """A question with a right text and wrong ones behind it.

    numbers: the texts' numbers; relevant: those of all texts that are right for the question (a bi-encoder needs both).
    """

    query: str
    texts: Sequence[str]
    numbers: Sequence[int] = ()
    relevant: Collection[int] = ()


def draw_groups(
    right: Sequence[T], wrong: Sequence[T], positives: int, negatives: int, chance: random.Random
) -> list[list[T]]:
    """So many groups to train on at most: in each a right text first, then wrong ones, half of them hard and half from
    anywhere. `right` and `wrong` are the texts of a question, the best-ranked first."""
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
    """The steps of an epoch, always the same for its number: the groups of all examples (each with its right and its wrong
    texts; see `draw_groups`) in an order of the epoch's own, `size` a step."""
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
    """For each question which of its texts are right, best score first; equal ones stand in the order of the texts.

    `scores` gives [n] scores of texts for a query by the model, of which so many `digits` count (None: all).
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
    """Measures of rankings (best text first) by their names: the share of those with a right text among the first so
    many, or, for None, the mean reciprocal rank of the first right one."""
    firsts = [next((rank for rank, right in enumerate(flags, 1) if right), math.inf) for flags in ranked]
    return {
        name: sum(1 / first if most is None else first <= most for first in firsts) / len(firsts)
        for name, most in within.items()
    }
