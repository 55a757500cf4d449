"""Models that learn to rank texts, a cross-encoder and a bi-encoder: their examples, losses, scores and measures."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..encoder.checkpoint import load_checkpoint
from .objective import Measures, shuffled_batches

if TYPE_CHECKING:
    import torch

T = TypeVar("T")
E = TypeVar("E")

_HARD = 50  # best-ranked wrong texts that hard negatives are drawn from
_BEST_POSITIVES = 8  # best-ranked right texts that positives are drawn from
_TEMPERATURE = 0.05  # of cosines
_TOKENS = 4096  # computed at a time


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

    A bi-encoder needs the `numbers` of the texts, and those of all texts that are right for the question, `relevant`.
    """

    query: str
    texts: Sequence[str]
    numbers: Sequence[int] = ()
    relevant: Collection[int] = ()


def draw_groups(
    right: Sequence[T], wrong: Sequence[T], positives: int, negatives: int, chance: random.Random
) -> list[list[T]]:
    """Draw groups to train on: in each a right text first, then wrong ones, half of them hard and half from anywhere.

    The texts of a question come best-ranked first; there are at most so many groups and negatives in each.
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
    positives: int,
    negatives: int,
    size: int,
    seed: int,
    epoch: int,
) -> list[list[tuple[E, list[T]]]]:
    """Return the steps of an epoch, always the same for its number: shuffled groups of all examples, `size` a step.

    Each example comes with its right and its wrong texts; see `draw_groups`.
    """
    chance = random.Random(seed * 1000 + epoch)
    groups = [
        (example, group)
        for example, right, wrong in examples
        for group in draw_groups(right, wrong, positives, negatives, chance)
    ]
    return shuffled_batches(groups, size, chance)


def ranked_anew(
    model: Any,
    questions: Iterable[RankedTexts],
    scores: Callable[[Any, str, Sequence[str]], torch.Tensor],
    digits: int | None = None,
) -> list[list[bool]]:
    """Rank the texts of each question anew; returns whether each is right, best score first, ties in alphabetical order.

    `scores` gives the [n] scores of n texts for a query, of which so many `digits` count (None: all).
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
    """Measure rankings (best text first) by the names of measures in `within`.

    A number gives the share of rankings with a right text among so many first ones, None the mean reciprocal rank.
    """
    firsts = [next((rank for rank, right in enumerate(flags, 1) if right), math.inf) for flags in ranked]
    return {
        name: sum(1 / first if most is None else first <= most for first in firsts) / len(firsts)
        for name, most in within.items()
    }


class CrossEncoderLearner:
    """A cross-encoder with one output or two; a checkpoint with another head gets a new head with one output.

    `key` is the setting that names the checkpoint, for messages; `seed` is of a new head.
    """

    title, task, library = "A cross-encoder that scores passages for a question", "text-ranking", "transformers"
    use = "Input: `[CLS] question [SEP] title, passage [SEP]`; output: relevance (log odds)."
    write_more = None

    def __init__(self, base: str, key: str, max_length: int, seed: int) -> None:
        from ..encoder.tokens import TextTokenizer

        load = partial(load_checkpoint, base, "sequence-classification", key, new_head=True)
        self.checkpoint = load()
        if self.checkpoint.model.config.num_labels not in (1, 2) or self.checkpoint.missing:
            self.checkpoint = load(labels=1, seed=seed)
        self._tokenizer = TextTokenizer.of(self.checkpoint, max_length)

    def scores(self, model: Any, query: str, texts: Sequence[str]) -> torch.Tensor:
        """Return the [n] log odds that texts are relevant for a query."""
        return self._odds(model, [(query, text) for text in texts])

    def loss(self, model: Any, step: Sequence[Group]) -> Iterator[torch.Tensor]:
        """Yield the mean over groups, in which wrong texts equal to the right one do not count.

        The loss of a group is the cross-entropy of the right text among all of them.
        """
        import torch

        ranked: list[tuple[str, list[str]]] = []
        for group in step:
            right, *others = group.texts
            if wrong := [text for text in others if text != right]:
                ranked.append((group.query, [right, *wrong]))
        if not ranked:
            return
        all_odds = self._odds(model, [(query, text) for query, texts in ranked for text in texts])
        by_group = torch.split(all_odds, [len(texts) for _, texts in ranked])
        yield torch.stack([torch.logsumexp(odds, 0) - odds[0] for odds in by_group]).mean()

    def _odds(self, model: Any, pairs: Sequence[tuple[str, str]]) -> torch.Tensor:
        from ..encoder.torch_backend import computed, log_odds

        return computed(model, self._tokenizer.pairs(pairs), _TOKENS, log_odds)


class BiEncoderLearner:
    """A bi-encoder with the pooling of its base; arguments as of `CrossEncoderLearner`."""

    title, task = "A bi-encoder that embeds questions and passages", "sentence-similarity"
    use, library = "Input: a text; output: its embedding.", "sentence-transformers"

    def __init__(self, base: str, key: str, max_length: int) -> None:
        from ..encoder.pooling import hub_pooling, pools_first
        from ..encoder.tokens import TextTokenizer

        self.checkpoint = load_checkpoint(base, "embedding", key)
        self._pool_first = pools_first(self.checkpoint.folder or hub_pooling(base), f"{key}: {base}")
        self._tokenizer = TextTokenizer.of(self.checkpoint, max_length)

    def scores(self, model: Any, query: str, texts: Sequence[str]) -> torch.Tensor:
        """Return the [n] cosines of texts with a query."""
        vectors = self._embed(model, [query, *texts])
        return _cosines(vectors[:1], vectors[1:])[0]

    def loss(self, model: Any, step: Sequence[Group]) -> Iterator[torch.Tensor]:
        """Yield the cross-entropy of each right text among all texts of the step (Karpukhin et al., EMNLP 2020).

        Other relevant texts of a question are not negatives, and equal texts are one.
        """
        import torch

        numbers: dict[str, set[int]] = {}  # of the passages with each text
        for group in step:
            for number, text in zip(group.numbers, group.texts, strict=True):
                numbers.setdefault(text, set()).add(number)
        column = {text: place for place, text in enumerate(numbers)}
        targets = [column[group.texts[0]] for group in step]
        spared = [
            [place != target and not same.isdisjoint(group.relevant) for place, same in enumerate(numbers.values())]
            for group, target in zip(step, targets, strict=True)
        ]
        vectors = self._embed(model, [*(group.query for group in step), *column])
        logits = _cosines(vectors[: len(step)], vectors[len(step) :]) / _TEMPERATURE
        logits = logits.masked_fill(torch.tensor(spared, device=logits.device), -torch.inf)
        yield torch.nn.functional.cross_entropy(logits, torch.tensor(targets, device=logits.device))

    def _embed(self, model: Any, texts: Sequence[str]) -> torch.Tensor:
        import torch

        from ..encoder.torch_backend import computed, pooled

        def pool(output: Any, mask: torch.Tensor) -> torch.Tensor:
            return pooled(output.last_hidden_state.float(), mask, self._pool_first)

        return torch.nn.functional.normalize(computed(model, self._tokenizer.singles(texts), _TOKENS, pool), dim=1)

    def write_more(self, folder: Path) -> None:
        """Write the pooling of the model, see `write_pooling`."""
        from ..encoder.pooling import write_pooling

        write_pooling(folder, int(self.checkpoint.model.config.hidden_size), self._pool_first)


def _cosines(queries: torch.Tensor, passages: torch.Tensor) -> torch.Tensor:
    import torch

    # in fp32 even if the model computes in bf16, whose three digits would make ties of cosines
    with torch.autocast(queries.device.type, enabled=False):
        return queries @ passages.T
