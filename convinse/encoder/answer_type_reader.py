"""The class of the answer that a question asks for, by a model trained on questions and answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..support.errors import ModelError
from .answer_classes import read_answer_classes
from .checkpoint import ANSWER_TYPE, Checkpoint
from .pool import HeadOptions, ModelHead

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AnswerTypeReader(ModelHead):
    """Tells the classes of the answers of questions, with a joint model that has an answer type head.

    See `ModelHead` for the arguments.

    Attributes:
        classes: that it tells apart.
        model_id: changes with the weights of the model and of the head, and with how they compute.
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
        """[n, classes] probability of each class for each question.

        Args:
            questions: as `typed_text` gives them.
            verb_first: whether each begins with the verb; None: the head alone tells.

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
