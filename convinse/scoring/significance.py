"""Fisher's paired randomisation test: whether two runs over the same questions differ by more than chance.

If both systems were equally good, the two values of a question could be swapped. The two-sided p-value is the share of
random swaps with a difference of the means at least as large as the observed difference. Smucker, Allan and Carterette
recommend this test (A comparison of statistical significance tests for information retrieval evaluation, CIKM 2007);
`scipy.stats.permutation_test` computes it.

The questions of a conversation share its history, and some benchmarks have many wordings of a conversation: a test that
swaps single questions takes them for independent and finds differences too easily. The second p-value swaps whole groups.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from ..support.errors import missing_extra
from .convqa import MEASURES
from .pipeline_runs import check_same_questions, gold_ids, measured_conversations

RESAMPLES = 99_999  # random swaps; if there are fewer ways to swap (2^n), all are tried, and the value is exact
_SEED = 0  # the same runs give the same value
_CELLS = 1_000_000  # of the largest array: about 100 MB with scipy's copies


class Difference(NamedTuple):
    """A measure of a run less that of another, the numbers of better and worse questions, and the p-value of groups."""

    mean: float
    better: int
    worse: int
    p_value: float


def compare(first: Path, second: Path) -> dict[str, Any]:
    """Return the means of two runs, their difference and its significance, by measure.

    Raises `DataError` or `ScoringError`.

    Args:
        first, second: the `turns.jsonl` of two runs; questions are paired by their ids.

    Returns:
        `{"num_questions", "num_groups", MEASURE: {"first", "second", "difference", "better", "worse", "p_value",
        "p_value_groups"}}` for each of `convqa.MEASURES`: the means, that of the second less that of the first, the
        number of questions for which the second is better and worse, and the p-values of swapping questions and groups
        (see `measured_conversations`).
    """
    first_run, second_run = _read(first), _read(second)
    check_same_questions(
        {question_id: gold for question_id, (_, gold, _) in first_run.items()}, first,
        {question_id: gold for question_id, (_, gold, _) in second_run.items()}, second,
    )  # fmt: skip
    groups = [group for group, _, _ in first_run.values()]
    result: dict[str, Any] = {"num_questions": len(groups), "num_groups": len(set(groups))}
    for place, measure in enumerate(MEASURES):
        before = [values[place] for _, _, values in first_run.values()]
        after = [second_run[question_id][2][place] for question_id in first_run]
        differences = [b - a for a, b in zip(before, after, strict=True)]
        mean, better, worse, p_value_groups = difference(differences, groups)
        result[measure] = {
            "first": round(fmean(before), 4),
            "second": round(fmean(after), 4),
            "difference": round(mean, 4),
            "better": better,
            "worse": worse,
            "p_value": p_value(differences),
            "p_value_groups": p_value_groups,
        }
    return result


def difference(values: Sequence[float], groups: Sequence[str]) -> Difference:
    """Return the difference of two runs from the differences of their questions, and the groups of these."""
    by_group: dict[str, float] = defaultdict(float)
    for group, value in zip(groups, values, strict=True):
        by_group[group] += value
    better, worse = sum(value > 0 for value in values), sum(value < 0 for value in values)
    return Difference(fmean(values), better, worse, p_value(by_group.values()))


def p_value(differences: Iterable[float]) -> float:
    """Return the probability of a sum at least as far from 0 if the signs of the differences are drawn at random.

    Exact with up to 16 differences that are not 0; with more, 99,999 draws, which give at least 0.00002.
    """
    try:
        from scipy.stats import permutation_test
    except ModuleNotFoundError as error:
        raise missing_extra(f"evaluate compare needs scipy ({error.name} is missing)", "ir") from error
    import numpy as np

    # the sign of a 0 changes nothing; sums of floats are 0 only after rounding
    values = [value for difference in differences if (value := round(difference, 9))]
    if len(values) < 2:  # scipy asks for two; both signs of one difference are equally far from 0
        return 1.0
    test = permutation_test(
        (np.array(values),),
        np.sum,
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=max(1, _CELLS // len(values)),
        rng=np.random.default_rng(_SEED),
    )
    return round(float(test.pvalue), 6)


def _read(path: Path) -> dict[str, tuple[str, frozenset[str], tuple[float, ...]]]:
    # group, gold answers and measures of each question, without its evidences, which would fill the memory
    run = {}
    for _, group, turns in measured_conversations(path):
        for question_id, turn in turns.items():
            run[question_id] = group, gold_ids(turn), tuple(float(turn[measure]) for measure in MEASURES)
    return run
