"""Reads sheets into tables, with numbers as people see them."""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

from ..support.errors import DataError
from .model import Block, Heading, ReadDocument, TableBlock, TextBlock
from .office import plain_package, unpacked

_MOST_CELLS = 1_000_000  # of a workbook; sheets of that size take a minute
_TOKEN = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].|(.)', re.DOTALL)
# openpyxl makes a cell for each place of a merged area
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})"')
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")
_DIGITS = frozenset("0#?")


def read_sheets(data: bytes) -> ReadDocument:
    """Return the tables of an XLSX file, sheet by sheet, without hidden sheets, rows and columns."""
    from openpyxl import load_workbook

    data = plain_package(data)
    has_formulas = _checked(data)
    # the stored dimension of a sheet may be wrong, and merged cells are not read with `read_only`
    values = load_workbook(io.BytesIO(data), data_only=True)
    formulas = load_workbook(io.BytesIO(data)) if has_formulas else None  # they show what has no stored value
    sheets = [_WorkbookSheet(sheet, None if formulas is None else formulas[sheet.title]) for sheet in values.worksheets]
    left_out = [f"the chart sheet {sheet.title}" for sheet in values.chartsheets]
    return document_of_sheets(values.properties.title or "", sheets, left_out)


def document_of_sheets(title: str, sheets: Iterable[SheetReading], left_out: Iterable[str] = ()) -> ReadDocument:
    """Return the tables of the visible sheets of a workbook, each below its name."""
    blocks: list[Block] = []
    left: list[str] = []
    for sheet in sheets:
        if not sheet.is_visible:
            left.append(f"the hidden sheet {sheet.title}")
            continue
        if sheet.rows > sheet.most_rows:
            left.append(f"sheet {sheet.title}: rows behind {sheet.most_rows:,}")
        table = sheet.table()
        content: list[Block] = [*(() if table is None else (table,)), *sheet.notes()]
        if content:
            blocks += [Heading(sheet.title, 2), *content]
        if sheet.hidden:
            left.append(f"sheet {sheet.title}: {sheet.hidden} hidden rows or columns")
        if sheet.faults:
            left.append(f"sheet {sheet.title}: {sheet.faults} cells with errors")
    return ReadDocument(title, blocks, [*left, *left_out])


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


class SheetReading(ABC):
    """The cells of a sheet, by their row and column from 1, and the tables that they make."""

    def __init__(self, title: str, rows: int, columns: int, is_visible: bool) -> None:
        self.title, self.rows, self.is_visible = title, rows, is_visible
        self.faults = self.hidden = 0
        self.columns = max(columns, 1)
        self.most_rows = _MOST_CELLS // self.columns

    @abstractmethod
    def is_hidden_row(self, row: int) -> bool:
        """Return True if people do not see a row."""

    @abstractmethod
    def is_hidden_column(self, column: int) -> bool:
        """Return True if people do not see a column."""

    @abstractmethod
    def merged_areas(self) -> Iterable[tuple[int, int, int, int]]:
        """Return the first and last row, and the first and last column of merged cells."""

    @abstractmethod
    def text(self, row: int, column: int) -> str:
        """Return a cell as people see it."""

    def notes(self) -> Iterable[TextBlock]:
        """Return the comments on cells."""
        return ()

    def table(self) -> TableBlock | None:
        """Return the cells of the sheet, empty rows between them included; None if all are empty."""
        merged = self._merged()
        columns = [column for column in range(1, self.columns + 1) if not self.is_hidden_column(column)]
        self.hidden += self.columns - len(columns)
        rows: list[tuple[int, list[str]]] = []
        for number in range(1, min(self.rows, self.most_rows) + 1):
            if self.is_hidden_row(number):
                self.hidden += 1
                continue
            texts = [self.text(*merged.get((number, column), (number, column))) for column in columns]
            if any(texts) or (rows and any(rows[-1][1])):  # one empty row stands for several
                rows.append((number, texts))
        if rows and not any(rows[-1][1]):
            rows.pop()
        return self._table(rows, columns, merged) if rows else None

    def _merged(self) -> dict[tuple[int, int], tuple[int, int]]:
        most = min(self.rows, self.most_rows)
        areas = [
            (first, min(last, most), left, min(right, self.columns)) for first, last, left, right in self.merged_areas()
        ]
        if sum(max(last - first + 1, 0) * max(right - left + 1, 0) for first, last, left, right in areas) > _MOST_CELLS:
            raise DataError(f"has more than {_MOST_CELLS:,} places of merged cells")
        return {
            (row, column): (first, left)
            for first, last, left, right in areas
            for row in range(first, last + 1)
            for column in range(left, right + 1)
            if (row, column) != (first, left)
        }

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


class _WorkbookSheet(SheetReading):
    def __init__(self, sheet: Any, formulas: Any) -> None:
        self._sheet, self._formulas = sheet, formulas
        # cells that only have a style may go on to the end of a sheet; a look at each of its places would make cells of them
        places = [
            place
            for one in filter(None, (sheet, formulas))
            for place, cell in one._cells.items()
            if cell.value is not None
        ]
        rows, columns = (max((place[axis] for place in places), default=0) for axis in (0, 1))
        super().__init__(sheet.title, rows, columns, sheet.sheet_state == "visible")

    def is_hidden_row(self, row: int) -> bool:
        dimension = self._sheet.row_dimensions.get(row)
        return dimension is not None and bool(dimension.hidden)

    def is_hidden_column(self, column: int) -> bool:
        from openpyxl.utils import get_column_letter

        dimension = self._sheet.column_dimensions.get(get_column_letter(column))
        return dimension is not None and bool(dimension.hidden)

    def merged_areas(self) -> Iterable[tuple[int, int, int, int]]:
        return [(area.min_row, area.max_row, area.min_col, area.max_col) for area in self._sheet.merged_cells.ranges]

    def text(self, row: int, column: int) -> str:
        cell = self._sheet.cell(row, column)
        if cell.data_type == "e":
            self.faults += 1
            return ""
        if cell.value is None and self._formulas is not None:
            formula = self._formulas.cell(row, column).value
            return formula if str(formula).startswith("=") else ""
        return shown(cell.value, cell.number_format)

    def notes(self) -> Iterable[TextBlock]:
        cells = sorted(self._sheet._cells.items())
        return [
            TextBlock(f"{cell.coordinate}: {' '.join(cell.comment.text.split())}", place[0], kind="note")
            for place, cell in cells
            if cell.comment is not None
        ]


# -- numbers as they are shown -----------------------------------------------------------------------------------------


def shown(value: Any, form: str) -> str:
    """Return the value of a cell as its number format shows it; dates and times in the form of ISO 8601."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.isoformat(" ", "seconds").removesuffix(" 00:00:00").removesuffix(":00")
        case date():
            return value.isoformat()
        case time(second=0):
            return value.isoformat("minutes")
        case time():
            return value.isoformat("seconds")
        case timedelta():
            minutes, seconds = divmod(round(value.total_seconds()), 60)
            return f"{minutes // 60}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")
        case int() | float():
            return shown_number(value, form)
    return " ".join(str(value).split())


_FormatPiece = tuple[str, bool]  # a text, and whether it is a sign of the format, not a literal


def shown_number(value: float, form: str) -> str:
    """Return a number as a format shows it, such as `0.0%` or `#,##0.00 "EUR"`."""
    sections = list(_sections(form))
    section, is_negative = sections[0], value < 0
    if is_negative and len(sections) > 1:
        section, value = sections[1], -value
    elif value == 0 and len(sections) > 2:
        section = sections[2]
    signs = [place for place, (text, is_sign) in enumerate(section) if is_sign and text in _DIGITS]
    if not signs:
        is_general = any(is_sign for _, is_sign in section)  # General, or a format that shows no number
        words = "" if is_general else "".join(text for text, _ in section).strip()
        return words or ("-" if is_negative and value > 0 else "") + _plain(value)
    before = "".join(text for text, is_sign in section[: signs[0]] if not (is_sign and text in "-+(,."))
    behind = "".join(text for text, is_sign in section[signs[-1] + 1 :] if not (is_sign and text in "),."))
    inner = [text for text, is_sign in section[signs[0] : signs[-1] + 1] if is_sign]
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
            pieces.append((sign, sign not in " $€£¥%/:"))
        elif (literal := next((text for text in (quotation, escape, currency) if text), "")) != "":
            pieces.append((literal, False))
    yield pieces


def _digits(value: float, inner: list[str], section: Sequence[_FormatPiece], last: int) -> str:
    whole, _, fraction = "".join(inner).partition(".")
    exponent = re.search(r"[eE][+-](.*)", "".join(inner))
    value *= 100.0 ** sum(text == "%" for text, _ in section)
    for piece in section[last + 1 :]:  # a comma behind the digits divides by a thousand
        if piece != (",", True):
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
