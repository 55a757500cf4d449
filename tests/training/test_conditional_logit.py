"""The conditional logit: no other weights explain the choices better; probabilities and scales."""

import numpy as np
import pytest

from convinse.training.conditional_logit import Choice, Fitted, Scale, fit

CANDIDATES, QUESTION, BIAS = np.array([1.5, -1.0, 0.0]), np.array([0.8]), 0.4


def choice(candidates, right, question=(0.0,), weight=1.0):
    return Choice(np.array(candidates, float), np.array(question, float), np.array(right, bool), weight, "group")


def drawn(number, most_right=1):
    """Choices as the weights above make them: of at most five candidates, or none, some are right."""
    chance = np.random.default_rng(5)
    made = []
    for _ in range(number):
        rows, question = chance.normal(2.0, 3.0, (chance.integers(1, 6), 3)), chance.normal(size=1)
        odds = np.exp([*(rows - 2.0) / 3.0 @ CANDIDATES, question @ QUESTION + BIAS])
        places = chance.choice(len(odds), chance.integers(1, most_right + 1), p=odds / odds.sum())
        made.append(choice(rows, np.isin(np.arange(len(rows)), places), question))
    return made


def surprise(fitted, choices, l2):
    """The penalised surprise about the right ones, choice by choice; any of several right candidates will do."""
    total = l2 / 2 * float(fitted.candidates @ fitted.candidates + fitted.question @ fitted.question)
    for one in choices:
        shares = fitted.probabilities(one)
        total -= one.weight * np.log(shares[:-1][one.right].sum() if one.right.any() else shares[-1])
    return total


@pytest.mark.parametrize("l2", [0.1, 3.0, 1e6])
@pytest.mark.parametrize("rising", [(), (0, 1)])
def test_no_other_weights_explain_the_choices_better(l2, rising):
    choices = [one._replace(weight=1.0 + number % 3) for number, one in enumerate(drawn(120, most_right=3))]
    choices += [choice(np.empty((0, 3)), [], [0.5])] * 2
    fitted = fit(choices, l2, rising)
    assert fitted.candidates.tobytes() == fit(choices, l2, rising).candidates.tobytes()
    assert (fitted.candidates[list(rising)] >= 0).all() and (rising or fitted.candidates[1] < 0)
    least = surprise(fitted, choices, l2)
    for step in (-0.03, 0.03):
        moved = [fitted._replace(bias=fitted.bias + step), fitted._replace(question=fitted.question + step)]
        for place in range(3):
            if place not in rising or fitted.candidates[place] + step >= 0:
                moved.append(fitted._replace(candidates=fitted.candidates + step * np.eye(3)[place]))
        assert min(surprise(other, choices, l2) for other in moved) > least


def test_probabilities_are_of_the_candidates_and_of_no_candidate():
    choices = drawn(300)
    fitted = fit(choices, 1.0)
    for one in choices[:20]:
        shares = fitted.probabilities(one)
        assert shares.shape == (len(one.candidates) + 1,) and shares.sum() == pytest.approx(1) and (shares > 0).all()
    above, below = (fitted.probabilities(choice([[first, 0.0, 0.0]], [False]))[0] for first in (9.0, 0.0))
    assert above > below
    assert fitted.probabilities(choice(np.empty((0, 3)), [])).tolist() == [1.0]
    large = Fitted(np.array([1.0]), np.array([0.0]), 900.0, *[Scale(np.zeros(1), np.ones(1))] * 2)
    assert large.probabilities(choice([[1000.0], [10.0]], [True, False])).tolist() == pytest.approx([1.0, 0.0, 0.0])


def test_a_scale_is_of_weighted_rows_and_rounded_as_it_is_written():
    scale = Scale.of(np.array([[0.0, 5.0], [2.0, 5.0]]), np.array([2.0, 1.0]))
    assert scale.mean.tolist() == [0.666667, 5.0]
    assert scale.scale.tolist() == [0.942809, 1.0]  # a constant feature is not scaled
    standardised = scale.standardised(np.array([[0.666667, 5.0], [3.0, 7.0]]))
    assert standardised.tolist() == [[0.0, 0.0], [2.333333 / 0.942809, 2.0]]
