"""Written dialogues with talk, corrections and questions back: which turns are treated rightly, and what talk costs a turn.

    bash run.sh bench dialogues

`tests/dialogues.txt` says what is right in each turn. The half `choose` was there to choose by, `judge` to report. The time of a turn is
that of its question in a conversation, with talk and without.
"""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from convinse.config import load_config, project_root
from convinse.language.text import fold
from convinse.pipeline import Pipeline
from convinse.question_understanding.base import history_turn
from convinse.records.conversation import Turn
from convinse.records.evidence import SOURCES

from .harness import Bench, Figures, Spec, run

_COLUMNS = {
    "dialogues": ("dialogues", "{}"),
    "turns": ("turns", "{}"),
    "right": ("right", "{:.3f}"),
    "talk right": ("talk_right", "{:.3f}"),
    "answers right": ("answers_right", "{:.3f}"),
}


class WrittenTurn(NamedTuple):
    """What is said, and its right treatment; `tests/dialogues.txt` has the forms."""

    utterance: str
    treatment: str


def read_dialogues(path: Path | None = None) -> Iterator[tuple[str, list[WrittenTurn]]]:
    """The half and the turns of each dialogue."""
    text = (path or project_root() / "tests" / "dialogues.txt").read_text(encoding="utf-8")
    for block in re.split(r"(?m)^= ", text)[1:]:
        half, *lines = block.strip().splitlines()
        yield half, [WrittenTurn(*line.split(" -> ")) for line in lines if line.strip()]


def is_right(turn: Turn, treatment: str) -> bool:
    """Whether a turn was treated so."""
    if " + " in treatment:
        parts = [turn, *turn.get("parts", [])]
        wanted = treatment.split(" + ")
        return len(parts) == len(wanted) and all(map(is_right, parts, wanted))
    return any(_is(turn, own.strip()) for own in treatment.split(" | "))


def _is(turn: Turn, treatment: str) -> bool:
    if treatment == "ask":
        return "clarification" in turn
    if treatment == "unknown":
        return "abstained" in turn or not (turn["pred_answers"] or "act" in turn or "clarification" in turn)
    if treatment.startswith("act "):
        return turn.get("act") == treatment.removeprefix("act ")
    best = [answer["answer"]["label"] for answer in turn["pred_answers"][:1]]
    return bool(best) and f" {fold(treatment)} " in f" {fold(best[0])} "


def dialogues(bench: Bench) -> Figures:
    figures: dict[str, Figures] = {}
    done: list[tuple[str, WrittenTurn, Turn]] = []
    with Pipeline(load_config("config.yml")) as pipeline:
        counts = {"choose": 0, "judge": 0}
        for half, turns in read_dialogues():
            counts[half] += 1
            session = pipeline.session(SOURCES)
            done += [(half, turn, session.ask(turn.utterance)) for turn in turns]
        seconds = _seconds(pipeline)
    for half, count in counts.items():
        right = [(own.treatment, is_right(turn, own.treatment)) for part, own, turn in done if part == half]
        talk = [own for treatment, own in right if treatment.startswith(("act", "ask"))]
        answers = [own for treatment, own in right if not treatment.startswith(("act", "ask"))]
        figures[half] = {
            "dialogues": count,
            "turns": len(right),
            "right": sum(own for _, own in right) / len(right),
            "talk_right": sum(talk) / len(talk),
            "answers_right": sum(answers) / len(answers),
        }
    for half, own, turn in done:
        if not is_right(turn, own.treatment):
            best = [answer["answer"]["label"] for answer in turn["pred_answers"][:1]]
            print(f"  {half}: {own.utterance!r}: {turn.get('act', '')} {best}, not {own.treatment}")
    bench.compare("written dialogues", ("half",), _COLUMNS, {(): figures})
    times = {"in a conversation": (1000 * seconds[0], "{:.0f}"), "answered alone": (1000 * seconds[1], "{:.0f}")}
    bench.report("milliseconds of a turn that was asked before, median of 20", times)
    return {**figures, "seconds": seconds}


def _seconds(pipeline: Pipeline) -> tuple[float, float]:
    """The median seconds of the second question of a conversation, with talk and without."""
    before: Turn = {"turn": 0, "question": "Who directed Jaws?"}
    pipeline.answer_turns([before], [[]], SOURCES)
    history = [history_turn(before, use_gold_answers=False)]
    seconds: tuple[list[float], list[float]] = ([], [])
    for number in range(20):
        for place in (0, 1):
            turn: Turn = {"turn": 1, "question": f"Who was number {number} in it?"}
            pipeline.answer_turns([{**turn}], [history], SOURCES)
            start = time.perf_counter()
            if place:
                pipeline.answer_turns([turn], [history], SOURCES, use_gold_answers=True)
            else:
                pipeline.answer_turns([turn], [history], SOURCES)
            seconds[place].append(time.perf_counter() - start)
    return median(seconds[0]), median(seconds[1])


SPEC = Spec("dialogues", __doc__, {"dialogues": dialogues})

if __name__ == "__main__":
    run(SPEC)
