"""Confidence intervals of the figures of runs, by bootstrap over conversations, and differences from the first run.

The questions of a conversation are not independent, so groups (see `measured_conversations`) are drawn: the percentile interval of a
cluster bootstrap (Field and Welsh, Bootstrapping clustered data, JRSS B 2007), computed by `scipy.stats.bootstrap`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean

import numpy as np

from ..scoring.convqa import MEASURES
from ..scoring.significance import Difference, difference
from ..support.errors import missing_extra
from .reported_run import ReportedRun, ReportedTurn

RESAMPLES = 9_999  # draws of an interval
CONFIDENCE = 0.95  # the usual one: of a hundred intervals, five miss the value
PLACES = (1, 2, 5, 10, 20, 50, 100)  # evidences among which an answer is looked for, in tables
_BINS = 10  # of probabilities, in the picture of calibration
_SEED = 0  # the same runs give the same intervals


# the mean of a measure, and the ends of its 95 % confidence interval; of a single conversation, these equal the mean
Figure = tuple[float, float, float]


def interval(values: Sequence[float], groups: Sequence[str]) -> Figure:
    """Return the mean of the values of questions, with its interval over whole groups of questions; it needs the extra `ir`."""
    try:
        from scipy.stats import bootstrap
    except ModuleNotFoundError as error:
        raise missing_extra(f"report needs scipy ({error.name} is missing)", "ir") from error
    sums: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    for value, group in zip(values, groups, strict=True):
        sums[group] += value
        counts[group] += 1
    mean = sum(values) / max(1, len(values))
    if len(sums) < 2:
        return mean, mean, mean

    def ratio(totals: np.ndarray, numbers: np.ndarray, axis: int) -> np.ndarray:
        shares: np.ndarray = totals.sum(axis=axis) / numbers.sum(axis=axis)
        return shares

    drawn = bootstrap(
        (np.array(list(sums.values())), np.array([counts[group] for group in sums], dtype=np.float64)), ratio, paired=True,
        vectorized=True, n_resamples=RESAMPLES, batch=max(1, 1_000_000 // len(sums)), confidence_level=CONFIDENCE,
        method="percentile", rng=np.random.default_rng(_SEED),
    ).confidence_interval  # fmt: skip
    return mean, float(drawn.low), float(drawn.high)


def figures(run: ReportedRun) -> list[Figure]:
    """Return the measures of a run, in the order of `MEASURES`."""
    groups = [turn.group for turn in run.turns.values()]
    return [interval([turn.measures[index] for turn in run.turns.values()], groups) for index in range(len(MEASURES))]


def differences(first: ReportedRun, run: ReportedRun) -> list[Difference]:
    """Compare the measures of a run with the first run; the p-values swap whole groups, see `scoring.significance`."""
    groups = [turn.group for turn in first.turns.values()]
    return [
        difference(
            [run.turns[name].measures[index] - turn.measures[index] for name, turn in first.turns.items()], groups
        )
        for index in range(len(MEASURES))
    ]


def presence(turns: Iterable[ReportedTurn], cutoffs: Sequence[int]) -> list[float]:
    """Return the shares of questions with a gold answer among the first e evidences, for every e of `cutoffs`."""
    ranks = [turn.first_rank for turn in turns]
    return [sum(rank is not None and rank <= cutoff for rank in ranks) / max(1, len(ranks)) for cutoff in cutoffs]


def calibration(turns: Iterable[ReportedTurn]) -> list[tuple[float, float, int]]:
    """Return the mean probability, the share of right answers and the number of the best answers in ten ranges of probability.

    The ranges are of equal width; turns without answers are left out.
    """
    bins: dict[int, list[ReportedTurn]] = defaultdict(list)
    for turn in turns:
        if turn.answers:
            bins[min(int(turn.probability * _BINS), _BINS - 1)].append(turn)
    return [
        (fmean(turn.probability for turn in turns), fmean(turn.measures[0] for turn in turns), len(turns))
        for _, turns in sorted(bins.items())
    ]


def differing(first: ReportedRun, run: ReportedRun) -> tuple[list[str], list[str]]:
    """Return the ids of the questions that only the run answers right, and of those that only the first run does."""
    changed = {name: run.turns[name].measures[0] - turn.measures[0] for name, turn in first.turns.items()}
    return [name for name in changed if changed[name] > 0], [name for name in changed if changed[name] < 0]
