"""The command report: finished runs as one page, and as tables for a paper."""

from __future__ import annotations

import argparse
from pathlib import Path

from .arguments import Commands


def add(commands: Commands) -> None:
    """`report`."""
    sub = commands.add(
        "report",
        _report,
        "one HTML page of finished runs over the same questions: measures, intervals, groups, differences",
    )
    sub.add_argument(
        "results", nargs="+", metavar="RESULTS_DIR", help="folders that `pipeline` wrote, or above them; the first run is the one that others are compared with"
    )  # fmt: skip
    sub.add_argument("--output", default="report.html", metavar="FILE", help="the page (default report.html)")
    sub.add_argument("--latex", metavar="DIR", help="also write the tables as DIR/NAME.tex")
    sub.add_argument("--title", default="Runs of convinse", help="of the page")
    sub.add_argument("--force", action="store_true", help="replace files that are there")


def _report(options: argparse.Namespace) -> int:
    from ..formats.poleval.runs import check_free
    from ..reports.content import letters, tables
    from ..reports.latex import latex_table
    from ..reports.page import page
    from ..reports.reported_run import find_runs, read_runs
    from ..support.files import replacing

    output = Path(options.output)
    check_free(output, options.force)
    runs = read_runs(find_runs([Path(path) for path in options.results]))
    texts = {output: page(runs, options.title)}
    if options.latex:
        texts |= {Path(options.latex) / f"{table.name}.tex": latex_table(table) for table in tables(runs)}
    for path in texts:
        check_free(path, options.force)
    for path, text in texts.items():
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    for letter, run in zip(letters(runs), runs, strict=True):
        print(f"{letter}  {run.name}")
    print(output)
    return 0
