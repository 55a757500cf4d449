"""Yes or no, read in texts by a model that was trained on such questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..support.errors import ModelError
from .checkpoint import YES_NO, Checkpoint
from .pool import HeadOptions, ModelHead

if TYPE_CHECKING:
    from typing_extensions import Unpack


class YesNoReader(ModelHead):
    """Reads whether a text answers a question with yes, with a joint model that has a yes/no head (`encoder.yes_no_head`).

    See `ModelHead` for the arguments.
    """

    task = "question-answering"

    def __init__(
        self, model: str | Path | Checkpoint, device: str | None = None, **options: Unpack[HeadOptions]
    ) -> None:
        super().__init__(model, device, **options)
        if "yes_no" not in self.engine.backend.outputs:
            raise ModelError(f"{self.settings.key}: {model}: has no yes/no head; train one with train embedded")

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """[n] probability of "yes" for each (question, text); without words in the text nothing is known: 0.5.

        Raises:
            ModelError: a score is not a number; the message names the text.
        """
        chances = np.full(len(pairs), 0.5)
        places = np.array([place for place, (_, text) in enumerate(pairs) if text.strip()], dtype=np.int64)
        if not len(places):
            return chances
        sequences = self.tokenizer.pairs([pairs[place] for place in places])
        odds = np.empty(len(places))
        for batch, (values,) in self.engine.run(sequences, ["yes_no"]):
            odds[batch] = values
        if np.isnan(odds).any():
            text = pairs[places[int(np.isnan(odds).argmax())]][1]
            raise ModelError(
                f"the score of '{text[:120]}' is not a number; the model's weights are broken, or try fp32"
            )
        chances[places] = 1 / (1 + np.exp(-odds.clip(-30, 30)))
        return chances


def has_yes_no(folder: Path | None) -> bool:
    """Whether a model folder has a yes/no head."""
    return folder is not None and (folder / YES_NO).is_file()
