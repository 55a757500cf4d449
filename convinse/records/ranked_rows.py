"""Ranks of the rows and cells of a table, and rows as text with their ranks, for questions that order or compare."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from .evidence import Cell, Evidence, Row
from .literals import is_date, is_number
from .periods import day_number
from .units import CURRENCY, IN_BASE, UNIT_RANKS
from .written_values import ORDINAL, UNKNOWN, LiteralSpan, find_literals

RowForm = Literal["plain", "ranked"]
MOST_COLUMNS = 12  # cells of a row in words; further ones are left out
MOST_CHARACTERS = 600  # of a row in words; cells that do not fit are left out
_MIN_SHARE = 0.8  # of a column's cells that must be values of one kind
_NOT_KNOWN = UNKNOWN - {*"-–—", "none"}  # these may mean zero
_MIN_VALUES = 2  # distinct values of an ordered column
_MIN_NAMED = 0.5  # share of the rows that a column tells apart, to name them
_MAX_NAME_LENGTH = 40  # characters of the name of a row
_BRACKETED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_AMOUNT = re.compile(rf"(?<![\w.])[-+−–]?(?:[0-9]+(?:,[0-9]{{3}})*(?:\.[0-9]+)?|\.[0-9]+)(?:{ORDINAL}\b)?")
_SCALE = re.compile(r"\s?([kKmMbB])n?\b")
_FRACTION = re.compile(r"(?<=[0-9])(?P<sign>[.,])(?P<digits>[0-9]+)(?![0-9.,])")
_POINTS = str.maketrans(",.", ".,")
_CLOCK = re.compile(r"(?P<hours>[0-9]+:)?(?P<minutes>[0-9]{1,3}):(?P<seconds>[0-9]{2}(?:\.[0-9]+)?)")
_STAMP = re.compile(
    r"(?:[0-9]{4} |[0-9]{2}T)[0-9]{2}:[0-9]{2}"
)  # 2026-02-03T08:10:00Z, Tue, 03 Feb 2026 08:10:00 +0100
_ZONE = re.compile(r"(?<=:[0-9]{2})(?:\.[0-9]+)?\s?(?:Z|[+-][0-9]{2}:?[0-9]{2}|[A-Z]{3})$")
_NUMBERED = re.compile(r"[A-Za-z]{1,4}[-/]\d[\d/-]*")
_UNIT = re.compile(r"[^\W\d_]+|[%‰°]")
_MORE_DIGITS = re.compile("[0-9½⅓⅔¼¾⅛⅜⅝⅞]")  # beside the number of a text
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s?([^\W\d_]+)(?:,?\s(?:and\s)?|$)?")  # of "1 h 50 min"
_DATE, _TIME = "date", "time"
_HOUR, _MINUTE = 3600, 60
_YEARS = range(1000, 2101)  # numbers that may be years
_YEAR_DIGITS = 4  # a date of more characters has a month or a day
_DECADE = 10  # round amounts are its multiples
_MONTHS = 12  # a larger number of a date is its day
_SLASHED = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})")
_MAX_UNIT_WORDS = 3  # beside a number; with more words the cell is a text
_ROW_ENDS, _DATE_ENDS, _VALUE_ENDS = ("first", "last"), ("earliest", "latest"), ("lowest", "highest")  # ranks


class RankedRow(NamedTuple):
    """A row in words."""

    row: Row
    text: str  # for a model; cells that do not fit are left out
    lead: int  # characters of title and caption, with which the evidence's text begins, too
    cells: dict[int, tuple[int, int]]  # start and end of cells in `text`, by column


class ColumnOrder(NamedTuple):
    """The order of a column: the amount in each row, None without one, and their unit.

    `are_dates`: they are days or years; `has_commas`: the decimal sign is a comma.
    """

    amounts: list[float | None]
    are_dates: bool
    unit: str = ""
    has_commas: bool = False

    @property
    def are_days(self) -> bool:
        """True if they are days, by `periods.day_number`."""
        return self.unit == _DATE

    @property
    def are_times(self) -> bool:
        """True if they are times of the day or minutes and seconds: 9:15."""
        return self.unit == _TIME


class CellValue(NamedTuple):
    """The amount and the unit of a cell: values of different units are not compared."""

    amount: float
    unit: str


def ranked_rows(
    rows: Sequence[Row], title: str = "", most_columns: int = MOST_COLUMNS, most_characters: int = MOST_CHARACTERS
) -> list[RankedRow]:
    """Return the rows of a table in words.

    `Cup, Results [first] (before Blues), Year: 1954, Team: Reds, Wins: 12 [highest]`: the title, the caption or else the section,
    the row's rank in the table, the names of the rows next to it, and the cells with their ranks in ordered columns; see `with_ranks`.

    Args:
        rows: all rows of the table, in order; see `WikipediaRetriever.table`.
        title: the title of the page.
        most_columns: the number of columns, from the left, that are ranked and in the text.
        most_characters: the longest text. The last cells that do not fit are left out; a long first cell is cut.
    """
    ranked = []
    for row in with_ranks(rows, most_columns):
        parts = (title, row["caption"] or row["section"], row.get("part", ""))
        lead = ", ".join(dict.fromkeys(part for part in parts if part))
        ranked.append(_written(row, lead, row["cells"], most_columns, most_characters))
    return ranked


def as_read(evidence: Evidence, form: RowForm) -> str:
    """Return the text of an evidence for a model that was trained on rows in this form; its own text if it has no ranks."""
    row = _ranked_row(evidence) if form == "ranked" else None
    return evidence["evidence_text"] if row is None else row.text


def in_evidence(evidence: Evidence, form: RowForm, start: int, end: int) -> tuple[int, int] | None:
    """Return the place in the evidence's text of a part of a model's input (`as_read`).

    The lead and the cells are in both texts; None for a part outside of them.
    """
    row = _ranked_row(evidence) if form == "ranked" else None
    if row is None:
        return start, end
    inside = [
        (place + max(start, part_start) - part_start, place + min(end, part_end) - part_start)
        for part_start, part_end, place in _shared_parts(row)
        if part_start < end and start < part_end
    ]
    return (inside[0][0], inside[-1][1]) if inside else None


def spans_as_read(evidence: Evidence, form: RowForm, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the places in a model's input (`as_read`) of parts of an evidence's text within the lead or a cell."""
    row = _ranked_row(evidence) if form == "ranked" else None
    if row is None:
        return list(spans)
    parts = list(_shared_parts(row))
    found = []
    for start, end in spans:
        for part_start, part_end, place in parts:
            if place <= start and end <= place + part_end - part_start:
                found.append((part_start + start - place, part_start + end - place))
    return found


def _shared_parts(row: RankedRow) -> list[tuple[int, int, int]]:
    # start and end in the row's text, and start in the evidence's text
    starts = {cell["column"]: cell["start"] for cell in row.row["cells"]}
    return [(0, row.lead, 0), *((*place, starts[column]) for column, place in row.cells.items())]


def _ranked_row(evidence: Evidence) -> RankedRow | None:
    row = evidence.get("row")
    if row is None or "rank" not in row:
        return None
    cells = [cell for cell in row["cells"] if cell["start"] >= 0]
    if not cells:
        return None
    before = evidence["evidence_text"][: cells[0]["start"]]
    lead = before.removesuffix(f"{cells[0]['header']} is ").removesuffix(", ")
    return _written(row, lead, cells, MOST_COLUMNS, MOST_CHARACTERS)


def _written(row: Row, lead: str, cells: Sequence[Cell], most_columns: int, most: int) -> RankedRow:
    near = [f"{word} {name}" for word, name in (("after", row.get("before")), ("before", row.get("behind"))) if name]
    rank = row["rank"]
    text = " ".join(filter(None, (lead, f"[{rank}]" if rank else "", f"({', '.join(near)})" if near else "")))
    places: dict[int, tuple[int, int]] = {}
    for cell in cells[:most_columns]:
        begin = f"{text}, {cell['header']}: " if cell["header"] else f"{text}, "
        longer = f"{begin}{cell['text']}"
        if len(longer) > most:
            if not places and len(begin) < most:
                text, places[cell["column"]] = longer[:most], (len(begin), most)
            break
        places[cell["column"]] = (len(begin), len(longer))
        marked = f"{longer} [{cell['rank']}]" if "rank" in cell else longer
        text = marked if len(marked) <= most else longer
    return RankedRow(row, text, len(lead), places)


def with_ranks(rows: Sequence[Row], most_columns: int = MOST_COLUMNS) -> list[Row]:
    """Return the rows of a table with the ranks of rows and cells and the names of the rows next to them.

    A cell of an ordered column has a rank if its value is the lowest or highest of the column, of dates the earliest or latest,
    also if several rows share it. A column is ordered if nearly all its cells are dates, times or numbers of the same unit. The
    first column without order that distinguishes rows names them.

    Args:
        rows: all rows of the table, in order.
        most_columns: the number of columns, from the left, that are read.
    """
    columns = sorted({cell["column"] for row in rows for cell in row["cells"]})[:most_columns]
    table = [{cell["column"]: cell for cell in row["cells"]} for row in rows]
    ranks = {column: _ranks([row.get(column) for row in table]) for column in columns}
    names = _names(table, [column for column in columns if not any(ranks[column])] + columns)
    ranked: list[Row] = []
    for place, row in enumerate(rows):
        cells: list[Cell] = []
        for cell in row["cells"]:
            rank = ranks[cell["column"]][place] if cell["column"] in ranks else ""
            cells.append({**cell, "rank": rank} if rank else cell)
        ranked.append({**row, "cells": cells, "rank": _rank(place + 1, len(rows), _ROW_ENDS)})
        if place and names[place - 1]:
            ranked[-1]["before"] = names[place - 1]
        if place + 1 < len(rows) and names[place + 1]:
            ranked[-1]["behind"] = names[place + 1]
    return ranked


def _rank(place: int, last: int, ends: tuple[str, str]) -> str:
    return ends[place > 1] if last > 1 and place in (1, last) else ""


def _names(table: Sequence[dict[int, Cell]], columns: Iterable[int]) -> list[str]:
    # by the first column that distinguishes half of the rows; columns of words before columns of numbers and signs
    names: list[str] | None = None
    for column in columns:
        texts = [row[column]["text"][:_MAX_NAME_LENGTH] if column in row else "" for row in table]
        distinct = {*texts} - {""}
        if len(distinct) >= _MIN_NAMED * len(table):
            if sum(any(map(str.isalpha, text)) for text in distinct) >= _MIN_SHARE * len(distinct):
                return texts
            names = names or texts
    return names or [""] * len(table)


def _ranks(cells: Sequence[Cell | None]) -> list[str]:
    order = column_order(cells)
    if order is None:
        return [""] * len(cells)
    distinct = sorted({amount for amount in order.amounts if amount is not None})
    ends, last = _DATE_ENDS if order.are_dates else _VALUE_ENDS, len(distinct)
    ranks = {amount: _rank(place, last, ends) for place, amount in enumerate(distinct, 1)}
    return ["" if amount is None else ranks[amount] for amount in order.amounts]


def column_order(cells: Sequence[Cell | None]) -> ColumnOrder | None:
    """Return the order of the cells of a column; None for a column without an order (see `with_ranks`).

    The decimal sign is that of the whole column, and so is the order of days and months: 03/02/2024 above 19/02/2024 is in
    February. 900 m are less than 1.2 km, and $900K less than $2.05M.
    """
    texts = dates_in_one_order(cells)
    has_commas = _has_decimal_commas(list(filter(None, texts)))
    if has_commas:
        texts = [None if text is None else text.translate(_POINTS) for text in texts]
    values = [None if text is None else value_of(text) for text in texts]
    units = Counter(value.unit for value in values if value is not None)
    unit, count = units.most_common(1)[0] if units else ("", 0)
    amounts = [value.amount if value is not None and value.unit == unit else None for value in values]
    distinct = {amount for amount in amounts if amount is not None}
    filled = sum(cell is not None and cell["text"].lower() not in _NOT_KNOWN for cell in cells)
    if count < _MIN_SHARE * filled or len(distinct) < _MIN_VALUES:
        return None
    are_dates = unit == _DATE or (
        not unit and all(amount in _YEARS for amount in distinct) and not _are_round(distinct)
    )
    return ColumnOrder(amounts, are_dates, unit, has_commas)


def _are_round(amounts: Iterable[float]) -> bool:
    """Return True for amounts that look like years and are no decades: 1280, 1310, 1440."""
    ordered = sorted(amounts)
    steps = {after - before for before, after in zip(ordered, ordered[1:], strict=False)}
    return len(ordered) > _MIN_VALUES and len(steps) > 1 and not any(amount % _DECADE for amount in ordered)


def written_amount(amount: float, texts: Iterable[str], order: ColumnOrder, decimals: int = 0) -> str:
    """Return an amount as the cells of its column write amounts: with their decimals, at least `decimals`, currency and unit.

    If the cells have several scales (15 km and 900 m), it is in the unit that they are compared in, or in hours and minutes.
    """
    signs = _POINTS if order.has_commas else {}
    cells = [(text, value, found) for text in (text.translate(signs) for text in texts)
             if (value := value_of(text)) is not None and (found := _AMOUNT.search(text)) is not None]  # fmt: skip
    numbers = [float(re.sub(r"[^0-9.]", "", found[0])) for _, _, found in cells]
    scales = {
        round(abs(value.amount) / number, 9) for (_, value, _), number in zip(cells, numbers, strict=True) if number
    }
    decimals = max([decimals, *(len(found[0].partition(".")[2]) for _, _, found in cells)])
    is_chained = any(_chained(text.casefold()) for text, *_ in cells)
    if order.unit == "s" and (len(scales) != 1 or is_chained):
        hours, rest = divmod(round(amount), _HOUR)
        pieces = ((hours, "h"), (rest // _MINUTE, "min"), (rest % _MINUTE, "s"))
        return " ".join(f"{number} {unit}" for number, unit in pieces if number) or "0 s"
    if len(scales) != 1 or is_chained:
        currency = next((sign for text, *_ in cells for sign in CURRENCY if sign in text), "")
        return f"{currency}{round(amount, 2):,.10g} {order.unit}".strip().translate(signs)
    text, _, found = cells[0]
    written = f"{amount / scales.pop():,.{decimals}f}"
    return f"{text[: found.start()]}{written}{text[found.end() :]}".strip().translate(signs)


def dates_in_one_order(cells: Sequence[Cell | None]) -> list[str | None]:
    """Return the texts of a column; dates with slashes have the year first, if one of them shows which number is the month."""
    texts = [None if cell is None else cell["text"] for cell in cells]
    dates = [_SLASHED.fullmatch(text) if text else None for text in texts]
    if any(text and not date for text, date in zip(texts, dates, strict=True)):
        return texts
    is_day_first, is_month_first = (any(date and int(date[place]) > _MONTHS for date in dates) for place in (1, 2))
    if is_day_first == is_month_first:  # neither is shown, or both are
        return texts
    day, month = (1, 2) if is_day_first else (2, 1)
    return [date and f"{date[3]}-{date[month]:>02}-{date[day]:>02}" for date in dates]


def _has_decimal_commas(texts: Iterable[str]) -> bool:
    # 7,5 and 1.249,00 have one, 7,500 may not
    fractions = [match for text in texts for match in _FRACTION.finditer(text)]
    return bool(fractions) and all(match["sign"] == "," and len(match["digits"]) != 3 for match in fractions)


def _chained(text: str) -> CellValue | None:
    """Return the value of "1 h 50 min" or "5 ft 11 in"; None for other texts, also for "4383 m 14380 ft"."""
    parts = _PART.findall(text)
    if len(parts) < 2 or _PART.sub("", text).strip():
        return None
    units = [unit for _, unit in parts]
    chain = next((ranks for ranks in UNIT_RANKS if ranks.keys() >= {*units}), {})
    ranks = [chain.get(unit, 0) for unit in units]
    if any(ranks[place] >= ranks[place + 1] for place in range(len(ranks) - 1)):
        return None
    short = {"in": "inch", "m": "min"} if "h" in chain else {"in": "inch"}  # "1h 50m"
    values = [(float(number), *IN_BASE.get(short.get(unit, unit), ("", 0.0))) for number, unit in parts]
    amount = sum(number * size for number, _, size in values)
    return CellValue(amount, values[0][1]) if all(size for *_, size in values) else None


@lru_cache(maxsize=65536)  # columns repeat their values, and a text is read more often than a table
def value_of(text: str) -> CellValue | None:
    """Return the only date, clock time or number of a cell; None if it has none or several."""
    if not any(map(str.isnumeric, text)):
        return None
    bare = " ".join(_BRACKETED.sub(" ", text).split()) or text.strip("()[] ")
    clock = _CLOCK.fullmatch(bare)
    if clock is not None:
        hours = int((clock["hours"] or "0:")[:-1])
        return CellValue(hours * 3600 + int(clock["minutes"]) * 60 + float(clock["seconds"]), _TIME)
    bare = _ZONE.sub("", bare).replace("T", " ") if _STAMP.search(bare) else bare
    literals = list(find_literals(bare))
    if literals and len(literals) <= 2 and all(is_date(literal.entity["id"]) for literal in literals):
        start = literals[0].entity["id"].partition("T")[0]
        year, month, day = map(int, start.rsplit("-", 2))  # a year before Christ has a sign
        if any(literal.end - literal.start > _YEAR_DIGITS for literal in literals):
            return CellValue(float(day_number(year, month, day)), _DATE)
        if len(literals) == 2:  # from one year to another: ordered among years, which are numbers
            return CellValue(float(year), "")
    if _NUMBERED.fullmatch(bare):  # R-101 is a name
        return None
    if (whole := _chained(bare.casefold())) is not None:
        return whole
    amounts = list(_AMOUNT.finditer(bare))
    rest = "" if len(amounts) != 1 else f"{bare[: amounts[0].start()]} {bare[amounts[0].end() :]}"
    if len(amounts) != 1 or _MORE_DIGITS.search(rest):
        return _of_literal(bare, literals)
    digits = re.sub(r"[^0-9.]", "", amounts[0][0])
    sign = -1 if amounts[0][0][0] in "-−–" else 1
    scale = _SCALE.match(bare, amounts[0].end())
    is_alone = amounts[0].start() <= 1 and rest.strip("+-−– ") in ("K", "M", "B")  # "1.2M", "450K"
    if scale and (is_alone or any(sign_of in rest for sign_of in CURRENCY)):  # $1.2M: with a currency, M is no unit
        return CellValue(sign * float(digits) * 1000 ** (1 + "kmb".index(scale[1].casefold())), "")
    return _in_unit(sign * float(digits), rest)


def _in_unit(amount: float, rest: str) -> CellValue | None:
    """Return a value with the unit that the other words of its text are; "crore" in "₹5 crore" is no unit."""
    units = _UNIT.findall(rest.casefold())
    if len(units) > 1 and units[0] in IN_BASE and not IN_BASE[units[0]][0]:
        amount *= IN_BASE[units.pop(0)][1]
    unit, factor = IN_BASE.get(" ".join(units), (" ".join(units), 1.0))
    return CellValue(amount * factor, unit) if len(units) <= _MAX_UNIT_WORDS else None


def _of_literal(text: str, literals: Sequence[LiteralSpan]) -> CellValue | None:
    """Return the value of a text with one number in another grouping or with a fraction: 12,34,567, 1'234, 3½."""
    if len(literals) != 1 or not is_number(literals[0].entity["id"]):
        return None
    (literal,) = literals
    rest = f"{text[: literal.start]} {text[literal.end :]}"
    return None if _MORE_DIGITS.search(rest) else _in_unit(float(literal.entity["id"]), rest)
