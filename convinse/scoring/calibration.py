"""How far probabilities of answers are from how often these are right."""

from __future__ import annotations

from collections.abc import Iterable


def calibration_error(probabilities: Iterable[float], right: Iterable[bool], bins: int = 10) -> float:
    """The expected calibration error (Naeini et al., AAAI 2015), from 0 to 1: how far the share of right answers lies from the
    mean probability, in bins of equal width, weighted by how many answers a bin has."""
    gaps, number = [0.0] * bins, 0
    for probability, is_right in zip(probabilities, right, strict=True):
        gaps[min(int(probability * bins), bins - 1)] += probability - float(is_right)
        number += 1
    return sum(map(abs, gaps)) / max(1, number)
