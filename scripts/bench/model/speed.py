"""What a pass costs: ranking alone, ranking and reading in one pass or in two; and whether precisions agree."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from convinse.config import Precision
from convinse.records.evidence import Evidence
from convinse.support.errors import ModelError
from convinse.support.progress import progress

from ..harness import Bench, Figures, in_turn
from ..measures import best_first, same_share
from . import ranking
from .heads import Model
from .ranking import Advance, log_odds
from .reading import ALONE, AMONG, RELEVANCE, SPAN, WHOLE, readings
from .sets import SEED, Asked, Question, sample

RANKING, ONE_PASS, TWO_PASSES = "ranking alone", "ranking and reading, one pass", "ranking, then reading"
_PORTION = 20  # questions computed together
_LONG = 2000  # words of a text that does not fit
MOST_ONE_PASS, TURN_MS = 1.1, 150
_TABLES = 100  # questions over tables that precisions are compared on
SAME = {"fp32": 1, "int8": 0.97, "bf16": 0.98}  # answers as fp32 has them


class Turn(NamedTuple):
    """A question and candidate texts that no other turn has, so that nobody knows them."""

    query: str
    texts: list[str]


def turns_of(asked: Sequence[Asked], size: int, number: int) -> list[Turn]:
    """So many turns, or fewer, of exactly `size` texts; no text is in two of them."""
    made: list[Turn] = []
    seen: set[str] = set()
    for question in asked:
        texts = [text for text in dict.fromkeys(question.texts) if text not in seen][:size]
        if len(texts) == size and len(made) < number:
            seen.update(texts)
            made.append(Turn(question.query, texts))
    return made


def medians(
    systems: Mapping[str, Callable[[Turn], Any]], turns: Sequence[Turn], clock: Callable[[], float] = time.perf_counter
) -> dict[str, Figures]:
    """The median milliseconds of all turns but the first one, which chooses kernels; systems take turns."""
    times: dict[str, list[float]] = {name: [] for name in systems}
    for name, _, seconds, _ in in_turn(systems, turns, clock):
        times[name].append(1000 * seconds)
    return {name: {"turns": len(own) - 1, "ms": statistics.median(own[1:])} for name, own in times.items()}


def one_pass_systems(alone: Model, together: Model, apart: Model) -> dict[str, Callable[[Turn], Any]]:
    """Ranking a turn's texts; ranking and reading them all, with spans of the same pass and without."""

    def read(model: Model, turn: Turn) -> Any:
        return _rank(model, turn), model.reader.read(turn.query, turn.texts)

    return {RANKING: partial(_rank, alone), ONE_PASS: partial(read, together), TWO_PASSES: partial(read, apart)}


def _rank(model: Model, turn: Turn) -> list[Evidence]:
    return model.reranker.rank(turn.query, [{"evidence_text": text, "source": "text"} for text in turn.texts])


def answers_of(
    model: Model,
    sentences: Sequence[Question],
    paragraphs: Sequence[Question],
    asked: Sequence[Asked],
    advance: Advance,
) -> tuple[list[str], list[str]]:
    """The answers read in sentences and among paragraphs, and the best texts of the questions that are ranked."""
    alone = readings(model, sentences, advance, by_sentence=False)
    among = readings(model, paragraphs, advance, by_sentence=False)
    answers = [reading.answer(ALONE, WHOLE, SPAN) for reading in alone]
    answers += [reading.answer(AMONG, WHOLE, RELEVANCE) for reading in among]
    best = []
    for start in range(0, len(asked), _PORTION):
        portion = asked[start : start + _PORTION]
        odds = log_odds(model.reranker, portion, [range(len(question.texts)) for question in portion])
        two = zip(portion, odds, strict=True)
        best += [question.texts[best_first(own, question.texts)[0]] for question, own in two]
        advance(len(portion))
    return answers, best


def always_numbers(model: Model, query: str) -> bool:
    """Whether scores are finite for texts without words and for far too long ones; an error of the model says no."""
    texts = ["", " ", "?", " ".join(["word"] * _LONG), " ".join(map(str, range(_LONG)))]
    try:
        odds = model.reranker.predict([(query, text) for text in texts], logits=True)
        spans = model.reader.read(query, texts)
    except ModelError:
        return False
    values = [number for span in spans for number in (span.score, span.probability, span.no_answer)]
    return bool(np.isfinite(odds).all() and np.isfinite(values).all())


def speed_part(bench: Bench) -> Figures:
    """Milliseconds of ranking and reading 200 evidences in one pass, and of ranking 20."""
    setup = bench.state
    asked = ranking.asked_of(setup.pools.questions, setup.pools.evidences[ranking.WIDE])
    number = bench.size.turns + 1
    precisions: list[Precision] = ["bf16", "fp32"] if setup.on_gpu else setup.on_cpu[::-1]
    figures: dict[str, Figures] = {}
    many, few = turns_of(asked, 200, number), turns_of(asked, 20, number)
    for precision in precisions:
        models = [setup.other(precision, one_pass=one_pass) for one_pass in (False, True, False)]
        figures[f"200 evidences, {precision}"] = rows = medians(one_pass_systems(*models), many)
        for row in rows.values():
            row["ratio"] = row["ms"] / rows[RANKING]["ms"]
        bench.want(f"speed, {precision}: one pass to ranking alone", rows[ONE_PASS]["ratio"], MOST_ONE_PASS, False)
    alone = {precision: partial(_rank, setup.other(precision, one_pass=False)) for precision in precisions}
    figures["20 evidences, ranking alone"] = rows = medians(alone, few)
    bench.want(f"speed, {precisions[0]}: ms of 20 evidences", rows[precisions[0]]["ms"], TURN_MS, False)
    columns = {"turns": ("turns", "{}"), "ms": ("ms", "{:.1f}"), "ratio": ("ratio", "{:.2f}")}
    bench.compare("milliseconds of a turn, medians", ("what", "system"), columns, figures)
    return figures


def agreement_part(bench: Bench) -> Figures:
    """How often another precision gives the answers and the best evidence of fp32 on the CPU."""
    import torch

    setup = bench.state
    models = {f"{precision}, cpu": setup.other(precision, "cpu") for precision in setup.on_cpu}
    if torch.cuda.is_available():
        models["bf16, cuda"] = setup.other("bf16", "cuda")
    paragraphs = [question for questions in setup.sets.paragraphs.values() for question in questions]
    asked = ranking.asked_of(setup.pools.questions, setup.pools.evidences[ranking.RETRIEVED])
    asked += sample(setup.sets.ranked["tables"], _TABLES, SEED)
    number = len(setup.sets.sentences) + len(paragraphs) + len(asked)
    figures: dict[str, Figures] = {}
    wanted: tuple[list[str], list[str]] | None = None
    for name, model in models.items():
        with progress(name, number, "questions") as advance:
            given = answers_of(model, setup.sets.sentences, paragraphs, asked, advance)
        wanted = wanted or given
        figures[name] = {"always numbers": always_numbers(model, paragraphs[0].query)}
        for key, own, theirs in zip(("answers", "best text"), given, wanted, strict=True):
            figures[name][key] = same_share(own, theirs)
        bench.want(f"agreement, {name}: scores of odd texts are numbers", figures[name]["always numbers"], 1)
        bench.want(f"agreement, {name}: the same answers", figures[name]["answers"], SAME[str(model.precision)])
    assert wanted is not None
    counts = {"answers": len(wanted[0]), "best evidences": len(wanted[1])}
    columns = {
        "answers": ("answers", "{:.3f}"),
        "best evidence": ("best text", "{:.3f}"),
        "no NaN": ("always numbers", "{}"),
    }
    title = f"the same as fp32 on a CPU: {counts['answers']} answers, {counts['best evidences']} best evidences"
    bench.compare(title, ("precision",), columns, {(): figures})
    return {**counts, **figures}
