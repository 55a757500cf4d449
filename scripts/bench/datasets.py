"""Conversion, validation and scoring of 100,000 generated questions: seconds and peak memory of each command.

    bash run.sh bench datasets [--questions N]

Each command runs in a process of its own, so that its memory is its own. The figures go to
results/bench/datasets.json.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

OUTPUT = Path("results/bench/datasets.json")
_QUESTIONS_A_CONTEXT = 5
_WORDS_A_CONTEXT = 120


def main() -> int:
    """Generate, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=100_000)
    questions = parser.parse_args().questions
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        generator = multiprocessing.get_context("spawn").Process(target=_generate, args=(work, questions))
        generator.start()  # not here: a command starts with the memory of who starts it
        generator.join()
        for name, arguments in _commands(work):
            seconds, peak = _run(arguments)
            rows.append({"command": name, "seconds": round(seconds, 2), "peak_mb": round(peak)})
    table = Table(title=f"{questions:,} questions", title_justify="left")
    for column in ("", "seconds", "peak MB"):
        table.add_column(column, justify="right" if column else "left")
    for row in rows:
        table.add_row(row["command"], f"{row['seconds']:.1f}", str(row["peak_mb"]))
    Console(width=None if sys.stdout.isatty() else 100).print(table)
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps({"questions": questions, "rows": rows}, indent=1), encoding="utf-8")
    print(OUTPUT)
    return 0


def _commands(work: Path) -> list[tuple[str, list[str]]]:
    squad, mrqa, multi = str(work / "squad.json"), str(work / "mrqa.jsonl.gz"), str(work / "multiqa.jsonl")
    texts, probabilities = str(work / "texts.json"), str(work / "na.json")
    return [
        ("convert SQuAD -> MRQA", ["convert", squad, mrqa, "--to", "mrqa"]),
        ("convert SQuAD -> MultiQA", ["convert", squad, multi, "--to", "multiqa"]),
        ("convert MRQA -> MultiQA", ["convert", mrqa, str(work / "b.jsonl"), "--to", "multiqa"]),
        ("convert MultiQA -> MRQA", ["convert", multi, str(work / "c.jsonl"), "--to", "mrqa"]),
        ("convert MultiQA -> SQuAD", ["convert", multi, str(work / "d.json"), "--to", "squad"]),
        ("validate MultiQA", ["validate", multi]),
        ("validate MRQA", ["validate", mrqa]),
        ("evaluate mrqa", ["evaluate", "mrqa", mrqa, texts, "--skip-no-answer"]),
        ("evaluate squad --na-probs", ["evaluate", "squad", squad, texts, "--na-probs", probabilities]),
        ("evaluate klue-mrc --na-probs", ["evaluate", "klue-mrc", squad, texts, "--na-probs", probabilities]),
    ]


def _generate(work: Path, questions: int) -> None:
    """A SQuAD 2.0 file with every fifth question unanswerable, predictions right about half of the time."""
    chance = random.Random(1)
    vocabulary = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10))) for _ in range(20_000)]
    paragraphs, texts, probabilities = [], {}, {}
    for start in range(0, questions, _QUESTIONS_A_CONTEXT):
        words = chance.choices(vocabulary, k=_WORDS_A_CONTEXT)
        context = " ".join(words)
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
        paragraphs.append({"context": context, "qas": qas})
    squad = {"version": "v2.0", "data": [{"title": "generated", "paragraphs": paragraphs}]}
    for name, content in (("squad", squad), ("texts", texts), ("na", probabilities)):
        (work / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def _run(arguments: list[str]) -> tuple[float, float]:
    """Wall seconds and peak megabytes of a command."""
    start = time.perf_counter()
    pid = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "convinse", *arguments, "--quiet"],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"bench datasets: {' '.join(arguments)} failed")
    return time.perf_counter() - start, usage.ru_maxrss / 1000


if __name__ == "__main__":
    raise SystemExit(main())
