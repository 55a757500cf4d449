"""Written dialogues with talk, corrections and questions back: which turns are treated rightly, and what talk costs a turn.

    bash run.sh bench dialogues

`tests/dialogues.txt` says what is right in each turn. The half `choose` was there to choose by, `judge` to report.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from convinse.config import load_config, project_root
from convinse.language.text import fold
from convinse.pipeline import Pipeline
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
        treatments = treatment.split(" + ")
        return len(parts) == len(treatments) and all(map(is_right, parts, treatments))
    return any(_is(turn, choice.strip()) for choice in treatment.split(" | "))


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
    for half, count in counts.items():
        right = [(case.treatment, is_right(turn, case.treatment)) for part, case, turn in done if part == half]
        talk = [is_answered for treatment, is_answered in right if treatment.startswith(("act", "ask"))]
        answers = [is_answered for treatment, is_answered in right if not treatment.startswith(("act", "ask"))]
        figures[half] = {
            "dialogues": count,
            "turns": len(right),
            "right": sum(is_answered for _, is_answered in right) / len(right),
            "talk_right": sum(talk) / len(talk),
            "answers_right": sum(answers) / len(answers),
        }
    bench.compare("written dialogues", ("half",), _COLUMNS, {(): figures})
    return figures


SPEC = Spec("dialogues", __doc__, {"dialogues": dialogues})

if __name__ == "__main__":
    run(SPEC)
