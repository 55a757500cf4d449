"""The logit: a small trained model that can be read by eye, weights of named features in a file of JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from .errors import ModelError, one_line
from .jsonlines import JSON_ERRORS
from .manifest import BY_HAND, check_folder

VERSION = 3  # of the file; 1 and 2 were of one task each, with the key `format`
NONE = "none"  # the feature that is 1 for "none of the candidates" and 0 for them
BIAS = "bias"  # the feature of every row whose columns are the alternatives


class Logit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A choice whose odds are the exponential of weighted features (McFadden, Conditional logit analysis of qualitative choice behavior, 1974).

    Either candidates stand against each other and against "none", a row of features each, or fixed classes do.

    Attributes:
        version: of the file format.
        features: mean and standard deviation in training; features that are not here count as they are.
        weights: by feature, in the order of training; one, or one of each class.
        unit: of the weights as they are written: hundredths make a file of thousands of features a third smaller.
        trained_on: counts of the examples, by data set or by class.
    """

    version: int = VERSION
    features: dict[str, tuple[float, Annotated[float, msgspec.Meta(gt=0)]]]
    weights: dict[str, list[float]]
    trained_on: dict[str, dict[str, int | float]]
    unit: Annotated[float, msgspec.Meta(gt=0)] = 1.0

    def probabilities(
        self, candidates: Sequence[Sequence[float]] | np.ndarray, none: Sequence[float] | np.ndarray = ()
    ) -> np.ndarray:
        """Return the [n + 1] probabilities of n candidates and of "none", given by their features in the order of training.

        >>> logit = Logit(features={}, weights={"height": [2.0], "none": [0.0]}, trained_on={})
        >>> logit.probabilities([[0.0], [1.0]]).round(2).tolist()
        [0.11, 0.79, 0.11]
        """
        return _normalised(self.log_odds(candidates, none))

    def log_odds(
        self, candidates: Sequence[Sequence[float]] | np.ndarray, none: Sequence[float] | np.ndarray = ()
    ) -> np.ndarray:
        """Return the [n + 1] weighted sums of the features of n candidates and of "none"."""
        weights = self.unit * np.array([weight for (weight,) in self.weights.values()])
        mean, scale = np.array([self.features.get(name, (0.0, 1.0)) for name in self.weights]).T
        width = len(weights) - len(none) - 1
        rows = (np.array(candidates, np.float64).reshape(-1, width) - mean[:width]) / scale[:width]
        of_none = (np.array(none, np.float64) - mean[width:-1]) / scale[width:-1]
        return np.append(rows @ weights[:width], of_none @ weights[width:-1] + weights[-1])

    def class_probabilities(self, present: Iterable[str]) -> np.ndarray:
        """Return the probabilities of the classes for the features that are present, which count 1 each."""
        rows = [self.weights[name] for name in (BIAS, *present) if name in self.weights]
        return _normalised(self.unit * np.sum(rows, axis=0))

    def content(self) -> bytes:
        """Return the content of a file: a line for each feature."""
        parts = []
        for key, rows in (("features", self.features), ("weights", self.weights), ("trained_on", self.trained_on)):
            lines = [f"  {_json(name)}: {_json(row)}" for name, row in rows.items()]
            parts.append(f' "{key}": {{\n' + ",\n".join(lines) + "\n }" if rows else f' "{key}": {{}}')
        head = [f' "version": {self.version}', *([f' "unit": {self.unit}'] if self.unit != 1 else [])]
        return ("{\n" + ",\n".join([*head, *parts]) + "\n}\n").encode()


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _normalised(log_odds: np.ndarray) -> np.ndarray:
    odds = np.exp(log_odds - log_odds.max())
    shares: np.ndarray = odds / odds.sum()
    return shares


def feature_names(candidate: Sequence[str], none: Sequence[str] = ()) -> list[str]:
    """Return the names of the features in the order of a logit of candidates: theirs, those of "none", its own.

    >>> feature_names(["height"], ["count"])
    ['height', 'none count', 'none']
    """
    return [*candidate, *(f"{NONE} {name}" for name in none), NONE]


def read_logit(path: Path, key: str, remedy: str, names: Sequence[str] = (), classes: Sequence[str] = ()) -> Logit:
    """Read a logit of candidates with the features `names`, or one of `classes`.

    Args:
        path: of the file.
        key: the setting that names it, for errors.
        remedy: what to run if the file cannot be read.
        names: the features that the caller measures (`feature_names`).
        classes: the classes; the file counts the examples of each.

    Raises:
        ModelError: the file is missing, damaged, of another version, or of other features or classes.
    """
    where = f"{key}: {path}"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{where}: cannot be read ({error.strerror or one_line(error)}); {remedy}") from None
    check_folder(path.parent, ModelError, f"{key}: ", f"{remedy}, {BY_HAND}")
    try:
        content = msgspec.json.decode(data)
        version = content.get("version", content.get("format")) if isinstance(content, dict) else None
        if isinstance(version, int) and version != VERSION:
            raise ModelError(f"{where}: has format {version}, this version reads {VERSION}; {remedy}")
        logit = msgspec.convert(content, Logit)
    except JSON_ERRORS as error:
        raise ModelError(f"{where}: is damaged ({one_line(error)}); {remedy}") from None
    if any(len(row) != (len(classes) or 1) for row in logit.weights.values()) or (
        list(logit.trained_on) != list(classes) if classes else list(logit.weights) != list(names)
    ):
        kind = "classes" if classes else "features"
        raise ModelError(f"{where}: was trained with other {kind}, or in another order; {remedy}")
    return logit
