"""The conditional logit: learning which of several candidates is chosen, or none, from their features.

The odds of a candidate are the exponential of its weighted features; "none" has features of its own. If several candidates are
right, the probability of any of them counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

_TOLERANCE = 1e-9  # of the penalised loss, relative


class Choice(NamedTuple):
    """A question with candidates; "none" is right if no candidate is."""

    candidates: np.ndarray  # [n, f] features
    question: np.ndarray  # [c] features
    right: np.ndarray  # [n] bool
    weight: float
    group: str  # choices of the same group are in the same part of a cross-validation


class Scale(NamedTuple):
    """Means and standard deviations, by which features are standardised: [f] each."""

    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, weights: np.ndarray) -> Scale:
        """Return the scale of [n, f] rows with [n] weights, rounded as it is written."""
        shares = weights / weights.sum()
        mean = shares @ rows
        scale = np.sqrt(shares @ (rows - mean) ** 2)
        return cls(mean.round(6), np.where(scale > 1e-6, scale, 1.0).round(6))

    def standardised(self, rows: np.ndarray) -> np.ndarray:
        """Return standardised rows."""
        standard: np.ndarray = (rows - self.mean) / self.scale
        return standard


class Fitted(NamedTuple):
    """Learned weights: [f] of candidates, [c] of questions, the bias of "none", the scales of both."""

    candidates: np.ndarray
    question: np.ndarray
    bias: float
    scale: Scale
    question_scale: Scale

    def probabilities(self, choice: Choice) -> np.ndarray:
        """Return the [n + 1] probabilities of the candidates, and of "none"."""
        odds = np.append(
            self.scale.standardised(choice.candidates) @ self.candidates,
            self.question_scale.standardised(choice.question) @ self.question + self.bias,
        )
        exponential = np.exp(odds - odds.max())
        shares: np.ndarray = exponential / exponential.sum()
        return shares


def fit(choices: Sequence[Choice], l2: float, rising: Sequence[int] = ()) -> Fitted:
    """Fit the weights that make the right candidates likeliest, by L-BFGS.

    Args:
        choices: to learn from.
        l2: strength of the regularisation of all weights but the bias.
        rising: features of candidates whose weights may not be below 0.
    """
    weights = np.array([choice.weight for choice in choices])
    counts = np.array([len(choice.candidates) for choice in choices])
    rows = np.concatenate([choice.candidates for choice in choices])
    questions = np.stack([choice.question for choice in choices])
    # the candidates of each question together count as much as the question
    scale = Scale.of(rows, np.repeat(weights / np.maximum(1, counts), counts))
    question_scale = Scale.of(questions, weights)
    width, more = len(scale.mean), len(question_scale.mean)
    ends = np.cumsum(counts + 1)
    starts, nones, question_of = ends - counts - 1, ends - 1, np.repeat(np.arange(len(choices)), counts + 1)
    design = np.zeros((int(ends[-1]), width + more + 1))
    is_candidate = np.ones(len(design), bool)
    is_candidate[nones] = False
    design[is_candidate, :width] = scale.standardised(rows)
    design[nones, width:-1] = question_scale.standardised(questions)
    design[nones, -1] = 1.0
    right = np.zeros(len(design))
    right[is_candidate] = np.concatenate([choice.right for choice in choices])
    right[nones] = [not choice.right.any() for choice in choices]
    penalty = np.full(width + more + 1, l2)
    penalty[-1] = 0.0

    def loss(learnt: np.ndarray) -> tuple[float, np.ndarray]:
        odds = design @ learnt
        exponential = np.exp(odds - np.maximum.reduceat(odds, starts)[question_of])
        total = np.add.reduceat(exponential, starts)
        of_right = np.maximum(np.add.reduceat(exponential * right, starts), 1e-300)
        slopes = exponential / total[question_of] - exponential * right / of_right[question_of]
        value = float(penalty @ learnt**2) / 2 + float(weights @ (np.log(total) - np.log(of_right)))
        return value, penalty * learnt + (weights[question_of] * slopes) @ design

    bounds = [(0.0 if place in rising else None, None) for place in range(width + more + 1)]
    learnt = minimize(
        loss, np.zeros(width + more + 1), jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": _TOLERANCE}
    ).x
    return Fitted(learnt[:width], learnt[width:-1], float(learnt[-1]), scale, question_scale)


def with_none(fitted: Fitted, choices: Sequence[Choice], l2: float, places: Sequence[int]) -> Fitted:
    """Return weights whose bias of "none", and some weights of its question features, are learned anew; candidates keep theirs.

    The order of candidates stays, and how sure they are changes: for questions of data with fewer answers than `fitted` has seen.

    Args:
        fitted: the weights to begin from; the penalty is on the distance from them.
        choices: to learn from.
        l2: strength of the regularisation of all but the bias.
        places: of the question features.
    """
    weights = np.array([choice.weight for choice in choices])
    questions = fitted.question_scale.standardised(np.stack([choice.question for choice in choices]))
    odds = [fitted.scale.standardised(choice.candidates) @ fitted.candidates for choice in choices]
    totals = np.array([np.logaddexp.reduce(row) if len(row) else -np.inf for row in odds])
    is_answered = np.array([choice.right.any() for choice in choices])
    before = questions @ fitted.question + fitted.bias
    design = np.hstack([questions[:, list(places)], np.ones((len(choices), 1))])
    penalty = np.append(np.full(len(places), l2), 0.0)

    def loss(change: np.ndarray) -> tuple[float, np.ndarray]:
        none = before + design @ change
        total = np.logaddexp(totals, none)
        # of answered questions the probability of the right candidates among all candidates does not change
        likelihood = np.where(is_answered, totals, none) - total
        slopes = np.exp(none - total) - ~is_answered
        value = float(penalty @ change**2) / 2 - float(weights @ likelihood)
        return value, penalty * change + (weights * slopes) @ design

    change = minimize(loss, np.zeros(len(penalty)), jac=True, method="L-BFGS-B", options={"ftol": _TOLERANCE}).x
    question = fitted.question.copy()
    question[list(places)] += change[:-1]
    return fitted._replace(question=question, bias=fitted.bias + float(change[-1]))
