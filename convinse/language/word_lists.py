"""Reads the word lists of a language: text files with named lists.

`# ...` is a comment, `[name]` begins a list. The form of a list depends on the field that it fills: words between blanks, a
phrase a line, or `keys: words` on a line, where all keys of the line get its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, get_type_hints

from ..support.errors import DataError

WordSet = frozenset[str]
Phrases = tuple[str, ...]
Ordered = Sequence[str]
Table = Mapping[str, frozenset[str]]
Numbers = Mapping[str, int]
Renamed = Mapping[str, str]


class WordLists:
    """The lists of one file of a language, and the grammar that needs them.

    A subclass names its `file` and declares a field for each list of it: a `str`, a regular expression, or one of the types above.
    Its other fields are the `parts` of the language that its grammar needs.

    Raises:
        DataError: the file cannot be read, a list is missing, unknown or of another form.
    """

    file: ClassVar[str]

    def __init__(self, folder: Path, **parts: object) -> None:
        vars(self).update(parts)
        path = folder / self.file
        lines = _read(path)
        forms = {name: _FORMS[hint] for name, hint in get_type_hints(type(self)).items() if hint in _FORMS}
        if differing := sorted(forms.keys() ^ lines.keys()):
            lacking = [name for name in differing if name in forms]
            fault = f"no list [{lacking[0]}]" if lacking else f"unknown list [{differing[0]}]"
            raise DataError(f"{path}: {fault}; the lists are {', '.join(forms)}")
        for name, form in forms.items():
            try:
                setattr(self, name, form(lines[name]))
            except (ValueError, re.error) as error:
                raise DataError(f"{path}: [{name}]: {error}") from None


def read_words(path: Path) -> WordSet:
    """Return the words of all lists of a file. Raises `DataError` if it cannot be read."""
    return frozenset(" ".join(chain.from_iterable(_read(path).values())).split())


def _read(path: Path) -> dict[str, list[str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read ({error}); a language needs all of its word lists") from None
    lists: dict[str, list[str]] = {}
    current: list[str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        header = re.fullmatch(r"\[(\w+)\]", line)
        if header is not None:
            if header[1] in lists:
                raise DataError(f"{path}: line {number}: the list [{header[1]}] is there already")
            current = lists[header[1]] = []
        elif line and not line.startswith("#"):
            if current is None:
                raise DataError(f"{path}: line {number}: a list begins with its name in brackets")
            current.append(line)
    return lists


def _single(lines: list[str]) -> str:
    if len(lines) != 1:
        raise ValueError(f"expected one line, found {len(lines)}")
    return lines[0]


def _pairs(lines: list[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for line in lines:
        keys, colon, text = line.partition(":")
        if not colon or not keys.split() or not text.strip():
            raise ValueError(f"expected `keys: words`, found '{line}'")
        for key in keys.split():
            if key in pairs:
                raise ValueError(f"'{key}' is there twice")
            pairs[key] = text.strip()
    return pairs


_FORMS: Mapping[Any, Callable[[list[str]], object]] = {
    str: _single,
    re.Pattern[str]: lambda lines: re.compile(_single(lines)),
    WordSet: lambda lines: frozenset(" ".join(lines).split()),
    Phrases: tuple,
    Ordered: lambda lines: tuple(" ".join(lines).split()),
    Table: lambda lines: MappingProxyType({key: frozenset(text.split()) for key, text in _pairs(lines).items()}),
    Numbers: lambda lines: MappingProxyType({key: int(text) for key, text in _pairs(lines).items()}),
    Renamed: lambda lines: MappingProxyType(_pairs(lines)),
}
