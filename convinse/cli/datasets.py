"""Commands of question answering data: convert, validate, visualize, download."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from .arguments import Commands, positive
from .tables import console, print_pairs

_VALIDATORS = {  # format -> module with validate(path) -> Report
    "mrqa": "convinse.formats.mrqa",
    "squad": "convinse.formats.squad",
    "multiqa": "convinse.formats.multiqa.validate",
}
_SHOWN = 20  # problems and warnings that are printed without --all


def add(commands: Commands) -> None:
    """`convert`, `validate`, `visualize`, `download`."""
    sub = commands.add("convert", _convert, "question answering data from one format into another")
    sub.add_argument("input", metavar="INPUT", help="plain or packed (.gz, .bz2, .zst)")
    sub.add_argument("output", metavar="OUTPUT", help="an older file there is replaced; packed if it ends in .gz")
    sub.add_argument("--to", required=True, metavar="FORMAT", help="mrqa, multiqa or squad")
    sub.add_argument(
        "--from",
        dest="source",
        metavar="NAME",
        help="the data set or format of INPUT, or package.module:Class (default: guessed from its content)",
    )

    sub = commands.add("validate", _validate, "check a file; prints what is wrong and what the file holds")
    sub.add_argument("file", metavar="FILE", help="plain or packed (.gz, .bz2, .zst)")
    sub.add_argument("--format", choices=sorted(_VALIDATORS), help="default: guessed from the content")
    sub.add_argument("--all", action="store_true", help=f"print all problems and warnings, not the first {_SHOWN}")

    sub = commands.add("visualize", _visualize, "show the questions of an MRQA file, answers highlighted")
    sub.add_argument("file", metavar="FILE", help="an MRQA file, plain or packed, or its URL")
    sub.add_argument("--qid", metavar="ID", help="only this question")
    sub.add_argument("--limit", type=positive, metavar="N", help="only the first N questions")

    interrupted = "files that are whole are kept, run the command again to go on"
    sub = commands.add("download", _download, "public data from its official address, checked", interrupted)
    sub.add_argument(
        "name",
        metavar="NAME",
        help="mrqa-train, mrqa-dev-in, mrqa-dev-out, squad, klue-mrc, convmix, convinse or poleval",
    )
    sub.add_argument("folder", metavar="DIR", help="files that are there already are kept")
    sub.add_argument("--mirror", metavar="URL", help="another address of a folder with the files")


def _convert(options: argparse.Namespace) -> int:
    from ..formats.converters import convert

    output, start = Path(options.output), time.perf_counter()
    source, counts = convert(Path(options.input), output, options.to, options.source, quiet=options.quiet)
    seconds = time.perf_counter() - start
    print(f"{output} ({source} to {options.to})")  # a table's title would be broken at the table's width
    print_pairs(None, {**{what: f"{count:,}" for what, count in counts.items()}, "seconds": f"{seconds:.1f}"})
    return 0


def _validate(options: argparse.Namespace) -> int:
    from importlib import import_module

    from ..formats.converters import guess_format
    from ..support.errors import ConfigError, DataError

    path = Path(options.file)
    name = options.format or guess_format(path, "--format")
    if name not in _VALIDATORS:
        raise ConfigError(f"{path}: looks like {name}, which has no checks; valid formats: {', '.join(_VALIDATORS)}")
    report = import_module(_VALIDATORS[name]).validate(path)
    for title, lines in (("problem", report.problems), ("warning", report.warnings)):
        shown = lines if options.all else lines[:_SHOWN]
        for line in shown:
            print(f"{title}: {line}")
        if len(shown) < len(lines):
            print(f"{len(lines) - len(shown)} more {title}s; --all prints them")
    for what, value in report.summary.items():
        print(f"{what}: {_plain(value)}")
    if report.problems:
        raise DataError(f"{path}: {len(report.problems)} problem{'s' * (len(report.problems) > 1)}, listed above")
    return 0


def _plain(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(part)}" for key, part in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _visualize(options: argparse.Namespace) -> int:
    from ..formats.download import local_files
    from ..formats.visualize import examples, show

    with local_files(options.file) as (path,):
        show(console(), examples(path, options.qid, options.limit))
    return 0


def _download(options: argparse.Namespace) -> int:
    from ..formats.download import download, find_collection

    files = download(find_collection(options.name), Path(options.folder), options.mirror, options.quiet)
    for path, is_new, is_checked in files:
        state = "as published" if is_checked else "not checked, as no sum is published"
        print(f"{path}: {state}{'' if is_new else ', was there already'}", flush=True)
    return 0
