"""Opening an index, whichever way it lies: in one piece, in parts, or behind servers."""

from __future__ import annotations

from pathlib import Path

from ..support.errors import IndexFileError
from .index import PassageIndex
from .layout import is_index, part_folders
from .part_client import PartServers
from .parts import AnyIndex, PassageParts


def open_index(place: str | Path) -> AnyIndex:
    """An index in one piece, in parts, or behind servers.

    Args:
        place: the folder, or the addresses of `retrieve serve`, by commas.

    Raises:
        IndexFileError: there is no whole index: a part is missing, damaged or of another index.
        NetworkError: no server can be asked.
        DataError: servers have parts of several indexes.
    """
    if "://" in str(place):
        return PartServers(str(place).split(",")).index()
    folder = Path(place)
    if is_index(folder) or not (folders := part_folders(folder)):
        index = PassageIndex(folder)
        if index.manifest.part is not None:
            raise IndexFileError(
                f"{folder}: is part {index.part.number} of an index; name the folder that has all parts"
            )
        return index
    parts = [PassageIndex(path) for path in folders]
    first = parts[0].part
    for index in parts:
        if index.manifest.part is None or (index.part.whole, index.part.starts) != (first.whole, first.starts):
            raise IndexFileError(
                f"{index.folder}: is no part of the index of {parts[0].folder}; build them again with --force"
            )
    have = {index.part.number for index in parts}
    for number in range(1, len(first.starts)):
        if number not in have:
            raise IndexFileError(
                f"{folder / f'part-{number}'}: is missing; bring it back, or build all parts again with --force"
            )
    return PassageParts(sorted(parts, key=lambda index: index.part.number), parts[0].parameters)


def open_served(folder: Path) -> AnyIndex:
    """What `retrieve serve` serves: as `open_index`, and a part, too."""
    return PassageIndex(folder) if is_index(folder) else open_index(folder)
