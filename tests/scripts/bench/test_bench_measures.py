"""The measures that benches share, on hand-made cases."""

import numpy as np
import pytest

from bench import measures
from bench.rerank.systems import flops


def test_answers_count_after_normalisation_and_by_the_best_reference():
    scores = measures.answer_scores(
        ["The Hobbit!", "peter jackson", "", "in 1937"],
        [["hobbit"], ["jackson", "peter robert jackson"], ["one"], ["1937"]],
    )
    assert scores["exact"] == 25
    assert scores["f1"] == pytest.approx(100 * (1 + 0.8 + 0 + 2 / 3) / 4)


def test_ranks():
    assert measures.first_right([4, 2, 0], {0, 2}) == 2
    assert measures.first_right([4, 2], {1}) is None
    assert measures.mean_reciprocal_rank([1, 2, None, 4]) == pytest.approx((1 + 0.5 + 0.25) / 4)
    assert measures.share_within([1, 5, 6, None], 5) == 0.5
    assert measures.kept([1, 9, None, 2, 3], [3, 5, 4, None, 6], 5) == pytest.approx(1 / 3)
    assert measures.kept([1], [None], 5) is None
    rows = measures.presence({"ours": [1, 9, None], "all": [2, 1, 4]}, (3, 5), "all")
    assert rows == {
        "ours": {"e=3": 1 / 3, "e=5": 1 / 3, "kept 3": 0.5, "kept 5": 1 / 3},
        "all": {"e=3": 2 / 3, "e=5": 1},
    }
    assert measures.same_share(["a", "b", ""], ["a", "c", ""]) == pytest.approx(2 / 3)


def test_a_weight_is_measured_on_the_questions_that_it_was_not_chosen_on():
    # the even questions (0, 2) like weight 1, the odd ones (1, 3) weight 2
    ranks, weights = measures.cross_fitted({1.0: [1, 9, 1, 9], 2.0: [7, 1, 7, 1]})
    assert weights == (2.0, 1.0)
    assert ranks == [7, 9, 7, 9]


def test_scorings_are_compared():
    assert measures.spearman([1, 2, 3, 4], [10, 20, 30, 99]) == pytest.approx(1)
    assert measures.spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    assert measures.spearman([1, 2, 2, 4], [1, 3, 2, 4]) == pytest.approx(4.5 / np.sqrt(4.5 * 5))  # ties share a rank
    assert measures.top_overlap([5, 4, 3, 2, 1], [1, 4, 5, 3, 2], top=2) == 0.5
    assert measures.top_overlap([5, 4], [4, 5], top=20) == 1
    assert measures.best_first([1.0, 2.0, 1.0 + 1e-9], ["b", "c", "a"]) == [1, 2, 0]  # equal ones by text


def test_operations_of_a_bert():
    # one layer, one sequence of 2 tokens, hidden 1, intermediate 1: 6 products a token, 2 of 2x2 for the attention
    assert flops([2], 1, 1, 1) == 2 * 2 * 6 + 2 * 2 * 2 * 2
    assert flops([2, 2], 1, 1, 3) == 6 * flops([2], 1, 1, 1)
