"""Snippets of tables, one for each data row: spans are expanded, and header rows name the cells."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from ..records.evidence import Row
from ..support.limits import MOST_TABLE_CELLS
from .document import row_cells, table_rows
from .flatten import flatten
from .snippets import Part, Snippet

LOGGER = logging.getLogger(__name__)
_ROLES = {"columnheader": "col", "rowheader": "row"}
_MAX_COLUMNS, _MAX_ROWS = 1000, 65534  # of a table, and of a row span: HTML's limits
_NO_LIMIT = 10**9  # characters: longer than any row
_NUMBER = re.compile(r"[ \t\n\f\r]*(-?)\+?([0-9]+)")
_MAX_HEADER = 40  # characters of a header in a cell that is not a header cell
_BOLD = re.compile(r"font(?:-weight)?\s*:[^;]*(?:bold|[6-9]00)\b", re.IGNORECASE)
_MIN_SHARE = 0.8  # share of numbers and dates among the texts of a column of numbers


class GridCell(NamedTuple):
    """A cell of the expanded grid: `origin` is the row and column where it begins; `header` is True for a `th`."""

    snippet: Snippet
    header: bool
    origin: tuple[int, int]
    scope: str
    group: str


GridRow = list[GridCell | None]


def _cell_text(td: LexborNode) -> Snippet:
    return flatten(td, "table", skip_nested=True).cleaned()


def grid(table: LexborNode, cell_text: Callable[[LexborNode], Snippet] = _cell_text) -> list[GridRow]:
    """Return the rows of a table with row and column spans expanded to the cells that they cover (HTML's table model).

    Spans end with their row group, a `tfoot` comes last, and the first of overlapping cells has the place. A table is cut behind
    the row that exceeds `MOST_TABLE_CELLS`. `cell_text` reads a cell.
    """
    rows: list[dict[int, GridCell]] = []
    width = 0
    groups = (child for child in table.iter() if child.tag in ("thead", "tbody", "tfoot"))
    for group in sorted(groups, key=lambda group: group.tag == "tfoot"):
        lines = list(table_rows(group))
        below: dict[int, tuple[int, GridCell]] = {}  # column -> (rows still to fill, cell)
        for line, tr in enumerate(lines):
            row: dict[int, GridCell] = {}
            column = 0
            for td in row_cells(tr):
                while column in below:
                    column += 1
                attributes = td.attributes
                snippet = cell_text(td)
                role = _ROLES.get(attributes.get("role") or "", "")
                scope = (attributes.get("scope") or role).strip().lower()
                cell = GridCell(snippet, td.tag == "th" or bool(role), (len(rows), column), scope, str(group.tag))
                end = min(column + (_span(attributes.get("colspan")) or 1), _MAX_COLUMNS)
                height = min(_span(attributes.get("rowspan")), _MAX_ROWS) or len(lines) - line
                width = max(width, end)
                for place in range(column, end):
                    if place not in below:
                        row[place] = cell
                        if height > 1:
                            below[place] = (height, cell)
                column = max(column, end)
            for place, (_, cell) in below.items():
                row.setdefault(place, cell)
            below = {place: (left - 1, cell) for place, (left, cell) in below.items() if left > 1}
            if row:
                rows.append(row)
            if len(rows) * width > MOST_TABLE_CELLS:
                LOGGER.warning("a table of more than %d cells is cut behind row %d", MOST_TABLE_CELLS, len(rows))
                return [[row.get(place) for place in range(width)] for row in rows]
    return [[row.get(place) for place in range(width)] for row in rows]


def _span(text: str | None) -> int:
    # HTML's rules for parsing non-negative integers; 1 if the text is invalid
    match = _NUMBER.match(text or "")
    return 1 if match is None or (match[1] and int(match[2][:9])) else int(match[2][:9])


def rows(
    table: LexborNode, section: str, title: str, max_length: int | None = None, place: int = 0
) -> Iterator[Snippet]:
    """Yield a snippet for each data row: `Title, caption or section, header is cell, header is cell, ...`.

    Rows longer than `max_length` are cut at cell borders into several snippets that all begin with the first cell. `place` is
    the number of the table on its page.
    """
    node = table.css_first("caption")
    caption = flatten(node, "table").cleaned().text if node is not None else ""
    cells = grid(table)
    about = Row(caption=caption, section=section, page="", table=place, number=0, cells=[])
    yield from row_snippets(cells, header_rows(cells, table), title, about, max_length)


def row_snippets(
    table: Sequence[GridRow], headed: AbstractSet[int], title: str, about: Row, max_length: int | None = None
) -> Iterator[Snippet]:
    """Yield a snippet for each data row of a grid; see `rows`.

    Args:
        table: the rows.
        headed: the numbers of the rows that name columns.
        title: of the page.
        about: the table's caption, section and number, without a row's.
        max_length: of a snippet.
    """
    banner = ""
    data_rows = itertools.count()
    headers: list[str] = []
    below_data = False
    for number, row in enumerate(table):
        texts = texts_of(row)
        if not any(texts):
            continue
        if is_banner(row):
            cell = next(filter(None, row))
            if cell.origin[0] == number:  # not a row span: a title of the table or of the rows below
                banner = cell.snippet.text
            continue
        if number in headed:
            # headers of several rows are joined column by column: `Chart`, `UK` -> `Chart UK`
            pairs = itertools.zip_longest([] if below_data else headers, texts, fillvalue="")
            headers = [" ".join(dict.fromkeys(filter(None, pair))) for pair in pairs]
            below_data = False
            continue
        below_data = True
        if texts == headers:
            continue  # a repeated header
        lead = ", ".join(dict.fromkeys(filter(None, (title, about["caption"] or about["section"], banner))))
        of_row: Row = {**about, "number": next(data_rows)}
        if banner:
            of_row["part"] = banner
        begin = Snippet(lead, (), "table", row=of_row)
        data_cells = [None if cell is None or cell.origin[0] in headed else cell for cell in row]
        yield from _row_snippets(begin, headers, data_cells, max_length or _NO_LIMIT)


# -- which rows are headers --------------------------------------------------------------------------------------------


def header_rows(table: Sequence[GridRow], node: LexborNode) -> set[int]:
    """Return the numbers of the rows of a table's grid that name columns.

    Header rows are the rows of a `thead`, rows in which most cells have the `scope` of a column, and the first row if its cells are
    header cells or if style (`is_bold`) or content sets it apart. Further rows of header cells are header rows if spans tie them to
    a header row above, if they repeat one, if they are unlike the data rows, or below a title if they are neither like nor unlike.
    """
    top = next(table_rows(node), None)
    top_cells = [] if top is None else list(row_cells(top))
    is_bold = len(top_cells) > 1 and 2 * sum(map(_is_bold, top_cells)) > len(top_cells)
    numbers = [number for number, row in enumerate(table) if any(texts_of(row)) and not is_banner(row)]
    if not numbers:
        return set()
    first = numbers[0]
    data = [row for row in (table[number] for number in numbers[1:]) if not _has_only_headers(row)]
    columns = _NumberColumns(data or [table[number] for number in numbers[1:]])
    headed: set[int] = set()
    for number in numbers:
        row = table[number]
        cells = [cell for cell in row if cell is not None and cell.snippet.text]
        scopes = [cell.scope for cell in cells]
        if all(cell.group == "thead" for cell in cells) or (
            2 * sum(scope in ("col", "colgroup") for scope in scopes) > len(scopes)
        ):
            headed.add(number)
        elif number == first:
            if _is_first_header(row, data, columns, is_bold):
                headed.add(number)
        elif _has_only_headers(row) and cells[0].group != "tfoot" and not all(scope == "row" for scope in scopes):
            is_tied = number - 1 in headed and _is_tied(table[number - 1], row)
            is_again = any(texts_of(row) == texts_of(table[above]) for above in headed)
            likeness = columns.likeness(row)
            is_below_banner = is_banner(table[number - 1]) and bool(data) and likeness == 0
            if is_tied or is_again or likeness < 0 or is_below_banner:
                headed.add(number)
    return headed


def _is_first_header(row: GridRow, data: Sequence[GridRow], columns: _NumberColumns, is_bold: bool) -> bool:
    cells = [cell for cell in dict.fromkeys(row) if cell is not None and cell.snippet.text]
    header_cells = [cell for cell in cells if cell.header]
    if len(header_cells) == len(cells) and (len(cells) > 1 or len(row) == 1 or not texts_of(row)[0]):
        return not data or any(cell.scope != "row" for cell in cells)
    if len(header_cells) > 1 and 2 * len(header_cells) > len(cells):
        return True
    if header_cells and any(line[0] is not None and line[0].header for line in data):
        return False  # the header cells are names of rows
    if is_bold and not header_cells:
        return True
    texts = [cell.snippet.text for cell in cells]
    are_labels = len({*texts}) == len(texts) and max(map(len, texts)) <= _MAX_HEADER and all(texts_of(row)[1:])
    # of two columns the first may name the values of the second
    return are_labels and len(row) > 2 and len(data) > 1 and columns.likeness(row) < 0


def _is_bold(cell: LexborNode) -> bool:
    nodes = (cell, cell.parent, *cell.css("[style]"))
    styles = [node.attributes.get("style") or "" for node in nodes if node is not None]
    return cell.css_first("b, strong") is not None or any(map(_BOLD.search, styles))


class _NumberColumns:
    # the columns of a table that hold numbers, which distinguish data rows from header rows

    def __init__(self, data: Sequence[GridRow]) -> None:
        self._columns = []
        for column, cells in enumerate(itertools.zip_longest(*data)):
            texts = [cell.snippet.text for cell in cells if cell is not None and _has_content(cell.snippet.text)]
            if texts and sum(map(_is_amount, texts)) >= _MIN_SHARE * len(texts):
                self._columns.append(column)

    def likeness(self, row: GridRow) -> int:
        """Return the number of the row's cells with a number in these columns, less its cells with words."""
        texts = texts_of(row)
        return sum(1 if _is_amount(texts[column]) else -1 for column in self._columns if _has_content(texts[column]))


def _is_tied(above: GridRow, row: GridRow) -> bool:
    # a cell of the header row above spans into the row, or is above several cells of it
    return any(
        upper is not None
        and (upper is lower or (column and upper is above[column - 1] and lower is not row[column - 1]))
        for column, (upper, lower) in enumerate(zip(above, row, strict=True))
    )


def _has_only_headers(row: GridRow) -> bool:
    cells = [cell for cell in dict.fromkeys(row) if cell is not None]
    is_single = len(row) == 1
    # a corner may be empty
    return all(cell.header or not cell.snippet.text for cell in cells) and (
        is_single or sum(cell.header for cell in cells) > 1
    )


def is_banner(row: GridRow) -> bool:
    """Return True if one cell goes over a whole row: a title of the table or of the rows below."""
    return len(row) > 1 and len({cell.origin for cell in row if cell is not None}) == 1


def texts_of(row: GridRow) -> list[str]:
    """Return the texts of the cells of a row."""
    return [cell.snippet.text if cell is not None else "" for cell in row]


def _is_amount(text: str) -> bool:
    # begins with a number, or is more than a third digits as a date, unlike `Area (km^2)`
    return text.lstrip("+-−–~≈<>($€£¥ ")[:1].isdecimal() or 3 * sum(map(str.isdecimal, text)) > len(text)


def _has_content(text: str) -> bool:
    return any(map(str.isalnum, text))


# -- rows as text ------------------------------------------------------------------------------------------------------


def _row_snippets(begin: Snippet, headers: list[str], row: list[GridCell | None], max_length: int) -> Iterator[Snippet]:
    cells: list[tuple[str, Snippet]] = []  # the words that lead to a cell, and the cell
    for column, cell in enumerate(row):
        if cell is None or not cell.snippet.text:
            continue
        header = headers[column] if column < len(headers) else ""
        # a cell over several columns is repeated for each different header
        if column == cell.origin[1] or (header and header != cells[-1][1].parts[0].header):
            part = Part(0, len(cell.snippet.text), header, column)
            cells.append((f", {header} is " if header else ", ", cell.snippet._replace(parts=(part,))))
    if not cells:
        return
    if len(cells) == 2 and not headers and row[0] is not None and row[0].header:
        (_, name), (_, value) = cells
        cells[1] = " is ", value._replace(parts=(value.parts[0]._replace(header=name.text),))
    key = current = begin.plus(*cells[0])
    for lead, snippet in cells[1:]:
        longer = current.plus(lead, snippet)
        if len(longer.text) > max_length:
            alone = begin.plus(lead, snippet)
            fits = len(alone.text) <= max_length
            if fits or current is not key:
                yield current
                longer = key.plus(lead, snippet)
                # a long first cell leaves no room: it is left out
                if fits and len(longer.text) > max_length:
                    longer = alone
        current = longer
    yield current
