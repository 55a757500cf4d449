"""Files of conversations on the disk: those of a server that ends are there for the next one, until they are removed."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from ..support.files import replacing

_FILE = "collection.json"
_MOST = 100  # collections; the one that was changed longest ago goes


class _Record(msgspec.Struct):
    conversations: list[str]
    files: dict[str, str]  # paths in the folder, by name


def read_collections(root: Path) -> list[tuple[Path, list[str], dict[str, Path]]]:
    """Return the folder, the conversations and the files by name of each collection below a folder, that changed last first.

    The folder is made if it is missing; what is older or damaged is removed.
    """
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    found: list[tuple[Path, list[str], dict[str, Path]]] = []
    for folder in sorted(root.iterdir(), key=lambda folder: -folder.stat().st_mtime):
        record = None
        with suppress(OSError, msgspec.DecodeError):
            record = msgspec.json.decode((folder / _FILE).read_bytes(), type=_Record)
        if record is None or len(found) == _MOST:
            shutil.rmtree(folder, ignore_errors=True)
            continue
        paths = {name: folder / path for name, path in record.files.items()}
        found.append((folder, record.conversations, {n: p for n, p in paths.items() if p.is_file()}))
    return found


def write_collection(folder: Path, conversations: Iterable[str], paths: Mapping[str, Path]) -> None:
    """Write the ids of the conversations about some files, and the paths of these, into their folder; nothing without files."""
    if paths:
        record = _Record([*conversations], {name: str(path.relative_to(folder)) for name, path in paths.items()})
        with replacing(folder / _FILE) as temporary:
            temporary.write_bytes(msgspec.json.encode(record))
