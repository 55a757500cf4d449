"""Reads sheets into tables, with numbers as people see them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple

from ..support.errors import DataError
from .model import Block, Heading, ReadDocument, TableBlock
from .office import unpacked

_MOST_CELLS = 1_000_000  # of a workbook; sheets of that size take a minute
_TOKEN = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].|(.)', re.DOTALL)
# openpyxl makes a cell for each place of a merged area
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})"')
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")
_DIGITS = frozenset("0#?")


def read_sheets(data: bytes) -> ReadDocument:
    """Return the tables of an XLSX file, sheet by sheet, without hidden sheets, rows and columns."""
    from openpyxl import load_workbook

    has_formulas = _checked(data)
    # the stored dimension of a sheet may be wrong, and merged cells are not read with `read_only`
    values = load_workbook(io.BytesIO(data), data_only=True)
    formulas = load_workbook(io.BytesIO(data)) if has_formulas else None  # they show what has no stored value
    blocks: list[Block] = []
    left_out: list[str] = []
    for sheet in values.worksheets:
        if sheet.sheet_state != "visible":
            left_out.append(f"the hidden sheet {sheet.title}")
            continue
        reading = _Sheet(sheet, None if formulas is None else formulas[sheet.title])
        if reading.rows > reading.most_rows:
            left_out.append(f"sheet {sheet.title}: rows behind {reading.most_rows:,}")
        table = reading.table()
        if table is not None:
            blocks += [Heading(sheet.title, 2), table]
        if reading.hidden:
            left_out.append(f"sheet {sheet.title}: {reading.hidden} hidden rows or columns")
        if reading.faults:
            left_out.append(f"sheet {sheet.title}: {reading.faults} cells with errors")
    left_out += [f"the chart sheet {sheet.title}" for sheet in values.chartsheets]
    return ReadDocument(values.properties.title or "", blocks, left_out)


def _checked(data: bytes) -> bool:
    """Return True if a workbook has formulas. Raises `DataError` for merged cells that would not fit into memory."""
    from openpyxl.utils import column_index_from_string

    packed, size, has_formulas = unpacked(data), 0, False
    for name in packed.namelist():
        if name.startswith("xl/worksheets/") and name.endswith(".xml"):
            content = packed.read(name)
            has_formulas = has_formulas or _FORMULA.search(content) is not None
            for first_letters, first, last_letters, last in _MERGED.findall(content):
                width = column_index_from_string(last_letters.decode()) - column_index_from_string(
                    first_letters.decode()
                )
                size += (width + 1) * (int(last) - int(first) + 1)
    if size > _MOST_CELLS:
        raise DataError(f"has more than {_MOST_CELLS:,} places of merged cells")
    return has_formulas


class _Sheet:
    def __init__(self, sheet: Any, formulas: Any) -> None:
        self._sheet, self._formulas = sheet, formulas
        self.faults = self.hidden = 0
        # cells that only have a style may go on to the end of a sheet; a look at each of its places would make cells of them
        places = [
            place
            for one in filter(None, (sheet, formulas))
            for place, cell in one._cells.items()
            if cell.value is not None
        ]
        self.rows = max((row for row, _ in places), default=0)
        self._columns = max((column for _, column in places), default=1)
        self.most_rows = _MOST_CELLS // self._columns

    def table(self) -> TableBlock | None:
        """Return the cells of the sheet, empty rows between them included; None if all are empty."""
        merged = self._merged()
        columns = [column for column in range(1, self._columns + 1) if not self._is_hidden(column)]
        self.hidden += self._columns - len(columns)
        rows: list[tuple[int, list[str]]] = []
        for number in range(1, min(self.rows, self.most_rows) + 1):
            dimension = self._sheet.row_dimensions.get(number)
            if dimension is not None and dimension.hidden:
                self.hidden += 1
                continue
            texts = [self._text(*merged.get((number, column), (number, column))) for column in columns]
            if any(texts) or (rows and any(rows[-1][1])):  # one empty row stands for several
                rows.append((number, texts))
        if rows and not any(rows[-1][1]):
            rows.pop()
        return self._table(rows, columns, merged) if rows else None

    def _is_hidden(self, column: int) -> bool:
        from openpyxl.utils import get_column_letter

        dimension = self._sheet.column_dimensions.get(get_column_letter(column))
        return dimension is not None and bool(dimension.hidden)

    def _merged(self) -> dict[tuple[int, int], tuple[int, int]]:
        return {
            (row, column): (area.min_row, area.min_col)
            for area in self._sheet.merged_cells.ranges
            for row in range(area.min_row, area.max_row + 1)
            for column in range(area.min_col, area.max_col + 1)
            if (row, column) != (area.min_row, area.min_col)
        }

    def _text(self, row: int, column: int) -> str:
        cell = self._sheet.cell(row, column)
        if cell.data_type == "e":
            self.faults += 1
            return ""
        if cell.value is None and self._formulas is not None:
            formula = self._formulas.cell(row, column).value
            return formula if isinstance(formula, str) and formula.startswith("=") else ""
        return shown(cell.value, cell.number_format)

    @staticmethod
    def _table(
        rows: Sequence[tuple[int, list[str]]], columns: Sequence[int], merged: dict[tuple[int, int], tuple[int, int]]
    ) -> TableBlock:
        last = max(place for _, texts in rows for place, text in enumerate(texts) if text)
        filled = range(last + 1)
        rows_at = {number: at for at, (number, _) in enumerate(rows)}
        columns_at = {columns[place]: at for at, place in enumerate(filled)}
        places = {
            (rows_at[row], columns_at[column]): (rows_at[first_row], columns_at[first_column])
            for (row, column), (first_row, first_column) in merged.items()
            if row in rows_at and column in columns_at and first_row in rows_at and first_column in columns_at
        }
        lines = [number for number, _ in rows]
        return TableBlock([[texts[place] for place in filled] for _, texts in rows], places, lines=lines)


# -- numbers as they are shown -----------------------------------------------------------------------------------------


def shown(value: Any, form: str) -> str:
    """Return the value of a cell as its number format shows it; dates and times in the form of ISO 8601."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime):
        text = value.isoformat(" ", "seconds")
        return (
            text.removesuffix(" 00:00:00").removesuffix(":00") if value.time() != time() else value.date().isoformat()
        )
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.isoformat("seconds").removesuffix(":00") if value.second == 0 else value.isoformat("seconds")
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")
    if isinstance(value, int | float):
        return shown_number(value, form)
    return " ".join(str(value).split())


class _FormatPiece(NamedTuple):
    text: str
    is_sign: bool  # of the format, not a literal


def shown_number(value: float, form: str) -> str:
    """Return a number as a format shows it, such as `0.0%` or `#,##0.00 "EUR"`."""
    sections = list(_sections(form))
    section, is_negative = sections[0], value < 0
    if is_negative and len(sections) > 1:
        section, value = sections[1], -value
    elif value == 0 and len(sections) > 2:
        section = sections[2]
    signs = [place for place, piece in enumerate(section) if piece.is_sign and piece.text in _DIGITS]
    if not signs:
        is_general = any(piece.is_sign for piece in section)  # General, or a format that shows no number
        words = "" if is_general else "".join(piece.text for piece in section).strip()
        return words or ("-" if is_negative and value > 0 else "") + _plain(value)
    before = "".join(piece.text for piece in section[: signs[0]] if not (piece.is_sign and piece.text in "-+(,."))
    behind = "".join(piece.text for piece in section[signs[-1] + 1 :] if not (piece.is_sign and piece.text in "),."))
    inner = [piece.text for piece in section[signs[0] : signs[-1] + 1] if piece.is_sign]
    is_marked = is_negative and value > 0  # its section has the sign of a negative number, or brackets
    number = _digits(abs(value), inner, section, signs[-1])
    sign = "-" if (value < 0 or is_marked) and any(digit.isdigit() and digit != "0" for digit in number) else ""
    return " ".join(f"{sign}{before}{number}{behind}".split())


def _sections(form: str) -> Iterator[list[_FormatPiece]]:
    pieces: list[_FormatPiece] = []
    for match in _TOKEN.finditer("General" if form == "@" else form):
        quotation, escape, currency, sign = match.groups()
        if sign == ";":
            yield pieces
            pieces = []
        elif sign is not None:
            pieces.append(_FormatPiece(sign, sign not in " $€£¥%/:"))
        elif (literal := next((text for text in (quotation, escape, currency) if text), "")) != "":
            pieces.append(_FormatPiece(literal, False))
    yield pieces


def _digits(value: float, inner: list[str], section: Sequence[_FormatPiece], last: int) -> str:
    whole, _, fraction = "".join(inner).partition(".")
    exponent = re.search(r"[eE][+-](.*)", "".join(inner))
    value *= 100.0 ** sum(piece.text == "%" for piece in section)
    for piece in section[last + 1 :]:  # a comma behind the digits divides by a thousand
        if not (piece.is_sign and piece.text == ","):
            break
        value /= 1000
    places = sum(sign in _DIGITS for sign in fraction.partition("E")[0].partition("e")[0])
    if exponent is not None:
        return f"{value:.{places}E}"
    text = f"{value:{',' if ',' in whole else ''}.{places}f}"
    needed = fraction.count("0")
    while "." in text and len(text.partition(".")[2]) > needed and text.endswith("0"):
        text = text[:-1]
    head, point, tail = text.rstrip(".").partition(".")
    return head.zfill(whole.count("0")) + point + tail


def _plain(value: float) -> str:
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        return str(int(value))
    return f"{value:.12g}"
