"""One large JSON document, read value by value: the caller says which objects and lists are taken apart.

::

    with walking(path) as walk:
        for key in walk.members("$"):
            if key == "data":
                for number in walk.elements("$.data"):
                    value = walk.value()
            else:
                value = walk.value()
        walk.end()

Only the value under way is in memory, however long the lists are. Files may be packed, as in `jsonlines`.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeVar

import msgspec

from .errors import DataError, one_line
from .jsonlines import open_packed, reading

T = TypeVar("T")

_BLOCK = 1 << 18  # bytes that are read at a time
_LONGEST_TOKEN = 16  # characters of what the end of a block may cut in two: `false`, an escape
_BLANKS = re.compile(r"[ \t\r\n]*")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # of a surrogate pair; Python's decoder lets one stand alone
_KINDS = {  # of values, by their first character
    **{"{": "object", "[": "array", '"': "str", "t": "bool", "f": "bool", "n": "null"},
    **dict.fromkeys("-0123456789", "number"),
}


@contextmanager
def walking(path: Path) -> Iterator[JsonWalk]:
    """A walk through a file. Raises `DataError` where it cannot be opened or unpacked."""
    with open_packed(path) as file:
        walk = JsonWalk(path, file)
        with reading(path, lambda: walk.line):
            yield walk


class JsonWalk:
    """A place in a JSON document, which moves forward only.

    All methods raise `DataError` where the text is no JSON, ends too early or is of another type; it names file, line
    and place.

    Args:
        path: the name of the file, for messages.
        file: its unpacked bytes, in UTF-8 with or without a byte order mark.
    """

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""  # what was read and may still be needed
        self._at = 0  # the place in it
        self._line = 1  # of its first character
        self._dropped = 0  # characters before it

    @property
    def line(self) -> int:
        """The line of the place, from 1."""
        return self._line_at(self._at)

    def members(self, where: str) -> Iterator[str]:
        """The keys of the object at the place; the caller moves behind the value of each before asking for the next.

        Args:
            where: the JSON path of the object, for messages.
        """
        seen = set()
        for _ in self._items("{", "}", where):
            if self._next() != '"':
                self._fail("expected a key in double quotes")
            key = self.value()
            if key in seen:
                self._fail(f"the key '{key}' appears twice in one object, at `{where}`")
            seen.add(key)
            if self._next() != ":":
                self._fail("expected ':' after a key")
            self._at += 1
            yield key

    def elements(self, where: str) -> Iterator[int]:
        """The numbers, from 0, of the elements of the list at the place, each of which the caller moves behind."""
        return self._items("[", "]", where)

    def value(self) -> Any:
        """The value at the place, decoded as a whole; the place moves behind it."""
        self._next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
                if _HALF.search(self._text, self._at, end):
                    msgspec.json.decode(self._text[self._at : end])
            except json.JSONDecodeError as error:
                # no fault yet where the end of the block cuts it off: a string is cut at any distance from its beginning
                cut = error.pos + _LONGEST_TOKEN > len(self._text) or error.msg.startswith("Unterminated string")
                if not (cut and self._more()):
                    self._fail(error.msg[:1].lower() + error.msg[1:].removesuffix(" at"), error.pos)
            except RecursionError:
                self._fail("nested too deep")
            except msgspec.DecodeError:
                self._fail("a string with half of a surrogate pair")
            except ValueError as error:
                self._fail(one_line(error))
            else:
                # a number may go on in the next block; what has an end of its own does not
                if end + _LONGEST_TOKEN > len(self._text) and self._text[end - 1] not in '"}]' and self._more():
                    continue
                self._at = end
                return value

    def end(self) -> None:
        """Make sure that nothing follows."""
        if self._next():
            self._fail("text behind the end of the document")

    def _items(self, opening: str, closing: str, where: str) -> Iterator[int]:
        letter = self._next()
        if letter != opening:
            if letter not in _KINDS:
                self._fail("expected a value")
            raise DataError(
                f"{self._path}:{self.line}: Expected `{_KINDS[opening]}`, got `{_KINDS[letter]}` - at `{where}`"
            )
        self._at += 1
        if self._next() == closing:
            self._at += 1
            return
        number = 0
        while True:
            yield number
            number += 1
            letter = self._next()
            if letter not in (",", closing):
                self._fail(f"expected ',' or '{closing}'")
            self._at += 1
            if letter == closing:
                return

    def _next(self) -> str:
        """The character at the place, which moves over white space to it; nothing at the end of the file."""
        while True:
            self._at = _BLANKS.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Read on and forget what lies behind; False, and nothing changes, at the end of the file."""
        kept = len(self._text) - self._at
        block = self._file.read(max(_BLOCK, kept))  # of a long value as much again, so that it is not tried too often
        try:
            text = self._decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            line = self._line_at(len(self._text)) + error.object.count(b"\n", 0, error.start)
            raise DataError(f"{self._path}:{line}: not valid JSON: not UTF-8 ({error.reason})") from None
        if not block:
            return False
        self._line = self._line_at(self._at)
        self._dropped += self._at
        self._text, self._at = self._text[self._at :] + text, 0
        return True

    def _line_at(self, position: int) -> int:
        return self._line + self._text.count("\n", 0, position)

    def _fail(self, fault: str, position: int | None = None) -> NoReturn:
        position = self._at if position is None else position
        if fault.startswith("unterminated string") or not self._text[position:].strip():  # the file was read to its end
            fault = f"truncated, {fault}"
        place = f"character {self._dropped + position + 1}"
        raise DataError(f"{self._path}:{self._line_at(position)}: not valid JSON: {fault} ({place})") from None


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("number out of range")
    return number


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)


def typed(value: Any, kind: type[T], path: Path, where: str) -> T:
    """A decoded value as a type of `msgspec`.

    Args:
        value: as `JsonWalk.value` gives it.
        kind: such as a `msgspec.Struct`; keys that it does not name are passed over.
        path: the file of the value.
        where: the JSON path of the value in the file.

    Raises:
        DataError: it is of another type or lacks a key; names the file and the JSON path.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        what, _, inner = one_line(error).partition(" - at `$")
        raise DataError(f"{path}: {what} - at `{where}{inner or '`'}") from None
