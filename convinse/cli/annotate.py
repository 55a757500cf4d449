"""The command that prepares training data of question understanding: annotate."""

from __future__ import annotations

import argparse

from .arguments import Commands, add_words, sources_and_config
from .tables import print_rows


def add(commands: Commands) -> None:
    """`annotate`."""
    sub = commands.add(
        "annotate",
        _annotate,
        "find what in questions and their history leads to the gold answers: training data of train qu",
        "the files of finished parts are kept",
    )
    add_words(sub)
    sub.add_argument("--part", choices=("train", "dev", "test"), help="the conversations to annotate (default all)")


def _annotate(options: argparse.Namespace) -> int:
    from ..training.distant_supervision import OUTCOMES, PARTS, annotate

    sources, config = sources_and_config(options.words)
    done = annotate(config, sources, [options.part] if options.part else PARTS, options.quiet)
    counts = ("turns", *OUTCOMES)
    rows = [[path.stem.removeprefix("annotated_"), *(str(of[name]) for name in counts)] for path, of in done.items()]
    print_rows(f"turns, by evidences of {'_'.join(sources)}", ["", *counts], rows)
    for path in done:
        print(path)
    return 0
