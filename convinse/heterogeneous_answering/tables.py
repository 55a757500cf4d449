"""Whole tables of which rows are among the evidences: their columns, the order of their rows, the answer in a row."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from ..language.answer_types import AnswerTypes
from ..language.operations import OperationWords
from ..language.property_names import PropertyLabel, PropertyWords
from ..language.read_evidence import ReadEvidence
from ..language.text import fold
from ..language.time_words import clock_times
from ..records.evidence import Cell, Entity, Evidence, Row
from ..records.literals import is_date, is_number
from ..records.periods import AskedTime, Period, day_of, period_of_cells
from ..records.ranked_rows import ColumnOrder, column_order, dates_in_one_order
from ..records.units import CURRENCY
from ..records.written_values import UNKNOWN, day_in, find_literals
from .question import Question

_BRACKETED = re.compile(r"\([^()]*\)")
_LETTERED = re.compile(r"\b[^\W\d_]+ [AI]\b(?![-'’.])(?=\W*(?:$|[|(,;?]|[a-z]))")
_QUOTES = "\"“”'‘’ "
_MIN_FIT = 0.3  # to the expected type, for a cell without a header in the question: the fit of an unknown type
_MIN_FIT_SHARE = 0.5  # of the best fit in a cell, for its other entities to be answers, too
_MIN_DISTINCT = 0.8  # share of the cells of a column that tell the rows apart, to name them
_MIN_CLOCKS = 0.8  # share of the cells of a column that are times of the day: others say "closed"
_MIN_SUMMED = 3  # rows above one that may have their sum
_MAX_NAME_LENGTH = 40  # characters on average of the cells of a column that names the rows


def lettered(text: str) -> frozenset[str]:
    """Return the words with a letter behind them that is a stop word elsewhere: "cupboard a" of "scores in cupboard A"."""
    return frozenset(name.casefold() for name in _LETTERED.findall(text))


class Selection(NamedTuple):
    """The rows of a table that a question selects.

    Attributes:
        rows: their places.
        used: the words of the question that select them.
        is_whole: they have all words of the question that any row has.
        unjudged: the number of rows without the value that decides.
        lacking: the header of the column of that value.
    """

    rows: list[int]
    used: frozenset[str]
    is_whole: bool = True
    unjudged: int = 0
    lacking: str = ""


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table: its cell in each row, None if the row has no cell there."""

    header: str
    keywords: frozenset[str]
    cells: Sequence[Cell | None]

    @cached_property
    def order(self) -> ColumnOrder | None:
        """The order of its cells; None if their values have no order."""
        return column_order(self.cells)

    @cached_property
    def dates(self) -> list[str | None]:
        """The texts of its cells, dates with slashes in one order."""
        return dates_in_one_order(self.cells)

    @property
    def is_counter(self) -> bool:
        """True if its values count the rows: 1, 2, 3."""
        amounts = [] if self.order is None else [amount for amount in self.order.amounts if amount is not None]
        return self.is_numbering and amounts[-1] - amounts[0] < 2 * len(amounts)

    @cached_property
    def texts(self) -> list[str]:
        """The texts of its cells, without those that rows lack."""
        return [cell["text"] for cell in self.cells if cell is not None]

    @cached_property
    def has_gaps(self) -> bool:
        """True if some of its cells are empty and others are not."""
        return len({*map(self.is_empty, range(len(self.cells)))}) > 1

    def is_empty(self, row: int) -> bool:
        """Return True if its cell in a row is missing, or says that its value is unknown."""
        cell = self.cells[row]
        return cell is None or cell["text"].strip().lower() in UNKNOWN

    @property
    def tells_apart(self) -> bool:
        """True if its cells are short and nearly all different."""
        texts = self.texts
        return sum(map(len, texts)) <= _MAX_NAME_LENGTH * len(texts) and len({*texts}) >= _MIN_DISTINCT * len(texts)

    @property
    def may_be_people(self) -> bool:
        """True if all its cells begin with a capital and have no digit."""
        return all(text[:1].isupper() and not any(map(str.isdigit, text)) for text in self.texts)

    @property
    def has_currency(self) -> bool:
        """True if its first filled cell has the sign of a currency."""
        return any(sign in next(filter(None, self.texts), "") for sign in CURRENCY)

    @property
    def label(self) -> PropertyLabel:
        """Its header as the name of a property."""
        return PropertyLabel(self.header)

    @property
    def amounts(self) -> Sequence[float | None]:
        """The amount in each row; empty if its cells have no order."""
        return [] if self.order is None else self.order.amounts

    def amount(self, row: int) -> float | None:
        """Return the amount in a row; None without one."""
        return None if self.order is None else self.order.amounts[row]

    def day(self, row: int) -> tuple[int, int, int] | None:
        """Return the year, month and day of a date in a row, of a month the day 0; None without one."""
        amount, cell = self.amount(row), self.cells[row]
        if amount is None or cell is None or self.order is None or not self.order.are_days:
            return None
        year, month, day = day_of(amount)
        written = day_in(cell["text"])
        return year, month, day if written is None or written.entity["label"][:1].isdigit() else 0

    @property
    def is_dated(self) -> bool:
        """True if its cells are dates or years."""
        return self.order is not None and self.order.are_dates

    @property
    def is_timed(self) -> bool:
        """True if its cells are times of the day, or minutes and seconds."""
        return self.order is not None and self.order.are_times

    @cached_property
    def clock(self) -> list[tuple[int, int] | None]:
        """The first and the last minute of the day of each cell; empty if its cells are no times of the day."""
        times = [None if cell is None else clock_times(cell["text"]) for cell in self.cells]
        filled = sum(not self.is_empty(row) for row in range(len(self.cells)))
        return times if sum(time is not None for time in times) >= max(1, _MIN_CLOCKS * filled) else []

    @property
    def numbers_rows(self) -> bool:
        """True if its values are different whole numbers that grow from row to row, as those of invoices do."""
        digits = [text for text in self.texts if text.isdecimal()]
        return self.is_numbering and len({*digits}) == len(self.texts)

    @property
    def is_numbering(self) -> bool:
        """True if its values grow from row to row, as the numbers of seasons do."""
        amounts = [] if self.order is None else [amount for amount in self.order.amounts if amount is not None]
        return amounts == sorted(amounts) and 2 * len(set(amounts)) > len(amounts)


@dataclass(frozen=True, eq=False)
class Table:
    """A whole table, of which some rows are evidences; files may have parts of it.

    Attributes:
        rows: its rows.
        places: the places of their evidences, by the places of rows.
        words: of the language.
        operations: likewise.
        titles: the keywords of the titles of its pages, if it has rows of several.
        pairs: the evidences of each row, if its cells are pairs of names and values.
    """

    rows: Sequence[Row]
    places: Mapping[int, int]
    words: PropertyWords
    operations: OperationWords
    titles: Mapping[str, frozenset[str]] = field(default_factory=dict)
    pairs: Sequence[Sequence[Evidence]] = ()

    @cached_property
    def columns(self) -> list[Column]:
        """Its columns, from the left."""
        table = [{cell["column"]: cell for cell in row["cells"]} for row in self.rows]
        headers = {number: cell["header"] for row in reversed(table) for number, cell in row.items()}
        return [
            Column(header, self._header_keywords(header), [row.get(number) for row in table])
            for number, header in sorted(headers.items())
        ]

    def _header_keywords(self, header: str) -> frozenset[str]:
        """Return the keywords of a header; of pairs those by which people ask for it, too: "From" has who sent a mail."""
        if not self.pairs:
            return self.words.keywords(header)
        names = self.operations.dated if header == self.operations.day_header else frozenset[str]()
        return self.words.keywords(self.operations.header(header)) | self.words.keyword_set(names)

    @cached_property
    def title_keywords(self) -> frozenset[str]:
        """The keywords of its caption, or else of the heading that it stands below."""
        return self.words.keywords(self.rows[0]["caption"] or self.rows[0]["section"])

    @cached_property
    def row_keywords(self) -> list[frozenset[str]]:
        """The keywords of each row: of its cells, of the part of the table that it is in, and of the title of its page if there are several."""
        texts = ((row.get("part", ""), *(cell["text"] for cell in row["cells"])) for row in self.rows)
        titles = (self.titles.get(row.get("page", ""), frozenset()) for row in self.rows)
        named = (lettered(" | ".join(f"{cell['header']} {cell['text']}" for cell in row["cells"])) for row in self.rows)
        return [
            self.words.keywords(" ".join(row)) | title | letters
            for row, title, letters in zip(texts, titles, named, strict=True)
        ]

    @cached_property
    def name_column(self) -> Column | None:
        """The column that names the rows: of those of short words that tell them apart the one that is called so, else the first.

        Without one the first column without an order. Each has a cell in most rows.
        """
        if self.pairs:
            return self.columns[0]
        filled = [column for column in self.columns if column.order is None and 2 * len(column.texts) > len(self.rows)]
        apart = [column for column in filled if column.tells_apart]
        called = [column for column in apart if fold(column.header) in self.operations.naming]
        return next(iter([*called, *apart, *filled]), None)

    @cached_property
    def dated(self) -> list[Column]:
        """The columns of dates, from the left."""
        return [column for column in self.columns if column.is_dated]

    @cached_property
    def clocks(self) -> list[Column]:
        """The columns of times of the day, from the left."""
        return [column for column in self.columns if column.clock]

    @cached_property
    def amounts(self) -> list[Column]:
        """The columns of numbers that are no dates and do not count or number the rows, from the left."""
        columns = [column for column in self.columns if column.order and not column.is_dated and not column.is_counter]
        return [column for column in columns if column is not self.columns[0] or not column.numbers_rows]

    def people(self, types: AnswerTypes, columns: Sequence[Column]) -> list[Column]:
        """Return those of some columns that are of people by their headers; the names of the rows if one has some of them.

        Managers are employees.
        """
        people = [column for column in columns if types.expected_type(column.header).kind == "person"]
        names = self.name_column
        if names is not None and names in columns and any({*names.texts} & {*column.texts} for column in people):
            return [names]
        return people

    @cached_property
    def headers(self) -> frozenset[str]:
        """The keywords of all columns."""
        return frozenset().union(*(column.keywords for column in self.columns))

    @cached_property
    def totals(self) -> frozenset[int]:
        """The places of rows that sum up others: their first cell says so, or the last row has the sum of all others."""
        firsts = [fold(next((cell["text"] for cell in row["cells"] if cell["text"]), "")).split() for row in self.rows]
        words = self.operations.totals
        totals = {place for place, first in enumerate(firsts) if first and (first[0] in words or first[-1] in words)}
        for column in self.amounts if len(self.rows) > _MIN_SUMMED else ():
            *others, last = column.order.amounts if column.order else [None]
            if last and math.isclose(last, math.fsum(filter(None, others))):
                totals.add(len(self.rows) - 1)
        return frozenset(totals)

    def named(self, words: AbstractSet[str]) -> dict[frozenset[str], list[tuple[int, Column]]]:
        """Return the rows and columns of cells whose words are all among some keywords, by these: the first of each row.

        A name within another one does not count: of "Michigan State" that is Michigan.
        """
        named: dict[frozenset[str], list[tuple[int, Column]]] = defaultdict(list)
        for row in range(len(self.rows)):
            for column in self.columns:
                cell = column.cells[row]
                if row in self.totals or cell is None or (column.order is not None and not column.is_dated):
                    continue
                if (name := self.words.keywords(cell["text"])) and name <= words:
                    named[name].append((row, column))
                    break
        return {name: places for name, places in named.items() if not any(name < other for other in named)}

    def selection(self, words: AbstractSet[str]) -> Selection:
        """Return the rows with as many of some keywords as any row, rare ones first; words of headers select nothing."""
        rows = {row for row in range(len(self.rows)) if row not in self.totals}
        having = {word: {row for row in rows if word in self.row_keywords[row]} for word in words - self.headers}
        matched: set[str] = set()
        for word, those in sorted(having.items(), key=lambda item: (len(item[1]), item[0])):
            if rows & those:
                rows &= those
                matched.add(word)
        is_whole = not any(having[word] for word in having.keys() - matched)
        nouns = self.words.keywords(" ".join(word for word in matched if " " in word))  # of "row a"
        return Selection(sorted(rows), frozenset(matched) | nouns, is_whole)

    def own_row(self, selection: Selection) -> int | None:
        """Return the row of the thing that words name, if all other rows with them refer to it: the manager's among the staff's."""
        names = self.name_column
        if names is None or len(selection.rows) < 2 or not selection.used:
            return None
        called = {row: cell["text"] for row in selection.rows if (cell := names.cells[row]) is not None}
        namesakes = [row for row, name in called.items() if selection.used <= self.words.keywords(name)]
        if len(namesakes) != 1:
            return None
        referring = {row for column in self.columns for row, cell in enumerate(column.cells)
                     if cell is not None and cell["text"] == called[namesakes[0]]}  # fmt: skip
        return namesakes[0] if referring.issuperset(selection.rows) else None

    def measures(self, words: AbstractSet[str]) -> list[Column]:
        """Return the columns of amounts whose headers have the most of some keywords; several if they have equally many."""
        amounts = [column for column in self.amounts if column.keywords & words]
        share = {
            column: (len(column.keywords & words), len(column.keywords & words) / len(column.keywords))
            for column in amounts
        }
        return [column for column in amounts if share[column] == max(share.values())]

    def dated_by(self, words: AbstractSet[str]) -> list[Column]:
        """Return the columns of dates that have some keywords, or else all."""
        return [column for column in self.dated if column.keywords & words] or self.dated

    def within(self, time: AskedTime, words: AbstractSet[str]) -> list[int]:
        """Return the places of the rows whose period, by the columns of dates that a question's keywords name, fits its time."""
        periods = self.periods(words)
        return [row for row, period in periods if period is not None and time.admits(period)]

    def periods(self, words: AbstractSet[str] = frozenset()) -> list[tuple[int, Period | None]]:
        """Return the rows with their periods, by the columns of dates that a question's keywords name."""
        dated = self.dated_by(words)
        return [
            (row, period_of_cells(text for column in dated if (text := column.dates[row]) is not None))
            for row in range(len(self.rows))
        ]

    def among(self, evidences: Sequence[ReadEvidence]) -> Table:
        """Return the table of pairs with the places of other evidences; what was read of its cells is shared."""
        found = {read.evidence["evidence_text"]: place for place, read in enumerate(evidences)}
        firsts = (pairs[0]["evidence_text"] for pairs in self.pairs)
        table = copy(self)  # with its cached properties
        object.__setattr__(table, "places", {row: found[text] for row, text in enumerate(firsts) if text in found})
        return table

    def evidence_places(self, rows: Sequence[int]) -> tuple[int, ...]:
        """Return the places of the evidences of these rows, or else of all evidences of the table."""
        places = tuple(self.places[row] for row in rows if row in self.places)
        return places or tuple(sorted(self.places.values()))


def evidence_of_row(table: Table, row: int, question: Question) -> Evidence | None:
    """Return the first evidence of a row: of its parts, or of its pairs of names and values; None if its page has none."""
    if table.pairs:
        return table.pairs[row][0]
    place = table.rows[row]
    key = place["table"], place["number"]
    rows = (evidence for evidence in question.pages.get(place["page"]) or () if "row" in evidence)
    return next((each for each in rows if (each["row"]["table"], each["row"]["number"]) == key), None)


def whole_tables(question: Question) -> list[Table]:
    """Return the whole tables of the rows among the evidences, in the order of their best evidences.

    Tables of several files with the same head are one.
    """
    row_places: dict[tuple[str, int, int], int] = {}  # by page, table and number of the row
    for place, evidence in enumerate(question.evidences):
        row = evidence.evidence.get("row")
        if row is not None and "page" in row and "table" in row and "number" in row:
            row_places.setdefault((row["page"], row["table"], row["number"]), place)
    tables, seen = list[Table](), set[tuple[str, int]]()
    for page, number, _ in row_places:
        if (page, number) in seen:
            continue
        rows = question.pages.rows_alike(page, number)
        seen |= {(page, number), *((row["page"], row["table"]) for row in rows)}
        keys = ((row["page"], row["table"], row["number"]) for row in rows)
        places = {place: row_places[key] for place, key in enumerate(keys) if key in row_places}
        if rows:
            tables.append(table_of(question, rows, places))
    return tables


def table_of(
    question: Question, rows: Sequence[Row], places: Mapping[int, int], pairs: Sequence[Sequence[Evidence]] = (),
    written: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> Table:  # fmt: skip
    """Return a table of rows; `places` and `pairs` as its attributes, `written` what else the pages of its rows have."""
    keywords, pages = question.language.properties.keywords, {row["page"] for row in rows}
    titles = {page: keywords(question.items.label(page) or "") for page in pages} if len(pages) > 1 else {}
    titles = {page: words | written.get(page, frozenset()) for page, words in titles.items()}
    return Table(rows, places, question.language.properties, question.language.operations, titles, pairs)


def head_keywords(question: Question) -> frozenset[str]:
    """Return the keywords of the noun that a question asks for, and of words behind it."""
    head = question.language.operations.head
    return question.language.properties.keywords(head(question.text) or head(question.in_full))


def noun_keywords(nouns: Iterable[str], question: Question) -> frozenset[str]:
    """Return the keywords of nouns and of their classes: film for "movie"."""
    types, words = question.language.answer_types, question.language.properties
    nouns = list(nouns)
    return frozenset(nouns).union(*(words.keyword_set(types.noun_types(word)) for word in nouns))


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
        return [entity for entity in entities if question.fit(entity) >= _MIN_FIT_SHARE * best]
    text = " ".join(_BRACKETED.sub(" ", cell["text"]).split()).strip(_QUOTES) or cell["text"]
    return [{"id": text, "label": text}] if any(map(str.isalnum, text)) else []


def suitability(header: str, entities: Sequence[Entity], asking: AbstractSet[str], question: Question) -> float:
    """Return from 0 to 3 how well a cell suits a question: if the question has its header, 1 plus the fit of its content, and 1
    more if the header has the expected kind; else the fit alone, or 0 if it is low."""
    fit = max(map(question.fit, entities), default=0.0)
    if not question.language.properties.keywords(header) & asking:
        return fit if fit >= _MIN_FIT else 0.0
    return 1 + fit + (question.language.answer_types.expected_type(header).kind == question.expected.kind)


def answer_in_row(
    table: Table, row: int, question: Question, asking: AbstractSet[str], name_column: Column | None, is_name: bool
) -> list[Entity]:
    """Return the answers in the cell of a row that a question asks for; empty if no cell suits.

    Args:
        table: the table.
        row: the place of the row.
        question: the question with its expected type.
        asking: the keywords of the question that may ask for a cell.
        name_column: the column that names the rows.
        is_name: whether the answer is the name of the row.
    """
    cells = {
        column: cell_answers(cell, question) for column in table.columns if (cell := column.cells[row]) is not None
    }
    if is_name and name_column is not None and cells.get(name_column):
        return cells[name_column]
    if question.expected.kind in ("date", "number"):
        is_dated = question.expected.kind == "date"
        requested = [column for column in cells if column.keywords & asking and column.is_dated == is_dated]
        dated = table.dated if is_dated else []
        return next((cells[column] for column in (*requested, *dated) if cells.get(column)), [])
    scores = {
        column: suitability(column.header, cells[column], asking, question) for column in cells if not column.order
    }
    best = max(scores, key=lambda column: (scores[column], column is name_column), default=None)
    return cells[best] if best is not None and scores[best] else []
