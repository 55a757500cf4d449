"""Reads sheets into tables, with numbers as people see them."""

from __future__ import annotations

import io
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from ...support.errors import DataError
from ..model import Block, Heading, ReadDocument, TableBlock, TextBlock
from .office import ADDRESSES, plain_package, unpacked
from .shown_values import shown

_MOST_CELLS = 1_000_000  # of a workbook; sheets of that size take a minute
# openpyxl makes a cell for each place of a merged area
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})"')
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")


def read_sheets(data: bytes) -> ReadDocument:
    """Return the tables of an XLSX file, sheet by sheet, without hidden sheets, rows and columns."""
    from openpyxl import load_workbook

    data = plain_package(data)
    has_formulas = _checked(data)
    # the stored dimension of a sheet may be wrong, and merged cells are not read with `read_only`
    values = load_workbook(io.BytesIO(data), data_only=True, rich_text=True)
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
        content: list[Block] = [*(() if table is None else (table._replace(links=sheet.links()),)), *sheet.notes()]
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

    def links(self) -> Sequence[tuple[str, str]]:
        """Return the words and the address of each cell that links to one."""
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
        self._struck = {number for number, font in enumerate(sheet.parent._fonts) if font.strike}
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
        if self._struck and cell.has_style and cell._style.fontId in self._struck:
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

    def links(self) -> Sequence[tuple[str, str]]:
        linked = [
            (place, cell.hyperlink.target or "")
            for place, cell in self._sheet._cells.items()
            if cell.hyperlink is not None
        ]
        return [
            (text, address)
            for place, address in linked
            if address.startswith(ADDRESSES) and (text := self.text(*place))
        ]
