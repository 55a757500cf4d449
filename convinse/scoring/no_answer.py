"""Where SQuAD 2.0 and KLUE-MRC are the same: questions that may have no answer, and a probability for that.

Arrays have one entry a question: `exact` and `f1` in 0..1, `answerable` and `answered` (a text was predicted) as
booleans, `probabilities` that there is no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .extractive import overlap_f1

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


def question_scores(answers: Iterable[str], prediction: str, normalize: Callable[[str], str]) -> tuple[float, float]:
    """Exact match and F1 of one prediction: the best over the gold answers.

    Gold answers that normalise to nothing are dropped; when none is left, "" is the gold answer. A text that normalises
    to nothing is "no answer": against another such text it has F1 1, against any other 0.
    """
    golds = {normalize(answer) for answer in answers} - {""} or {""}
    text = normalize(prediction)
    if text in golds:
        return 1.0, 1.0
    tokens = text.split()
    return 0.0, max(overlap_f1(tokens, gold.split()) for gold in golds)


def apply_threshold(scores: Floats, answerable: Booleans, probabilities: Floats, threshold: float) -> Floats:
    """The scores when a question whose probability exceeds the threshold is taken as having no answer."""
    return np.where(probabilities > threshold, (~answerable).astype(np.float64), scores)


def summary(columns: Mapping[str, Floats], answerable: Booleans) -> dict[str, Any]:
    """The mean of each column in percent and `total`, then the same below `HasAns_` and `NoAns_`.

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


def best_threshold(
    scores: Floats, answerable: Booleans, answered: Booleans, probabilities: Floats, order: NDArray[np.intp]
) -> tuple[float, float]:
    """The best mean score in percent that a threshold on the probabilities can give, and that threshold.

    The official walk: at first every question counts as unanswered; then, from the lowest probability up, one more
    takes its prediction at a time. A prediction that is not "" (before normalisation) costs an unanswerable question
    its point. Questions of equal probability are walked one by one in `order`, so the best value may lie between two
    of them, where no threshold can be put. Of equally good places the first counts; the very first has threshold 0.

    Args:
        scores: exact match or F1 without a threshold.
        answerable: whether the question has an answer.
        answered: whether the prediction is not "".
        probabilities: that there is no answer.
        order: the questions by rising probability.
    """
    gains = np.where(answerable, scores, np.where(answered, -1.0, 0.0))[order]
    walk = np.concatenate(([float((~answerable).sum())], gains)).cumsum()
    best = int(walk.argmax())  # the first of the highest
    return 100.0 * float(walk[best]) / len(scores), float(probabilities[order[best - 1]]) if best else 0.0


def best_scores(
    exact: Floats, f1: Floats, answerable: Booleans, answered: Booleans, probabilities: Floats, order: NDArray[np.intp]
) -> dict[str, float]:
    """`best_threshold` of both measures: `best_exact`, `best_exact_thresh`, `best_f1`, `best_f1_thresh`."""
    best: dict[str, float] = {}
    for name, scores in (("exact", exact), ("f1", f1)):
        value, threshold = best_threshold(scores, answerable, answered, probabilities, order)
        best |= {f"best_{name}": value, f"best_{name}_thresh": threshold}
    return best


def rising(probabilities: Floats, ids: Sequence[str], given: Iterable[str]) -> NDArray[np.intp]:
    """The questions by rising probability; those of equal probability in the order in which `given` has their ids."""
    positions = {qid: position for position, qid in enumerate(given)}
    return np.lexsort((np.array([positions[qid] for qid in ids]), probabilities))
