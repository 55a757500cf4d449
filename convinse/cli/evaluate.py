"""Commands that measure results: evaluate TASK."""

from __future__ import annotations

import argparse

from .arguments import Commands


def add(commands: Commands) -> None:
    """`evaluate answers`."""
    commands = commands.group("evaluate", "measures of finished results, as one JSON object")
    sub = commands.add("answers", _answers, "P@1, MRR, Hit@5 and answer presence of a pipeline run")
    sub.add_argument("file", metavar="TURNS.jsonl", help="written by `pipeline`")


def _answers(options: argparse.Namespace) -> int:
    from pathlib import Path

    import msgspec

    from ..benchmarks.convmix import read_conversations
    from ..scoring.convqa import evaluate

    print(msgspec.json.encode(evaluate(read_conversations(Path(options.file)))).decode())
    return 0
