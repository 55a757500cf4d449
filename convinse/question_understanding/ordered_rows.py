"""The rows of a table in their order, as follow-ups go from one to another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from ..language.language import Language
from ..language.text import fold
from ..records.evidence import Cell, Entity, Row
from ..records.periods import period_of_cells
from ..records.ranked_rows import ColumnOrder, column_order

_NUMBER = re.compile(r"\d+")
_FOUR_DIGITS = re.compile(r"\b\d{4}\b")
_QUOTES = "\"“”'‘’ "


class OrderedRows:
    """The rows of a table, in the order of its first column of dates, else of the first with numbers that grow.

    Args:
        rows: all rows.
        language: the language of questions about them.
    """

    def __init__(self, rows: Sequence[Row], language: Language) -> None:
        self._rows, self._keywords = rows, language.properties.keywords
        title = rows[0]["caption"] or rows[0]["section"] if rows else ""
        self.title = self._keywords(title)
        words = fold(title).split()
        # "Selected albums" leaves some out, and "Later films" has not the first one
        self.is_partial = bool(language.operations.partial.search(title)) or any(
            map(language.operations.is_of_degree, words)
        )

    @cached_property
    def _columns(self) -> dict[int, list[Cell]]:
        """The cells of each column, from the left."""
        columns: dict[int, list[Cell]] = {}
        for row in self._rows:
            for cell in row["cells"]:
                columns.setdefault(cell["column"], []).append(cell)
        return dict(sorted(columns.items()))

    @cached_property
    def _orders(self) -> dict[int, ColumnOrder]:
        """The columns that have an order, with the amounts of all rows."""
        orders = {column: column_order([cell_below(row, column) for row in self._rows]) for column in self._columns}
        return {column: order for column, order in orders.items() if order is not None}

    def header(self, cell: Cell) -> frozenset[str]:
        """Return the keywords of the header of a cell."""
        return self._keywords(cell["header"])

    @cached_property
    def headers(self) -> frozenset[str]:
        """The keywords of all headers."""
        return frozenset[str]().union(*(self.header(cells[0]) for cells in self._columns.values()))

    @cached_property
    def dated(self) -> frozenset[int]:
        """The columns of dates."""
        return frozenset(column for column, order in self._orders.items() if order.are_dates)

    def numbers_rows(self, column: int) -> bool:
        """Return True for a column of numbers that grow from row to row, as those of seasons do."""
        order = self._orders.get(column)
        amounts = [] if order is None or order.are_dates else [each for each in order.amounts if each is not None]
        return bool(amounts) and amounts == sorted(amounts) and 2 * len({*amounts}) > len(amounts)

    @cached_property
    def _key(self) -> int | None:
        """The column by which the rows are in order."""
        return next((column for column in self._orders if column in self.dated or self.numbers_rows(column)), None)

    def is_key(self, cell: Cell) -> bool:
        """Return True for a cell of the column by which the rows are in order."""
        return cell["column"] == self._key

    @cached_property
    def key_words(self) -> frozenset[str]:
        """The keywords of the header of that column."""
        return frozenset() if self._key is None else self.header(self._columns[self._key][0])

    @cached_property
    def _in_order(self) -> list[Row]:
        amounts = self._orders[self._key].amounts if self._key is not None else []
        placed = [(amount, place) for place, amount in enumerate(amounts) if amount is not None]
        return [self._rows[place] for _, place in sorted(placed)]

    def beside(self, row: Row, distance: int) -> Row | None:
        """Return the next row for 1, the previous one for -1, else that of the year so many years later; None without it."""
        if abs(distance) > 1:
            key = None if self._key is None else cell_below(row, self._key)
            years = [] if key is None or self._key not in self.dated else _FOUR_DIGITS.findall(key["text"])
            return self.numbered({str(int(years[0]) + distance)}, frozenset()) if years else None
        ordered = self._in_order
        at = next((place for place, each in enumerate(ordered) if each["number"] == row["number"]), None)
        if at is None or not 0 <= at + distance < len(ordered):
            return None
        return ordered[at + distance]

    def nth(self, place: int) -> Row | None:
        """Return the row at a place in the order, counted from 1, the last one for -1; None without it."""
        ordered = self._in_order
        at = place - 1 if place > 0 else place
        return ordered[at] if -len(ordered) <= at < len(ordered) else None

    def with_items(self, items: AbstractSet[str]) -> Row | None:
        """Return the only row that names some items; None without one."""
        found = [
            row for row in self._rows if items <= {entity["id"] for cell in row["cells"] for entity in cell["entities"]}
        ]
        return found[0] if len(found) == 1 else None

    def with_name(self, words: AbstractSet[str]) -> Row | None:
        """Return the only row whose name has one of some keywords: "mourinho"; None without one."""
        named = [(row, name) for row in self._rows if (name := self.name_cell(row)) is not None]
        found = [row for row, name in named if self._keywords(name["text"]) & words]
        return found[0] if len(found) == 1 else None

    def is_gap(self, row: Row, other: Row) -> bool:
        """Return True if time lies between two rows in which others may have held the same."""
        dated = [[cell["text"] for cell in each["cells"] if cell["column"] in self.dated] for each in (row, other)]
        periods = sorted(period for texts in dated if (period := period_of_cells(texts)) is not None)
        return len(periods) > 1 and periods[0].leaves_gap(periods[1])

    def numbering(self, words: AbstractSet[str]) -> Cell | None:
        """Return a cell of the column that numbers beside some words name rows in: "season 2"; by default of that of the order."""
        headed = [cells[0] for cells in self._columns.values() if words & self.header(cells[0])]
        if len(headed) == 1:
            return headed[0]
        return None if self._key is None else self._columns[self._key][0]

    def numbered(self, numbers: AbstractSet[str], words: AbstractSet[str]) -> Row | None:
        """Return the only row that some numbers name, beside some words; None without one."""
        numbering, found = self.numbering(words), []
        if numbering is None:
            return None
        form = _FOUR_DIGITS if numbering["column"] in self.dated else _NUMBER  # of a day the year
        for row in self._rows:
            cell = cell_below(row, numbering["column"])
            if cell is not None and numbers <= {*form.findall(cell["text"])}:
                found.append(row)
        return found[0] if len(found) == 1 else None

    def name_cell(self, row: Row) -> Cell | None:
        """Return the first cell of a row that is no date or number and differs from row to row; None without one."""
        for column, cells in self._columns.items():
            texts = [fold(cell["text"]) for cell in cells]
            is_name = column not in self.dated and not any(_NUMBER.fullmatch(text) for text in texts)
            if is_name and len({*texts}) == len(self._rows):
                return cell_below(row, column)
        return None

    def label(self, row: Row) -> str:
        """Return what names a row: its name, else its place in the order; empty without both."""
        if (name := self.name_cell(row)) is not None:
            return name["text"].strip(_QUOTES)
        key = None if self._key is None else cell_below(row, self._key)
        if key is None:
            return ""
        return key["text"] if self._key in self.dated else f"{key['header']} {key['text']}"

    def is_named(self, row: Row, question: str) -> bool:
        """Return True if a question has the place of a row in the order: its year."""
        key = None if self._key is None else cell_below(row, self._key)
        return key is not None and bool(_places_of(key["text"], question))

    def with_other(self, question: str, row: Row, other: Row) -> str | None:
        """Return a question with the year of another row in the place of that of a row, or else another cell; None without such words."""
        columns = sorted(self._columns, key=lambda column: column != self._key)
        for old, new in ((cell_below(row, column), cell_below(other, column)) for column in columns):
            if old is None or new is None or old["text"] == new["text"]:
                continue
            places = _places_of(old["text"].strip(_QUOTES), question)
            if len(places) == 1:
                text = f"{question[: places[0].start()]}{new['text'].strip(_QUOTES)}{question[places[0].end() :]}"
                return f"{text.rstrip(' ?.!')}?"
        return None


def _places_of(words: str, text: str) -> list[re.Match[str]]:
    return [*re.finditer(rf"(?i)(?<!\w){re.escape(words)}(?!\w)", text)] if words else []


def cell_with(row: Row, answers: Iterable[Entity]) -> Cell | None:
    """Return the cell of a row, with its header and column, that has an answer; None without one."""
    ids, labels = {answer["id"] for answer in answers}, {fold(answer["label"].strip(_QUOTES)) for answer in answers}
    for cell in row["cells"]:
        is_answer = fold(cell["text"].strip(_QUOTES)) in labels or any(
            entity["id"] in ids for entity in cell["entities"]
        )
        if is_answer and "column" in cell and "header" in cell:
            return cell
    return None


def cell_below(row: Row, column: int) -> Cell | None:
    """Return the cell of a row in a column; None if it is empty."""
    return next((cell for cell in row["cells"] if cell["column"] == column), None)
