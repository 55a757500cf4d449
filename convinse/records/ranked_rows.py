"""The rows of a table as text that says where each stands among the others: for questions that order or compare."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .evidence import Cell, Row
from .literals import find_literals, is_date

MOST_COLUMNS = 12
MOST_CHARACTERS = 600
_LEAST_SHARE = 0.8  # of a column's cells that must be values of one kind
_LEAST_VALUES = 2  # different ones, in an ordered column
_BRACKETED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_AMOUNT = re.compile(r"(?<![\w.])[-+−–]?[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?(?:(?:st|nd|rd|th)\b)?")
_CLOCK = re.compile(r"(?P<hours>[0-9]+:)?(?P<minutes>[0-9]{1,3}):(?P<seconds>[0-9]{2}(?:\.[0-9]+)?)")
_UNIT = re.compile(r"[^\W\d_]+|[%‰°]")
_DATE, _TIME = "date", "time"
_YEAR_DIGITS = 4
_MOST_UNIT_WORDS = 3


class RankedRow(NamedTuple):
    """A row in words.

    Attributes:
        row: the row that it is of; what `text` leaves out of it had no room.
        cells: column -> where the text of its cell stands in `text`.
    """

    row: Row
    text: str
    cells: dict[int, tuple[int, int]]


class _Value(NamedTuple):
    """What a cell is ordered by, and what it is measured in: values of different units are not compared."""

    amount: float
    unit: str


def ranked_rows(
    rows: Sequence[Row], title: str = "", most_columns: int = MOST_COLUMNS, most_characters: int = MOST_CHARACTERS
) -> list[RankedRow]:
    """The rows of one table in words: `Title, caption [2/9], Year: 1954 [1/7], Team: Reds, Wins: 12 [7/7]`.

    Behind the caption, or else the section, stands the row's place in the table. Behind a cell of an ordered column
    stands the rank of its value among the different values of the column, the lowest or earliest first: the row with the
    most has the last rank, also where several rows share it. A column is ordered where nearly all its cells are dates,
    times or numbers of one unit. The first ordered columns are ranked, so many as columns are shown.

    Args:
        rows: all rows of the table, whole and in their order; see `WikipediaRetriever.table`.
        title: of the page.
        most_columns: that are shown, from the left.
        most_characters: of a text. Cells that do not fit are left out from the right, the first one never: it is cut.
    """
    columns = sorted({cell["column"] for row in rows for cell in row["cells"]})[:most_columns]
    ranks = {column: _ranks([_cell(row, column) for row in rows]) for column in columns}
    return [
        _ranked(row, f"{_lead(row, title)} [{place + 1}/{len(rows)}]", columns, place, ranks, most_characters)
        for place, row in enumerate(rows)
    ]


def _ranked(
    row: Row, lead: str, columns: Iterable[int], place: int, ranks: dict[int, list[str]], most: int
) -> RankedRow:
    text = lead.strip()
    cells: dict[int, tuple[int, int]] = {}
    for column in columns:
        cell = _cell(row, column)
        if cell is None:
            continue
        begin = f"{text}, {cell['header']}: " if cell["header"] else f"{text}, "
        longer = f"{begin}{cell['text']}"
        if len(longer) > most:
            if not cells and len(begin) < most:
                text, cells[column] = longer[:most], (len(begin), most)
            break
        cells[column] = (len(begin), len(longer))
        mark = ranks[column][place]
        text = f"{longer} {mark}" if mark and len(longer) + 1 + len(mark) <= most else longer
    return RankedRow(row, text, cells)


def _lead(row: Row, title: str) -> str:
    parts = (title, row["caption"] or row["section"], row.get("part", ""))
    return ", ".join(dict.fromkeys(part for part in parts if part))


def _cell(row: Row, column: int) -> Cell | None:
    return next((cell for cell in row["cells"] if cell["column"] == column), None)


def _ranks(cells: Sequence[Cell | None]) -> list[str]:
    """The rank of each cell of a column as it is written, `[2/9]`; empty where it has none."""
    values = [None if cell is None else _value(cell["text"]) for cell in cells]
    units = Counter(value.unit for value in values if value is not None)
    unit, count = units.most_common(1)[0] if units else ("", 0)
    amounts = [value.amount if value is not None and value.unit == unit else None for value in values]
    different = sorted({amount for amount in amounts if amount is not None})
    filled = sum(cell is not None for cell in cells)
    if count < _LEAST_SHARE * filled or len(different) < _LEAST_VALUES:
        return [""] * len(cells)
    rank = {amount: f"[{place}/{len(different)}]" for place, amount in enumerate(different, 1)}
    return ["" if amount is None else rank[amount] for amount in amounts]


def _value(text: str) -> _Value | None:
    """What a cell is ordered by: its only date, time of a clock or number; None where it has none or several."""
    bare = " ".join(_BRACKETED.sub(" ", text).split()) or text.strip("()[] ")
    clock = _CLOCK.fullmatch(bare)
    if clock is not None:
        hours = int((clock["hours"] or "0:")[:-1])
        return _Value(hours * 3600 + int(clock["minutes"]) * 60 + float(clock["seconds"]), _TIME)
    literals = list(find_literals(bare))
    if literals and len(literals) <= 2 and all(is_date(literal.entity["id"]) for literal in literals):
        start = literals[0].entity["id"]
        if any(literal.end - literal.start > _YEAR_DIGITS for literal in literals):
            return _Value(_day(start), _DATE)
        if len(literals) == 2:  # from one year to another: ordered among years, which are numbers
            return _Value(float(start[:_YEAR_DIGITS]), "")
    amounts = list(_AMOUNT.finditer(bare))
    rest = "" if len(amounts) != 1 else f"{bare[: amounts[0].start()]} {bare[amounts[0].end() :]}"
    if len(amounts) != 1 or re.search(r"[0-9]", rest):
        return None
    digits = re.sub(r"[^0-9.]", "", amounts[0][0])
    sign = -1 if amounts[0][0][0] in "-−–" else 1
    units = _UNIT.findall(rest.casefold())
    return _Value(sign * float(digits), " ".join(units)) if len(units) <= _MOST_UNIT_WORDS else None


def _day(stamp: str) -> float:
    """A number that grows with the day of a time stamp."""
    year, month, day = (int(part) for part in stamp[: stamp.index("T")].split("-"))
    return year * 372.0 + month * 31 + day
