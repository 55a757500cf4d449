"""The measures of KLUE-MRC (Park et al., 2021), Korean reading comprehension where questions may have no answer.

`evaluate` gives the 13 values of the metric card, which are SQuAD 2.0's:

- Normalisation is SQuAD 2.0's: lower case, ASCII punctuation deleted, English articles removed, single blanks. Korean has
  no articles, and its particles stay on their nouns; brackets such as `《》` are not ASCII and stay. Tokens are what white
  space separates. (The script that first came with the card leaves articles where they are: `keep_articles`.)
- `unanswerable` decides, whatever texts a reference has: its only right prediction is "". Without that key a question is
  answerable.
- Predictions and references have the same ids. Equal probabilities are walked in the order of the predictions.

Two further measures for Korean are off by default:

- `char_f1`: KorQuAD 1.0's F1, over characters instead of tokens. Quotes and brackets, the Korean ones too, become blanks,
  the text loses case and ASCII punctuation, and blanks do not count. Two texts without characters have 1 here, as
  KLUE-MRC's unanswerable questions demand (KorQuAD has none).
- `klue_em` and `klue_rouge_w`: the measures of KLUE's baseline. Texts lose case, ASCII punctuation and superfluous blanks
  (not articles). EM is equality. ROUGE-W is named after a weighted longest common subsequence, but is computed from the
  longest run of characters, blanks included, that stands in both: its length over that of the prediction is the
  precision, over that of the gold answer the recall, and their F1 the score. An empty gold answer gives 1 to an empty
  prediction and 0 to any other.

The no-answer threshold applies to all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from numbers import Real
from typing import Any, TypeVar

import msgspec
import numpy as np

from ..support.errors import ScoringError, one_line
from .extractive import normalize, normalize_keeping_articles, overlap_f1
from .squad2 import Floats, apply_threshold, best_scores, question_scores, rising, summary

_KORQUAD_BLANKS = dict.fromkeys(map(ord, "'\"《》<>〈〉()‘’"), " ")
_KLUE_RUN = re.compile(
    r"['\"《》<>〈〉]\(\)‘’"
)  # meant as one class of characters; as it is, only such a run is a blank


class _Prediction(msgspec.Struct):
    id: str
    prediction_text: str
    no_answer_probability: Any = None


class _AnswerText(msgspec.Struct):
    text: str


class _AnswerTexts(msgspec.Struct):
    text: list[str]


class _Reference(msgspec.Struct):
    id: str
    answers: list[_AnswerText] | _AnswerTexts = []
    unanswerable: bool = False


T = TypeVar("T", _Prediction, _Reference)


def evaluate(
    predictions: Iterable[Mapping[str, Any]],
    references: Iterable[Mapping[str, Any]],
    no_answer_threshold: float = 1.0,
    *,
    char_f1: bool = False,
    rouge_w: bool = False,
    keep_articles: bool = False,
) -> dict[str, Any]:
    """The values of KLUE-MRC, scores in percent. Raises `ScoringError`.

    Args:
        predictions: `{"id", "prediction_text", "no_answer_probability"}`; "" is not an answer. When no prediction has a
            probability, none is used and the best scores are left out.
        references: `{"id", "answers", "unanswerable"}`, the answers as `[{"text"}, ...]` or `{"text": [...]}`; other
            keys, such as `answer_start`, are not looked at.
        no_answer_threshold: a question whose probability is above it counts as predicted "".
        char_f1: add `char_f1`.
        rouge_w: add `klue_em` and `klue_rouge_w`.
        keep_articles: do not remove English articles.

    Returns:
        `exact`, `f1`, `total`, the same with `HasAns_` and `NoAns_` (where there are such questions), `best_exact`,
        `best_exact_thresh`, `best_f1`, `best_f1_thresh`; then the further measures, likewise for the groups.
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
    form = normalize_keeping_articles if keep_articles else normalize
    pairs = [question_scores(gold or (), texts[qid], form) for qid, gold in golds.items()]
    exact, f1 = np.array(pairs, dtype=np.float64).T

    def thresholded(scores: Floats) -> Floats:
        return apply_threshold(scores, answerable, probabilities, no_answer_threshold)

    result = summary({"exact": thresholded(exact), "f1": thresholded(f1)}, answerable)
    if no_answer:
        answered = np.array([bool(texts[qid]) for qid in ids])
        result |= best_scores(exact, f1, answerable, answered, probabilities, rising(probabilities, ids, texts))

    def mean(score: Callable[[str, Sequence[str]], float]) -> Floats:
        return thresholded(np.array([score(texts[qid], gold or ("",)) for qid, gold in golds.items()]))

    more: dict[str, Floats] = {}
    if char_f1:
        more["char_f1"] = mean(character_f1)
    if rouge_w:
        more |= {"klue_em": mean(klue_em), "klue_rouge_w": mean(klue_rouge_w)}
    return result | summary(more, answerable) if more else result


def character_f1(prediction: str, golds: Sequence[str]) -> float:
    """Return KorQuAD's F1 over characters, in 0..1: the best over the gold answers."""
    characters = _korquad(prediction)
    gold_characters = {_korquad(gold) for gold in golds}
    return 1.0 if characters in gold_characters else max(overlap_f1(characters, gold) for gold in gold_characters)


def _korquad(text: str) -> str:
    return normalize_keeping_articles(text.translate(_KORQUAD_BLANKS)).replace(" ", "")


def klue_em(prediction: str, golds: Sequence[str]) -> float:
    """Return the exact match of KLUE's baseline, 0 or 1: the best over the gold answers."""
    return float(_klue(prediction) in {_klue(gold) for gold in golds})


def klue_rouge_w(prediction: str, golds: Sequence[str]) -> float:
    """Return the "ROUGE-W" of KLUE's baseline, in 0..1: the best F1 of the longest common run of characters."""
    text = _klue(prediction)
    return max(_run_f1(text, gold) for gold in {_klue(gold) for gold in golds})


def _klue(text: str) -> str:
    return normalize_keeping_articles(_KLUE_RUN.sub(" ", text) if "()‘’" in text else text)


def _run_f1(text: str, gold: str) -> float:
    if not text or not gold:
        return float(text == gold)
    # as the baseline has it: in gold answers of 200 characters and more, difflib passes over those that are frequent
    longest = SequenceMatcher(None, text, gold).find_longest_match(0, len(text), 0, len(gold)).size
    if not longest:
        return 0.0
    precision, recall = longest / len(text), longest / len(gold)
    return 2 * (precision * recall) / (precision + recall)


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
