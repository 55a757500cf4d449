"""The measures of the MRQA 2019 shared task (Fisch et al., 2019): exact match and token F1, in percent.

The rules, as the task's own script has them:

- An answer is normalised (`extractive.normalize`) and takes the best value over all accepted answers of its question.
- F1 is 0 without a common token: "" against "", and "the" against "the", have exact match 1 and F1 0.
- A question without a prediction counts 0, with a warning; `skip_no_answer` leaves it out of the mean instead.
- The score of the task is the mean over data sets, each counting the same.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from ..support.errors import ScoringError
from .extractive import normalize, overlap_f1, some

LOGGER = logging.getLogger(__name__)
MACRO = "macro"


def evaluate(
    answers: Mapping[str, Sequence[str]], predictions: Mapping[str, str], skip_no_answer: bool = False, name: str = ""
) -> dict[str, float]:
    """Return `exact_match` and `f1` of the predictions for a data set, in percent. Raises `ScoringError`.

    Args:
        answers: the accepted answers of each question, by its qid.
        predictions: the predicted text by qid; further qids are ignored.
        skip_no_answer: leave out questions that have no prediction or no accepted answer.
        name: of the data set in warnings and errors.
    """
    begin = f"{name}: " if name else ""
    exact, total = 0, 0
    f1 = 0.0
    missing: list[str] = []
    for qid, accepted in answers.items():
        prediction = predictions.get(qid)
        if skip_no_answer and (prediction is None or not accepted):
            continue
        total += 1
        if prediction is None:
            missing.append(qid)
            continue
        if not accepted:
            raise ScoringError(
                f"{begin}question '{qid}' has no accepted answer; --skip-no-answer leaves such questions out"
            )
        text = normalize(prediction)
        golds = {normalize(answer) for answer in accepted}
        exact += text in golds
        tokens = text.split()
        f1 += 1.0 if tokens and text in golds else max(overlap_f1(tokens, gold.split()) for gold in golds)
    if not total:
        raise ScoringError(f"{begin}there is no question to score")
    if missing:
        LOGGER.warning(
            "%s%d of %d questions have no prediction and count 0: %s", begin, len(missing), total, some(missing)
        )
    return {"exact_match": 100.0 * exact / total, "f1": 100.0 * f1 / total}


def macro_average(results: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of every measure over data sets, whatever their sizes. Raises `ScoringError`."""
    if not results:
        raise ScoringError("there is no data set to average over")
    return {
        measure: sum(result[measure] for result in results.values()) / len(results) for measure in ("exact_match", "f1")
    }
