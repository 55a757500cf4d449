"""Readers of a joint model's heads: yes or no in a text, and the class of the answer that a question asks for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..support.errors import ModelError
from .answer_classes import read_answer_classes
from .checkpoint import ANSWER_TYPE, YES_NO, Checkpoint
from .pool import HeadOptions, ModelHead

if TYPE_CHECKING:
    from typing_extensions import Unpack


class YesNoReader(ModelHead):
    """A reader of whether a text answers a question with yes, with a joint model that has a yes/no head (`encoder.heads`).

    See `ModelHead` for the arguments.
    """

    task = "question-answering"

    def __init__(
        self, model: str | Path | Checkpoint, device: str | None = None, **options: Unpack[HeadOptions]
    ) -> None:
        super().__init__(model, device, **options)
        if "yes_no" not in self.engine.backend.outputs:
            raise ModelError(f"{self.settings.key}: {model}: has no yes/no head; train one with train embedded")
        folder = model.folder if isinstance(model, Checkpoint) else Path(model).expanduser()
        if folder is not None and has_yes_no(folder):
            self.model_id = self._id_with(folder / YES_NO)

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return the [n] probabilities of "yes" of (question, text) pairs; 0.5 for a text without words.

        Raises:
            ModelError: a score is not a number; the message names the text.
        """
        chances = np.full(len(pairs), 0.5)
        places = np.array([place for place, (_, text) in enumerate(pairs) if text.strip()], dtype=np.int64)
        if not len(places):
            return chances
        odds = self._odds([pairs[place] for place in places]).astype(np.float64)
        chances[places] = 1 / (1 + np.exp(-odds.clip(-30, 30)))
        return chances

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
        # not padded: the odds of a pair are the same whatever is read beside it
        for batch, (values,) in self.engine.run(self.tokenizer.pairs(pairs), ["yes_no"], padded=False):
            odds[batch] = values
        wrong = ~np.isfinite(odds)
        if wrong.any():
            text = pairs[int(wrong.argmax())][1]
            raise ModelError(
                f"the score of '{text[:120]}' is not a number; the model's weights are broken, or try fp32"
            )
        return odds


def has_yes_no(folder: Path | None) -> bool:
    """Return True if a model folder has a yes/no head."""
    return folder is not None and (folder / YES_NO).is_file()


class AnswerTypeReader(ModelHead):
    """A reader of the classes of answers of questions, with a joint model that has an answer type head.

    See `ModelHead` for the arguments.

    Attributes:
        classes: of the head's outputs.
        model_id: changes with the weights of the model and of the head, and with the precision.
    """

    task = "question-answering"

    def __init__(
        self, model: str | Path | Checkpoint, device: str | None = None, **options: Unpack[HeadOptions]
    ) -> None:
        super().__init__(model, device, **options)
        folder = model.folder if isinstance(model, Checkpoint) else Path(model).expanduser()
        if "answer_type" not in self.engine.backend.outputs or folder is None:
            raise ModelError(f"{self.settings.key}: {model}: has no answer type head; train one with train embedded")
        self.classes = read_answer_classes(folder)
        self.model_id = self._id_with(folder / ANSWER_TYPE)

    def probabilities(self, questions: Sequence[str], verb_first: Sequence[bool] | None = None) -> np.ndarray:
        """Return the [n, classes] probabilities of classes.

        Args:
            questions: see `typed_text`.
            verb_first: whether a question begins with the verb; None: only the head decides.

        Raises:
            ModelError: a probability is not a number; the message names the question.
        """
        if self._vectors is None:
            logits = self._computed(questions).astype(np.float64)
        else:
            logits = self._vectors.found_or_computed(questions, self._computed).astype(np.float64)
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances: np.ndarray = shares / shares.sum(axis=1, keepdims=True)
        return chances if verb_first is None else self.classes.with_grammar(chances, verb_first)

    def _computed(self, questions: Sequence[str]) -> np.ndarray:
        logits = np.empty((len(questions), len(self.classes.names)), np.float32)
        sequences = self.tokenizer.singles(questions)
        # not padded: a question's logits are the same whatever is asked beside it
        for batch, (values,) in self.engine.run(sequences, ["answer_type"], padded=False):
            logits[batch] = values
        wrong = ~np.isfinite(logits).all(axis=1)
        if wrong.any():
            question = questions[int(wrong.argmax())]
            raise ModelError(
                f"the answer type of '{question[:120]}' is not a number; the model's weights are broken, or try fp32"
            )
        return logits
