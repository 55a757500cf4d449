"""The checksums of a folder of models or results: `checksums.json`, with the SHA-256 of each of its files and of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from .errors import ConvinseError, one_line
from .files import replacing, sha256
from .manifest import seal_is_whole, sealed

FOLDER_SUMS = "checksums.json"
_BY_HAND = f"where it was changed on purpose, delete {FOLDER_SUMS}"


class FolderSums(msgspec.Struct, frozen=True):
    """What a folder says of its files, by their paths in it; `checksum` is that of the file itself."""

    files: dict[str, str]
    checksum: str = ""


def write_sums(folder: Path, names: Iterable[str] | None = None) -> None:
    """Write the checksums of files of a folder that is whole. Raises `OutputError`: they cannot be written.

    Args:
        folder: the folder.
        names: of the files; None: all but Markdown, which is for people to read and to edit.
    """
    if names is None:
        paths = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
        names = (
            path.relative_to(folder).as_posix() for path in paths if path.name != FOLDER_SUMS and path.suffix != ".md"
        )
    sums = FolderSums({name: sha256(folder / name) for name in sorted(names)})
    with replacing(folder / FOLDER_SUMS) as temporary:
        temporary.write_bytes(sealed(msgspec.json.format(msgspec.json.encode(sums), indent=1) + b"\n"))


def sums_faults(folder: Path, wanted: Callable[[str], bool] = lambda name: True) -> Iterator[tuple[Path, str]]:
    """The files of a folder that have checksums, those that are `wanted`, and what is wrong with each: empty where nothing is.

    A folder without checksums has none: an earlier version wrote it, or somebody else.
    """
    file = folder / FOLDER_SUMS
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        yield file, f"cannot be read ({one_line(error)})"
        return
    try:
        sums = msgspec.json.decode(data, type=FolderSums)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        yield file, f"is damaged ({one_line(error)})"
        return
    if not seal_is_whole(data):
        yield file, "is damaged"
        return
    yield file, ""
    for name, expected in sums.files.items():
        if wanted(name):
            yield folder / name, _fault(folder / name, expected)


def _fault(path: Path, expected: str) -> str:
    try:
        return "" if sha256(path) == expected else f"altered since it was written; {_BY_HAND}"
    except OSError as error:
        return f"cannot be read ({one_line(error)})"


def check_sums(
    folder: Path, wanted: Callable[[str], bool], error: type[ConvinseError], where: str = "", remedy: str = ""
) -> None:
    """Raise `error` for the first damaged one of the files that are `wanted`; `where` and `remedy` begin and end its text."""
    for path, fault in sums_faults(folder, wanted):
        if fault:
            raise error(f"{where}{path}: {fault}{f'; {remedy}' if remedy else ''}")
