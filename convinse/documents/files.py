"""Finds the files below paths that can be read, and counts the others by the reason."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from pathspec import GitIgnoreSpec

from ..support.errors import DataError, unreadable
from ..support.limits import LARGEST_DOCUMENT, MOST_DOCUMENTS
from .readers import reader_of

_IGNORE_FILES = (".gitignore", ".ignore")
# the formats of proofs, and of conversations that chat saves: the first value of their files
PROOF, CONVERSATION = "convinse proof 1", "convinse conversation 1"
_FORMAT = re.compile(rb'\s*\{\s*"format"\s*:\s*"convinse (proof|conversation) ')


class FoundFile(NamedTuple):
    """A file to read; `name` is its path from the requested folder, with the name of that folder.

    Of requested folders with equal names it begins with as many folders above them as tell them apart.
    """

    path: Path
    name: str
    size: int
    modified: int  # nanoseconds


def find_files(paths: Sequence[Path]) -> tuple[list[FoundFile], Counter[str]]:
    """Return the files to read at and below paths, sorted by name, and the numbers of other files by the reason.

    Links to folders and the files in `.gitignore` and `.ignore` are left out.
    """
    files: dict[str, FoundFile] = {}
    left_out: Counter[str] = Counter()
    wholes = []
    for requested in paths:
        wholes.append(requested.expanduser().resolve())
        try:
            if wholes[-1].is_dir():
                next(wholes[-1].iterdir(), None)
            else:
                wholes[-1].open("rb").close()
        except OSError as error:
            raise unreadable(requested, error) from None
    for requested, whole in zip(paths, wholes, strict=True):
        above = len(os.path.join(_telling_apart(whole, wholes), ""))  # noqa: PTH118 - with a slash at the end
        for entry in [whole] if whole.is_file() else _below(whole, left_out):
            found = _found(entry, above, left_out)
            if found is not None:
                files[found.name] = found
            if len(files) > MOST_DOCUMENTS:
                raise DataError(f"{requested}: more than {MOST_DOCUMENTS:,} files; name a folder below it")
    return [files[name] for name in sorted(files)], left_out


def _telling_apart(whole: Path, wholes: Iterable[Path]) -> Path:
    """Return the folder from which the name of a requested path is told, so that no other requested path has the same."""
    others = {other.parts for other in wholes} - {whole.parts}
    length = 1
    while length < len(whole.parts) and any(other[-length:] == whole.parts[-length:] for other in others):
        length += 1
    return whole.parents[length - 1] if length <= len(whole.parents) else whole.parent


def format_of(path: Path) -> str:
    """Return `proof` or `conversation` if a file begins as one does, see `documents.proof`; else an empty text. Raises `OSError`."""
    with path.open("rb") as file:
        match = _FORMAT.match(file.read(100))
    return match[1].decode() if match else ""


def counted_reason(number: int, reason: str) -> str:
    """Return a number of files that are left out: 3 of kinds that are not read, 1 that is too large."""
    several = (("folders", "folder"), ("kinds that are", "a kind that is"), ("that are", "that is"), ("scans", "scan"))
    for words, word in several if number == 1 else ():
        reason = reason.replace(words, word)
    return f"{number:,} {reason}"


def path_of(name: str, requested: Sequence[Path]) -> Path | None:
    """Return the path of a file by its name in `find_files` of these absolute paths; None if it is below none of them."""
    for whole in requested:
        path = _telling_apart(whole, requested) / name
        if ".." not in path.parts and (path == whole or whole in path.parents):
            return path
    return None


def _found(entry: Path | os.DirEntry[str], above: int, left_out: Counter[str]) -> FoundFile | None:
    """Return a file to read, named by its path behind `above` letters; None for others, whose reason is counted."""
    path = os.fspath(entry)
    try:
        reason = _reason_against(entry)
        state = None if reason else entry.stat()
    except OSError:
        reason, state = "that cannot be opened", None
    if state is not None and state.st_size <= LARGEST_DOCUMENT:
        return FoundFile(Path(path), path[above:], state.st_size, state.st_mtime_ns)
    left_out[reason or "that are too large"] += 1
    return None


def _reason_against(entry: Path | os.DirEntry[str]) -> str:
    """Return why a file is left out whatever its size; empty for a file to read."""
    path = os.fspath(entry)
    try:
        path.encode()
    except UnicodeEncodeError:
        return "whose names are not UTF-8"
    if not entry.is_file():
        return "that are not files"
    if reader_of(entry.name) is None:
        return "of kinds that are not read"
    if entry.name.endswith(".json") and format_of(Path(path)):  # their quotes would answer in place of the files
        return "that are proofs or saved conversations"
    return ""


def _below(folder: Path, left_out: Counter[str]) -> Iterator[os.DirEntry[str]]:
    waiting: list[tuple[str, list[tuple[Path, GitIgnoreSpec]]]] = [(str(folder), [])]
    while waiting:
        place, above = waiting.pop()
        try:
            with os.scandir(place) as entries:
                inside = sorted(entries, key=attrgetter("name"))
        except OSError:
            left_out["folders that cannot be opened"] += 1
            continue
        specs = above + [
            (Path(place), GitIgnoreSpec.from_lines(Path(entry.path).read_text("utf-8", "replace").splitlines()))
            for entry in inside
            if entry.name in _IGNORE_FILES and not entry.is_dir()
        ]
        for entry in inside:
            is_folder = entry.is_dir()
            is_left_out = entry.name.startswith(".") or (is_folder and entry.is_symlink())
            if is_left_out or _is_ignored(entry, specs, "/" if is_folder else ""):
                kind = "folders that are hidden, ignored or links" if is_folder else "that are hidden or ignored"
                left_out[kind] += 1
            elif is_folder:
                waiting.append((entry.path, specs))
            else:
                yield entry


def _is_ignored(entry: os.DirEntry[str], specs: Iterable[tuple[Path, GitIgnoreSpec]], end: str) -> bool:
    return any(spec.match_file(Path(entry.path).relative_to(folder).as_posix() + end) for folder, spec in specs)
