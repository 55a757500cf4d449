"""Rewrites questions of conversations so that they stand alone, with a joint model that has a rewrite head."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..support.errors import ModelError
from .checkpoint import Checkpoint
from .pool import HeadOptions, ModelHead

if TYPE_CHECKING:
    from typing_extensions import Unpack

MAX_LENGTH = 128  # tokens of a question with its history
POINTER = 64  # numbers of a query and of a key; see `heads`
SHARPNESS = 4 / POINTER**0.5  # of the products of queries and keys


class Pointers(NamedTuple):
    """The pointers of the head for a question and its history.

    Attributes:
        gaps: [g] before which character of the question each gap lies; the last one is behind its last word.
        tokens: [t, 2] character offsets of the tokens of the history that was read.
        starts, ends: [g, 1 + t] shares of "nothing" and of each token as the first and the last one of what goes there.
        replaced: [2, 1 + t] the same of what the question takes the place of in the question before.
    """

    gaps: np.ndarray
    tokens: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    replaced: np.ndarray


class QuestionRewriter(ModelHead):
    """Finds what a question leaves out and where the history says it. See `ModelHead` for the arguments."""

    task = "question-answering"

    def __init__(
        self, model: str | Path | Checkpoint, device: str | None = None, **options: Unpack[HeadOptions]
    ) -> None:
        super().__init__(model, device, **options)
        self.tokenizer = self.tokenizer.limited(min(MAX_LENGTH, self.tokenizer.max_length))
        if "rewrite" not in self.engine.backend.outputs:
            raise ModelError(f"{self.settings.key}: {model}: has no rewrite head; train one with train embedded")

    def pointers(self, questions: Sequence[str], histories: Sequence[str]) -> list[Pointers | None]:
        """Compute the pointers of questions.

        Args:
            questions: as typed.
            histories: the turns before each, as `records.rewriting.history_text` gives them.

        Returns:
            Pointers, None for a question without a history, or longer than the model reads.
        """
        made: list[Pointers | None] = [None] * len(questions)
        places = [place for place, history in enumerate(histories) if history]
        if not places:
            return made
        pairs = [(questions[place], histories[place]) for place in places]
        sequences = self.tokenizer.pairs(pairs)
        old = self.tokenizer.offsets([question for question, _ in pairs])
        history_tokens = self.tokenizer.offsets([history for _, history in pairs])
        # not padded: the pointers of a question are the same whatever is read beside it
        for batch, (outputs,) in self.engine.run(sequences, ["rewrite"], padded=False):
            for row, number in enumerate(batch):
                first = int(sequences.firsts[number])
                if len(old[number]) == first - 2:
                    question = pairs[number][0]
                    made[places[number]] = _pointers(outputs[row], first, old[number], history_tokens[number], question)
        return made


def _pointers(outputs: np.ndarray, first: int, old: np.ndarray, history: np.ndarray, question: str) -> Pointers:
    # outputs [tokens, 4 * POINTER] of `[CLS] question [SEP] history [SEP]`; the first tokens are the question's
    start_query, end_query, start_key, end_key = np.split(outputs, 4, axis=1)
    keys = np.r_[0, first : len(outputs) - 1]
    starts = _shares(start_query[:first] @ start_key[keys].T * SHARPNESS)
    ends = _shares(end_query[:first] @ end_key[keys].T * SHARPNESS)
    return Pointers(
        np.append(old[:, 0], len(question.rstrip(" ?.!"))),
        history[: len(keys) - 1],
        starts[1:],
        ends[1:],
        np.stack([starts[0], ends[0]]),
    )


def _shares(logits: np.ndarray) -> np.ndarray:
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: np.ndarray = odds / odds.sum(axis=1, keepdims=True)
    return shares
