"""Whole tables of which the evidences show rows: their columns, the order of their rows, the answer in a row."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from ..language.property_names import PropertyWords
from ..records.evidence import Cell, Entity, Row
from ..records.literals import is_date, is_number
from ..records.periods import AskedTime, period_of_cells
from ..records.ranked_rows import ColumnOrder, column_order
from ..records.written_values import find_literals
from .question import Question

_BRACKETED = re.compile(r"\([^()]*\)")
_QUOTES = "\"“”'‘’ "
_LEAST_FIT = 0.3  # of the expected type: that of an unknown type
_FITTING = 0.5  # least share of the best fit in a cell for its entities to be answers


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table: a cell of each row, or None."""

    header: str
    keywords: frozenset[str]
    cells: Sequence[Cell | None]

    @cached_property
    def order(self) -> ColumnOrder | None:
        """The order of its cells; None if their values have no order."""
        return column_order(self.cells)

    @property
    def is_dated(self) -> bool:
        """True if its cells are dates or years."""
        return self.order is not None and self.order.are_dates

    @property
    def numbers_rows(self) -> bool:
        """True if its values grow from row to row, as the numbers of seasons do."""
        amounts = [] if self.order is None else [amount for amount in self.order.amounts if amount is not None]
        return amounts == sorted(amounts) and 2 * len(set(amounts)) > len(amounts)


@dataclass(frozen=True, eq=False)
class Table:
    """A whole table: its rows, the places of the evidences that show them, by their numbers, and the words of its language."""

    rows: Sequence[Row]
    places: Mapping[int, int]
    words: PropertyWords

    @cached_property
    def columns(self) -> list[Column]:
        """Its columns, from the left."""
        table = [{cell["column"]: cell for cell in row["cells"]} for row in self.rows]
        headers = {number: cell["header"] for row in reversed(table) for number, cell in row.items()}
        return [
            Column(header, self.words.keywords(header), [row.get(number) for row in table])
            for number, header in sorted(headers.items())
        ]

    @cached_property
    def about(self) -> frozenset[str]:
        """The keywords of its caption, or else of the heading that it stands below."""
        return self.words.keywords(self.rows[0]["caption"] or self.rows[0]["section"])

    @cached_property
    def held(self) -> list[frozenset[str]]:
        """The keywords of the cells of each row."""
        texts = ((row.get("part", ""), *(cell["text"] for cell in row["cells"])) for row in self.rows)
        return [self.words.keywords(" ".join(row)) for row in texts]

    @cached_property
    def naming(self) -> Column | None:
        """The column that names the rows: the first that has no order and a cell in most rows."""
        for column in self.columns:
            if 2 * sum(cell is not None for cell in column.cells) > len(self.rows) and column.order is None:
                return column
        return None

    @cached_property
    def dated(self) -> list[Column]:
        """The columns of dates, from the left."""
        return [column for column in self.columns if column.is_dated]

    def within(self, time: AskedTime) -> list[int]:
        """Return the rows whose dates lie within some years, or span them."""
        periods = [
            period_of_cells(cell["text"] for column in self.dated if (cell := column.cells[row]) is not None)
            for row in range(len(self.rows))
        ]
        return [row for row, period in enumerate(periods) if period is not None and time.admits(period)]

    def shown(self, rows: Sequence[int]) -> tuple[int, ...]:
        """Return the places of the evidences with these rows; if these have no evidence, of all evidences of the table."""
        numbers = [self.rows[row]["number"] for row in rows]
        places = tuple(self.places[number] for number in numbers if number in self.places)
        return places or tuple(sorted(self.places.values()))


def whole_tables(question: Question) -> list[Table]:
    """Return the whole tables of the rows in the evidences, in the order of their best evidences."""
    shown: dict[tuple[str, int], dict[int, int]] = defaultdict(dict)
    for place, evidence in enumerate(question.evidences):
        row = evidence.get("row")
        if row is not None and "page" in row and "table" in row and "number" in row:
            shown[row["page"], row["table"]].setdefault(row["number"], place)
    tables = ((question.resources.rows(*table), places) for table, places in shown.items())
    return [Table(rows, places, question.language.properties) for rows, places in tables if rows]


def noun_keywords(nouns: Iterable[str], question: Question) -> frozenset[str]:
    """Return the keywords of nouns and of their classes: film for "movie"."""
    types, words = question.language.answer_types, question.language.properties
    nouns = list(nouns)
    return frozenset(nouns).union(*(words.keyword_set(types.noun_types(word)) for word in nouns))


# -- answers -----------------------------------------------------------------------------------------------------------


def cell_answers(cell: Cell, question: Question) -> list[Entity]:
    """Return the answers in a cell: its entities that fit the expected type best, else its words."""
    kind = question.expected.kind
    if kind in ("date", "number"):
        is_of_kind = is_date if kind == "date" else is_number
        literals = (literal.entity for literal in find_literals(cell["text"]))
        return [entity for entity in (*cell["entities"], *literals) if is_of_kind(entity["id"])][:1]
    entities = [entity for entity in cell["entities"] if not is_date(entity["id"]) and not is_number(entity["id"])]
    # a cell may name more than its entities: a book whose title begins with the name of its hero
    keywords, name = question.language.properties.keywords, _BRACKETED.sub(" ", cell["text"])
    is_part = "," not in name and all(keywords(entity["label"]) < keywords(name) for entity in entities)
    if entities and not is_part:
        best = max(map(question.fit, entities))
        return [entity for entity in entities if question.fit(entity) >= _FITTING * best]
    text = " ".join(_BRACKETED.sub(" ", cell["text"]).split()).strip(_QUOTES) or cell["text"]
    return [{"id": text, "label": text}] if any(map(str.isalnum, text)) else []


def suits(header: str, entities: Sequence[Entity], asking: AbstractSet[str], question: Question) -> float:
    """Return how well a cell suits a question, from 0 to 3: its content fits, the question has the header, the header's kind is
    expected; 0 if neither content nor header fit."""
    fit = max(map(question.fit, entities), default=0.0)
    if not question.language.properties.keywords(header) & asking:
        return fit if fit >= _LEAST_FIT else 0.0
    return 1 + fit + (question.language.answer_types.expected_type(header).kind == question.expected.kind)


def answer_in_row(
    table: Table, row: int, question: Question, asking: AbstractSet[str], thing: Column | None, is_thing: bool
) -> list[Entity]:
    """Return the answers in the cell of a row that a question asks for; empty if no cell suits.

    Args:
        table: the table.
        row: its place.
        question: with the expected type.
        asking: the keywords that may ask for a cell.
        thing: the column that names the rows.
        is_thing: the answer is in that column.
    """
    cells = {
        column: cell_answers(cell, question) for column in table.columns if (cell := column.cells[row]) is not None
    }
    if is_thing and thing is not None and cells.get(thing):
        return cells[thing]
    if question.expected.kind in ("date", "number"):
        is_dated = question.expected.kind == "date"
        named = [column for column in cells if column.keywords & asking and column.is_dated == is_dated]
        dated = table.dated if is_dated else []
        return next((cells[column] for column in (*named, *dated) if cells.get(column)), [])
    fits = {column: suits(column.header, cells[column], asking, question) for column in cells if not column.order}
    best = max(fits, key=lambda column: (fits[column], column is thing), default=None)
    return cells[best] if best is not None and fits[best] else []
