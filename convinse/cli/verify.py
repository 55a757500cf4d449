"""The command that compares built files with their checksums: verify."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from .arguments import Commands

_NO_SUMS = "has no checksums: another program wrote it, or its run is not finished"


def add(commands: Commands) -> None:
    """Add `verify`."""
    sub = commands.add("verify", _verify, "check that built files are as they were written, byte for byte")
    sub.add_argument(
        "path",
        metavar="PATH",
        help="a knowledge base, a Wikipedia dump, an index of documents or passages, a model, a cache, results, or a folder of these",
    )


def _verify(options: argparse.Namespace) -> int:
    from ..config import resolve
    from ..support.errors import IndexFileError

    path = resolve(options.path)
    checked, damaged = 0, []
    for file, fault in faults(path):
        checked += 1
        if fault:
            damaged.append(file)
        print(f"{file}: {_NO_SUMS if fault is None else fault or 'ok'}", flush=True)
    if not checked:
        raise IndexFileError(f"{path}: nothing here that verify knows: name a knowledge base, a dump, a passage index, "
                             "a model, a cache or results")  # fmt: skip
    if damaged:
        raise IndexFileError(f"{damaged[0]}: damaged" + (f", and {len(damaged) - 1} more" if damaged[1:] else ""))
    return 0


def faults(path: Path) -> Iterator[tuple[Path, str | None]]:
    """Yield each file at a path and its fault: empty if it is sound, None if it has no checksums.

    Raises:
        IndexFileError: the file or folder is missing.
    """
    from ..encoder.exported import MANIFEST as GRAPHS
    from ..formats.run_folder import TURNS
    from ..support import manifest
    from ..support.cache import FILE, cache_fault
    from ..support.errors import IndexFileError

    if path.is_file():
        yield path, cache_fault(path) if path.name == FILE else _dump_fault(path)
    elif not path.is_dir():
        raise IndexFileError(f"{path}: no such file or folder")
    elif (path / manifest.MANIFEST).exists():
        yield from manifest.faults(path)
    elif plain := [path / name for name in ("config.json", GRAPHS, TURNS) if (path / name).is_file()]:
        yield from ((file, None) for file in plain)
    else:
        for inner in sorted(path.iterdir()):
            if inner.is_dir() or inner.suffix == ".db":
                yield from faults(inner)


def _dump_fault(path: Path) -> str:
    from contextlib import closing

    from ..documents.index import FILE, DocumentIndex
    from ..support.errors import IndexFileError
    from ..wikipedia.dump import WikipediaDump

    try:
        with closing(DocumentIndex(path.parent) if path.name == FILE else WikipediaDump(path)) as dump:
            dump.verify()
    except IndexFileError as error:
        return str(error).removeprefix(f"{path}: ")
    return ""
