"""The command that prepares training data of question understanding: annotate."""

from __future__ import annotations

import argparse

from .arguments import Commands, console, sources_and_config


def add(commands: Commands) -> None:
    """`annotate`."""
    sub = commands.add(
        "annotate",
        _annotate,
        "find what in questions and their history leads to the gold answers: training data of train qu",
        "the files of finished parts are kept",
    )
    sub.add_argument(
        "words",
        nargs="*",
        metavar="SOURCES|CONFIG",
        help="sources such as kb_text_info and a configuration, in either order",
    )
    sub.add_argument("--part", choices=("train", "dev", "test"), help="the conversations to annotate (default all)")


def _annotate(options: argparse.Namespace) -> int:
    from rich.table import Table

    from ..training.distant_supervision import OUTCOMES, PARTS, annotate

    sources, config = sources_and_config(options.words)
    done = annotate(config, sources, [options.part] if options.part else PARTS, options.quiet)
    table = Table(title=f"turns, by evidences of {'_'.join(sources)}", title_justify="left")
    for name in ("", "turns", *OUTCOMES):
        table.add_column(name, justify="right" if name else "left")
    for part in done:
        name = part.path.stem.removeprefix("annotated_")
        table.add_row(name, *(str(part.counts[outcome]) for outcome in ("turns", *OUTCOMES)))
    console().print(table)
    for part in done:
        print(part.path)
    return 0
