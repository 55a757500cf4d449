"""The row of a table at a place of an order: "Who produced their first album?", "Which town in the North has the most visitors?"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..language.operations import AskedOrder
from ..records.evidence import Entity
from .candidates import Computed
from .question import Question
from .tables import Column, Table, answer_in_row, cell_answers, head_keywords, noun_keywords

_MOST_UNEXPLAINED = 2  # words of the question; chosen on WikiTableQuestions' training part


class _Listing(NamedTuple):
    """A table of the things that a question puts in order.

    Attributes:
        score: how well the table fits the question.
        table: the table.
        rows: the places of the rows that the question's other words and time admit.
        measures: the columns by which the rows are ordered.
        name_column: the column with the names of the things, or with the answers if `is_name`.
        is_name: whether the answer is in that column, not in another cell of the row.
        asking: the keywords of the question that may ask for another cell.
    """

    score: float
    table: Table
    rows: Sequence[int]
    measures: Sequence[Column]
    name_column: Column | None
    is_name: bool
    asking: frozenset[str]


def ordered_things(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the answer to a superlative or an ordinal, from the rows of a table."""
    operations = question.language.operations
    order = operations.order(question.text) or operations.order(question.in_full)
    if order is None:
        return []
    listing_of = _by_amount if order.by else _by_date
    listings = [listing for table in tables if (listing := listing_of(table, order, question)) is not None]
    for listing in sorted(listings, key=lambda listing: -listing.score):
        row = _row_at_place(listing, order, question)
        if row is not None and (entities := _entities(listing, row, question)):
            return [Computed(entity, "order", listing.table.evidence_places([row])) for entity in entities]
    return []


def _by_amount(table: Table, order: AskedOrder, question: Question) -> _Listing | None:
    """Return a table that has a column of the amount that orders: "the highest price", "the longest trail"."""
    language = question.language
    nouns = order.by.union(*map(language.literals.names_of, order.noun))
    words = language.properties.keywords(question.in_full) - language.properties.keyword_set(order.words)

    def fit(column: Column) -> tuple[int, int, int]:
        keywords = column.keywords
        return len(keywords & frozenset(order.noun)), len(keywords & nouns), len(keywords & words)

    amounts = [
        column
        for column in table.columns
        if column.order and column.keywords & (order.by if column.is_dated else nouns)
    ]
    # "the highest rent in 2024": the column of a year
    years = [column for column in table.amounts if column.keywords & {word for word in words if word.isdigit()}]
    # "the largest invoice": the only amount of the things
    is_of_things = (
        frozenset(order.noun) & (table.headers | table.title_keywords) and order.by & language.operations.sizes
    )
    alone = years or (table.amounts if is_of_things and not amounts else [])
    measure = max(amounts, key=fit, default=alone[0] if len(alone) == 1 else None)
    if measure is None or (language.operations.relating - language.operations.greater - language.operations.lesser) & {
        *question.in_full.lower().split()
    }:
        return None
    page = language.properties.keywords(question.items.label(table.rows[0]["page"]) or "")
    selection = table.selection(words - measure.keywords - (page if page <= words else frozenset()))
    rows = selection.rows
    if time := language.times.time(question.in_full):
        within = table.within(time, words)
        rows = [row for row in rows if row in within] or rows
    if len(words - selection.matched - table.headers - table.title_keywords - order.by - page) > _MOST_UNEXPLAINED:
        return None
    score = len(selection.matched) + len(measure.keywords & nouns)
    answer = _answer_column(table, measure, order, question)
    return None if answer is None else _Listing(score, table, rows, [measure], answer, True, frozenset())


def _answer_column(table: Table, measure: Column, order: AskedOrder, question: Question) -> Column | None:
    """Return the column of the answer: that of "which NOUN", the measure itself, dates, people, or the names of the rows."""
    types, words = question.language.answer_types, question.language.properties.keywords(question.in_full)
    head, kind = head_keywords(question) - order.by, question.expected.kind
    headed = [column for column in table.columns if column.keywords & head and column is not measure]
    if headed:
        return max(headed, key=lambda column: len(column.keywords & words) / len(column.keywords))
    if kind == "date":
        return table.dated[0] if table.dated else None
    if (
        kind in ("number", "any")
        and measure.keywords & (head | frozenset(order.noun))
        and not table.headers & (head - measure.keywords)
    ):
        return measure
    if kind == "person":
        people = [
            column for column in table.columns if not column.order and types.expected_type(column.header).kind == kind
        ]
        return people[0] if people else table.name_column
    things = [column for column in table.columns if column.keywords & frozenset(order.noun) and column is not measure]
    return things[0] if things else table.name_column


def _by_date(table: Table, order: AskedOrder, question: Question) -> _Listing | None:
    """Return a table of what an ordinal puts in order: "their first album", by its dates or its numbering."""
    words = question.language.properties
    nouns = noun_keywords(order.noun, question)
    # of equal years the columns of days decide
    times = [column for column in table.columns if column.is_timed]
    times.sort(key=lambda column: not column.keywords & words.keywords(question.in_full))
    numbering = [column for column in table.columns if column.is_numbering]
    measures = table.dated_by(words.keywords(question.in_full)) or times[:1] or numbering[:1]
    expected = noun_keywords(map(question.language.properties.keyword, question.expected.words), question)
    naming = [column for column in table.columns if column.keywords & nouns]
    naming = [column for column in naming if not column.order or column.is_numbering]
    naming.sort(key=lambda column: column.order is not None)
    is_of_things = bool(table.pairs or table.title_keywords & nouns)
    name_column = naming[0] if naming else table.name_column if is_of_things else None
    if not measures or name_column is None:
        return None
    headers = table.title_keywords | table.headers
    page = words.keywords(question.items.label(table.rows[0]["page"]))
    rest = words.keywords(question.in_full) - page - (nouns & headers) - words.keyword_set(order.words)
    rows = [row for row in range(len(table.rows)) if row not in table.totals]
    matches = 0
    if time := question.language.times.time(question.in_full):
        rows = [row for row in table.within(time, words.keywords(question.in_full)) if row not in table.totals]
        rest = frozenset(word for word in rest if not word.isdigit())
    for word in sorted(rest - headers):
        having = [row for row in rows if word in table.row_keywords[row]]
        if having and len(having) < len(rows):
            rows = having
        matches += bool(having)
    kind, types = question.expected.kind, question.language.answer_types
    if kind == "item":
        is_name = bool(table.pairs or expected & nouns)
    else:
        is_name = kind == "any" or kind in (types.expected_type(noun).kind for noun in nouns)
    score = bool(name_column.keywords & nouns) + matches + len(rest & headers)
    asking = words.keywords(question.in_full) - nouns
    return _Listing(score, table, rows, measures, name_column, is_name, asking)


def _row_at_place(listing: _Listing, order: AskedOrder, question: Question) -> int | None:
    orders = [column.order.amounts for column in listing.measures if column.order is not None]
    amounts = {row: tuple(order[row] or 0.0 for order in orders) for row in listing.rows if orders[0][row] is not None}
    is_rank = bool(order.by) and question.language.operations.is_ranking(listing.measures[0].keywords)
    different = sorted(set(amounts.values()), reverse=order.highest != is_rank)
    if len(different) < max(2, order.place):
        return None
    rows = [row for row, amount in amounts.items() if amount == different[order.place - 1]]
    return rows[0] if len(rows) == 1 else None  # several have equal values


def _entities(listing: _Listing, row: int, question: Question) -> list[Entity]:
    column = listing.name_column
    if column is not None and column in listing.measures and listing.is_name:
        cell = column.cells[row]
        return [] if cell is None else [{"id": cell["text"], "label": cell["text"]}]
    if listing.asking or column is None:
        return answer_in_row(listing.table, row, question, listing.asking, name_column=column, is_name=listing.is_name)
    cell = column.cells[row]
    return [] if cell is None else cell_answers(cell, question) or [{"id": cell["text"], "label": cell["text"]}]
