"""The command that reads all of what was built and compares it with its checksums: verify."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from .arguments import Commands

_NO_SUMS = "has no checksums: an earlier version wrote it, or another program, or its run is not finished"


def add(commands: Commands) -> None:
    """`verify`."""
    sub = commands.add("verify", _verify, "whether what was built is as it was written, byte for byte")
    sub.add_argument(
        "path",
        metavar="PATH",
        help="a knowledge base, a Wikipedia dump, a passage index, a model, a cache, results, or a folder of these",
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
        text = (
            fault
            if fault and fault.startswith(str(file))
            else f"{file}: {fault or ('ok' if fault == '' else _NO_SUMS)}"
        )
        print(text, flush=True)
    if not checked:
        raise IndexFileError(f"{path}: nothing here that verify knows: name a knowledge base, a dump, a passage index, "
                             "a model, a cache or results")  # fmt: skip
    if damaged:
        raise IndexFileError(f"{damaged[0]}: damaged" + (f", and {len(damaged) - 1} more" if damaged[1:] else ""))
    return 0


def faults(path: Path) -> Iterator[tuple[Path, str | None]]:
    """Each file at a path, and what is wrong with it: empty where nothing is, None where it has no checksums.

    Raises:
        IndexFileError: there is no such file, or a manifest is damaged.
    """
    from ..support.errors import IndexFileError

    if path.is_dir():
        yield from _of_folder(path)
    elif path.suffix == ".vectors":
        from ..support.vector_cache import file_fault

        yield path, file_fault(path)
    elif path.name == "cache.db":
        yield from _of_entries(path.parent)
    elif path.is_file():
        yield path, _of_dump(path)
    else:
        raise IndexFileError(f"{path}: no such file or folder")


def _of_folder(folder: Path) -> Iterator[tuple[Path, str | None]]:
    from ..formats.run_folder import TURNS
    from ..support.folder_sums import FOLDER_SUMS, sums_faults
    from ..support.manifest import MANIFEST

    if (folder / MANIFEST).is_file():
        yield from _of_index(folder)
    elif (folder / FOLDER_SUMS).is_file():
        yield from sums_faults(folder)
    elif (folder / "config.json").is_file():
        yield from _of_model(folder)
    elif (folder / TURNS).is_file():
        yield folder / TURNS, None
    elif (folder / "cache.db").is_file():
        yield from _of_entries(folder)
    else:
        for path in sorted(folder.iterdir()):
            if path.is_dir() or path.suffix in (".vectors", ".db"):
                yield from faults(path)


def _of_index(folder: Path) -> Iterator[tuple[Path, str]]:
    """The files of a knowledge base or of a passage index."""
    from ..knowledge_base import layout as knowledge_base
    from ..passages import layout as passages
    from ..support.errors import IndexFileError
    from ..support.manifest import BLOCK_SUMS, MANIFEST, BuiltFolder

    room = knowledge_base if (folder / knowledge_base.PROPERTIES).is_file() else passages
    try:
        manifest = room.read_manifest(folder)
    except IndexFileError as error:
        yield folder / MANIFEST, str(error)
        return
    yield folder / MANIFEST, ""
    try:
        files = BuiltFolder(folder, manifest, room.CHECKS, compare=False)
    except IndexFileError as error:
        yield folder / BLOCK_SUMS, str(error)
        return
    yield from files.faults()


def _of_dump(path: Path) -> str:
    from contextlib import closing

    from ..support.errors import IndexFileError
    from ..wikipedia.dump import WikipediaDump

    try:
        with closing(WikipediaDump(path)) as dump:
            dump.verify()
    except IndexFileError as error:
        return str(error)
    return ""


def _of_model(folder: Path) -> Iterator[tuple[Path, str | None]]:
    """The files of a model folder that has checksums of its graphs at most."""
    from ..encoder.exported import MANIFEST, is_exported, read_exported
    from ..support.errors import ModelError
    from ..support.files import sha256

    yield folder / "config.json", None
    if not is_exported(folder):
        return
    try:
        exported = read_exported(folder, str(folder / MANIFEST))
    except ModelError as error:
        yield folder / MANIFEST, str(error)
        return
    for name, digest in exported.files.items():
        same = (folder / name).is_file() and sha256(folder / name) == digest
        yield folder / name, "" if same else f"damaged, or not the one that {MANIFEST} was made for"


def _of_entries(folder: Path) -> Iterator[tuple[Path, str]]:
    """The database of an evidence cache, whose folder `entries` is."""
    from ..support.evidence_cache import EvidenceCache

    wrong = list(EvidenceCache(folder.parent).faults())
    yield folder / "cache.db", "; ".join(wrong[:3])
