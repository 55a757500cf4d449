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
        own = np.exp(odds - odds.max())
        shares: np.ndarray = own / own.sum()
        return shares


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
    # the candidates of each question together count as much as the question
    weights = np.array([choice.weight for choice in choices])
    counts = [len(choice.candidates) for choice in choices]
    own = np.repeat(weights / np.maximum(1, counts), counts)
    rows = np.concatenate([choice.candidates for choice in choices])
    scale, question_scale = Scale.of(rows, own), Scale.of(np.stack([choice.question for choice in choices]), weights)
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
    width, more = len(scale.mean), len(question_scale.mean)
    counts = np.array([len(choice.candidates) + 1 for choice in choices])
    ends = np.cumsum(counts)
    starts, nones, question_of = ends - counts, ends - 1, np.repeat(np.arange(len(choices)), counts)
    design = np.zeros((int(ends[-1]), width + more + 1))
    is_candidate = np.ones(len(design), bool)
    is_candidate[nones] = False
    design[is_candidate, :width] = scale.standardised(np.concatenate([choice.candidates for choice in choices]))
    design[:, held] = 0.0
    design[nones, width:-1] = question_scale.standardised(np.stack([choice.question for choice in choices]))
    design[nones, -1] = 1.0
    right = np.concatenate([np.append(choice.right, not choice.right.any()) for choice in choices])
    weight = np.array([choice.weight for choice in choices])
    penalty = np.full(width + more + 1, l2)
    penalty[-1] = 1e-6
    pulled = np.zeros(width + more + 1)
    pulled[:width] = target
    pulled[held] = 0.0

    def shares(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Of all rows, of the right rows, and the penalised loss."""
        odds = design @ weights
        own = np.exp(odds - np.maximum.reduceat(odds, starts)[question_of])
        total, of_right = np.add.reduceat(own, starts), np.maximum(np.add.reduceat(own * right, starts), 1e-300)
        loss = float(penalty @ (weights - pulled) ** 2) / 2 + float(weight @ (np.log(total) - np.log(of_right)))
        return own / total[question_of], own * right / of_right[question_of], loss

    weights = pulled.copy()
    likely, wanted, before = shares(weights)
    row_weight = weight[question_of]
    for _ in range(_STEPS):
        gradient = penalty * (weights - pulled) + (row_weight * (likely - wanted)) @ design
        mean = np.add.reduceat(likely[:, None] * design, starts)
        curvature = np.diag(penalty) + (design.T * (row_weight * likely)) @ design - (mean.T * weight) @ mean
        step = np.linalg.solve(curvature, gradient)
        length = 1.0
        for _ in range(_HALVINGS):
            likely, wanted, after = shares(weights - length * step)
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
