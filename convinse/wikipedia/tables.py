"""Tables into rows: spans expanded, header cells found, one snippet a data row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from .document import Block, Link, Snippet, clean, flatten

_MAX_SPAN = 200
_MAX_COLUMNS = 60


class Cell(NamedTuple):
    """A cell of the expanded grid; `row_header` marks a header cell that stands in a data row."""

    snippet: Snippet
    header: bool
    origin: tuple[int, int]


def grid(table: LexborNode) -> list[list[Cell | None]]:
    """The rows of a table with row and column spans expanded to the cells that they cover (HTML's table model)."""
    rows: list[dict[int, Cell]] = []
    below: dict[int, tuple[int, Cell]] = {}  # column -> (rows still to fill, cell)
    for number, tr in enumerate(_rows(table)):
        row: dict[int, Cell] = {}
        column = 0
        for td in _cells(tr):
            while column in below:
                column += 1
            cell = Cell(flatten(td, "table", skip_nested=True), td.tag == "th", (number, column))
            width, height = _span(td, "colspan"), _span(td, "rowspan")
            for place in range(column, min(column + width, _MAX_COLUMNS)):
                row[place] = cell
                if height > 1:
                    below[place] = (height, cell)
            column += width
        for place, (left, cell) in list(below.items()):
            row.setdefault(place, cell)
            if left <= 1:
                del below[place]
            else:
                below[place] = (left - 1, cell)
        below = {place: (left, cell) for place, (left, cell) in below.items() if left > 0}
        if row:
            rows.append(row)
    width = max((max(row) + 1 for row in rows), default=0)
    return [[row.get(place) for place in range(width)] for row in rows]


def rows(block: Block, title: str) -> Iterator[Snippet]:
    """One snippet a data row: `Title, caption or section, header is cell, header is cell, ...`."""
    caption = block.node.css_first("caption")
    about = clean(flatten(caption, "table").text) if caption is not None else ""
    lead = ", ".join(part for part in (title, about or block.section) if part)
    headers: list[str] = []
    header_done = False
    for row in grid(block.node):
        cells = [cell for cell in row if cell is not None]
        texts = [clean(cell.snippet.text) for cell in cells]
        if header_done and len({cell.origin for cell in cells}) < 2:
            continue  # a banner over the whole width, of data or header cells
        if all(cell.header for cell in cells) and any(texts):
            if header_done:  # a second header further down begins a new part
                headers, header_done = [], False
            headers = _join_headers(headers, [clean(cell.snippet.text) if cell else "" for cell in row])
            continue
        header_done = True
        if not any(texts) or len({cell.origin for cell in cells}) < 2:
            continue  # an empty row, or a banner over the whole width
        yield _row_snippet(lead, headers, row)


def _row_snippet(lead: str, headers: list[str], row: list[Cell | None]) -> Snippet:
    text, links, seen = lead, [], set()
    for place, cell in enumerate(row):
        if cell is None or cell.origin in seen:
            continue
        seen.add(cell.origin)
        value = clean(cell.snippet.text)
        if not value:
            continue
        header = headers[place] if place < len(headers) else ""
        text += f", {header} is " if header else ", "
        offset = len(text)
        if value == cell.snippet.text:
            links += [Link(link.start + offset, link.end + offset, link.target) for link in cell.snippet.links]
        else:  # footnote marks were cut out: find the anchors again
            for link in cell.snippet.links:
                anchor = cell.snippet.text[link.start : link.end]
                found = value.find(anchor)
                if found >= 0:
                    links.append(Link(found + offset, found + offset + len(anchor), link.target))
        text += value
    return Snippet(text, tuple(links), "table")


def _join_headers(above: list[str], row: list[str]) -> list[str]:
    """Headers of several rows, joined column by column: `Chart`, `UK` -> `Chart UK`."""
    width = max(len(above), len(row))
    above, row = above + [""] * (width - len(above)), row + [""] * (width - len(row))
    return [" ".join(dict.fromkeys(part for part in pair if part)) for pair in zip(above, row, strict=True)]


def _rows(table: LexborNode) -> Iterator[LexborNode]:
    child = table.child
    while child is not None:
        if child.tag == "tr":
            yield child
        elif child.tag in ("tbody", "thead", "tfoot"):
            yield from _rows(child)
        child = child.next


def _cells(tr: LexborNode) -> Iterator[LexborNode]:
    child = tr.child
    while child is not None:
        if child.tag in ("td", "th"):
            yield child
        child = child.next


def _span(cell: LexborNode, name: str) -> int:
    value = (cell.attributes.get(name) or "1").strip()
    return max(1, min(int(value), _MAX_SPAN)) if value.isdigit() else 1
