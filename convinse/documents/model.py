"""The content of a file, as its reader found it: a title, and blocks in reading order, each with its place in the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Literal, NamedTuple

# faults of files that a person can do something about
NO_TEXT, LOCKED = "has no text; is it a scan?", "needs a password"

Kind = Literal["text", "item", "quotation", "code", "note"]


class Heading(NamedTuple):
    """A heading; `level` is 1 for the highest. `line` and `page` (of a slide: its number) count from 1; 0 is unknown."""

    text: str
    level: int
    line: int = 0
    page: int = 0


class TextBlock(NamedTuple):
    """Text that stands together, in one line; `code` keeps its lines. `links` are the words and the address of each."""

    text: str
    line: int = 0
    page: int = 0
    kind: Kind = "text"
    links: Sequence[tuple[str, str]] = ()


class TableBlock(NamedTuple):
    """A table: the texts of all cells, row by row, as people see them.

    Attributes:
        rows: of equal length; a merged cell has its text in each of its places.
        merged: the place (row and column, from 0) of each further part of a merged cell -> the place of its first part.
        heads: the number of rows that name columns, if the format says so; None: it does not.
        caption: the title of the table, if the format gives one.
        lines: the line (of a sheet: the row) of each row, from 1; empty if unknown.
        links: the words and the address of each link in the cells.
    """

    rows: Sequence[Sequence[str]]
    merged: Mapping[tuple[int, int], tuple[int, int]] = {}
    heads: int | None = None
    caption: str = ""
    lines: Sequence[int] = ()
    page: int = 0
    links: Sequence[tuple[str, str]] = ()


class CellGrid:
    """A table whose cells are put in their places one by one; one over several rows or columns has its text in each of these."""

    def __init__(self) -> None:
        self.texts: dict[tuple[int, int], str] = {}
        self.merged: dict[tuple[int, int], tuple[int, int]] = {}

    def free(self, row: int, column: int = 0) -> int:
        """Return the first column of a row, from a column on, where no cell is yet."""
        while (row, column) in self.texts:
            column += 1
        return column

    def put(self, row: int, column: int, text: str, down: int = 1, right: int = 1) -> None:
        """Put a cell in its place, and in the places `down` and to the `right` that it goes over."""
        for place in product(range(row, row + down), range(column, column + right)):
            self.texts[place] = text
            if place != (row, column):
                self.merged[place] = row, column

    def table(self, rows: int, heads: int | None = None, caption: str = "", lines: Sequence[int] = ()) -> TableBlock:
        """Return the table of the first rows."""
        last = max((column for row, column in self.texts if row < rows), default=0)
        texts = [[self.texts.get((row, column), "") for column in range(last + 1)] for row in range(rows)]
        merged = {place: first for place, first in self.merged.items() if place[0] < rows}
        return TableBlock(texts, merged, heads, caption, lines)


class PairsBlock(NamedTuple):
    """Names with their values, such as the fields of a record."""

    pairs: Sequence[tuple[str, str]]
    line: int = 0
    page: int = 0


Block = Heading | TextBlock | TableBlock | PairsBlock


def at_line(block: Block, line: int) -> Block:
    """Return a block, all rows of a table, at a line; 0 for none."""
    match block:
        case TableBlock():
            return block._replace(lines=[line] * len(block.rows) if line else ())
        case _:
            return block._replace(line=line)


class ReadDocument(NamedTuple):
    """A document: its title, or an empty string, its content, and what of it was left out, in words for its user."""

    title: str
    blocks: Sequence[Block]
    left_out: Sequence[str] = ()

    @property
    def heading(self) -> Heading | None:
        """The heading that the document begins with; None if it begins with something else."""
        first = self.blocks[0] if self.blocks else None
        return first if isinstance(first, Heading) else None
