"""The objective of a training, its result, and batches."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    import torch

Measures = dict[str, float]
Step = TypeVar("Step")
T = TypeVar("T")


@dataclass(frozen=True)
class Objective(Generic[Step]):
    """The steps, the loss and the validation of a training.

    `steps` of an epoch (1, 2, ...) are the same for the same number, and as many in each. The `loss` of a step is a scalar, or
    its summands one by one, so that only one is in memory at a time. The best epoch has the highest `criterion` of its
    validation. `made` turns steps of an epoch into the inputs of the loss. Progress shows the measure `headline`, else the criterion.
    """

    steps: Callable[[int], Sequence[Any]]
    loss: Callable[[Any, Step], torch.Tensor | Iterable[torch.Tensor]]
    validate: Callable[[Any], Measures]
    criterion: Callable[[Measures], float]
    made: Callable[[int, Sequence[Any]], Iterable[Step]] = lambda epoch, steps: steps
    headline: str = ""


@dataclass
class FitResult:
    """The validation of every epoch (0: before training) and the number of the best."""

    history: list[Measures] = field(default_factory=list)
    best: int = 0

    def rows(self) -> dict[str, Measures]:
        """Return the measures by the name of their epoch, as tables show them."""
        return {f"{epoch}{' (kept)' * (epoch == self.best)}": row for epoch, row in enumerate(self.history)}


def shown(measures: Measures) -> str:
    """Format measures for a line of the log."""
    return ", ".join(f"{name} {value:.4f}" for name, value in measures.items())


def batches(items: Sequence[T], size: int) -> list[list[T]]:
    """Split items into lists of `size`, in their order."""
    return [list(items[start : start + size]) for start in range(0, len(items), size)]


def shuffled_batches(items: Iterable[T], size: int, chance: random.Random) -> list[list[T]]:
    """Split items into lists of `size`, in an order drawn by `chance`."""
    order = list(items)
    chance.shuffle(order)
    return batches(order, size)
