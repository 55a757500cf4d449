"""What a pass costs: ranking alone, ranking and reading in one pass or in two; and whether precisions agree."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..harness import in_turn
from ..measures import best_first, same_share
from .ranking import Advance, log_odds
from .reading import ALONE, AMONG, RELEVANCE, SPAN, WHOLE, readings
from .sets import Asked, Question

if TYPE_CHECKING:
    from convinse.records.evidence import Evidence

    from .model import Model

RANKING, ONE_PASS, TWO_PASSES = "ranking alone", "ranking and reading, one pass", "ranking, then reading"
_PORTION = 20  # questions computed together
_LONG = 2000  # words of a text that does not fit


class Turn(NamedTuple):
    """A question and candidate texts that no other turn has, so that nobody knows them."""

    query: str
    texts: list[str]


def turns_of(asked: Sequence[Asked], size: int, number: int) -> list[Turn]:
    """So many turns, or fewer, of exactly `size` texts; no text is in two of them."""
    made: list[Turn] = []
    seen: set[str] = set()
    for one in asked:
        texts = [text for text in dict.fromkeys(one.texts) if text not in seen][:size]
        if len(texts) == size and len(made) < number:
            seen.update(texts)
            made.append(Turn(one.query, texts))
    return made


def milliseconds(
    systems: Mapping[str, Callable[[Turn], Any]], turns: Sequence[Turn], clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Of each system the milliseconds of each turn but the first one, which chooses kernels; systems take turns."""
    times: dict[str, list[float]] = {name: [] for name in systems}
    for name, _, seconds, _ in in_turn(systems, turns, clock):
        times[name].append(1000 * seconds)
    return {name: own[1:] for name, own in times.items()}


def ranking_systems(models: Mapping[str, Model]) -> dict[str, Callable[[Turn], Any]]:
    """Each model ranking the texts of a turn."""
    return {name: lambda turn, model=model: _rank(model, turn) for name, model in models.items()}


def one_pass_systems(alone: Model, together: Model, apart: Model) -> dict[str, Callable[[Turn], Any]]:
    """Ranking a turn's texts; ranking and reading them all, with spans of the same pass and without."""

    def read(model: Model, turn: Turn) -> Any:
        return _rank(model, turn), model.reader.read(turn.query, turn.texts)

    return {
        RANKING: lambda turn: _rank(alone, turn),
        ONE_PASS: lambda turn: read(together, turn),
        TWO_PASSES: lambda turn: read(apart, turn),
    }


def _rank(model: Model, turn: Turn) -> list[Evidence]:
    return model.reranker.rank(turn.query, [{"evidence_text": text, "source": "text"} for text in turn.texts])


class Answers(NamedTuple):
    """What a model answers, and the text that it takes for the most relevant, question by question."""

    answers: list[str]
    best: list[str]


def answers_of(
    model: Model,
    sentences: Sequence[Question],
    paragraphs: Sequence[Question],
    asked: Sequence[Asked],
    advance: Advance,
) -> Answers:
    """The answers read in sentences and among paragraphs, and the best texts of the questions that are ranked."""
    alone = readings(model, sentences, advance, by_sentence=False)
    among = readings(model, paragraphs, advance, by_sentence=False)
    answers = [reading.answer(ALONE, WHOLE, SPAN) for reading in alone]
    answers += [reading.answer(AMONG, WHOLE, RELEVANCE) for reading in among]
    best = []
    for start in range(0, len(asked), _PORTION):
        portion = asked[start : start + _PORTION]
        odds = log_odds(model.reranker, portion, [range(len(one.texts)) for one in portion])
        best += [one.texts[best_first(own, one.texts)[0]] for one, own in zip(portion, odds, strict=True)]
        advance(len(portion))
    return Answers(answers, best)


def agreement(first: Answers, second: Answers) -> dict[str, float]:
    """The shares of questions with the same answer, and with the same text in front."""
    return {"answers": same_share(first.answers, second.answers), "best text": same_share(first.best, second.best)}


def always_numbers(model: Model, query: str) -> bool:
    """Whether scores are finite for texts without words and for far too long ones; an error of the model says no."""
    from convinse.support.errors import ModelError

    texts = ["", " ", "?", " ".join(["word"] * _LONG), " ".join(map(str, range(_LONG)))]
    try:
        odds = model.reranker.predict([(query, text) for text in texts], logits=True)
        spans = model.reader.read(query, texts)
    except ModelError:
        return False
    values = [number for span in spans for number in (span.score, span.probability, span.no_answer)]
    return bool(np.isfinite(odds).all() and np.isfinite(values).all())
