"""Reads JSON and JSON lines as blocks: a record stays whole."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from ...support.errors import DataError, one_line
from ...support.jsonlines import JSON_ERRORS
from ..model import Block, Heading, PairsBlock, ReadDocument, TableBlock, TextBlock
from .code_pages import decoded

_LONG_VALUE = 200  # characters; a longer value of a record is prose
_LONGEST_TITLE = 80  # characters of a field that may name its record
_LONGEST_NAME = 200  # characters of the names of a value and of all that it is in
_DEEPEST_VALUE = 50  # values within one another
_MOST_PLACES = 20  # times as many cells as values a table of records may have; more are records without names in common
TITLES = ("title", "name", "label", "headline", "heading", "subject")
# a number keeps the form that it is written in
_DECODER = msgspec.json.Decoder(float_hook=str)

# names with a capital letter inside, which are written so
_WHOLE = {
    "github",
    "gitlab",
    "javascript",
    "linkedin",
    "mysql",
    "openai",
    "paypal",
    "postgresql",
    "typescript",
    "wordpress",
    "youtube",
}
_SMALL_AND_LARGE = re.compile(r"(?<=[^\W\d_]{2})(?=[A-Z][a-z])|(?<=[a-z]{2})(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def read_json(data: bytes) -> ReadDocument:
    """Return the records and values of a JSON file, or of one of JSON lines. Raises `DataError`."""
    text = decoded(data)
    try:
        value = _decoded_value(text)
    except JSON_ERRORS as error:
        if "trailing" in str(error):
            return read_json_lines(data)
        raise DataError(f"is not JSON ({one_line(error)})") from None
    return document_of_value(value)


def read_json_lines(data: bytes) -> ReadDocument:
    """Return the records of JSON lines, each with its line. Raises `DataError`."""
    # not `splitlines`, which also splits at U+2028 inside of JSON strings
    lines = {number: line for number, line in enumerate(decoded(data).split("\n"), 1) if line.strip()}
    try:
        return document_of_value([_decoded_value(line) for line in lines.values()], list(lines))
    except JSON_ERRORS as error:
        raise DataError(f"a line is not JSON ({one_line(error)})") from None


def _decoded_value(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except JSON_ERRORS:
        with suppress(ValueError, RecursionError):  # NaN and Infinity, which Python writes, are no JSON
            return json.loads(text, parse_float=str, parse_constant=lambda name: None)
        raise


def document_of_value(value: Any, lines: Sequence[int] = ()) -> ReadDocument:
    """Return the blocks of a value as JSON has it. Raises `DataError` if it is too deep."""
    if _is_deep(value):
        raise DataError(f"has more than {_DEEPEST_VALUE} values within one another")
    return ReadDocument("", list(blocks_of(value, lines)))


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST_VALUE):
        level = [part for parent in level for part in _nested(parent)]
        if not level:
            return False
    return True


def _nested(value: Any) -> list[Any]:
    """The objects and lists directly in an object or a list."""
    match value:
        case dict():
            return [part for part in value.values() if _has_parts(part)]
        case list():
            return [part for part in value if _has_parts(part)]
    return []


def _has_parts(value: Any) -> bool:
    return isinstance(value, dict | list)


# -- blocks ------------------------------------------------------------------------------------------------------------


def blocks_of(value: Any, lines: Sequence[int] = ()) -> Iterator[Block]:
    """Yield the blocks of a value as JSON and YAML have it; `lines` are those of its records."""
    match value:
        case dict() if records := _frame(value):
            yield from _records(records, lines)
        case dict():
            yield from _object(value)
        case list() if _are_records(value):
            yield from _records(value, lines)
        case list():
            yield from _list(value, lines)
        case _ if text := _text(value):
            yield TextBlock(text)


def _are_records(values: Sequence[Any]) -> bool:
    return bool(values) and all(isinstance(value, dict) and value for value in values)


def _frame(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a table that an object holds as columns, or as the names of columns and rows; else nothing."""
    match value:
        case {"columns": list() as columns, "data": list() as rows} if value.keys() <= {"columns", "index", "data"}:
            is_even = all(isinstance(row, list) and len(row) == len(columns) for row in rows)
            return [dict(zip(map(_text, columns), row, strict=True)) for row in rows] if is_even else []
    if not _are_records(list(value.values())):
        return []
    first, *others = value.values()
    if list(first) != list(map(str, range(len(first)))) or any(column.keys() != first.keys() for column in others):
        return []
    return [{name: column[number] for name, column in value.items()} for number in first]


def _list(values: Sequence[Any], lines: Sequence[int]) -> Iterator[Block]:
    """A list of rows is a table; of others, each value is a block or several."""
    if len(values) > 1 and all(isinstance(row, list) and row and not _nested(row) for row in values):
        width = max(map(len, values))
        if width * len(values) <= _MOST_PLACES * sum(map(len, values)):
            yield TableBlock([[*map(_text, row), *[""] * (width - len(row))] for row in values], lines=lines)
            return
    for value, line in zip(values, lines or [0] * len(values), strict=True):
        if _has_parts(value):
            yield from blocks_of(value, [line] * len(value) if line else ())
        elif text := _text(value):
            yield TextBlock(text, line, kind="item")


def _object(value: Mapping[str, Any]) -> Iterator[Block]:
    """The fields of an object together, then its prose, then the records in it."""
    inner: list[tuple[str, Any]] = []
    fields = [(name, text) for name, text in _flat(value, inner=inner) if text]
    if short := [(name, text) for name, text in fields if len(text) <= _LONG_VALUE]:
        yield PairsBlock(short)
    for name, text in fields:
        if len(text) > _LONG_VALUE:
            if name:
                yield Heading(name, 2)
            yield TextBlock(" ".join(text.split()))
    for name, records in inner:
        if name:
            yield Heading(name, 2)
        yield from _records(records)


def _records(values: Sequence[Mapping[str, Any]], lines: Sequence[int] = ()) -> Iterator[Block]:
    """A table, if all values are short and the records have names in common; else each record by itself."""
    records = [_unique(_flat(value)) for value in values]
    names = list(dict.fromkeys(name for record in records for name in record))
    is_short = all(len(text) <= _LONG_VALUE for record in records for text in record.values())
    if is_short and names and len(names) * len(records) <= _MOST_PLACES * sum(map(len, records)):
        rows = [[record.get(name, "") for name in names] for record in records]
        yield TableBlock([names, *rows], heads=1, lines=[0, *lines] if lines else ())
        return
    for record, line in zip(records, lines or [0] * len(records), strict=True):
        yield from _record(record, line, with_heading=not is_short)


def _record(record: Mapping[str, str], line: int, with_heading: bool) -> Iterator[Block]:
    if with_heading and (heading := _heading(record)):
        yield Heading(heading, 2, line)
    if short := [(name, text) for name, text in record.items() if text and len(text) <= _LONG_VALUE]:
        yield PairsBlock(short, line)
    for text in record.values():
        if len(text) > _LONG_VALUE:
            yield TextBlock(" ".join(text.split()), line)


def _heading(record: Mapping[str, str]) -> str:
    """Return the name of a record: that of a field, else the first short text, preferably with letters."""
    short = {name: text for name, text in record.items() if 0 < len(text) <= _LONGEST_TITLE}
    titles = [text for title in TITLES for name, text in short.items() if name.lower() == title]
    words = [text for text in short.values() if any(map(str.isalpha, text))]
    return next(iter((*titles, *words, *short.values())), "")


def _unique(fields: Iterator[tuple[str, str]]) -> dict[str, str]:
    """Fields by name; those whose names become alike as words are told apart by a number."""
    record: dict[str, str] = {}
    numbers: Counter[str] = Counter()
    for name, text in fields:
        numbers[name] += 1
        record[name if numbers[name] == 1 else f"{name} {numbers[name]}"] = text
    return record


def _flat(value: Any, name: str = "", inner: list[tuple[str, Any]] | None = None) -> Iterator[tuple[str, str]]:
    """The names and texts of a value's parts; a list of texts is one text. Lists of records go to `inner`, if given."""
    match value:
        case dict():
            for key, part in value.items():
                yield from _flat(part, _inside(name, words_of_name(key[:_LONGEST_NAME])), inner)
        case list() if inner is not None and _are_records(value):
            inner.append((name, value))
        case list() if _nested(value):
            for number, part in enumerate(value, 1):
                yield from _flat(part, _inside(name, str(number)), inner)
        case list():
            yield name, ", ".join(map(_text, value))
        case _:
            yield name, _text(value)


def _inside(name: str, part: str) -> str:
    return f"{name} {part}".strip()[-_LONGEST_NAME:]


def _text(value: Any) -> str:
    """A value as JSON writes it, without the quotation marks of texts; null is no text."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
    return str(value).strip()


# -- names -------------------------------------------------------------------------------------------------------------


def words_of_name(name: str) -> str:
    """Return the name of a column or a key as words: "placeOfDeath" is "place of death"; ids and words stay."""
    if " " in name or not re.fullmatch(r"[^\W\d][\w-]*", name):
        return name
    if "_" in name:
        return " ".join(filter(None, map(words_of_name, name.split("_"))))
    if "-" in name:
        # "A-100" and "Saint-Denis" are names
        return name.replace("-", " ") if re.fullmatch(r"[a-z]+(-[a-z]+)+", name) else name
    words = _SMALL_AND_LARGE.split(name)
    if len(words) == 1 or name.startswith("Mc") or name.lower() in _WHOLE:
        return name
    return " ".join(word if len(word) > 1 and word.isupper() else word.lower() for word in words)
