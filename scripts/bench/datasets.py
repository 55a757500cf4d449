"""Conversion, validation and scoring of generated questions: seconds and peak memory of each command.

    bash run.sh bench datasets

100,000 questions by default. Each command runs in a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from .harness import Bench, Figures, Spec, apart, commands, run

_QUESTIONS_A_CONTEXT = 5
_WORDS_A_CONTEXT = 120


COMMANDS = {
    "convert SQuAD -> MRQA": "convert squad.json mrqa.jsonl.gz --to mrqa",
    "convert SQuAD -> MultiQA": "convert squad.json multiqa.jsonl --to multiqa",
    "convert MRQA -> MultiQA": "convert mrqa.jsonl.gz b.jsonl --to multiqa",
    "convert MultiQA -> MRQA": "convert multiqa.jsonl c.jsonl --to mrqa",
    "convert MultiQA -> SQuAD": "convert multiqa.jsonl d.json --to squad",
    "validate MultiQA": "validate multiqa.jsonl",
    "validate MRQA": "validate mrqa.jsonl.gz",
    "evaluate mrqa": "evaluate mrqa mrqa.jsonl.gz texts.json --skip-no-answer",
    "evaluate squad --na-probs": "evaluate squad squad.json texts.json --na-probs na.json",
    "evaluate klue-mrc --na-probs": "evaluate klue-mrc squad.json texts.json --na-probs na.json",
}


def datasets(bench: Bench) -> Figures:
    apart(generate, bench.work, bench.size)  # not here: a command starts with the memory of who starts it
    cases = {name: [*line.split(), "--quiet"] for name, line in COMMANDS.items()}
    return {"questions": bench.size, "commands": commands(bench, f"{bench.size:,} questions", cases, lambda: None)}


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


SPEC = Spec("datasets", __doc__, {"commands": datasets}, (1_000, 100_000, 100_000), (1, 3, 3))

if __name__ == "__main__":
    run(SPEC)
