"""How far probabilities of answers are from how often these are right."""

from __future__ import annotations

import math
from collections.abc import Iterable


def calibration_error(probabilities: Iterable[float], right: Iterable[bool], bins: int = 10) -> float:
    """The expected calibration error (Naeini et al., AAAI 2015), from 0 to 1: how far the share of right answers lies from the
    mean probability, in bins of equal width, weighted by how many answers a bin has."""
    gaps, number = [0.0] * bins, 0
    for probability, is_right in zip(probabilities, right, strict=True):
        gaps[_bin(probability, bins)] += probability - float(is_right)
        number += 1
    return sum(map(abs, gaps)) / max(1, number)


def calibration_error_by_chance(probabilities: Iterable[float], bins: int = 10) -> float:
    """The `calibration_error` to be expected of so many answers where each is right with just its probability: few answers have one,
    too. Right answers of a bin count as normally distributed around their mean."""
    variances, number = [0.0] * bins, 0
    for probability in probabilities:
        variances[_bin(probability, bins)] += probability * (1 - probability)
        number += 1
    return sum(math.sqrt(2 / math.pi * variance) for variance in variances) / max(1, number)


def _bin(probability: float, bins: int) -> int:
    return min(int(probability * bins), bins - 1)
