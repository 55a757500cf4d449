"""The measures of KLUE-MRC (Park et al., 2021), Korean reading comprehension where questions may have no answer.

`evaluate` gives the 13 values of the metric card, which are SQuAD 2.0's:

- Normalisation is SQuAD 2.0's: lower case, ASCII punctuation deleted, English articles removed, single blanks. Korean has
  no articles, and its particles stay on their nouns; brackets such as `《》` are not ASCII and stay. Tokens are what white
  space separates.
- `unanswerable` decides, whatever texts a reference has: its only right prediction is "". Without that key a question is
  answerable.
- Predictions and references have the same ids. Equal probabilities are walked in the order of the predictions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Real
from typing import Any, TypeVar

import msgspec
import numpy as np

from ..support.errors import ScoringError, one_line
from .squad2 import Floats, apply_threshold, best_scores, question_scores, rising, summary


class _Prediction(msgspec.Struct):
    id: str
    prediction_text: str
    no_answer_probability: Any = None


class AnswerText(msgspec.Struct):
    """A gold answer, of which only the text is looked at."""

    text: str


class _AnswerTexts(msgspec.Struct):
    text: list[str]


class _Reference(msgspec.Struct):
    id: str
    answers: list[AnswerText] | _AnswerTexts = []
    unanswerable: bool = False


T = TypeVar("T", _Prediction, _Reference)


def evaluate(
    predictions: Iterable[Mapping[str, Any]], references: Iterable[Mapping[str, Any]], no_answer_threshold: float = 1.0
) -> dict[str, Any]:
    """The values of KLUE-MRC, scores in percent. Raises `ScoringError`.

    Args:
        predictions: `{"id", "prediction_text", "no_answer_probability"}`; "" is not an answer. When no prediction has a
            probability, none is used and the best scores are left out.
        references: `{"id", "answers", "unanswerable"}`, the answers as `[{"text"}, ...]` or `{"text": [...]}`; other
            keys, such as `answer_start`, are not looked at.
        no_answer_threshold: a question whose probability is above it counts as predicted "".

    Returns:
        `exact`, `f1`, `total`, the same with `HasAns_` and `NoAns_` (where there are such questions), `best_exact`,
        `best_exact_thresh`, `best_f1`, `best_f1_thresh`.
    """
    texts, no_answer = _predictions(predictions)
    golds = gold_texts(references)
    if not golds:
        raise ScoringError("there is no question to score")
    for qid in {**golds, **texts}:
        if qid not in texts:
            raise ScoringError(f"reference '{qid}' has no prediction")
        if qid not in golds:
            raise ScoringError(f"prediction '{qid}' has no reference")

    ids = list(golds)
    answerable = np.array([gold is not None for gold in golds.values()])
    probabilities = np.array([no_answer.get(qid, 0.0) for qid in ids])
    pairs = [question_scores(gold or (), texts[qid]) for qid, gold in golds.items()]
    exact, f1 = np.array(pairs, dtype=np.float64).T

    def thresholded(scores: Floats) -> Floats:
        return apply_threshold(scores, answerable, probabilities, no_answer_threshold)

    result = summary({"exact": thresholded(exact), "f1": thresholded(f1)}, answerable)
    if no_answer:
        answered = np.array([bool(texts[qid]) for qid in ids])
        result |= best_scores(exact, f1, answerable, answered, probabilities, rising(probabilities, ids, texts))
    return result


def _predictions(predictions: Iterable[Mapping[str, Any]]) -> tuple[dict[str, str], dict[str, float]]:
    texts: dict[str, str] = {}
    probabilities: dict[str, float] = {}
    for qid, prediction in _by_id(predictions, _Prediction, "prediction"):
        texts[qid] = prediction.prediction_text
        probability = prediction.no_answer_probability
        if probability is None:
            continue
        if not isinstance(probability, Real) or not 0.0 <= float(probability) <= 1.0:
            raise ScoringError(
                f"prediction '{qid}': no_answer_probability must be a number from 0 to 1: {probability!r}"
            )
        probabilities[qid] = float(probability)
    if probabilities and len(probabilities) < len(texts):
        missing = next(qid for qid in texts if qid not in probabilities)
        raise ScoringError(f"prediction '{missing}' has no no_answer_probability, but others have one")
    return texts, probabilities


def gold_texts(references: Iterable[Mapping[str, Any]]) -> dict[str, list[str] | None]:
    """Return the gold texts of references by id, None for unanswerable questions. Raises `ScoringError`."""
    golds: dict[str, list[str] | None] = {}
    for qid, reference in _by_id(references, _Reference, "reference"):
        answers = reference.answers
        texts = answers.text if isinstance(answers, _AnswerTexts) else [answer.text for answer in answers]
        if not reference.unanswerable and not any(text.strip() for text in texts):
            raise ScoringError(
                f"reference '{qid}' is answerable but has no answer text; give one or 'unanswerable': true"
            )
        golds[qid] = None if reference.unanswerable else texts
    return golds


def _by_id(items: Iterable[Mapping[str, Any]], kind: type[T], name: str) -> Iterator[tuple[str, T]]:
    seen: set[str] = set()
    for number, item in enumerate(items, 1):
        try:
            typed = msgspec.convert(item, kind)
        except msgspec.ValidationError as error:
            qid = item.get("id") if isinstance(item, Mapping) else None
            raise ScoringError(f"{name} {number if qid is None else repr(qid)}: {one_line(error)}") from None
        if typed.id in seen:
            raise ScoringError(f"{name} '{typed.id}' is given twice")
        seen.add(typed.id)
        yield typed.id, typed
