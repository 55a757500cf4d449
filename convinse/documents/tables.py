"""Finds which rows of a table name its columns, where the format does not say so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ..wikipedia.snippets import Snippet
from ..wikipedia.tables import GridCell, GridRow, is_banner, texts_of
from .model import TableBlock

_AMOUNT = re.compile(r"[-+−(]?\s*[$€£¥]?\s*\d[\d.,:/ '’_-]*\s*(?:%|[€$£¥]|[a-zA-Zµ°²³]{1,4})?\)?")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d(?:[-/–]\d{2,4})?")
_LONGEST_HEAD = 60  # characters of a name of a column
_EMPTY = frozenset(("", "-", "–", "—"))


def grid_of(table: TableBlock) -> tuple[list[GridRow], set[int]]:
    """Return the grid of a table, and the numbers of its rows that name columns.

    In rows above the names of columns a single text is a title of the table; a name over several columns without one below it
    names all of them.
    """
    rows = [[" ".join(text.split()) for text in row] for row in table.rows]
    first = _first_row(rows) if table.heads is None else 0
    heads = _heads(rows[first:], table, first) if table.heads is None else table.heads
    headed = set(range(first, first + heads))
    merged = dict(table.merged)
    if len(headed) > 1:  # a name whose further columns are empty: "2022", "", "2023", ""
        top = min(headed)
        for column in range(1, len(rows[top])):
            if not rows[top][column] and rows[top][column - 1] and rows[top + 1][column]:
                rows[top][column] = rows[top][column - 1]
    grid: list[GridRow] = []
    for number, row in enumerate(rows):
        cells: GridRow = []
        for column, text in enumerate(row):
            is_title = number < first and not text
            origin = merged.get((number, column), (number, column))
            cells.append(None if is_title else GridCell(Snippet(text, (), "table"), number in headed, origin, "", ""))
        grid.append(cells)
    return grid, headed


def data_rows(grid: Sequence[GridRow], headed: AbstractSet[int]) -> list[int]:
    """Return the numbers of the rows with data: with words, no title over all columns, and not the names of columns once more."""
    names = [texts_of(grid[number]) for number in headed]
    return [
        number
        for number, row in enumerate(grid)
        if number not in headed and any(texts_of(row)) and texts_of(row) not in names and not is_banner(row)
    ]


def _first_row(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of the first row with several texts, if rows above it have one each; else 0."""
    for number, row in enumerate(rows):
        if len({text for text in row if text}) > 1:
            return number
    return 0


def _heads(rows: Sequence[Sequence[str]], table: TableBlock, first: int) -> int:
    """Return how many of the first rows name columns: none, one or two."""
    if len(rows) < 2 or not _are_names(rows[0], rows[1:]):
        return 0
    spans = {column for (row, column), origin in table.merged.items() if row == first and origin[0] == first}
    gaps = [column for column, text in enumerate(rows[0]) if column and (not text or column in spans)]
    if len(rows) > 2 and gaps and all(rows[1][column] for column in gaps) and _are_words(rows[1]):
        return 2
    return 1


def _are_names(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    texts = [text for text in row if text]
    if len(texts) < 2 or max(map(len, texts)) > _LONGEST_HEAD:
        return False
    if not any(_AMOUNT.fullmatch(text) for text in texts):
        return len({*texts}) == len(texts) or len(texts) < len(row)
    # years that name columns of other numbers: "Country", "2019", "2020"
    columns = [column for column, text in enumerate(row) if text and _AMOUNT.fullmatch(text)]
    if not all(_YEAR.fullmatch(row[column]) for column in columns) or (row[0] and 0 in columns) or len(columns) < 2:
        return False
    values = [line[column] for line in below for column in columns if line[column] not in _EMPTY]
    return bool(values) and 2 * sum(_YEAR.fullmatch(value) is None for value in values) > len(values)


def _are_words(row: Sequence[str]) -> bool:
    return not any(_AMOUNT.fullmatch(text) for text in row if text)
