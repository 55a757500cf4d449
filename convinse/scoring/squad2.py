"""The measures of SQuAD 2.0 (Rajpurkar et al., 2018): exact match and token F1 where questions may have no answer.

The rules, as the data set's own script has them:

- A question is answerable when it has a gold answer. Gold answers that normalise to nothing ("the", "?") are dropped;
  when none is left, "" is the gold answer.
- The prediction "" says "no answer". "" against "", and "the" against "the", have exact match 1 and F1 1.
- A question without a prediction is skipped with a warning: it is in no mean and in no total. (The script stops with a
  KeyError after its warning; leaving the question out is what the warning announces.)
- With no-answer probabilities, a question whose probability is above the threshold counts as predicted "", and the
  best scores over all thresholds are found (`_best_threshold`). Equal probabilities are walked in the order in which the
  probabilities are given.

KLUE-MRC shares the functions below `evaluate`. Their arrays have one entry a question: `exact` and `f1` in 0..1,
`answerable` and `answered` (a text was predicted) as booleans, `probabilities` that there is no answer.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support.errors import ScoringError
from .extractive import normalize, overlap_f1, some

LOGGER = logging.getLogger(__name__)

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


def evaluate(
    answers: Mapping[str, Sequence[str]],
    predictions: Mapping[str, str],
    na_probs: Mapping[str, float] | None = None,
    na_prob_thresh: float = 1.0,
) -> dict[str, Any]:
    """Return the values of SQuAD 2.0, scores in percent.

    Args:
        answers: the gold answers of each question, by its id; none for a question that cannot be answered.
        predictions: the predicted text by id, "" for no answer; what belongs to no question is not looked at.
        na_probs: by id, a probability or score that there is no answer: any finite number.
        na_prob_thresh: a question with a higher probability counts as predicted "".

    Returns:
        `exact`, `f1`, `total`, the same with `HasAns_` and `NoAns_` (where there are such questions); with `na_probs`
        also `best_exact`, `best_exact_thresh`, `best_f1`, `best_f1_thresh`.
    """
    if not answers:
        raise ScoringError("there is no question to score")
    ids = [qid for qid in answers if qid in predictions]
    missing = [qid for qid in answers if qid not in predictions]
    if not ids:
        raise ScoringError(f"none of the {len(answers)} questions has a prediction, such as '{missing[0]}'")
    if missing:
        LOGGER.warning(
            "%d of %d questions have no prediction and are skipped: %s", len(missing), len(answers), some(missing)
        )
    pairs = [question_scores(answers[qid], predictions[qid]) for qid in ids]
    scores = np.array(pairs, dtype=np.float64).T  # [2, questions]
    exact, f1 = scores
    answerable = np.array([bool(answers[qid]) for qid in ids])
    probabilities = np.array([0.0 if na_probs is None else na_probs.get(qid, math.nan) for qid in ids])
    if not np.isfinite(probabilities).all():
        qid = ids[int(np.isfinite(probabilities).argmin())]
        raise ScoringError(f"question '{qid}' has a prediction but no finite no-answer probability")
    exact_at, f1_at = apply_threshold(scores, answerable, probabilities, na_prob_thresh)
    result = summary({"exact": exact_at, "f1": f1_at}, answerable)
    if na_probs is None:
        return result
    answered = np.array([bool(predictions[qid]) for qid in ids])
    order = rising(probabilities, ids, na_probs)
    return result | best_scores(exact, f1, answerable, answered, probabilities, order)


def question_scores(answers: Iterable[str], prediction: str) -> tuple[float, float]:
    """Return exact match and F1 of a prediction, the best over the gold answers.

    Gold answers that normalise to nothing are dropped; if all are, "" is the gold answer. A text that normalises to
    nothing is "no answer", with F1 1 against another empty text and 0 against any other text.
    """
    golds = {normalize(answer) for answer in answers} - {""} or {""}
    text = normalize(prediction)
    if text in golds:
        return 1.0, 1.0
    tokens = text.split()
    return 0.0, max(overlap_f1(tokens, gold.split()) for gold in golds)


def apply_threshold(scores: Floats, answerable: Booleans, probabilities: Floats, threshold: float) -> Floats:
    """Return the scores if every question whose probability exceeds the threshold counts as predicted ""."""
    return np.where(probabilities > threshold, (~answerable).astype(np.float64), scores)


def summary(columns: Mapping[str, Floats], answerable: Booleans) -> dict[str, Any]:
    """Return the mean of every column in percent and `total`, then the same with `HasAns_` and `NoAns_`.

    A group without questions has no keys. There must be a question.
    """
    result: dict[str, Any] = {}
    everything = np.ones_like(answerable)
    for prefix, chosen in (("", everything), ("HasAns_", answerable), ("NoAns_", ~answerable)):
        total = int(chosen.sum())
        if total:
            for name, scores in columns.items():  # Python's own sum, as in the official script, for its last digit
                result[prefix + name] = 100.0 * sum(scores[chosen].tolist()) / total
            result[prefix + "total"] = total
    return result


def _best_threshold(
    scores: Floats, answerable: Booleans, answered: Booleans, probabilities: Floats, order: NDArray[np.intp]
) -> tuple[float, float]:
    """Return the best mean score in percent by a threshold on the probabilities, and that threshold.

    The official walk: at first every question counts as unanswered; then, from the lowest probability up, question by
    question takes its prediction. A prediction that is not "" (before normalisation) costs an unanswerable question its
    point. Questions of equal probability are walked one by one in `order`, so the best value may lie between two of them,
    although no threshold separates them. Of equally good places the first counts; the very first has threshold 0.
    """
    gains = np.where(answerable, scores, np.where(answered, -1.0, 0.0))[order]
    walk = np.concatenate(([float((~answerable).sum())], gains)).cumsum()
    best = int(walk.argmax())  # the first of the highest
    return 100.0 * float(walk[best]) / len(scores), float(probabilities[order[best - 1]]) if best else 0.0


def best_scores(
    exact: Floats, f1: Floats, answerable: Booleans, answered: Booleans, probabilities: Floats, order: NDArray[np.intp]
) -> dict[str, float]:
    """Return `best_exact`, `best_exact_thresh`, `best_f1` and `best_f1_thresh`, see `_best_threshold`."""
    best: dict[str, float] = {}
    for name, scores in (("exact", exact), ("f1", f1)):
        value, threshold = _best_threshold(scores, answerable, answered, probabilities, order)
        best |= {f"best_{name}": value, f"best_{name}_thresh": threshold}
    return best


def rising(probabilities: Floats, ids: Sequence[str], in_order: Iterable[str]) -> NDArray[np.intp]:
    """Return the questions by rising probability; equal probabilities in the order of the ids `in_order`."""
    positions = {qid: position for position, qid in enumerate(in_order)}
    return np.lexsort((np.array([positions[qid] for qid in ids]), probabilities))
