"""Finds the tables of a block, which rows name their columns, and what is no table, where the format does not say so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from ..language.operations import OperationWords
from ..language.text import fold
from ..records.units import UNIT
from ..records.written_values import UNKNOWN, kind_of_value
from ..wikipedia.snippets import Snippet
from ..wikipedia.tables import GridCell, GridRow, is_banner, texts_of
from .model import TableBlock

_AMOUNT = re.compile(r"[-+−(]?\s*[$€£¥]?\s*\d[\d.,:/ '’_-]*\s*(?:%|[€$£¥]|[a-zA-Zµ°²³]{1,4})?\)?")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d(?:[-/–]\d{2,4})?")
_LONGEST_HEAD = 60  # characters of a name of a column
_MIN_NOTE_WORDS = 4  # words of a lone cell that is a note: fewer may be a value
_MIN_PAIRS = 4  # rows of a table of names and values
_IN_BRACKETS = re.compile(r"[(\[].{1,12}[)\]]")


def parts_of(block: TableBlock) -> tuple[list[TableBlock], list[tuple[str, int]]]:
    """Return the tables of a block, which empty rows and columns part, and the notes beside them with their lines.

    An empty row ends a table if what follows has a head of its own.

    A text alone in its row, above a table, is its title; below one, with several words, a note. Tables side by side need two columns each.
    """
    width = max(map(len, block.rows), default=0)
    empty = [column for column in range(width) if not any(row[column] for row in block.rows)]
    sides = list(_runs(range(width), empty))
    if len(sides) > 1 and all(len(side) > 1 for side in sides):
        parts = [_parts_of(_cut(block, range(len(block.rows)), side)) for side in sides]
    else:
        parts = [_parts_of(_cut(block, range(len(block.rows)), [column for side in sides for column in side]))]
    return [table for tables, _ in parts for table in tables], [note for _, notes in parts for note in notes]


def _with_cells_once(block: TableBlock) -> list[list[str]]:
    """Return the rows with each merged cell once, at its first place."""
    return [
        ["" if (number, column) in block.merged else " ".join(text.split()) for column, text in enumerate(row)]
        for number, row in enumerate(block.rows)
    ]


def _parts_of(block: TableBlock) -> tuple[list[TableBlock], list[tuple[str, int]]]:
    lines = block.lines or [0] * len(block.rows)
    rows_once = _with_cells_once(block)
    below_merged = {row for (row, _), origin in block.merged.items() if origin[0] < row}
    tables, notes = list[TableBlock](), list[tuple[str, int]]()
    caption, rows = block.caption, list[int]()  # of the table so far
    filled, counted = set[int](), set[int]()  # its columns with texts, and with amounts below the first row
    for run in _runs(range(len(block.rows)), [number for number, row in enumerate(block.rows) if not any(row)]):
        texts = [rows_once[number] for number in run]
        is_single = len(block.rows[0]) > 1 and all(
            sum(map(bool, row)) == 1 and number not in below_merged for number, row in zip(run, texts, strict=True)
        )
        if is_single and (run[-1] == len(block.rows) - 1 or len(run) > 1):
            notes.extend((" ".join(row).strip(), lines[number]) for number, row in zip(run, texts, strict=True))
            continue
        columns = {column for number in run for column, text in enumerate(block.rows[number]) if text}
        if is_single or (rows and (len(columns) < len(filled) or (len(run) > 1 and _has_head(texts, counted)))):
            tables.extend(_table_of(block, rows, caption))
            caption, rows, filled, counted = "", [], set(), set()
        if is_single:
            caption = " ".join(texts[0]).strip()
            continue
        below = run if rows else run[1:]
        rows += run
        filled |= columns
        counted |= {column for number in below for column in columns if _AMOUNT.fullmatch(block.rows[number][column])}
    below_table = []
    while rows and _is_note(block.rows[rows[-1]]):
        below_table.append((" ".join(filter(None, block.rows[rows[-1]])), lines[rows[-1]]))
        rows.pop()
    notes.extend(reversed(below_table))
    tables.extend(_table_of(block, rows, caption))
    return tables, notes


def _table_of(block: TableBlock, rows: Sequence[int], caption: str) -> Iterator[TableBlock]:
    if rows:
        yield _cut(block._replace(caption=caption), rows, range(len(block.rows[0])))


def _has_head(rows: Sequence[Sequence[str]], counted: AbstractSet[int]) -> bool:
    """Return True if rows begin with names of columns: below a title, or over amounts, or where the table above has amounts (`counted`)."""
    first = _first_row(rows)
    words = {column for column, text in enumerate(rows[first]) if text and not _AMOUNT.fullmatch(text)}
    is_over = any(_AMOUNT.fullmatch(row[column]) for row in rows[first + 1 :] for column in words)
    return bool(_heads(rows[first:])) and (first > 0 or is_over or bool(words & counted))


def _is_note(row: Sequence[str]) -> bool:
    texts = [text for text in row if text]
    return len(row) > 1 and len(texts) == 1 and row[0] != "" and len(texts[0].split()) >= _MIN_NOTE_WORDS


def _runs(numbers: Iterable[int], breaks: Iterable[int]) -> Iterator[list[int]]:
    apart, run = frozenset(breaks), list[int]()
    for number in numbers:
        if number not in apart:
            run.append(number)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _cut(block: TableBlock, rows: Sequence[int], columns: Sequence[int]) -> TableBlock:
    row_at, column_at = ({number: at for at, number in enumerate(numbers)} for numbers in (rows, columns))
    merged = {
        (row_at[row], column_at[column]): (row_at[origin[0]], column_at[origin[1]])
        for (row, column), origin in block.merged.items()
        if row in row_at and column in column_at and origin[0] in row_at and origin[1] in column_at
    }
    lines = [block.lines[row] for row in rows] if block.lines else ()
    return block._replace(
        rows=[[block.rows[row][column] for column in columns] for row in rows], merged=merged, lines=lines
    )


def with_full_names(table: TableBlock, words: OperationWords) -> TableBlock:
    """Return a table with the names of people in one column, if it has a column of first names and one of last names."""
    head = table.rows[_first_row(table.rows)] if table.rows else []
    first, last = (
        next((column for column, text in enumerate(head) if header.fullmatch(text.strip())), None)
        for header in (words.given_names, words.family_names)
    )
    is_named = any(fold(text) in words.naming for text in head)
    if first is None or last is None or is_named or table.merged:
        return table
    rows = []
    for row in table.rows:
        name = words.name_header if row is head else " ".join(filter(None, (row[first], row[last])))
        rows.append([name if column == first else text for column, text in enumerate(row) if column != last])
    return table._replace(rows=rows)


def grid_of(table: TableBlock) -> tuple[list[GridRow], set[int]]:
    """Return the grid of a table, and the numbers of its rows that name columns.

    In rows above the names of columns a single text is a title of the table; a name over several columns without one below it
    names all of them.
    """
    rows = [[" ".join(text.split()) for text in row] for row in table.rows]
    first = _first_row(rows) if table.heads is None else 0
    rows_once = _with_cells_once(table)
    heads = _heads(rows_once[first:]) if table.heads is None else table.heads
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
        is_part = _is_part(rows_once, number, first + heads)
        for column, text in enumerate(row):
            is_title = (number < first or is_part) and not rows_once[number][column]
            origin = merged.get((number, column), (number, column))
            cells.append(None if is_title else GridCell(Snippet(text, (), "table"), number in headed, origin, "", ""))
        grid.append(cells)
    return grid, headed


def _is_part(rows: Sequence[Sequence[str]], number: int, first: int) -> bool:
    """Return True for a text alone in the first cell of a row between full rows: the name of the rows below."""
    row, below = rows[number], rows[number + 1] if number + 1 < len(rows) else []
    return number >= first and len(row) > 2 and bool(row[0]) and sum(map(bool, row)) == 1 and sum(map(bool, below)) > 2


def data_rows(grid: Sequence[GridRow], headed: AbstractSet[int]) -> list[int]:
    """Return the numbers of the rows with data: with words, no title over all columns, and not the names of columns once more."""
    names = [texts_of(grid[number]) for number in headed]
    return [
        number
        for number, row in enumerate(grid)
        if number not in headed and any(texts_of(row)) and texts_of(row) not in names and not is_banner(row)
    ]


def named_values(table: TableBlock) -> list[tuple[str, str, int]]:
    """Return the names, values and lines of a table that gives each row one value: "Owner, Ida Roth", "Opened, 1987"; else nothing.

    The first of its two columns, which have no names, has different words, the second values of several kinds.
    """
    rows = [[" ".join(text.split()) for text in row] for row in table.rows]
    titles = rows[: _first_row(rows)]  # of the whole table
    rows = rows[len(titles) :]
    filled = [column for column in range(len(rows[0]) if rows else 0) if any(row[column] for row in rows)]
    if table.heads or len(filled) != 2 or len(rows) < _MIN_PAIRS:
        return []
    lines = list(table.lines or [0] * len(table.rows))[len(titles) :]
    pairs = [(row[filled[0]].rstrip(": "), row[filled[1]], line) for row, line in zip(rows, lines, strict=True)]
    names = [name for name, _, _ in pairs]
    are_names = all(name and len(name) <= _LONGEST_HEAD and not _AMOUNT.fullmatch(name) for name in names)
    if not are_names or len({*names}) < len(names):
        return []
    is_marked = all(row[filled[0]].endswith(":") for row in rows)
    # the shapes of the values below a first row that may be a head: 0 of 1987, 0 0 of 555 0142, a of words
    shapes = Counter(_shape(value) for _, value, _ in pairs[1:] if value.lower() not in UNKNOWN)
    is_mixed = len(shapes) > 1 and 3 * max(shapes.values()) <= 2 * sum(shapes.values())
    above = [("", max(row), line) for row, line in zip(titles, table.lines or [0] * len(titles), strict=False)]
    return [*above, *pairs] if is_marked or is_mixed else []


def _shape(text: str) -> str:
    if not any(map(str.isdigit, text)):
        return "a"
    if (kind := kind_of_value(text)) and any(map(str.isalpha, text)):
        return "0 a" if kind == "number" else kind  # "58 min" and "1 h 46 min", "870 BC" and "AD 64"
    return re.sub(r"(?:^[+−–-])?[0-9][0-9.,:'’]*", "0", re.sub(r"[^\W\d_]+(?:\s[^\W\d_]+)*", "a", text))


def _first_row(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of the first row with several texts, if rows above it have one each; else 0."""
    for number, row in enumerate(rows):
        if len({text for text in row if text}) > 1:
            return number
    return 0


def _heads(rows: Sequence[Sequence[str]]) -> int:
    """Return how many of the first rows name columns: none, one or two."""
    if len(rows) < 2:
        return 0
    # a name that is repeated beside itself is one over several columns
    top = ["" if place and text == rows[0][place - 1] else text for place, text in enumerate(rows[0])]
    if not _are_names(top, rows[1:]):
        return 0
    gaps = [column for column, text in enumerate(top) if column and not text]
    if len(rows) > 2 and gaps and all(rows[1][column] for column in gaps) and _are_words(rows[1]):
        return 2
    units = [text for text in rows[1] if text]
    below = [text for row in rows[2:] for text in row if text]
    if units and all(map(_is_unit, units)) and any(map(_AMOUNT.fullmatch, below)) and not any(map(_is_unit, below)):
        return 2  # a row of units
    return 1


def _is_unit(text: str) -> bool:
    return bool(_IN_BRACKETS.fullmatch(text) or UNIT.fullmatch(text))


def _are_names(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    texts = [text for text in row if text]
    if len(texts) < 2 or max(map(len, texts)) > _LONGEST_HEAD:
        return False
    if not any(_AMOUNT.fullmatch(text) for text in texts):
        return len({*texts}) == len(texts) or len(texts) < len(row)
    # years that name columns of other numbers: "Country", "2019", "2020"
    columns = [column for column, text in enumerate(row) if text and _AMOUNT.fullmatch(text)]
    if (row[0] and 0 in columns) or len(columns) < 2:
        return False
    # sizes that name columns of prices: "Pizza", "26 cm", "32 cm"
    values = [line[column] for line in below for column in columns if line[column] not in UNKNOWN]
    sizes = {_shape(row[column]) for column in columns}
    if sizes == {"0 a"} and len({*texts}) == len(texts) and values:
        return "0 a" not in map(_shape, values) and all(map(_AMOUNT.fullmatch, values))
    if not all(_YEAR.fullmatch(row[column]) for column in columns):
        return False
    return bool(values) and 2 * sum(_YEAR.fullmatch(value) is None for value in values) > len(values)


def _are_words(row: Sequence[str]) -> bool:
    return not any(_AMOUNT.fullmatch(text) for text in row if text)
