"""The fit of logits: which of several candidates is chosen, or none, or which class, from features.

If several candidates are right, the probability of any of them counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import numpy as np
from scipy.optimize import minimize

from ..support.logit import NONE, Logit

_TOLERANCE = 1e-9  # of the penalised loss, relative
_DIGITS = 6  # of weights as written
Counts = Mapping[str, dict[str, int | float]]


class Choice(NamedTuple):
    """A question with candidates; "none" is right if no candidate is."""

    candidates: np.ndarray  # [n, f] features
    question: np.ndarray  # [c] features
    right: np.ndarray  # [n] bool
    weight: float
    group: str  # choices of the same group are in the same part of a cross-validation


def fit(
    choices: Sequence[Choice],
    l2: float,
    names: Sequence[str],
    rising: Sequence[str] = (),
    trained_on: Counts = MappingProxyType({}),
) -> Logit:
    """Fit the weights that make the right candidates likeliest.

    Args:
        choices: to learn from.
        l2: strength of the regularisation of all weights but the last.
        names: of the f + c + 1 features (`support.logit.feature_names`).
        rising: features whose weights may not be below 0.
        trained_on: the number of choices by data set, for the file.
    """
    weights = np.array([choice.weight for choice in choices])
    counts = np.array([len(choice.candidates) for choice in choices])
    rows = np.concatenate([choice.candidates for choice in choices])
    questions = np.stack([choice.question for choice in choices])
    width = rows.shape[1]
    # the candidates of each question together count as much as the question
    scales = [*scale_of(rows, np.repeat(weights / np.maximum(1, counts), counts)), *scale_of(questions, weights)]
    mean, scale = np.array([*scales, (0.0, 1.0)]).T
    ends = np.cumsum(counts + 1)
    design = np.zeros((int(ends[-1]), len(names)))
    is_candidate = np.ones(len(design), bool)
    is_candidate[ends - 1] = False
    design[is_candidate, :width] = (rows - mean[:width]) / scale[:width]
    design[~is_candidate, width:-1] = (questions - mean[width:-1]) / scale[width:-1]
    design[~is_candidate, -1] = 1.0
    right = np.zeros((len(design), 1))
    right[is_candidate, 0] = np.concatenate([choice.right for choice in choices])
    right[~is_candidate, 0] = [not choice.right.any() for choice in choices]
    lowest = [0.0 if name in rising else None for name in names]
    learned = _likeliest(design, ends - counts - 1, right, weights, l2, lowest)
    return Logit(
        features=dict(zip(names[:-1], scales, strict=True)),
        weights=dict(zip(names, learned.tolist(), strict=True)),
        trained_on=dict(trained_on),
    )


def fit_classes(rows: Any, right: np.ndarray, l2: float, names: Sequence[str], trained_on: Counts) -> Logit:
    """Fit the weights that make the right class of each row likeliest.

    Args:
        rows: [n, f + 1] features as they count, sparse or not; the last is 1 everywhere.
        right: [n] places of the right classes in `trained_on`.
        l2: strength of the regularisation of all weights but the last.
        names: of the f + 1 features.
        trained_on: the number of rows by class.
    """
    is_right = np.eye(len(trained_on))[right]
    count = len(right)
    learned = _likeliest(rows, np.arange(count), is_right, np.ones(count), l2, [None] * len(names))
    return Logit(features={}, weights=dict(zip(names, learned.tolist(), strict=True)), trained_on=dict(trained_on))


def scale_of(rows: np.ndarray, weights: np.ndarray) -> list[tuple[float, float]]:
    """Return mean and standard deviation of each column of [n, f] rows with [n] weights, rounded as they are written.

    >>> scale_of(np.array([[0.0, 5.0], [2.0, 5.0]]), np.ones(2))  # a constant feature is not scaled
    [(1.0, 1.0), (5.0, 1.0)]
    """
    shares = weights / weights.sum()
    mean = shares @ rows
    scale = np.sqrt(shares @ (rows - mean) ** 2)
    written = np.where(scale > 1e-6, scale, 1.0).round(_DIGITS)
    return list(zip(mean.round(_DIGITS).tolist(), written.tolist(), strict=True))


def _likeliest(
    design: Any, starts: np.ndarray, right: np.ndarray, weights: np.ndarray, l2: float, lowest: Sequence[float | None]
) -> np.ndarray:
    # [f, k] weights of [rows, f] features, by L-BFGS; a choice is the k alternatives of its rows, which begin at `starts`
    shape = design.shape[1], right.shape[1]
    row_weights = np.repeat(weights, np.diff(starts, append=len(right)))[:, None]
    choice_of = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(right)))
    penalty = np.full(shape, l2)
    penalty[-1] = 0.0

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        learned = flat.reshape(shape)
        odds = design @ learned
        exponential = np.exp(odds - np.maximum.reduceat(odds.max(axis=1), starts)[choice_of, None])
        total = np.add.reduceat(exponential.sum(axis=1), starts)
        of_right = np.maximum(np.add.reduceat((exponential * right).sum(axis=1), starts), 1e-300)
        slopes = exponential / total[choice_of, None] - exponential * right / of_right[choice_of, None]
        value = float((penalty * learned**2).sum()) / 2 + float(weights @ (np.log(total) - np.log(of_right)))
        return value, (penalty * learned + design.T @ (row_weights * slopes)).ravel()

    bounds = [(low, None) for low in lowest for _ in range(shape[1])]
    options = {"ftol": _TOLERANCE}
    found = minimize(loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    rounded: np.ndarray = found.reshape(shape).round(_DIGITS)
    return rounded


def with_none(logit: Logit, choices: Sequence[Choice], l2: float, relearned: Sequence[str]) -> Logit:
    """Return a logit whose weight of "none", and of some of its features, are learned anew; candidates keep theirs.

    The order of candidates stays, and how sure they are changes: for questions of data with fewer answers than `logit` has seen.

    Args:
        logit: the weights to begin from; the penalty is on the distance from them.
        choices: to learn from.
        l2: strength of the regularisation of all but the weight of "none".
        relearned: names of features of "none".
    """
    weights = np.array([choice.weight for choice in choices])
    odds = [logit.log_odds(choice.candidates, choice.question) for choice in choices]
    # of the candidates beside "none"
    totals = np.array([np.logaddexp.reduce(row[:-1] - row[-1]) if len(row) > 1 else -np.inf for row in odds])
    is_answered = np.array([choice.right.any() for choice in choices])
    places = [list(logit.weights).index(name) - len(logit.weights) for name in relearned]
    questions = np.array([[choice.question[place + 1] for place in places] for choice in choices])
    mean, scale = np.array([logit.features[name] for name in relearned]).T
    design = np.hstack([(questions - mean) / scale, np.ones((len(choices), 1))])
    penalty = np.append(np.full(len(relearned), l2), 0.0)

    def loss(change: np.ndarray) -> tuple[float, np.ndarray]:
        none = design @ change
        total = np.logaddexp(totals, none)
        # of answered questions the probability of the right candidates among all candidates does not change
        likelihood = np.where(is_answered, totals, none) - total
        slopes = np.exp(none - total) - ~is_answered
        value = float(penalty @ change**2) / 2 - float(weights @ likelihood)
        return value, penalty * change + (weights * slopes) @ design

    change = minimize(loss, np.zeros(len(penalty)), jac=True, method="L-BFGS-B", options={"ftol": _TOLERANCE}).x
    changed = {
        name: [round(logit.weights[name][0] + float(more), _DIGITS)]
        for name, more in zip([*relearned, NONE], change, strict=True)
    }
    return msgspec.structs.replace(logit, weights={**logit.weights, **changed})
