"""The figures of one's own runs on ConvMix beside those that were published.

    python scripts/recipes/reproduce.py results/convmix-convinse [results/convmix-nc_all ...]

A run is the folder that `pipeline` writes for a configuration, such as those of config/convmix; each combination of sources
in it is a row. Published is CONVINSE with all four sources on the whole test set, gold answers of earlier turns given
(Christmann et al., SIGIR 2022): compare it with runs of `kb_text_table_info` without --limit, --part and --pred-answers.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

from convinse.formats.run_folder import METRICS
from convinse.support.errors import one_line

PUBLISHED = {"num_questions": "", "p_at_1": 0.342, "mrr": 0.365, "h_at_5": 0.386}
COLUMNS = {"num_questions": ("questions", "{}"), "p_at_1": ("P@1", "{:.3f}"), "mrr": ("MRR", "{:.3f}"), "h_at_5": ("Hit@5", "{:.3f}")}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", nargs="+", metavar="FOLDER", help="results/NAME, or one combination of sources in it")
    table = Table(title="ConvMix", title_justify="left")
    table.add_column("")
    for header, _ in COLUMNS.values():
        table.add_column(header, justify="right")
    rows = [("CONVINSE kb_text_table_info, as published", PUBLISHED)]
    rows += (row for run in parser.parse_args().runs for row in measured(Path(run)))
    for name, metrics in rows:
        table.add_row(name, *(form.format(metrics[key]) for key, (_, form) in COLUMNS.items()))
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def measured(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The combinations of sources of a run, each with its metrics; most sources first."""
    files = [file for file in (folder / METRICS, *folder.glob(f"*/{METRICS}")) if file.is_file()]
    if not files:
        sys.exit(f"reproduce: {folder}: no {METRICS} in it or one folder below; run the pipeline first")
    for file in sorted(files, key=lambda file: (-file.parent.name.count("_"), file.parent.name)):
        try:
            yield " ".join(file.resolve().parts[-3:-1]), msgspec.json.decode(file.read_bytes())
        except msgspec.DecodeError as error:
            sys.exit(f"reproduce: {file}: {one_line(error)}")


if __name__ == "__main__":
    main()
