"""The measures of SQuAD 2.0 (Rajpurkar et al., 2018): exact match and token F1 where questions may have no answer.

The rules, as the data set's own script has them:

- A question is answerable when it has a gold answer. Gold answers that normalise to nothing ("the", "?") are dropped;
  when none is left, "" is the gold answer.
- The prediction "" says "no answer". "" against "", and "the" against "the", have exact match 1 and F1 1.
- A question without a prediction is skipped with a warning: it is in no mean and in no total. (The script stops with a
  KeyError after its warning; leaving the question out is what the warning announces.)
- With no-answer probabilities, a question whose probability is above the threshold counts as predicted "", and the
  best scores over all thresholds are found (`no_answer.best_threshold`). Equal probabilities are walked in the order in
  which the probabilities are given.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..support.errors import ScoringError
from .extractive import normalize, some
from .no_answer import apply_threshold, best_scores, question_scores, rising, summary

LOGGER = logging.getLogger(__name__)


def evaluate(
    answers: Mapping[str, Sequence[str]],
    predictions: Mapping[str, str],
    na_probs: Mapping[str, float] | None = None,
    na_prob_thresh: float = 1.0,
) -> dict[str, Any]:
    """The values of SQuAD 2.0, scores in percent.

    Args:
        answers: the gold answers of each question, by its id; none for a question that cannot be answered.
        predictions: the predicted text by id, "" for no answer; what belongs to no question is not looked at.
        na_probs: by id, how sure it is that there is no answer: any finite number, a probability or a score.
        na_prob_thresh: above it a question counts as predicted "".

    Returns:
        `exact`, `f1`, `total`, the same with `HasAns_` and `NoAns_` (where there are such questions); with `na_probs`
        also `best_exact`, `best_exact_thresh`, `best_f1`, `best_f1_thresh`.

    Raises:
        ScoringError: no question has a prediction, a predicted one has no probability, or a probability is not finite.
    """
    ids = [qid for qid in answers if qid in predictions]
    _warn(answers, predictions, len(ids))
    pairs = [question_scores(answers[qid], predictions[qid], normalize) for qid in ids]
    scores = np.array(pairs, dtype=np.float64).T  # [2, questions]
    exact, f1 = scores
    answerable = np.array([bool(answers[qid]) for qid in ids])
    probabilities = np.array([_probability(qid, na_probs) for qid in ids])
    exact_at, f1_at = apply_threshold(scores, answerable, probabilities, na_prob_thresh)
    result = summary({"exact": exact_at, "f1": f1_at}, answerable)
    if na_probs is None:
        return result
    answered = np.array([bool(predictions[qid]) for qid in ids])
    order = rising(probabilities, ids, na_probs)
    return result | best_scores(exact, f1, answerable, answered, probabilities, order)


def _warn(answers: Mapping[str, Sequence[str]], predictions: Mapping[str, str], predicted: int) -> None:
    if not answers:
        raise ScoringError("there is no question to score")
    missing = [qid for qid in answers if qid not in predictions]
    if not predicted:
        raise ScoringError(f"none of the {len(answers)} questions has a prediction, such as '{missing[0]}'")
    if missing:
        LOGGER.warning(
            "%d of %d questions have no prediction and are skipped: %s", len(missing), len(answers), some(missing)
        )


def _probability(qid: str, na_probs: Mapping[str, float] | None) -> float:
    if na_probs is None:
        return 0.0
    if qid not in na_probs:
        raise ScoringError(f"question '{qid}' has a prediction but no no-answer probability")
    if not math.isfinite(na_probs[qid]):
        raise ScoringError(f"the no-answer probability of question '{qid}' is {na_probs[qid]}, not a finite number")
    return na_probs[qid]
