"""What the trainings of rankers share: groups of one right text and wrong ones, losses over them, ranks of right texts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..config import RankingLoss
from ..encoder.batches import token_batches
from ..encoder.checkpoint import Checkpoint, load_checkpoint
from ..resources import model_path
from .learning import batches

if TYPE_CHECKING:
    import torch

    from ..encoder.tokens import Sequences, TextTokenizer

T = TypeVar("T")
E = TypeVar("E")

_HARD = 50  # best-ranked wrong texts that hard negatives are drawn from
_BEST_POSITIVES = 8  # best-ranked right texts that positives are drawn from
_TOKENS = 4096  # computed at a time


class Candidates(NamedTuple):
    """A question and the texts that are ranked for it, best by BM25 first, and which of them are right."""

    query: str
    texts: list[str]
    right: list[bool]


def draw_groups(
    right: Sequence[T], wrong: Sequence[T], positives: int, negatives: int, chance: random.Random
) -> list[list[T]]:
    """Groups to train on: in each a right text first, then wrong ones, half of them hard and half from anywhere.

    Args:
        right, wrong: the texts of a question, the best-ranked first.
        positives: how many groups at most.
        negatives: wrong ones of a group at most.
        chance: what draws.
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
    examples: Iterable[E],
    sides: Callable[[E], tuple[Sequence[T], Sequence[T]]],
    positives: int,
    negatives: int,
    size: int,
    seed: int,
) -> list[list[tuple[E, list[T]]]]:
    """The steps of an epoch: the groups of all examples, see `draw_groups`, in an order of the seed's own, `size` a step.

    `sides` gives the right and the wrong texts of an example.
    """
    chance = random.Random(seed)
    groups = [
        (example, group) for example in examples for group in draw_groups(*sides(example), positives, negatives, chance)
    ]
    chance.shuffle(groups)
    return batches(groups, size)


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

    `output` makes of what the model returns, and the attention mask, the wanted tensor [b, ...]; together they are [n, ...].
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


def pair_odds(model: Any, tokenizer: TextTokenizer, pairs: Sequence[tuple[str, str]]) -> torch.Tensor:
    """[n] log odds that a cross-encoder gives pairs of a query and a text."""
    from ..encoder.reranker import log_odds

    return computed(model, tokenizer.pairs(pairs), log_odds)


def group_loss(
    model: Any, tokenizer: TextTokenizer, groups: Iterable[tuple[str, Sequence[str]]], loss: RankingLoss
) -> torch.Tensor:
    """The mean over groups (queries, each with its texts, the right one first) of a loss.

    Cross-entropy of the right text (listwise), or log-sigmoid of right minus wrong (pairwise).
    """
    import torch

    groups = list(groups)
    odds = pair_odds(model, tokenizer, [(query, text) for query, texts in groups for text in texts])
    losses = []
    for own in torch.split(odds, [len(texts) for _, texts in groups]):
        if loss == "listwise":
            losses.append(torch.logsumexp(own, 0) - own[0])
        else:
            losses.append(-torch.nn.functional.logsigmoid(own[0] - own[1:]).mean())
    return torch.stack(losses).mean()


def ranked_anew(
    questions: Iterable[Candidates], scores: Callable[[str, Sequence[str]], Sequence[float]]
) -> list[list[bool]]:
    """For each question which of its texts are right, best score first; equal ones stand in the order of the texts."""
    ranked = []
    for query, texts, right in questions:
        values = scores(query, texts) if texts else []
        order = sorted(range(len(texts)), key=lambda place: (-values[place], texts[place]))
        ranked.append([right[place] for place in order])
    return ranked


def first_right(ranked: Iterable[Sequence[bool]]) -> list[float]:
    """For each question the rank (from 1) of its first right text; infinity where there is none."""
    return [next((rank for rank, right in enumerate(flags, 1) if right), float("inf")) for flags in ranked]


def share_within(firsts: Sequence[float], most: int) -> float:
    """The share of the questions with a right text among the first `most`."""
    return sum(first <= most for first in firsts) / len(firsts)


def mean_reciprocal(firsts: Sequence[float]) -> float:
    """The mean of 1/rank."""
    return sum(1 / first for first in firsts) / len(firsts)
