"""What kind of answer a question asks for, told by a model that was trained on questions with known answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..support.errors import ModelError
from .answer_classes import read_answer_classes
from .checkpoint import Checkpoint
from .pool import HeadOptions, ModelHead

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AnswerTypeReader(ModelHead):
    """Tells the classes of the answers of questions, with a joint model that has an answer type head.

    See `ModelHead` for the arguments.

    Attributes:
        classes: that it tells apart.
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

    def probabilities(self, questions: Sequence[str], verb_first: Sequence[bool] | None = None) -> np.ndarray:
        """[n, classes] probability of each class for each question.

        Args:
            questions: as `typed_text` gives them.
            verb_first: whether each begins with the verb; None: the head alone tells.

        Raises:
            ModelError: a probability is not a number; the message names the question.
        """
        logits = np.empty((len(questions), len(self.classes.names)))
        sequences = self.tokenizer.singles(questions)
        for batch, (values,) in self.engine.run(sequences, ["answer_type"]):
            logits[batch] = values
        if np.isnan(logits).any():
            question = questions[int(np.isnan(logits).any(axis=1).argmax())]
            raise ModelError(
                f"the answer type of '{question[:120]}' is not a number; the model's weights are broken, or try fp32"
            )
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances: np.ndarray = shares / shares.sum(axis=1, keepdims=True)
        return chances if verb_first is None else self.classes.with_grammar(chances, verb_first)
