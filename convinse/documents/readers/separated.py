"""Reads separated values into blocks: CSV, TSV and others, whatever their delimiter."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...support.errors import DataError, one_line
from ..model import ReadDocument, TableBlock, TextBlock
from .code_pages import decoded
from .records import words_of_name

if TYPE_CHECKING:
    from _csv import Reader

_DELIMITERS = ",;\t|"
_SAMPLE = 1 << 16  # characters that tell the delimiter
_LONGEST_CAPTION = 120  # characters above a table that are its caption; more are a text
_MOST_TITLES = 4  # lines above a table; more are sentences
MOST_CELLS = 1_000_000  # of a table, those added to short rows counted: what fits the memory of a small machine
_DELIMITER_LINE = re.compile(r'"?sep=(.)"?[ \t;,]*(?:\r\n|\r|\n|$)', re.IGNORECASE)
_GROUP = re.compile(r"\d{3}(?:[.,]\d+)?")
_NO_DELIMITER = "\x1f"
_QUOTED_TEXT = re.compile(r"^=\"([^\"]*)\"$")  # by which a program keeps the zeros of ="00123"


class _Dialect(NamedTuple):
    delimiter: str
    quotes: bool


class _Row(NamedTuple):
    line: int
    cells: list[str]


def read_separated(data: bytes) -> ReadDocument:
    """Return the table of a file of separated values, whose delimiter and quoting its rows tell. Raises `DataError`."""
    text = decoded(data)
    first_line = _DELIMITER_LINE.match(text)
    start = first_line.end() if first_line else 0
    dialect = _dialect(
        text[start : start + _SAMPLE], first_line[1] if first_line else "", is_cut=len(text) > start + _SAMPLE
    )
    rows, number = _first_rows(text[start:], dialect, 2 if first_line else 1)
    caption, table = _without_titles(rows, dialect.delimiter)
    number -= len(rows) - len(table)
    if not table:
        return ReadDocument("", [])
    if caption and text[start:].lstrip().startswith("#"):  # comments between rows, too
        table = [row for row in table if not row.cells or len(row.cells) > 1 or not row.cells[0].startswith("#")]
    is_comment = re.match(r"#\s*[^\W\d]", table[0].cells[0]) and not any(
        row.cells[:1] and row.cells[0].startswith("#") for row in table[1:]
    )
    if is_comment:  # the names of columns; "#1" is a value
        table[0].cells[0] = table[0].cells[0].lstrip("# ")
    if len(caption) <= _LONGEST_CAPTION:
        return _table(table, number, caption)
    read = _table(table, number, "")  # what is said about the table
    return read._replace(blocks=[TextBlock(caption, 1, kind="note"), *read.blocks])


def _first_rows(text: str, dialect: _Dialect, line: int) -> tuple[list[_Row], int]:
    """The rows, as many as are read, and how many there are; one empty row stands for several."""
    rows: list[_Row] = []
    number = cells = 0
    try:
        for row in _rows(text, dialect, line):
            number += bool(row.cells)
            cells += len(row.cells)
            if cells <= MOST_CELLS or not rows:
                rows.append(row)
    except csv.Error as error:
        if dialect.quotes:  # one that is never closed
            return _first_rows(text, _Dialect(dialect.delimiter, False), line)
        raise DataError(f"has rows that cannot be read ({one_line(error)})") from None
    return rows, number


def _rows(text: str, dialect: _Dialect, line: int) -> Iterator[_Row]:
    reader, before = _reader(text, dialect), 0
    is_open = False  # rows without an empty one behind them
    for row in reader:
        is_empty = not any(map(str.strip, row))
        if is_open or not is_empty:
            yield _Row(before + line, [] if is_empty else row)
        is_open, before = not is_empty, reader.line_num


def _reader(text: str, dialect: _Dialect) -> Reader:
    return csv.reader(
        io.StringIO(text, newline=""),
        delimiter=dialect.delimiter,
        quoting=csv.QUOTE_MINIMAL if dialect.quotes else csv.QUOTE_NONE,
        skipinitialspace=dialect.quotes,  # a quotation may begin behind a blank
    )


def _table(rows: Sequence[_Row], number: int, caption: str) -> ReadDocument:
    left_out = []
    columns = max(_last_place(row.cells) for row in rows)
    width = min(columns, MOST_CELLS)
    if width < columns:
        left_out.append(f"{columns - width:,} of {columns:,} columns")
    first = rows[: MOST_CELLS // width]
    if rest := number - sum(bool(row.cells) for row in first):
        left_out.append(f"{rest:,} of {number:,} rows")
    cells = [
        [
            *(" ".join(_QUOTED_TEXT.sub(r"\1", cell).split()) for cell in row.cells[:width]),
            *[""] * (width - len(row.cells)),
        ]
        for row in first
    ]
    if len(cells) > 1 and _are_identifiers(cells[0]):
        cells[0] = [words_of_name(name) for name in cells[0]]
    return ReadDocument("", [TableBlock(cells, caption=caption, lines=[row.line for row in first])], left_out)


def _last_place(cells: Sequence[str]) -> int:
    return next((place for place in range(len(cells), 0, -1) if cells[place - 1].strip()), 0)


def _are_identifiers(names: Sequence[str]) -> bool:
    return len({*names}) == len(names) and all(re.fullmatch(r"[^\W\d]\S*", name) for name in names)


def _without_titles(rows: list[_Row], delimiter: str) -> tuple[str, list[_Row]]:
    """Return the lines above the head of a table: a cell alone, or a comment; and the rows from there on."""
    width = _usual_width(rows[:1000])
    titles: list[str] = []
    for place, row in enumerate(rows):
        if row.cells and (place == len(rows) - 1 or not _is_title(row.cells, width)):
            return (" " if len(titles) > _MOST_TITLES else "; ").join(filter(None, titles)), rows[place:]
        glue = f"{delimiter} " if delimiter in ",;" else " "
        if row.cells:
            titles.append(glue.join(filter(None, map(str.strip, row.cells))).lstrip("# "))
    return "", rows


def _is_title(cells: Sequence[str], width: int) -> bool:
    """Whether cells above a table are a title, a comment, or a name and a value in a wider table."""
    end, size = _last_place(cells), len(cells)
    if width == 1 or size > width:
        return False
    is_alone = end == 1 and (size == 1 or width > 2)
    return is_alone or size < width and (cells[0].startswith("#") or 2 * size <= width)


def _usual_width(rows: Sequence[_Row]) -> int:
    """The number of cells that most rows have; that of a single cell only if there is no other."""
    widths = Counter(len(row.cells) for row in rows if len(row.cells) > 1)
    return max(widths, key=lambda width: (widths[width], width), default=1)


def _dialect(sample: str, delimiter: str, is_cut: bool) -> _Dialect:
    """The delimiter and the quoting with which rows are of equal width and cells are one thing each."""
    if is_cut:
        sample = sample[: max(sample.rfind("\n"), sample.rfind("\r")) + 1] or sample
    choices = [_Dialect(sign, quotes) for sign in delimiter or _DELIMITERS for quotes in (True, False)]
    best = max(choices, key=lambda choice: _score(sample, choice))  # the first of equal ones
    if delimiter or _score(sample, best) > 0:
        return best
    lines = [line.split(" ") for line in sample.splitlines() if line.strip()]
    # numbers between blanks, below one word each
    is_spaced = len(lines) > 1 and 1 < len(lines[0]) == max(map(len, lines)) == min(map(len, lines))
    is_number = re.compile(r"[-+]?\d[\d.,eE+-]*|nan|NaN|NA|-").fullmatch
    if is_spaced and all(is_number(cell) for line in lines[1:] for cell in line):
        return _Dialect(" ", True)
    return _Dialect(_NO_DELIMITER, True)


def _score(sample: str, dialect: _Dialect) -> float:
    try:
        rows = [row for row in _reader(sample, dialect) if any(row)]
    except csv.Error:
        return 0
    several = [row for row in rows if len(row) > 1]
    if 2 * len(several) < len(rows) or not several or _splits_a_column(sample, dialect, rows, several):
        return 0
    widths = Counter(map(len, several))
    usual = max(widths, key=lambda width: (widths[width], width))
    consistency = 0.5 + 0.5 * widths[usual] / len(rows)
    # a cell that goes over many lines counts as often: a quotation mark that is only a sign swallows rows
    good = weight = 0.0
    for row in several:
        for cell in row:
            size = 1 + cell.count("\n")
            weight += size
            good += size * _oneness(cell, dialect, usual)
    return consistency * good / weight + 0.001 * min(usual, 50) / 50


def _splits_a_column(sample: str, dialect: _Dialect, rows: Sequence[list[str]], several: Sequence[list[str]]) -> bool:
    """Whether a single column was split: its head has no delimiter, and the rest is "Smith, John" or "1,234"."""
    if len(rows[0]) > 1 or any(len(row) > 2 for row in several):
        return False
    is_prose = sample.count(dialect.delimiter) == sample.count(f"{dialect.delimiter} ")
    return is_prose or all(re.fullmatch(r"\d{1,3}", row[0]) and _GROUP.fullmatch(row[1]) for row in several)


def _oneness(cell: str, dialect: _Dialect, width: int) -> float:
    """How much a cell looks like one thing: a number, a date, words; not like several with a delimiter between them."""
    text = cell.strip()
    if "\t" in text or re.search(r"\S[;|]\S", text):
        return 0
    if re.search(r"[^\W\d],[^\W\d]", text) and not dialect.quotes:
        return 0
    if len(text) > 1 and text[0] == text[-1] == '"' and not dialect.quotes:
        return 0
    sign = re.compile(rf"{re.escape(dialect.delimiter)}\S")
    if "\n" in text and any(len(sign.findall(line)) == width - 1 for line in text.split("\n")):  # rows
        return 0
    return 0.5 if text.startswith('"') and text.count('"') % 2 else 1
