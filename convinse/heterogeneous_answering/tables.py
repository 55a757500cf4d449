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
from ..records.periods import AskedTime, Period, period_of_cells
from ..records.ranked_rows import ColumnOrder, column_order
from ..records.written_values import find_literals
from .question import Question

_BRACKETED = re.compile(r"\([^()]*\)")
_QUOTES = "\"“”'‘’ "
_LEAST_FIT = 0.3  # of the expected type: that of an unknown type
_FITTING = 0.5  # of the expected type, for the entities of a cell to be told apart from the others in it


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table: a cell of each row, or None."""

    header: str
    keywords: frozenset[str]
    cells: Sequence[Cell | None]

    @cached_property
    def order(self) -> ColumnOrder | None:
        """The order of its cells; None if they have none."""
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

    @property
    def counts_rows(self) -> bool:
        """True if it numbers the rows: 1, 2, 3 ..."""
        return self.order is not None and self.order.amounts == [float(place + 1) for place in range(len(self.cells))]


@dataclass(frozen=True, eq=False)
class Table:
    """A whole table.

    Attributes:
        rows: in their order.
        places: of the evidences that show its rows, by the number of the row.
        words: of the language that it is in.
    """

    rows: Sequence[Row]
    places: Mapping[int, int]
    words: PropertyWords

    @cached_property
    def columns(self) -> list[Column]:
        """Its columns, from the left."""
        table = [{cell["column"]: cell for cell in row["cells"]} for row in self.rows]
        headers: dict[int, str] = {}
        for row in table:
            for number, cell in row.items():
                headers.setdefault(number, cell["header"])
        return [
            Column(header, self.words.keywords(header), [row.get(number) for row in table])
            for number, header in sorted(headers.items())
        ]

    @cached_property
    def about(self) -> frozenset[str]:
        """The keywords of its caption, or else of the heading that it stands below."""
        row = self.rows[0]
        return self.words.keywords(row["caption"] or row["section"])

    @cached_property
    def held(self) -> list[frozenset[str]]:
        """The keywords of the cells of each row."""
        return [
            self.words.keywords(" ".join((row.get("part", ""), *(cell["text"] for cell in row["cells"]))))
            for row in self.rows
        ]

    @cached_property
    def naming(self) -> Column | None:
        """The column that names the rows: the first that has no order and a cell in most rows."""
        return next((column for column in self.columns if column.order is None and self._is_filled(column)), None)

    def _is_filled(self, column: Column) -> bool:
        return 2 * sum(cell is not None for cell in column.cells) > len(self.rows)

    @cached_property
    def dated(self) -> list[Column]:
        """The columns of dates, from the left."""
        return [column for column in self.columns if column.is_dated]

    def within(self, time: AskedTime) -> list[int] | None:
        """The rows whose dates lie within some years, or go on through them; None if no column has dates."""
        if not self.dated:
            return None
        periods = [self.period(row) for row in range(len(self.rows))]
        return [row for row, own in enumerate(periods) if own is not None and time.admits(own)]

    def period(self, row: int) -> Period | None:
        """When a row holds, from the first date of its dated columns to the last; None if it has none."""
        return period_of_cells(cell["text"] for column in self.dated if (cell := column.cells[row]) is not None)

    def shown(self, rows: Sequence[int]) -> tuple[int, ...]:
        """The places of the evidences that show these rows; of all rows that are shown if none of these is."""
        numbers = [self.rows[row]["number"] for row in rows]
        return tuple(self.places[number] for number in numbers if number in self.places) or tuple(
            sorted(self.places.values())
        )


def whole_tables(question: Question) -> list[Table]:
    """The tables of the dump that the evidences show rows of, in the order of their best evidences."""
    dump = question.knowledge.dump
    shown: dict[tuple[str, int], dict[int, int]] = defaultdict(dict)
    for place, evidence in enumerate(question.evidences):
        row = evidence.get("row")
        if row is not None and "page" in row and "table" in row and "number" in row:
            shown[row["page"], row["table"]].setdefault(row["number"], place)
    if dump is None:
        return []
    given = ((dump.table(*own), places) for own, places in shown.items())
    return [Table(rows, places, question.language.properties) for rows, places in given if rows]


def name_keywords(cell: Cell, words: PropertyWords) -> frozenset[str]:
    """The keywords of the name in a cell, without what stands in brackets."""
    return words.keywords(_BRACKETED.sub(" ", cell["text"]))


def cell_answers(cell: Cell, question: Question) -> list[Entity]:
    """The answers in a cell: of its entities those that fit the expected type best, else its words."""
    wanted = question.expected.kind
    if wanted in ("date", "number"):
        is_wanted = is_date if wanted == "date" else is_number
        literals = (literal.entity for literal in find_literals(cell["text"]))
        return [entity for entity in (*cell["entities"], *literals) if is_wanted(entity["id"])][:1]
    entities = [entity for entity in cell["entities"] if not is_date(entity["id"]) and not is_number(entity["id"])]
    if entities and not _is_part(entities, cell, question.language.properties):
        best = max(map(question.fit, entities))
        return [entity for entity in entities if question.fit(entity) >= _FITTING * best]
    text = " ".join(_BRACKETED.sub(" ", cell["text"]).split()).strip(_QUOTES) or cell["text"]
    return [{"id": text, "label": text}] if any(map(str.isalnum, text)) else []


def _is_part(entities: Iterable[Entity], cell: Cell, words: PropertyWords) -> bool:
    """True if a cell names more than its entities and is not a list: a book whose title begins with the name of its hero."""
    name = name_keywords(cell, words)
    return "," not in cell["text"] and all(words.keywords(entity["label"]) < name for entity in entities)


def question_keywords(question: Question) -> frozenset[str]:
    """The keywords of a question, without the names of the items that it is about."""
    keywords = question.language.properties.keywords
    return keywords(question.in_full).difference(*(keywords(item["label"]) for item in question.about))


def noun_keywords(nouns: Iterable[str], question: Question) -> frozenset[str]:
    """The keywords of nouns and of the classes that they stand for: film for "movie"."""
    types, words = question.language.answer_types, question.language.properties
    named = [words.keyword_set(types.noun_types(word)) for word in nouns]
    return frozenset(nouns).union(*named)


def asking_keywords(question: Question) -> frozenset[str]:
    """The keywords of a question, and those that evidences say them with."""
    words = question.language.properties
    return asking_forms(words.keywords(question.in_full), words)


def asking_forms(stems: Iterable[str], words: PropertyWords) -> frozenset[str]:
    """Stems of a question, and the keywords that evidences say them with: actor, role, character for "play"."""
    stems = frozenset(stems)
    return stems.union(*(words.keyword_set(words.expansions.get(word, frozenset())) for word in stems))


def suits(header: str, entities: Sequence[Entity], asking: AbstractSet[str], question: Question) -> float:
    """How well a cell suits a question, from 0 to 3: its content fits, the header is asked for, and is of that kind.

    0 if the header is not asked for and the content does not fit.
    """
    fit = max(map(question.fit, entities), default=0.0)
    if not question.language.properties.keywords(header) & asking:
        return fit if fit >= _LEAST_FIT else 0.0
    return 1 + fit + (question.language.answer_types.expected_type(header).kind == question.expected.kind)


def answer_in_row(
    table: Table,
    row: int,
    question: Question,
    rest: AbstractSet[str],
    thing: Column | None = None,
    is_thing: bool = False,
) -> list[Entity]:
    """The answer that a question asks for of a row; empty if no cell suits."""
    given = {
        column: cell_answers(cell, question) for column in table.columns if (cell := column.cells[row]) is not None
    }
    if is_thing and thing is not None and given.get(thing):
        return given[thing]
    if question.expected.kind in ("date", "number"):
        is_dated = question.expected.kind == "date"
        named = [column for column in given if column.keywords & rest and column.is_dated == is_dated and given[column]]
        dated = [column for column in table.dated if is_dated and given.get(column)]
        return given[(named + dated)[0]] if named or dated else []
    suited = {
        column: suits(column.header, own, rest, question) for column, own in given.items() if column.order is None
    }
    best = max(suited, key=lambda column: (suited[column], column is thing), default=None)
    return given[best] if best is not None and suited[best] else []
