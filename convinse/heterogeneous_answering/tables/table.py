"""Whole tables of which rows are among the evidences: their columns, and the rows with words of a question."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from ...language.answer_types import AnswerTypes
from ...language.operations import OperationWords
from ...language.property_names import PropertyWords
from ...language.read_evidence import ReadEvidence
from ...language.text import fold
from ...language.time_words import clock_times
from ...records.evidence import Cell, Evidence, Row
from ...records.periods import AskedTime, Period, period_of_cells
from ..question import Question
from .columns import Column, days_written_out, written_out

_DOTTED = re.compile(r"(?<![\w.,-])\d+(?:\.\d+)+(?![\w-])")
_LETTERED = re.compile(r"\b[^\W\d_]+ [AI]\b(?![-'’.])(?=\W*(?:$|[|(,;?]|[a-z]))")
_STEM = 5  # letters that derived words share at least
_MIN_SUMMED = 3  # rows above one that may have their sum


def is_alike(word: str, other: str) -> bool:
    """Return True if two keywords are the same, or one has the first letters of the other: those of "allergic" and "allergies"."""
    return word == other or (min(len(word), len(other)) >= _STEM and (word.startswith(other) or other.startswith(word)))


def lettered(text: str) -> frozenset[str]:
    """Return what keywords would take apart: "cupboard a", whose letter is a stop word elsewhere, and "2.11", which is no 2 and 11."""
    return frozenset(name.casefold() for name in (*_LETTERED.findall(text), *_DOTTED.findall(text)))


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
class Table:
    """A whole table, of which some rows are evidences; files may have parts of it.

    Attributes:
        rows: its rows.
        places: the places of their evidences, by the places of rows.
        words: of the language.
        operations: likewise.
        titles: the keywords of the titles of its pages, if it has rows of several.
        pairs: the evidences of each row, if its cells are pairs of names and values.
        vacancy: the word of the question for what is not taken; empty if it does not ask for that.
    """

    rows: Sequence[Row]
    places: Mapping[int, int]
    words: PropertyWords
    operations: OperationWords
    titles: Mapping[str, frozenset[str]] = field(default_factory=dict)
    pairs: Sequence[Sequence[Evidence]] = ()
    vacancy: str = ""

    @cached_property
    def columns(self) -> list[Column]:
        """Its columns, from the left."""
        table = [{cell["column"]: cell for cell in row["cells"]} for row in self.rows]
        headers = {number: cell["header"] for row in reversed(table) for number, cell in row.items()}
        columns = [
            Column(header, self._header_keywords(header), [row.get(number) for row in table], self._sums)
            for number, header in sorted(headers.items())
        ]
        return [*columns, *self._vacancies(columns)]

    @property
    def vacancies(self) -> Column | None:
        """The column of what is not taken, if the question asks for it and the table has what its things have room for."""
        last = self.columns[-1]
        return last if self.vacancy and last.header == self.vacancy else None

    def _vacancies(self, columns: Sequence[Column]) -> Iterator[Column]:
        """Yield the difference of "Places" and "Booked" as a column, if the question asks for what is free."""
        numbers = [column for column in columns if self.vacancy and column.order and not column.is_dated]
        taken = [column for column in numbers if not self.operations.taken.isdisjoint(fold(column.header).split())]
        room = [column for column in numbers if not self.operations.capacities.isdisjoint(fold(column.header).split())]
        room = [column for column in room if column not in taken]
        if len(taken) != 1 or len(room) != 1:
            return
        cells: list[Cell | None] = []
        for row, cell in enumerate(room[0].cells):
            most, gone = room[0].amount(row), taken[0].amount(row)
            if cell is None or most is None or gone is None or gone > most:
                cells.append(None)
            else:
                cells.append({**cell, "text": f"{most - gone:g}", "entities": [], "header": self.vacancy})
        yield Column(self.vacancy, self.words.keywords(self.vacancy) | room[0].keywords, cells)

    def _header_keywords(self, header: str) -> frozenset[str]:
        """Return the keywords of a header; of pairs those by which people ask for it, too: "From" has who sent a mail."""
        if not self.pairs:
            cut_short = (self.operations.abbreviations.get(word, frozenset()) for word in fold(header).split())
            words = self.words.keyword_set(frozenset[str]().union(*cut_short))
            return self.words.keywords(f"{header} {written_out(header)}") | words
        names = self.operations.dated if header == self.operations.day_header else frozenset[str]()
        return self.words.keywords(self.operations.header(header)) | self.words.keyword_set(names)

    @cached_property
    def title_keywords(self) -> frozenset[str]:
        """The keywords of its caption, or else of the heading that it stands below."""
        return self.words.keywords(self.rows[0]["caption"] or self.rows[0]["section"])

    @cached_property
    def row_keywords(self) -> list[frozenset[str]]:
        """The keywords of each row: of its cells, of the part of the table that it is in, and of the title of its page if there are several."""
        keywords = []
        for row in self.rows:
            texts = [row.get("part", ""), *(cell["text"] for cell in row["cells"])]
            texts = [text for text in texts if clock_times(text) is None]  # "17:30" has no 17 of "Under 17"
            texts += [name for text in texts if (name := days_written_out(text))]  # "Sat" for "on Saturday"
            named = " | ".join(f"{cell['header']} {cell['text']}" for cell in row["cells"])
            title = self.titles.get(row.get("page", ""), frozenset())
            keywords.append(self.words.keywords(" ".join(texts)) | title | lettered(named))
        return keywords

    @cached_property
    def name_column(self) -> Column | None:
        """The column that names the rows: of those of short words that tell them apart the one that is called so, else the first.

        Without one the first column without an order. Each has a cell in most rows.
        """
        if self.pairs:
            return self.columns[0]
        filled = [column for column in self.columns if column.order is None and 2 * len(column.texts) > len(self.rows)]
        apart = [column for column in filled if self._tells_apart(column)]
        called = [column for column in apart if self.is_of_names(column)]
        return next(iter([*called, *apart, *filled]), None)

    def _tells_apart(self, column: Column) -> bool:
        """Return True if a column tells the rows of each page apart."""
        pages = [row.get("page", "") for row in self.rows]
        if len({*pages}) < len(pages) and not column.tells_apart and len({*pages}) > 1:
            parts = [
                Column(
                    column.header,
                    column.keywords,
                    [cell for cell, of in zip(column.cells, pages, strict=True) if of == page],
                )
                for page in sorted({*pages})
            ]
            return all(part.tells_apart for part in parts)
        return column.tells_apart

    def is_of_names(self, column: Column) -> bool:
        """Return True if a column is called "Name" or "Title"."""
        return fold(column.header) in self.operations.naming

    def without_numbers(self, columns: Sequence[Column]) -> list[Column]:
        """Return columns without those that number what a column of names names: "Member no"."""
        has_names = self.name_column is not None and self.is_of_names(self.name_column)
        return [column for column in columns if not (has_names and column.numbers_rows)]

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
        totals = {*self._sums}
        summed = [column for column in self.amounts if column is not self.vacancies]
        for column in summed if len(self.rows) > _MIN_SUMMED else ():
            *others, last = column.order.amounts if column.order else [None]
            if last and math.isclose(last, math.fsum(filter(None, others))):
                totals.add(len(self.rows) - 1)
        return frozenset(totals)

    @cached_property
    def _sums(self) -> frozenset[int]:
        """The places of rows whose first cell says that they sum up others."""
        firsts = [fold(next((cell["text"] for cell in row["cells"] if cell["text"]), "")).split() for row in self.rows]
        words = self.operations.totals
        return frozenset(
            place for place, first in enumerate(firsts) if first and (first[0] in words or first[-1] in words)
        )

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
        referring = set[int]()
        for column in self.columns:
            for row, cell in enumerate(column.cells):
                if cell is not None and cell["text"] == called[namesakes[0]]:
                    referring.add(row)
        return namesakes[0] if referring.issuperset(selection.rows) else None

    def measures(self, words: AbstractSet[str]) -> list[Column]:
        """Return the columns of amounts whose headers have the most of some keywords; several if they have equally many."""
        named = [column for column in self.amounts if column.keywords & words]
        shares = []
        for column in named:
            shared = len(column.keywords & words)
            shares.append((shared, shared / len(column.keywords)))
        best = max(shares, default=(0, 0.0))
        return [column for column, share in zip(named, shares, strict=True) if share == best]

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
        births = self.operations.births  # from a birth to the day of joining nothing lasts
        dated = [column for column in dated if births.isdisjoint(fold(column.header).split())] or dated
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
    operations, text = question.language.operations, question.in_full
    full = operations.full.search(text)
    vacancies = [fold(full[0])] if full else [word for word in fold(text).split() if word in operations.vacant]
    vacancy = vacancies[0] if vacancies and question.is_of_files else ""
    return Table(rows, places, question.language.properties, operations, titles, pairs, vacancy)
