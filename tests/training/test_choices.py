"""The conditional logit: weights that are known are found again."""

import numpy as np
import pytest

from convinse.training.choices import Choice, Fitted, Scale, fit

CANDIDATES, QUESTION, BIAS = np.array([1.5, -1.0, 0.0]), np.array([0.8]), 0.4


def choice(candidates, right, question=(0.0,), weight=1.0):
    return Choice(np.array(candidates, float), np.array(question, float), np.array(right, bool), weight, "group")


def features(choices, columns):
    """The choices with some of their features only."""
    return [one._replace(candidates=one.candidates[:, columns]) for one in choices]


@pytest.fixture(scope="module")
def choices():
    """Choices as the weights above make them: of at most five candidates one, or none."""
    chance = np.random.default_rng(5)
    made = []
    for _ in range(2500):
        rows, question = chance.normal(2.0, 3.0, (chance.integers(1, 6), 3)), chance.normal(size=1)
        odds = np.exp([*(rows - 2.0) / 3.0 @ CANDIDATES, question @ QUESTION + BIAS])
        place = chance.choice(len(odds), p=odds / odds.sum())
        made.append(choice(rows, np.arange(len(rows)) == place, question))
    return made


def raw(fitted):
    """The weights of features that are not standardised."""
    return fitted.candidates / fitted.scale.scale, fitted.question / fitted.question_scale.scale


def test_the_weights_that_choices_follow_are_found_again(choices):
    fitted = fit(choices, 0.01)
    candidates, question = raw(fitted)
    assert candidates * 3.0 == pytest.approx(CANDIDATES, abs=0.12)
    assert question == pytest.approx(QUESTION, abs=0.12)
    # the bias is that of a mean question beside mean candidates
    bias = fitted.bias - question @ fitted.question_scale.mean + candidates @ (fitted.scale.mean - 2.0)
    assert bias == pytest.approx(BIAS, abs=0.12)
    first, second = fit(choices[:200], 1.0), fit(choices[:200], 1.0)
    assert first.candidates.tobytes() == second.candidates.tobytes() and first.bias == second.bias


def test_at_the_best_weights_the_mean_features_are_those_of_the_chosen_candidates(choices):
    fitted = fit(choices[:300], 0.0001)
    gaps, none = np.zeros(3), 0.0
    for one in choices[:300]:
        shares = fitted.probabilities(one)
        gaps += (shares[:-1] - one.right) @ fitted.scale.standardised(one.candidates)
        none += shares[-1] - (not one.right.any())
    assert np.abs(gaps).max() < 0.05 and abs(none) < 0.05


def test_probabilities_are_of_the_candidates_and_of_none(choices):
    fitted = fit(choices[:300], 1.0)
    for one in choices[:20]:
        shares = fitted.probabilities(one)
        assert shares.shape == (len(one.candidates) + 1,) and shares.sum() == pytest.approx(1) and (shares > 0).all()
    above = fitted.probabilities(choice([[9.0, 0.0, 0.0]], [False]))[0]
    assert above > fitted.probabilities(choice([[0.0, 0.0, 0.0]], [False]))[0]
    assert fitted.probabilities(choice(np.empty((0, 3)), [])).tolist() == [1.0]
    large = Fitted(np.array([1.0]), np.array([0.0]), 900.0, *[Scale(np.zeros(1), np.ones(1))] * 2)
    assert large.probabilities(choice([[1000.0], [10.0]], [True, False])).tolist() == pytest.approx([1.0, 0.0, 0.0])


def test_regularisation_makes_weights_smaller_but_not_the_bias(choices):
    weak, strong = fit(choices[:300], 0.1), fit(choices[:300], 1e6)
    assert np.abs(strong.candidates).max() < 1e-2 < np.abs(weak.candidates).max()
    # of features that count for nothing only the bias is left, which gives "none" as often as it is right
    shares = [strong.probabilities(one)[-1] for one in choices[:300]]
    assert np.mean(shares) == pytest.approx(np.mean([not one.right.any() for one in choices[:300]]), abs=0.01)


def test_a_choice_counts_by_its_weight_and_one_without_candidates_teaches_nothing_of_them(choices):
    twice, weighted = [*choices[:100], *choices[:40]], [one._replace(weight=2.0) for one in choices[:40]]
    doubled, again, without = (fit(given, 1.0) for given in (twice, [*weighted, *choices[40:100]], choices[:100]))
    assert again.candidates == pytest.approx(doubled.candidates, abs=1e-3)
    assert again.scale.mean == pytest.approx(doubled.scale.mean, abs=1e-5)
    assert without.candidates != pytest.approx(doubled.candidates, abs=1e-3)
    nothing = choice(np.empty((0, 3)), [])
    fitted = fit([*choices[:100], nothing, nothing], 1.0)
    assert raw(fitted)[0] == pytest.approx(raw(without)[0], abs=1e-3)
    assert np.isfinite([*fitted.candidates, *fitted.question, fitted.bias]).all()


def test_any_of_several_right_candidates_counts():
    """Half of the right ones have feature 0, half feature 1, wrong ones neither: both speak for a candidate."""
    several = [choice([[1, 0], [0, 1], [0, 0]], [True, True, False]) for _ in range(20)]
    first, second, wrong, none = fit(several, 0.1).probabilities(several[0])
    assert first + second > 0.9 and wrong < 0.05 and none < 0.05
    # if only the first is right, the second speaks against it
    assert fit([one._replace(right=np.array([True, False, False])) for one in several], 0.1).candidates[1] < 0


def test_none_is_right_if_no_candidate_is():
    fitted = fit([choice([[1.0], [2.0]], [False, False])] * 5 + [choice([[3.0], [0.0]], [True, False])] * 5, 0.1)
    assert fitted.probabilities(choice([[1.0], [2.0]], [False, False]))[-1] > 0.5
    assert fitted.probabilities(choice([[3.0], [0.0]], [False, False]))[0] > 0.5


def test_features_that_can_only_speak_for_a_candidate_have_no_weight_below_0(choices):
    free, held = fit(choices[:300], 1.0), fit(choices[:300], 1.0, rising=[0, 1])
    assert free.candidates[1] < -0.5 and held.candidates[1] == 0.0 and held.candidates[0] > 0.5
    third = features(choices[:300], [2])  # has hardly any weight
    assert -0.3 < fit(third, 1.0).candidates[0] < 0 == fit(third, 1.0, rising=[0]).candidates[0]
    # the others are fitted as if the feature were not there
    without = fit(features(choices[:300], [0, 2]), 1.0)
    assert held.candidates[[0, 2]] == pytest.approx(without.candidates, abs=1e-3)
    assert fit(choices[:300], 1.0, rising=[0]).candidates == pytest.approx(free.candidates, abs=1e-3)


def test_a_scale_is_of_weighted_rows_and_rounded_as_it_is_written():
    scale = Scale.of(np.array([[0.0, 5.0], [2.0, 5.0]]), np.array([2.0, 1.0]))
    assert scale.mean.tolist() == [0.666667, 5.0]
    assert scale.scale.tolist() == [0.942809, 1.0]  # a constant feature is not scaled
    standardised = scale.standardised(np.array([[0.666667, 5.0], [3.0, 7.0]]))
    assert standardised.tolist() == [[0.0, 0.0], [2.333333 / 0.942809, 2.0]]


def test_the_candidates_of_a_question_together_count_as_much_as_those_of_another():
    many, few = choice([[0.0]] * 9, [True] + [False] * 8), choice([[4.0]], [True], weight=3.0)
    assert fit([many, few], 1.0).scale.mean.tolist() == [3.0]
    questions = [choice([[0.0]], [True], question=[8.0]), choice([[0.0]], [True], question=[0.0], weight=3.0)]
    assert fit(questions, 1.0).question_scale.mean.tolist() == [2.0]
