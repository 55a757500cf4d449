"""The command report: finished runs as one page."""

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
    sub.add_argument("--latex", metavar="FILE", help="write the tables for a paper, too")
    sub.add_argument("--title", default="Runs of convinse", help="of the page")
    sub.add_argument("--force", action="store_true", help="replace files that are there")


def _report(options: argparse.Namespace) -> int:
    from ..formats.poleval.runs import check_free
    from ..reports.content import latex, letters, tables
    from ..reports.page import page
    from ..reports.reported_run import find_runs, read_runs
    from ..support.files import replacing

    outputs = [Path(name) for name in (options.output, options.latex) if name]
    for output in outputs:
        check_free(output, options.force)
    runs = read_runs(find_runs([Path(path) for path in options.results]))
    texts = [page(runs, options.title), "\n".join(map(latex, tables(runs)))]
    for letter, run in zip(letters(runs), runs, strict=True):
        print(f"{letter}  {run.name}")
    for output, text in zip(outputs, texts, strict=False):
        with replacing(output) as temporary:
            temporary.write_text(text, encoding="utf-8")
        print(output)
    return 0
