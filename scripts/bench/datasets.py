"""Conversion, validation and scoring of generated questions: seconds and peak memory of each command.

    bash run.sh bench datasets

100,000 questions by default. Each command runs in a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from .harness import Bench, Figures, Spec, Spread, apart, command, in_turn, run

COLUMNS = {"seconds": ("seconds", "{:.2f}"), "peak MB": ("peak_mb", "{:.0f}")}
_QUESTIONS_A_CONTEXT = 5
_WORDS_A_CONTEXT = 120


def commands(bench: Bench) -> Figures:
    questions = bench.size
    apart(generate, bench.work, questions)  # not here: a command starts with the memory of who starts it
    systems = {name: lambda _, arguments=arguments: command([*arguments, "--quiet"])
               for name, arguments in _commands(bench.work).items()}  # fmt: skip
    usages = {name: [] for name in systems}
    for name, _, _, usage in in_turn(systems, range(bench.rounds)):
        usages[name].append(usage)
    figures = {
        name: {"seconds": Spread.of([usage.seconds for usage in runs]), "peak_mb": max(usage.peak for usage in runs) / 1e6}
        for name, runs in usages.items()
    }  # fmt: skip
    bench.compare(f"{questions:,} questions", ("command",), COLUMNS, {(): figures})
    return {"questions": questions, "commands": figures}


def _commands(work: Path) -> dict[str, list[str]]:
    squad, mrqa, multi = str(work / "squad.json"), str(work / "mrqa.jsonl.gz"), str(work / "multiqa.jsonl")
    texts, probabilities = str(work / "texts.json"), str(work / "na.json")
    return {
        "convert SQuAD -> MRQA": ["convert", squad, mrqa, "--to", "mrqa"],
        "convert SQuAD -> MultiQA": ["convert", squad, multi, "--to", "multiqa"],
        "convert MRQA -> MultiQA": ["convert", mrqa, str(work / "b.jsonl"), "--to", "multiqa"],
        "convert MultiQA -> MRQA": ["convert", multi, str(work / "c.jsonl"), "--to", "mrqa"],
        "convert MultiQA -> SQuAD": ["convert", multi, str(work / "d.json"), "--to", "squad"],
        "validate MultiQA": ["validate", multi],
        "validate MRQA": ["validate", mrqa],
        "evaluate mrqa": ["evaluate", "mrqa", mrqa, texts, "--skip-no-answer"],
        "evaluate squad --na-probs": ["evaluate", "squad", squad, texts, "--na-probs", probabilities],
        "evaluate klue-mrc --na-probs": ["evaluate", "klue-mrc", squad, texts, "--na-probs", probabilities],
    }


def generate(folder: str, questions: int) -> None:
    """Write a SQuAD 2.0 file with every fifth question unanswerable, and predictions right about half of the time."""
    chance = random.Random(1)
    vocabulary = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10))) for _ in range(20_000)]
    paragraphs, texts, probabilities = [], {}, {}
    for start in range(0, questions, _QUESTIONS_A_CONTEXT):
        words = chance.choices(vocabulary, k=_WORDS_A_CONTEXT)
        qas = []
        for number in range(start, min(start + _QUESTIONS_A_CONTEXT, questions)):
            place = chance.randrange(_WORDS_A_CONTEXT - 3)
            answer = " ".join(words[place : place + chance.randint(1, 3)])
            offset = len(" ".join(words[:place])) + (place > 0)
            impossible = number % 5 == 4
            qas.append({
                "id": f"q{number}", "question": f"Which word is number {number} {words[0]}?", "is_impossible": impossible,
                "answers": [] if impossible else [{"text": answer, "answer_start": offset}],
            })  # fmt: skip
            texts[f"q{number}"] = answer if chance.random() < 0.5 else words[0]
            probabilities[f"q{number}"] = round(chance.random(), 6)
        paragraphs.append({"context": " ".join(words), "qas": qas})
    squad = {"version": "v2.0", "data": [{"title": "generated", "paragraphs": paragraphs}]}
    for name, content in (("squad", squad), ("texts", texts), ("na", probabilities)):
        Path(folder, f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


SPEC = Spec("datasets", __doc__, {"commands": commands}, (1_000, 100_000, 100_000), (1, 3, 3))

if __name__ == "__main__":
    run(SPEC)
