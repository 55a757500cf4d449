"""The fit of logits: no other weights explain the choices better."""

import msgspec
import numpy as np
import pytest

from convinse.support.logit import BIAS, feature_names
from convinse.training.logit import Choice, fit, fit_classes, scale_of

CANDIDATES, QUESTION, NONE_BIAS = np.array([1.5, -1.0, 0.0]), np.array([0.8]), 0.4
NAMES = feature_names(["a", "b", "c"], ["d"])


def choice(candidates, right, question=(0.0,), weight=1.0):
    return Choice(np.array(candidates, float), np.array(question, float), np.array(right, bool), weight, "group")


def drawn(number, most_right=1):
    """Choices as the weights above make them: of at most five candidates, or none, some are right."""
    chance = np.random.default_rng(5)
    made = []
    for _ in range(number):
        rows, question = chance.normal(2.0, 3.0, (chance.integers(1, 6), 3)), chance.normal(size=1)
        odds = np.exp([*(rows - 2.0) / 3.0 @ CANDIDATES, question @ QUESTION + NONE_BIAS])
        places = chance.choice(len(odds), chance.integers(1, most_right + 1), p=odds / odds.sum())
        made.append(choice(rows, np.isin(np.arange(len(rows)), places), question))
    return made


def moved(logit, step, name, place=0):
    row = list(logit.weights[name])
    row[place] += step
    return msgspec.structs.replace(logit, weights={**logit.weights, name: row})


def surprise(logit, choices, l2):
    """The penalised surprise about the right ones, choice by choice; any of several right candidates will do."""
    *weights, _ = (weight for (weight,) in logit.weights.values())
    total = l2 / 2 * float(np.square(weights).sum())
    for one in choices:
        shares = logit.probabilities(one.candidates, one.question)
        total -= one.weight * np.log(shares[:-1][one.right].sum() if one.right.any() else shares[-1])
    return total


@pytest.mark.parametrize("l2", [0.1, 3.0, 1e6])
@pytest.mark.parametrize("rising", [(), ("a", "b")])
def test_no_other_weights_explain_the_choices_better(l2, rising):
    choices = [one._replace(weight=1.0 + number % 3) for number, one in enumerate(drawn(120, most_right=3))]
    choices += [choice(np.empty((0, 3)), [], [0.5])] * 2
    logit = fit(choices, l2, NAMES, rising)
    assert logit == fit(choices, l2, NAMES, rising) and list(logit.weights) == NAMES
    assert all(logit.weights[name][0] >= 0 for name in rising) and (rising or logit.weights["b"][0] < 0)
    least = surprise(logit, choices, l2)
    for step in (-0.03, 0.03):
        for name in NAMES:
            if name not in rising or logit.weights[name][0] + step >= 0:
                assert surprise(moved(logit, step, name), choices, l2) > least


def test_no_other_weights_explain_the_classes_better():
    chance = np.random.default_rng(5)
    rows = chance.random((200, 2)) < 0.5
    right = (rows @ [2, 1] + (chance.random(200) < 0.2)) % 3
    names, counts = ["w hi", "w who", BIAS], {name: {"examples": 1} for name in ("greeting", "thanks", "question")}
    logit = fit_classes(np.column_stack([rows, np.ones(200)]), right, 0.5, names, counts)

    def loss(other):
        penalty = np.square([other.weights[name] for name in names[:-1]]).sum() / 4
        present = ([name for name, is_in in zip(names[:-1], row, strict=True) if is_in] for row in rows)
        chances = (other.class_probabilities(row)[place] for row, place in zip(present, right, strict=True))
        return penalty - sum(map(np.log, chances))

    assert logit.trained_on == counts and logit.features == {}
    for step in (-0.03, 0.03):
        assert min(loss(moved(logit, step, name, place)) for name in names for place in range(3)) > loss(logit)


def test_a_scale_is_of_weighted_rows_and_rounded_as_it_is_written():
    scale = scale_of(np.array([[0.0, 5.0], [2.0, 5.0]]), np.array([2.0, 1.0]))
    assert scale == [(0.666667, 0.942809), (5.0, 1.0)]  # a constant feature is not scaled
