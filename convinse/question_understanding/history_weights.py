"""The trained part of `qu: history`: a logistic regression over named features, in a file that can be read by eye."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..config import Share
from ..support.weights import FeatureWeight, check_names, read_model, scores
from .history_features import ReferentFeatures

if TYPE_CHECKING:
    import numpy as np

FILE = "history.json"
FORMAT = 1
_REMEDY = "train it again (train qu), or leave qu_model out for the one that ships with the project"


class Origin(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model was trained with.

    train, dev: SHA-256 of the annotated files; kb: build id of the knowledge base; turns: of `train` that were learned
    from; l2: strength of the regularisation, chosen on `dev`.
    """

    train: str
    dev: str
    kb: str
    turns: int
    l2: float


class HistoryWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How likely a question is about something that was talked about, from the `ReferentFeatures` of the two.

    Attributes:
        format: of the file.
        encoder: the id of the model whose embeddings the features were made with.
        threshold: a question is about what is at least so likely.
        bias: of the regression.
        features: in the order of `ReferentFeatures`.
        trained_with: see `Origin`.
    """

    format: int
    encoder: str
    threshold: Share
    bias: float
    features: list[FeatureWeight]
    trained_with: Origin

    def probabilities(self, rows: Sequence[ReferentFeatures] | np.ndarray) -> list[float]:
        """The probability of each of n rows, from 0 to 1."""
        import numpy as np

        if not len(rows):
            return []
        return [float(value) for value in 1 / (1 + np.exp(-(scores(self.features, rows) + self.bias)))]


def read_weights(folder: Path, key: str = "qu_model") -> HistoryWeights:
    """Read the model of a folder.

    Raises:
        ModelError: there is none, it is damaged, of another format, or of other features than those of `ReferentFeatures`.
    """
    path = folder / FILE
    weights = read_model(path, HistoryWeights, FORMAT, key, _REMEDY)
    check_names(weights.features, ReferentFeatures._fields, f"{key}: {path}", _REMEDY)
    return weights
