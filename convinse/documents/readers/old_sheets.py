"""Reads workbooks of Excel before 2007 (.xls), with numbers as people see them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

from ...support.errors import DataError, one_line
from ..model import LOCKED, ReadDocument
from .html import read_html
from .office import OLE
from .separated import read_separated
from .sheets import SheetReading, document_of_sheets, read_sheets
from .shown_values import shown

_RECORD = b"\x09"  # at the beginning of a workbook of Excel 2 to 4, which is not packed


def read_old_sheets(data: bytes) -> ReadDocument:
    """Return the tables of an XLS file; a newer workbook, a page and separated values under that name are read as such."""
    if data.startswith(b"PK"):
        return read_sheets(data)
    if not data.startswith((OLE, _RECORD)):
        return read_html(data) if data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<") else read_separated(data)
    import xlrd
    from xlrd.compdoc import CompDocError

    try:
        with Path(os.devnull).open("w", encoding="utf-8") as log:
            book = xlrd.open_workbook(file_contents=data, formatting_info=True, ragged_rows=True, logfile=log)
    except (xlrd.XLRDError, CompDocError) as error:
        is_locked = "encrypted" in str(error)
        raise DataError(LOCKED if is_locked else f"is not a workbook ({one_line(error)[:200]})") from None
    return document_of_sheets("", [OldSheet(book, sheet) for sheet in book.sheets()])


class OldSheet(SheetReading):
    """A sheet of an XLS file."""

    def __init__(self, book: Any, sheet: Any) -> None:
        self._book, self._sheet = book, sheet
        filled = [row for row in range(sheet.nrows) if any(value != "" for value in sheet.row_values(row))]
        rows = max(filled, default=-1) + 1
        columns = max((_last_filled(sheet.row_values(row)) for row in filled), default=0)
        super().__init__(sheet.name, rows, columns, sheet.visibility == 0)

    def is_hidden_row(self, row: int) -> bool:
        """Return True if people do not see a row."""
        info = self._sheet.rowinfo_map.get(row - 1)
        return info is not None and bool(info.hidden)

    def is_hidden_column(self, column: int) -> bool:
        """Return True if people do not see a column."""
        info = self._sheet.colinfo_map.get(column - 1)
        return info is not None and bool(info.hidden)

    def merged_areas(self) -> Iterable[tuple[int, int, int, int]]:
        """Return the first and last row, and the first and last column of merged cells."""
        # the first row and column count from 0; those behind the last ones are as many
        return [(first + 1, last, left + 1, right) for first, last, left, right in self._sheet.merged_cells]

    def text(self, row: int, column: int) -> str:
        """Return a cell as people see it."""
        import xlrd

        if column > self._sheet.row_len(row - 1):
            return ""
        cell = self._sheet.cell(row - 1, column - 1)
        form = self._book.format_map[self._book.xf_list[cell.xf_index].format_key].format_str
        if cell.ctype == xlrd.XL_CELL_ERROR:
            self.faults += 1
            return ""
        if cell.ctype == xlrd.XL_CELL_BOOLEAN:
            return shown(bool(cell.value), form)
        if cell.ctype != xlrd.XL_CELL_DATE:
            return shown(cell.value, form)
        if form.lower().startswith("[h"):
            return shown(timedelta(days=cell.value), form)
        try:
            at = xlrd.xldate_as_datetime(cell.value, self._book.datemode)
        except (ValueError, OverflowError):
            return shown(cell.value, "General")
        return shown(at.time() if cell.value < 1 else at, form)


def _last_filled(values: list[Any]) -> int:
    return next((place for place in range(len(values), 0, -1) if values[place - 1] != ""), 0)
