"""Calibration of a language model: from its confidence in an answer to the probability that the answer is right."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec

from ..support.errors import ModelError, one_line
from ..support.files import replacing
from ..support.jsonlines import JSON_ERRORS

FORMAT = 1
_SUREST = 1e-4  # from 0 and 1: odds are finite


class Calibration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A calibration: log odds of confidence times `slope` plus `intercept` are log odds of being right (Platt, 1999).

    Fitted to answers of `model` on `turns`; `error_before` and `error` are the expected calibration errors on these turns.
    """

    format: int = FORMAT
    model: str
    samples: int
    slope: float = 1.0
    intercept: float = 0.0
    turns: int = 0
    error_before: float | None = None
    error: float | None = None

    def probability(self, sure: float) -> float:
        """Return the probability, from 0 to 1, that an answer is right."""
        if self.slope == 1.0 and self.intercept == 0.0:
            return min(max(sure, 0.0), 1.0)
        return 1 / (1 + math.exp(-(self.slope * odds(sure) + self.intercept)))


def odds(probability: float) -> float:
    """Return log odds, finite for 0 and 1."""
    near = min(max(probability, _SUREST), 1 - _SUREST)
    return math.log(near / (1 - near))


def read_calibration(path: Path, model: str, samples: int) -> Calibration:
    """Read a file of `train ha`. Raises `ModelError` if it is damaged, or of another model or number of samples."""
    remedy = "make it by train ha"
    try:
        calibration = msgspec.json.decode(path.read_bytes(), type=Calibration)
    except (OSError, *JSON_ERRORS) as error:
        raise ModelError(f"ha_llm.calibration: {path}: is not a calibration ({one_line(error)}); {remedy}") from None
    if (calibration.format, calibration.model, calibration.samples) != (FORMAT, model, samples):
        found = f"is of {calibration.model} with samples: {calibration.samples}, not of {model} with {samples}"
        raise ModelError(f"ha_llm.calibration: {path}: {found}; {remedy}")
    return calibration


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write a calibration, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(msgspec.json.format(msgspec.json.encode(calibration), indent=2) + b"\n")
