"""Reading on the dev sets: a paragraph alone and among others, whole and sentence by sentence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from convinse.encoder.extractive_reader import AnswerSpan
from convinse.scoring.convqa import calibration_error
from convinse.scoring.extractive import normalize

from ..measures import answer_scores
from .sets import Question

if TYPE_CHECKING:
    from .heads import Model

Advance = Callable[[int], None]
_PORTION = 20  # questions computed together

# what is read and how its best span is chosen -> the row of a table
SPAN, RELEVANCE = "span score", "relevance x span probability"
ALONE, AMONG = "the paragraph", "among distractors"
WHOLE, SENTENCES = "whole", "by sentence"
LAYOUTS = tuple(
    (texts, unit, choice)
    for texts in (ALONE, AMONG)
    for unit in (WHOLE, SENTENCES)
    for choice in (SPAN, RELEVANCE)
    if (texts, unit, choice) != (ALONE, WHOLE, RELEVANCE)  # of a single text it chooses what the score does
)
Layout = tuple[str, str, str]


@dataclass(frozen=True)
class Reading:
    """What a model finds in the texts of a question.

    Attributes:
        contexts: the question's text and its distractors, then the sentences of the text, then those of the others.
    """

    contexts: list[str]
    bounds: tuple[int, int, int, int, int]  # where these four kinds begin, and the end
    spans: list[AnswerSpan]  # of all contexts
    relevance: np.ndarray  # [contexts] from 0 to 1

    def answer(self, texts: str, unit: str, choice: str) -> str:
        """The best span's text, "" where there is none."""
        text, distractors, own, others, end = self.bounds
        read = {
            (ALONE, WHOLE): range(text, distractors),
            (AMONG, WHOLE): range(text, own),
            (ALONE, SENTENCES): range(own, others),
            (AMONG, SENTENCES): range(own, end),
        }[texts, unit]
        return best_answer(self.spans, read, self.relevance if choice == RELEVANCE else None)


def best_answer(spans: Iterable[AnswerSpan], contexts: Collection[int], relevance: np.ndarray | None) -> str:
    """The best span of some contexts by its score, or by relevance [contexts] times probability."""

    def value(span: AnswerSpan) -> float:
        return span.score if relevance is None else float(relevance[span.context]) * span.probability

    own = [span for span in spans if span.context in contexts]
    return max(own, key=value).text if own else ""


def sentences(text: str) -> list[str]:
    """The sentences of a text, by the splitter of the Wikipedia evidences."""
    import sentencex

    return [part.strip() for part in sentencex.segment("en", text) if part.strip()]


def readings(model: Model, questions: Sequence[Question], advance: Advance, by_sentence: bool = True) -> list[Reading]:
    """Read all texts of the questions and score their relevance; each pair once."""
    made = []
    for start in range(0, len(questions), _PORTION):
        portion = questions[start : start + _PORTION]
        laid = [_laid_out(question, by_sentence) for question in portion]
        queries = [question.query for question in portion]
        pairs = [(query, text) for query, (contexts, _) in zip(queries, laid, strict=True) for text in contexts]
        # first the relevance: the reader has most spans from the same pass
        relevance = np.split(model.reranker.predict(pairs), np.cumsum([len(contexts) for contexts, _ in laid])[:-1])
        spans = model.reader.read_all(queries, [contexts for contexts, _ in laid])
        made += [Reading(*layout, own, odds) for layout, own, odds in zip(laid, spans, relevance, strict=True)]
        advance(len(portion))
    return made


def _laid_out(question: Question, by_sentence: bool) -> tuple[list[str], tuple[int, int, int, int, int]]:
    kinds = [[question.text], list(question.distractors), [], []]
    if by_sentence:
        kinds[2] = sentences(question.text)
        kinds[3] = [sentence for text in question.distractors for sentence in sentences(text)]
    bounds = [0, *np.cumsum([len(kind) for kind in kinds]).tolist()]
    return [text for kind in kinds for text in kind], tuple(bounds)


def reading_scores(
    questions: Sequence[Question], made: Sequence[Reading], layouts: Iterable[Layout] = LAYOUTS
) -> dict[Layout, dict[str, float]]:
    references = [question.answers for question in questions]
    return {layout: answer_scores([reading.answer(*layout) for reading in made], references) for layout in layouts}


class Certain(NamedTuple):
    probability: float  # of the best span of the question's own text, from 0 to 1
    right: bool  # whether it is an answer


def certainties(questions: Sequence[Question], made: Sequence[Reading]) -> list[Certain]:
    """How sure the model is of its best span in each question's own text."""
    found = []
    for question, own in zip(questions, made, strict=True):
        best = max((span for span in own.spans if span.context == 0), key=lambda span: span.score, default=None)
        if best is not None:
            right = normalize(best.text) in map(normalize, question.answers)
            found.append(Certain(best.probability, right))
    return found


def calibration(answerable: Sequence[Certain], nothing: Sequence[Certain]) -> dict[str, float]:
    """Of the best spans: the calibration error with and without questions that have no answer, mean probabilities."""
    both = [*answerable, *nothing]
    return {
        "calibration error": calibration_error(
            [certain.probability for certain in both], [certain.right for certain in both]
        ),
        "answerable only": calibration_error(
            [certain.probability for certain in answerable], [certain.right for certain in answerable]
        ),
        "probability, right": _mean(certain.probability for certain in answerable if certain.right),
        "probability, wrong": _mean(certain.probability for certain in answerable if not certain.right),
        "probability, no answer": _mean(certain.probability for certain in nothing),
    }


def _mean(values: Iterable[float]) -> float:
    return float(np.mean([*values] or [0.0]))
