"""The figures of one's own runs on ConvMix beside those that were published.

    python scripts/recipes/reproduce.py results/convmix-convinse [results/convmix-nc_all ...]

A run is the folder that `pipeline` writes for a configuration, such as those of config/convmix; each combination of sources
in it is a row. Published is CONVINSE with all four sources on the whole test set, gold answers of earlier turns given
(Christmann et al., SIGIR 2022): compare it with runs of `kb_text_table_info` without --limit, --part and --pred-answers.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

from convinse.formats.run_folder import METRICS
from convinse.support.errors import ConvinseError, DataError, one_line

PUBLISHED = {"p_at_1": 0.342, "mrr": 0.365, "h_at_5": 0.386}
SHOWN = {"p_at_1": "P@1", "mrr": "MRR", "h_at_5": "Hit@5"}


class Metrics(msgspec.Struct):
    """What is read of a `metrics.json`."""

    num_questions: int
    p_at_1: float
    mrr: float
    h_at_5: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", nargs="+", metavar="FOLDER", help="results/NAME, or one combination of sources in it")
    options = parser.parse_args(arguments)
    try:
        rows = [row for run in options.runs for row in read_run(Path(run))]
    except ConvinseError as error:
        raise SystemExit(f"reproduce: {error}") from None
    Console(width=None if sys.stdout.isatty() else 120).print(table(rows))


def read_run(folder: Path) -> list[tuple[str, Metrics]]:
    """The combinations of sources of a run, each with its metrics; most sources first.

    Raises:
        DataError: there are none, or a file has no such metrics.
    """
    if (folder / METRICS).is_file():
        files = [folder / METRICS]
    else:
        files = sorted(folder.glob(f"*/{METRICS}"), key=lambda file: (-file.parent.name.count("_"), file.parent.name))
    if not files:
        raise DataError(f"{folder}: no {METRICS} in it or one folder below; run the pipeline first")
    return [(" ".join(file.resolve().parts[-3:-1]), _read(file)) for file in files]


def _read(path: Path) -> Metrics:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Metrics)
    except (OSError, msgspec.DecodeError) as error:
        raise DataError(f"{path}: {one_line(error)}") from None


def table(rows: Sequence[tuple[str, Metrics]]) -> Table:
    """The published row, then one's own."""
    found = Table(title="ConvMix", title_justify="left")
    for name in ("", "questions", *SHOWN.values()):
        found.add_column(name, justify="right" if name else "left")
    found.add_row("CONVINSE kb_text_table_info, as published", "", *_cells(PUBLISHED))
    found.add_section()
    for name, metrics in rows:
        found.add_row(name, str(metrics.num_questions), *_cells(msgspec.to_builtins(metrics)))
    return found


def _cells(values: dict[str, Any]) -> list[str]:
    return [f"{values[key]:.3f}" for key in SHOWN]


if __name__ == "__main__":
    main()
