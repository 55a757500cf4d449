"""Readers with the heads of a joint model (`encoder.heads`): yes or no, class of the answer, words that a question leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .answer_classes import read_answer_classes
from .checkpoint import YES_NO, Checkpoint
from .engine import POINTER_SIZE
from .pool import ModelHead

MAX_LENGTH = 128  # tokens of a question with its history
SHARPNESS = 4 / POINTER_SIZE**0.5  # factor of the products of queries and keys


class YesNoReader(ModelHead):
    """A reader of answers to yes/no questions; see `ModelHead` for the arguments."""

    task, head = "question-answering", "yes_no"

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return the [n] probabilities of "yes" of (question, text) pairs; 0.5 for a text without words."""
        probabilities = np.full(len(pairs), 0.5)
        places = np.array([place for place, (_, text) in enumerate(pairs) if text.strip()], dtype=np.int64)
        if not len(places):
            return probabilities
        odds = self._odds([pairs[place] for place in places]).astype(np.float64)
        probabilities[places] = 1 / (1 + np.exp(-odds.clip(-30, 30)))
        return probabilities

    def _odds(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        if self._vectors is None:
            return self._computed(pairs)
        pair_of = {f"{len(question)}:{question}{text}": (question, text) for question, text in pairs}
        odds = self._vectors.found_or_computed(
            list(pair_of), lambda keys: self._computed([pair_of[key] for key in keys])[:, None]
        )
        place_of = {pair: place for place, pair in enumerate(pair_of.values())}
        return odds[[place_of[pair] for pair in pairs], 0]

    def _computed(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        odds = np.empty(len(pairs), np.float32)
        # not padded: the odds of a pair do not depend on the other pairs of its batch
        for batch, (values,) in self.engine.run(self.tokenizer.pairs(pairs), ["yes_no"], padded=False):
            odds[batch] = values
        self._check_numbers("score", odds, [text for _, text in pairs])
        return odds


def has_yes_no(folder: Path | None) -> bool:
    """Return True if a model folder has a yes/no head."""
    return folder is not None and (folder / YES_NO).is_file()


class AnswerTypeReader(ModelHead):
    """A reader of the class that the answer of a question has, among `classes`; see `ModelHead` for the arguments."""

    task, head = "question-answering", "answer_type"

    def __init__(self, model: str | Path | Checkpoint, device: str | None = None, **options: Any) -> None:
        super().__init__(model, device, **options)
        assert self._folder is not None  # a model with this head has a folder
        self.classes = read_answer_classes(self._folder)

    def probabilities(self, questions: Sequence[str], verb_first: Sequence[bool] | None = None) -> np.ndarray:
        """Return the [n, classes] probabilities of the classes of the answers.

        Args:
            questions: texts as `typed_text` makes them.
            verb_first: whether each question begins with its verb; None: the head alone decides.
        """
        if self._vectors is None:
            logits = self._computed(questions).astype(np.float64)
        else:
            logits = self._vectors.found_or_computed(questions, self._computed).astype(np.float64)
        probabilities = softmax(logits)
        return probabilities if verb_first is None else self.classes.with_grammar(probabilities, verb_first)

    def _computed(self, questions: Sequence[str]) -> np.ndarray:
        logits = np.empty((len(questions), len(self.classes.names)), np.float32)
        sequences = self.tokenizer.singles(questions)
        # not padded: the logits of a question do not depend on the other questions of its batch
        for batch, (values,) in self.engine.run(sequences, ["answer_type"], padded=False):
            logits[batch] = values
        self._check_numbers("answer type", logits, questions)
        return logits


class Pointers(NamedTuple):
    """The pointers of the rewrite head for a question and its history.

    Attributes:
        tokens: [t, 2] character offsets of the tokens of the history, as far as it was read.
        starts, ends: [g, 1 + t] probabilities that nothing is left out in a gap of the question (before each of its tokens, and behind
            the last), or words that begin or end with a token.
        replaced: [2, 1 + t] the same start and end probabilities of the words of the question before that this question replaces.
    """

    tokens: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    replaced: np.ndarray


class QuestionRewriter(ModelHead):
    """Finds the gaps of a question and the words of the history that fill them. See `ModelHead` for the arguments."""

    task, head = "question-answering", "rewrite"

    def __init__(self, model: str | Path | Checkpoint, device: str | None = None, **options: Any) -> None:
        super().__init__(model, device, **options)
        self.tokenizer = self.tokenizer.limited(min(MAX_LENGTH, self.tokenizer.max_length))

    def pointers(self, questions: Sequence[str], histories: Sequence[str]) -> list[Pointers | None]:
        """Return the pointers of questions, None without a history or for a question longer than the model reads.

        `histories` are the texts of the turns before each question, as `records.rewriting.history_text` writes them.
        """
        pointers: list[Pointers | None] = [None] * len(questions)
        places = [place for place, history in enumerate(histories) if history]
        if not places:
            return pointers
        pairs = [(questions[place], histories[place]) for place in places]
        sequences = self.tokenizer.pairs(pairs)
        question_tokens = self.tokenizer.offsets([question for question, _ in pairs])
        history_tokens = self.tokenizer.offsets([history for _, history in pairs])
        # not padded: the pointers of a question do not depend on the other questions of its batch
        for batch, (outputs,) in self.engine.run(sequences, ["rewrite"], padded=False):
            for row, number in enumerate(batch):
                first = int(sequences.firsts[number])
                if len(question_tokens[number]) == first - 2:  # the question was not cut
                    pointers[places[number]] = _pointers(outputs[row], first, history_tokens[number])
        return pointers


def _pointers(outputs: np.ndarray, first: int, history: np.ndarray) -> Pointers:
    # outputs [tokens, 4 * POINTER_SIZE] of `[CLS] question [SEP] history [SEP]`; the first tokens are the question's
    start_query, end_query, start_key, end_key = np.split(outputs, 4, axis=1)
    keys = np.r_[0, first : len(outputs) - 1]
    starts = softmax(start_query[:first] @ start_key[keys].T * SHARPNESS)
    ends = softmax(end_query[:first] @ end_key[keys].T * SHARPNESS)
    return Pointers(history[: len(keys) - 1], starts[1:], ends[1:], np.stack([starts[0], ends[0]]))


def softmax(logits: np.ndarray) -> np.ndarray:
    """Return the probabilities of [n, classes] logits."""
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities: np.ndarray = odds / odds.sum(axis=1, keepdims=True)
    return probabilities
