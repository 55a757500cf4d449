"""How far probabilities are from how often answers are right."""

import random

import pytest

from convinse.scoring.convqa import calibration_error, calibration_error_by_chance


def test_the_calibration_error_is_of_bins():
    probabilities = [0.75, 0.72, 0.25, 0.21, 1.0]
    right = [True, False, False, True, False]
    assert calibration_error(probabilities, right) == pytest.approx((abs(1.47 - 1) + abs(0.46 - 1) + 1.0) / 5)
    assert calibration_error(probabilities, right, bins=1) == pytest.approx(abs(2.93 - 2) / 5)
    assert calibration_error([], []) == 0.0


def test_calibration_error_is_the_gap_of_each_bin_weighted_by_its_answers():
    # bin 0.9: mean 0.95, all right; bin 0.2: mean 0.25, one of two right
    error = calibration_error([0.95, 0.95, 0.2, 0.3 - 1e-9], [True, True, True, False])
    assert error == pytest.approx(0.5 * 0.05 + 0.5 * 0.25)
    assert calibration_error([1.0, 0.0], [True, False]) == 0 == calibration_error([], [])


def test_the_calibration_error_by_chance_is_what_true_probabilities_have_on_average():
    chance = random.Random(0)
    probabilities = [chance.random() for _ in range(130)]
    draws = [calibration_error(probabilities, [chance.random() < own for own in probabilities]) for _ in range(400)]
    assert calibration_error_by_chance(probabilities) == pytest.approx(sum(draws) / len(draws), rel=0.05)
    assert calibration_error_by_chance([]) == 0 == calibration_error_by_chance([1.0, 0.0, 1.0])
