"""Tables into rows: spans expanded, header cells found, one snippet a data row."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from ..support.limits import MOST_TABLE_CELLS
from .document import PageElement, Part, Snippet, TableRow, flatten, row_cells, table_rows

LOGGER = logging.getLogger(__name__)
_MAX_SPAN = 200
_MAX_COLUMNS = 60
_NO_LIMIT = 10**9


class GridCell(NamedTuple):
    """A cell of the expanded grid; `row_header` marks a header cell that stands in a data row."""

    snippet: Snippet
    header: bool
    origin: tuple[int, int]


def grid(table: LexborNode) -> list[list[GridCell | None]]:
    """The rows of a table with row and column spans expanded to the cells that they cover (HTML's table model).

    Rows beyond `MOST_TABLE_CELLS` are left out.
    """
    rows: list[dict[int, GridCell]] = []
    cells = 0
    below: dict[int, tuple[int, GridCell]] = {}  # column -> (rows still to fill, cell)
    for number, tr in enumerate(table_rows(table)):
        row: dict[int, GridCell] = {}
        column = 0
        for td in row_cells(tr):
            while column in below:
                column += 1
            cell = GridCell(flatten(td, "table", skip_nested=True).cleaned(), td.tag == "th", (number, column))
            attributes = td.attributes
            width, height = _span(attributes.get("colspan")), _span(attributes.get("rowspan"))
            for place in range(column, min(column + width, _MAX_COLUMNS)):
                row[place] = cell
                if height > 1:
                    below[place] = (height, cell)
            column += width
        for place, (_, cell) in below.items():
            row.setdefault(place, cell)
        below = {place: (left - 1, cell) for place, (left, cell) in below.items() if left > 1}
        if row:
            rows.append(row)
            cells += len(row)
        if cells > MOST_TABLE_CELLS:
            LOGGER.warning("a table of more than %d cells is cut behind row %d", MOST_TABLE_CELLS, number + 1)
            break
    width = max((max(row) + 1 for row in rows), default=0)
    return [[row.get(place) for place in range(width)] for row in rows]


def rows(element: PageElement, title: str, max_length: int | None = None, place: int = 0) -> Iterator[Snippet]:
    """One snippet a data row: `Title, caption or section, header is cell, header is cell, ...`.

    A row longer than `max_length` is cut at cell borders into several snippets that all begin with its first cell.
    `place` is that of the table on its page.
    """
    above = element.node.css_first("caption")
    caption = flatten(above, "table").cleaned().text if above is not None else ""
    about = caption or element.section
    banner = ""
    data_rows = itertools.count()
    headers: list[str] = []
    header_done = False
    table = grid(element.node)
    bold = _bold_header(element.node)
    for number, row in enumerate(table):
        cells = [cell for cell in row if cell is not None]
        texts = [cell.snippet.text for cell in cells]
        if not any(texts):
            continue
        if len({cell.origin for cell in cells}) == 1 and len(row) > 1:
            if cells[0].origin[0] == number:  # a title over the whole width, of the table or of what is below it
                banner = texts[0]
            continue
        columns = [cell.snippet.text if cell else "" for cell in row]
        is_header = all(cell.header for cell in cells) or (bold and number == 0)
        if is_header and not (header_done and (_counts(texts) or columns == headers)):
            if header_done:  # a second header further down begins a new part
                headers, header_done = [], False
            headers = _join_headers(headers, columns)
            continue
        header_done = True
        if columns == headers:
            continue  # the header again
        lead = ", ".join(dict.fromkeys(part for part in (title, about, banner) if part))
        begin = Snippet(lead, (), "table", row=TableRow(caption, element.section, banner, place, next(data_rows)))
        yield from _row_snippets(begin, headers, row, max_length or _NO_LIMIT)


def _counts(texts: list[str]) -> bool:
    """Whether a row of header cells holds numbers, as totals do."""
    numbers = sum(re.fullmatch(r"[\d.,%+−–-]+", text) is not None for text in texts)
    return numbers * 2 >= len(texts)


def _bold_header(table: LexborNode) -> bool:
    """Whether the first row of a table without header cells is one in all but name: most of its cells are bold."""
    first = next(table_rows(table), None)
    cells = list(row_cells(first)) if first is not None else []
    bold = sum(cell.css_first("b") is not None for cell in cells)
    return len(cells) > 1 and bold * 2 > len(cells) and all(cell.tag == "td" for cell in cells)


class _CellInRow(NamedTuple):
    lead: str
    header: str
    column: int
    snippet: Snippet


def _row_snippets(begin: Snippet, headers: list[str], row: list[GridCell | None], max_length: int) -> Iterator[Snippet]:
    parts: list[_CellInRow] = []
    origin = None
    for place, cell in enumerate(row):
        if cell is None or cell.origin == origin:
            continue
        origin = cell.origin
        if cell.snippet.text:
            header = headers[place] if place < len(headers) else ""
            parts.append(_CellInRow(f", {header} is " if header else ", ", header, place, cell.snippet))
    if len(parts) == 2 and not headers and row[0] is not None and row[0].header:
        parts[1] = parts[1]._replace(lead=" is ", header=parts[0].snippet.text)
    if not parts:
        return
    key = _add(begin, parts[0])
    current = key
    for part in parts[1:]:
        longer = _add(current, part)
        if len(longer.text) > max_length:
            alone = _add(begin, part)
            fits = len(alone.text) <= max_length
            if fits or current is not key:
                yield current
                longer = _add(key, part)
                # a long first cell leaves no room: what it would push over the limit stands without it
                if fits and len(longer.text) > max_length:
                    longer = alone
        current = longer
    yield current


def _add(snippet: Snippet, cell: _CellInRow) -> Snippet:
    start = len(snippet.text) + len(cell.lead)
    moved = cell.snippet.after(snippet.text + cell.lead)
    part = Part(start, len(moved.text), cell.header, cell.column)
    return Snippet(moved.text, snippet.links + moved.links, "table", (*snippet.parts, part), snippet.row)


def _join_headers(above: list[str], row: list[str]) -> list[str]:
    """Headers of several rows, joined column by column: `Chart`, `UK` -> `Chart UK`."""
    pairs = itertools.zip_longest(above, row, fillvalue="")
    return [" ".join(dict.fromkeys(part for part in pair if part)) for pair in pairs]


def _span(text: str | None) -> int:
    if text is None:
        return 1
    value = text.strip()
    return max(1, min(int(value), _MAX_SPAN)) if value.isascii() and value.isdigit() else 1
