"""Small trained models that can be read by eye: weights of named features, in a file of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeVar

import msgspec

from .errors import ModelError, one_line
from .jsonlines import JSON_ERRORS
from .manifest import BY_HAND, check_folder

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T", bound=msgspec.Struct)


class FeatureWeight(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A feature: its mean and standard deviation in training, and the weight of its standardised value."""

    name: str
    mean: float
    scale: Annotated[float, msgspec.Meta(gt=0)]
    weight: float


class ConditionalLogit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A choice between candidates and "nothing", whose odds are the exponential of their weighted features (McFadden,
    Conditional logit analysis of qualitative choice behavior, 1974).

    Attributes:
        format: the version of the file format.
        features: of a candidate.
        nothing: of "nothing", for which `bias` is added.
    """

    format: int
    features: list[FeatureWeight]
    nothing: list[FeatureWeight]
    bias: float

    def probabilities(self, candidates: Sequence[NamedTuple], nothing: NamedTuple) -> np.ndarray:
        """Return the probabilities [n] of n candidates, given by their features; the remainder to 1 is that of "nothing"."""
        import numpy as np

        log_odds = np.append(
            scores(self.features, columns(candidates, self.features)),
            scores(self.nothing, columns([nothing], self.nothing)) + self.bias,
        )
        odds = np.exp(log_odds - log_odds.max())
        shares: np.ndarray = (odds / odds.sum())[:-1]
        return shares


def columns(rows: Sequence[NamedTuple], weights: Sequence[FeatureWeight]) -> np.ndarray:
    """Return the features of rows that have weights, [n, f]."""
    import numpy as np

    chosen = [[getattr(row, weight.name) for weight in weights] for row in rows]
    return np.array(chosen).reshape(len(rows), len(weights))


def scores(weights: Sequence[FeatureWeight], rows: Sequence[Sequence[float]] | np.ndarray) -> np.ndarray:
    """[n] weighted sums of n rows of features, which are standardised as in training."""
    import numpy as np

    mean, scale, weight = np.array([(feature.mean, feature.scale, feature.weight) for feature in weights]).T
    summed: np.ndarray = (np.array(rows, np.float64).reshape(-1, len(weights)) - mean) / scale @ weight
    return summed


def read_model(path: Path, kind: type[T], version: int, key: str, remedy: str) -> T:
    """Read a model's file. Raises `ModelError`: it is missing, damaged or of another format."""
    where = f"{key}: {path}"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{where}: cannot be read ({error.strerror or one_line(error)}); {remedy}") from None
    check_folder(path.parent, ModelError, f"{key}: ", f"{remedy}, {BY_HAND}")
    try:
        content = msgspec.json.decode(data)
        format_version = content.get("format") if isinstance(content, dict) else None
        if isinstance(format_version, int) and format_version != version:
            raise ModelError(f"{where}: has format {format_version}, this version reads {version}; {remedy}")
        return msgspec.convert(content, kind)
    except JSON_ERRORS as error:
        raise ModelError(f"{where}: is damaged ({one_line(error)}); {remedy}") from None


def check_names(weights: Sequence[FeatureWeight], names: Sequence[str], where: str, remedy: str) -> None:
    """Raise `ModelError` unless the weights are of these features, in this order."""
    trained = [feature.name for feature in weights]
    if trained != list(names):
        raise ModelError(f"{where}: was trained with other features, or in another order; {remedy}")


def model_bytes(model: msgspec.Struct) -> bytes:
    """The content of a model file."""
    return msgspec.json.format(msgspec.json.encode(model), indent=1) + b"\n"
