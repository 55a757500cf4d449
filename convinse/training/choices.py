"""The conditional logit: learning which of several candidates is chosen, or none, from their features.

The odds of a candidate are the exponential of its weighted features; "none" has features of its own. Where several candidates
are right, the probability of any of them counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_STEPS = 200
_CLOSE = 1e-9  # of the penalised loss: a step that gains less is the last
_HALVINGS = 30


class Choice(NamedTuple):
    """A question with candidates.

    Attributes:
        candidates: [n, f] features of the candidates.
        question: [c] features of the question.
        right: [n] bool, which candidates are right; where none is, "none" is.
        weight: how much it counts.
        group: choices of the same group are in the same part of a cross-validation.
    """

    candidates: np.ndarray
    question: np.ndarray
    right: np.ndarray
    weight: float
    group: str


def offered_pair(choice: Choice, columns: Sequence[int], likely: int) -> Choice | None:
    """The choice as it would be if the question offered a right candidate and a wrong one; None where it has not both.

    Args:
        choice: of a question that offers nothing.
        columns: features that are 1 of what a question offers.
        likely: the feature that tells which wrong candidate is offered: the one that has most of it.
    """
    if not choice.right.any() or choice.right.all():
        return None
    order = np.argsort(-choice.candidates[:, likely], kind="stable")
    right, wrong = (next(place for place in order if choice.right[place] == is_right) for is_right in (True, False))
    rows, offered = choice.candidates.copy(), np.array([right, wrong])
    rows[offered[:, None], np.array(columns)] = 1.0
    return choice._replace(candidates=rows)


class Scale(NamedTuple):
    """Means and standard deviations, by which features are standardised: [f] each."""

    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, weights: np.ndarray) -> Scale:
        """Those of [n, f] rows with [n] weights, rounded as they are written."""
        shares = weights / weights.sum()
        mean = shares @ rows
        scale = np.sqrt(shares @ (rows - mean) ** 2)
        return cls(mean.round(6), np.where(scale > 1e-6, scale, 1.0).round(6))

    def standardised(self, rows: np.ndarray) -> np.ndarray:
        """Rows by these."""
        standard: np.ndarray = (rows - self.mean) / self.scale
        return standard


class Fitted(NamedTuple):
    """What was learned: [f] weights of candidates, [c] of questions, the bias of "none", the scales of both."""

    candidates: np.ndarray
    question: np.ndarray
    bias: float
    scale: Scale
    question_scale: Scale

    def probabilities(self, choice: Choice) -> np.ndarray:
        """[n + 1] of the candidates, and of none."""
        odds = np.append(
            self.scale.standardised(choice.candidates) @ self.candidates,
            self.question_scale.standardised(choice.question) @ self.question + self.bias,
        )
        return _shares(odds)


def fit(
    choices: Sequence[Choice], l2: float, rising: Sequence[int] = (), towards: Sequence[float] | None = None
) -> Fitted:
    """Weights that make the right candidates likeliest, by Newton's method on the convex part of the loss.

    Args:
        choices: to learn from.
        l2: strength of the regularisation of all weights but the bias.
        rising: features of candidates whose weights may not be below 0; those that would be are 0.
        towards: the weights of the candidates' features, as they are, that the regularisation pulls to; None: 0.
    """
    scale, question_scale = _scales(choices)
    held = np.zeros(0, int)
    target = np.zeros(len(scale.mean)) if towards is None else np.array(towards) * scale.scale
    while True:
        fitted = _fit(choices, l2, held, target, scale, question_scale)
        falling = [place for place in rising if fitted.candidates[place] < 0]
        if not falling:
            return fitted
        held = np.append(held, falling)


def _fit(
    choices: Sequence[Choice], l2: float, held: np.ndarray, target: np.ndarray, scale: Scale, question_scale: Scale
) -> Fitted:
    """`fit` where the weights of the candidates' features at the places `held` are 0, and the others are pulled to `target`."""
    width, more = len(scale.mean), len(question_scale.mean)
    designs = []
    for choice in choices:
        design = np.zeros((len(choice.candidates) + 1, width + more + 1))
        design[:-1, :width] = scale.standardised(choice.candidates)
        design[:, held] = 0.0
        design[-1, width:-1] = question_scale.standardised(choice.question)
        design[-1, -1] = 1.0
        designs.append(design)
    rights = [np.append(choice.right, not choice.right.any()) for choice in choices]
    penalty = np.full(width + more + 1, l2)
    penalty[-1] = 1e-6
    pulled = np.zeros(width + more + 1)
    pulled[:width] = target
    pulled[held] = 0.0

    def loss(weights: np.ndarray) -> float:
        total = float(penalty @ (weights - pulled) ** 2) / 2
        for design, right, choice in zip(designs, rights, choices, strict=True):
            odds = design @ weights
            top = odds.max()
            own = np.exp(odds - top)
            total += choice.weight * float(np.log(own.sum()) - np.log(max(own[right].sum(), 1e-300)))
        return total

    weights = pulled.copy()
    before = loss(weights)
    for _ in range(_STEPS):
        gradient, curvature = penalty * (weights - pulled), np.diag(penalty)
        for design, right, choice in zip(designs, rights, choices, strict=True):
            odds = design @ weights
            shares, wanted = _shares(odds), _shares(np.where(right, odds, -np.inf))
            mean = shares @ design
            gradient = gradient + choice.weight * (mean - wanted @ design)
            curvature = curvature + choice.weight * ((design.T * shares) @ design - np.outer(mean, mean))
        step = np.linalg.solve(curvature, gradient)
        length = 1.0
        for _ in range(_HALVINGS):
            after = loss(weights - length * step)
            if after <= before:
                break
            length /= 2
        else:
            break
        weights = weights - length * step
        if before - after < _CLOSE * max(1.0, before):
            break
        before = after
    return Fitted(weights[:width], weights[width:-1], float(weights[-1]), scale, question_scale)


def _scales(choices: Sequence[Choice]) -> tuple[Scale, Scale]:
    """Of candidates, those of each question together count as much as the question; and of questions."""
    weights = np.array([choice.weight for choice in choices])
    counts = [len(choice.candidates) for choice in choices]
    own = np.repeat(weights / np.maximum(1, counts), counts)
    rows = np.concatenate([choice.candidates for choice in choices])
    return Scale.of(rows, own), Scale.of(np.stack([choice.question for choice in choices]), weights)


def _shares(odds: np.ndarray) -> np.ndarray:
    own = np.exp(odds - odds.max())
    shares: np.ndarray = own / own.sum()
    return shares
