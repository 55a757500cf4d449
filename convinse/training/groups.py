"""What the trainings of rankers share: groups of one right text and wrong ones, and losses over them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..encoder.batches import token_batches
from ..encoder.checkpoint import Checkpoint, load_checkpoint
from ..resources import model_path

if TYPE_CHECKING:
    import torch

    from ..encoder.tokens import Sequences

Loss = Literal["listwise", "pairwise"]
T = TypeVar("T")

_HARD = 50  # best-ranked wrong texts that hard negatives are drawn from
_BEST_POSITIVES = 8  # best-ranked right texts that positives are drawn from
_TOKENS = 4096  # computed at a time


def draw_groups(
    right: Sequence[T], wrong: Sequence[T], positives: int, negatives: int, chance: random.Random
) -> list[list[T]]:
    """Groups to train on: in each a right text first, then wrong ones, half of them hard and half from anywhere.

    Args:
        right: the right texts of a question, best first.
        wrong: the wrong ones, best-ranked first.
        positives: how many groups at most.
        negatives: wrong ones of a group at most.
        chance: what draws.
    """
    if not wrong:
        return []
    best = right[:_BEST_POSITIVES]
    made = []
    for positive in chance.sample(best, min(positives, len(best))):
        hard = chance.sample(wrong[:_HARD], min((negatives + 1) // 2, len(wrong[:_HARD])))
        held = set(hard)
        rest = [one for one in wrong if one not in held]
        made.append([positive, *hard, *chance.sample(rest, min(negatives - len(hard), len(rest)))])
    return made


def cross_encoder_to_train(base: str, key: str, seed: int) -> Checkpoint:
    """A checkpoint with one output or two; another head is replaced by a new one of one output.

    Raises:
        ModelError: it cannot be loaded.
    """
    checkpoint = load_checkpoint(model_path(base), "sequence-classification", key, new_head=True)
    if checkpoint.model.config.num_labels in (1, 2) and not checkpoint.missing:
        return checkpoint
    return load_checkpoint(model_path(base), "sequence-classification", key, new_head=True, labels=1, seed=seed)


def computed(model: Any, sequences: Sequences, output: Callable[[Any, torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """All sequences through a model, gradients kept, in batches of similar length.

    Args:
        model: on its device.
        sequences: [n] what to compute.
        output: from what the model returns, and the attention mask, to the wanted tensor [b, ...].

    Returns:
        [n, ...] on the model's device.
    """
    import numpy as np
    import torch

    from ..encoder.engine import model_inputs

    parts, places = [], []
    for batch in token_batches(sequences.lengths, _TOKENS):
        inputs = model_inputs(model, sequences, batch, model.device)
        places.append(batch)
        parts.append(output(model(**inputs), inputs["attention_mask"]))
    inverse = np.argsort(np.concatenate(places))
    return torch.cat(parts)[torch.from_numpy(inverse).to(model.device)]


def group_loss(odds: torch.Tensor, sizes: Sequence[int], loss: Loss) -> torch.Tensor:
    """The mean over groups: cross-entropy of the right text (listwise), or log-sigmoid of right minus wrong (pairwise).

    Args:
        odds: [n] log odds of all groups, one behind the other, in each the right text first.
        sizes: of the groups.
        loss: which one.
    """
    import torch

    losses = []
    for own in odds.split(list(sizes)):
        if loss == "listwise":
            losses.append(torch.logsumexp(own, 0) - own[0])
        else:
            losses.append(-torch.nn.functional.logsigmoid(own[0] - own[1:]).mean())
    return torch.stack(losses).mean()


def first_right(ranked: Sequence[Sequence[bool]]) -> list[int | None]:
    """For each question the rank (from 1) of its first right text; None where there is none."""
    return [next((rank for rank, right in enumerate(one, 1) if right), None) for one in ranked]
