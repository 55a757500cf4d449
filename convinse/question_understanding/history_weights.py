"""The trained part of `qu: history`: a logistic regression over named features, in a file that can be read by eye."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from ..config import Share
from ..support.errors import ModelError, one_line
from .history_features import Features

if TYPE_CHECKING:
    import numpy as np

FILE = "history.json"
FORMAT = 1
_REMEDY = "train it again (train qu), or leave qu_model out for the one that ships with the project"


class FeatureWeight(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One feature: its mean and standard deviation in training, and the weight of its standardised value."""

    name: str
    mean: float
    scale: Annotated[float, msgspec.Meta(gt=0)]
    weight: float


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
    """How likely a question is about something that was talked about, from the `Features` of the two.

    Attributes:
        format: of the file.
        encoder: the id of the model whose embeddings the features were made with.
        threshold: a question is about what is at least so likely.
        bias: of the regression.
        features: in the order of `Features`.
        trained_with: see `Origin`.
    """

    format: int
    encoder: str
    threshold: Share
    bias: float
    features: list[FeatureWeight]
    trained_with: Origin

    def probabilities(self, rows: Sequence[Features] | np.ndarray) -> list[float]:
        """The probability of each of n rows, from 0 to 1."""
        import numpy as np

        if not len(rows):
            return []
        mean, scale, weight = np.array([(feature.mean, feature.scale, feature.weight) for feature in self.features]).T
        values = (np.array(rows) - mean) / scale @ weight + self.bias
        return [float(value) for value in 1 / (1 + np.exp(-values))]


def read_weights(folder: Path, key: str = "qu_model") -> HistoryWeights:
    """Read the model of a folder.

    Args:
        folder: that `train qu` wrote.
        key: the configuration key that named it, for messages.

    Raises:
        ModelError: there is none, it is damaged, of another format, or of other features than those of `Features`.
    """
    path = folder / FILE
    where = f"{key}: {path}"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{where}: cannot be read ({error.strerror or one_line(error)}); {_REMEDY}") from None
    try:
        content = msgspec.json.decode(data)
        version = content.get("format") if isinstance(content, dict) else None
        if isinstance(version, int) and version != FORMAT:
            raise ModelError(f"{where}: has format {version}, this version reads {FORMAT}; {_REMEDY}")
        weights = msgspec.convert(content, HistoryWeights)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:  # a ValidationError is a DecodeError
        raise ModelError(f"{where}: is damaged ({one_line(error)}); {_REMEDY}") from None
    names = tuple(feature.name for feature in weights.features)
    if names != Features._fields:
        differing = sorted(set(names) ^ set(Features._fields)) or ["their order"]
        raise ModelError(f"{where}: was trained with other features ({', '.join(differing[:3])}); {_REMEDY}")
    return weights


def weights_bytes(weights: HistoryWeights) -> bytes:
    """The content of a model file."""
    return msgspec.json.format(msgspec.json.encode(weights), indent=1) + b"\n"
