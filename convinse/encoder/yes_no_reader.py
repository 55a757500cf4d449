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
    """Reads whether a text answers a question with yes, with a joint model that has a yes/no head (`encoder.heads`).

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
        """[n] probability of "yes" for each (question, text); without words in the text nothing is known: 0.5.

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
    """Whether a model folder has a yes/no head."""
    return folder is not None and (folder / YES_NO).is_file()
