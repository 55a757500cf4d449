"""What the extractive reader learns from: questions with texts, cut into windows in which the answers are marked."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..encoder.tokens import Sequences, TextTokenizer


class ReadExample(NamedTuple):
    """A question and a text; `spans` are all places of answers in it (end exclusive), none: it has no answer."""

    question: str
    context: str
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Features:
    """Windows to learn from.

    Attributes:
        sequences: the model inputs, one for each window.
        firsts, ends: [w] where the text begins and ends (exclusive) in the sequence.
        starts, lasts: for each window the places in its sequence where an answer begins and ends (inclusive); 0, the
            place of [CLS], where it has none.
    """

    sequences: Sequences
    firsts: np.ndarray
    ends: np.ndarray
    starts: list[np.ndarray]
    lasts: list[np.ndarray]


def features(
    examples: Sequence[ReadExample],
    tokenizer: TextTokenizer,
    stride: int,
    negative_windows: float,
    chance: random.Random,
) -> Features:
    """The windows of some examples that are learned from, with the places of the answers.

    Of a text with answers these are all windows that hold one as a whole, and a share of those without any part of
    one; of a text without answers, all windows.
    """
    windows = tokenizer.windows([(example.question, example.context) for example in examples], stride)
    found = [token_spans(example.spans, offsets) for example, offsets in zip(examples, windows.offsets, strict=True)]
    firsts = windows.sequences.firsts
    ends = windows.sequences.lengths - windows.trailing
    kept, starts, lasts = [], [], []
    for place, (pair, begin) in enumerate(zip(windows.pair_of, windows.begins, strict=True)):
        spans, stop = found[pair], begin + ends[place] - firsts[place]
        inside = spans[(spans[:, 0] >= begin) & (spans[:, 1] < stop)]
        if len(inside):
            shift = firsts[place] - begin
            own_starts, own_lasts = np.unique(inside[:, 0]) + shift, np.unique(inside[:, 1]) + shift
        else:
            if examples[pair].spans:
                touched = len(spans) == 0 or bool(np.any((spans[:, 0] < stop) & (spans[:, 1] >= begin)))
                if chance.random() >= negative_windows or touched:
                    continue
            own_starts = own_lasts = np.zeros(1, dtype=np.int64)
        kept.append(place)
        starts.append(own_starts)
        lasts.append(own_lasts)
    chosen = np.array(kept, dtype=np.int64)
    sequences = dataclasses.replace(
        windows.sequences,
        ids=[windows.sequences.ids[place] for place in kept],
        lengths=windows.sequences.lengths[chosen],
        firsts=firsts[chosen],
    )
    return Features(sequences, firsts[chosen], ends[chosen], starts, lasts)


def token_spans(spans: Sequence[tuple[int, int]], offsets: np.ndarray) -> np.ndarray:
    """Character spans (end exclusive) as [n, 2] first and last token that they share a character with.

    A span without any (white space, or a sign that the tokenizer drops) is left out.

    Args:
        spans: in the text.
        offsets: [t, 2] characters of the text's tokens.
    """
    found = []
    for start, end in spans:
        first = int(np.searchsorted(offsets[:, 1], start, side="right"))
        last = int(np.searchsorted(offsets[:, 0], end, side="left")) - 1
        if first <= last:
            found.append((first, last))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def mixed_steps(
    sets: Sequence[Sequence[ReadExample]], batch_size: int, parts: int, number: int, seed: int
) -> list[list[ReadExample]]:
    """The steps of a part of an epoch, each drawn over all sets by their sizes.

    Args:
        sets: the examples of each data set.
        batch_size: most examples of a step; steps differ by one at most.
        parts: that an epoch is cut into; all have as many steps.
        number: of the part, from 1 and on through all epochs.
        seed: of the order, which is another in each epoch.
    """
    epoch, part = divmod(number - 1, parts)
    chance = random.Random(f"{seed} {epoch}")
    order = []
    for which, examples in enumerate(sets):
        places = list(range(len(examples)))
        chance.shuffle(places)
        # equally far from one another, so that any stretch of the order holds each set's share
        order += [((rank + chance.random()) / len(places), which, place) for rank, place in enumerate(places)]
    order.sort()
    per_part = max(1, -(-len(order) // (batch_size * parts)))
    steps, total = per_part * parts, len(order)
    bounds = [total * step // steps for step in range(part * per_part, (part + 1) * per_part + 1)]
    return [
        [sets[which][place] for _, which, place in order[start:end]]
        for start, end in zip(bounds, bounds[1:], strict=False)
    ]
