"""Rewrites questions of conversations so that they stand alone, with a joint model that has a rewrite head."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..records.rewriting import Edits
from ..support.errors import ModelError
from .checkpoint import Checkpoint
from .pool import HeadOptions, ModelHead

if TYPE_CHECKING:
    from typing_extensions import Unpack

MAX_LENGTH = 128  # tokens of a question with its history
POINTER = 64  # numbers of a query and of a key; see `rewrite_head`
SHARPNESS = 4 / POINTER**0.5  # of the products of queries and keys
_LONGEST = 40  # tokens of a span


class QuestionRewriter(ModelHead):
    """Finds what a question leaves out and where the history says it. See `ModelHead` for the arguments."""

    task = "question-answering"

    def __init__(
        self, model: str | Path | Checkpoint, device: str | None = None, **options: Unpack[HeadOptions]
    ) -> None:
        super().__init__(model, device, **{**options, "max_length": MAX_LENGTH})
        if "rewrite" not in self.engine.backend.outputs:
            raise ModelError(f"{self.settings.key}: {model}: has no rewrite head; train one with train embedded")

    def edits(self, questions: Sequence[str], histories: Sequence[str]) -> list[Edits]:
        """What makes each question stand alone.

        Args:
            questions: as typed.
            histories: the turns before each, as `records.rewriting.history_text` gives them; without one nothing is changed.
        """
        made = [Edits()] * len(questions)
        places = np.array([place for place, history in enumerate(histories) if history], dtype=np.int64)
        if not len(places):
            return made
        pairs = [(questions[place], histories[place]) for place in places]
        sequences = self.tokenizer.pairs(pairs)
        old = self.tokenizer.offsets([question for question, _ in pairs])
        told = self.tokenizer.offsets([history for _, history in pairs])
        # not padded: the edits of a question are the same whatever is read beside it
        for batch, (outputs,) in self.engine.run(sequences, ["rewrite"], padded=False):
            for row, number in enumerate(batch):
                first = int(sequences.firsts[number])
                made[places[number]] = _edits(outputs[row], first, old[number], told[number], questions[places[number]])
        return made


def _edits(outputs: np.ndarray, first: int, old: np.ndarray, told: np.ndarray, question: str) -> Edits:
    """The likeliest edits.

    Args:
        outputs: [tokens, 1 + 4 * POINTER] of `[CLS] question [SEP] history [SEP]`.
        first: tokens of `[CLS] question [SEP]`.
        old, told: [t, 2] character offsets of the tokens of the question and of the history.
        question: as typed.
    """
    if len(old) != first - 2:  # it was cut: a question longer than the model reads
        return Edits()
    odds = outputs[1 : first - 1, 0]
    start_query, end_query, start_key, end_key = np.split(outputs[:, 1:], 4, axis=1)
    keys = np.r_[0, first : len(outputs) - 1]
    gaps = slice(1, first)
    starts = _shares(start_query[gaps] @ start_key[keys].T * SHARPNESS)
    ends = _shares(end_query[gaps] @ end_key[keys].T * SHARPNESS)
    removed = [tuple(map(int, old[token])) for token in np.flatnonzero(odds > 0)]
    inserted = []
    for gap in np.flatnonzero(starts[:, 0] + ends[:, 0] < 1):
        start = int(starts[gap, 1:].argmax())
        end = start + int(ends[gap, 1 + start : 1 + start + _LONGEST].argmax())
        place = int(old[gap, 0]) if gap < len(old) else len(question.rstrip(" ?.!"))
        inserted.append((place, int(told[start, 0]), int(told[end, 1])))
    return Edits(_joined(removed), tuple(inserted))


def _joined(spans: Sequence[tuple[int, ...]]) -> tuple[tuple[int, int], ...]:
    """Spans of tokens, those of one word as one."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and joined[-1][1] == start:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return tuple(joined)


def _shares(logits: np.ndarray) -> np.ndarray:
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: np.ndarray = odds / odds.sum(axis=1, keepdims=True)
    return shares
