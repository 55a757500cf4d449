"""Answers computed from tables and facts.

| operation | question | answer |
|---|---|---|
| `order` | "Who produced their first album?", "her longest film" | the row at that place of the order |
| `interval` | "Who led Y before X?", "Since when has X led Y?" | facts and infobox values that hold for a time |

An operation has no result if rows, facts or values that it needs are missing, or if values are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..language.operations import AskedOrder
from .candidates import Computed
from .intervals import by_intervals
from .question import Question
from .tables import Column, Table, answer_in_row, noun_keywords, whole_tables


def computed_answers(question: Question) -> list[Computed]:
    """Return the results of all operations."""
    return [result for operation in OPERATIONS.values() for result in operation(question)]


class _ListingTable(NamedTuple):
    """A table of the things that a question puts in order.

    Attributes:
        score: how well the table fits the question.
        rows: the places of the rows that the question's other words and time admit.
        measures: the columns by which the rows are ordered.
        name_column: the column with the names of the things.
        is_name: whether the answer is the name of a thing, not another cell of its row.
        asking: the keywords of the question that may ask for another cell.
    """

    score: float
    table: Table
    rows: Sequence[int]
    measures: Sequence[Column]
    name_column: Column | None
    is_name: bool
    asking: frozenset[str]


def ordered_things(question: Question) -> list[Computed]:
    """Return the answer to a superlative or an ordinal, from the rows of a table."""
    order = question.language.operations.order(question.text) or question.language.operations.order(question.in_full)
    if order is None:
        return []
    listings = [_listing(table, order, question) for table in whole_tables(question)]
    for listing in sorted(filter(None, listings), key=lambda listing: -listing.score):
        if results := _at_place(listing, order, question):
            return results
    return []


def _listing(table: Table, order: AskedOrder, question: Question) -> _ListingTable | None:
    words = question.language.properties
    nouns = noun_keywords(order.noun, question)
    units = frozenset().union(*map(question.language.literals.names_of, order.noun)) if order.by else frozenset()
    if order.by:
        numbers = [column for column in table.columns if column.order is not None and not column.is_dated]
        in_unit = [column for column in numbers if column.keywords & units]
        measures = (in_unit or [column for column in numbers if column.keywords & order.by])[:1]
    else:  # by date: of equal years the columns of days decide
        measures = table.dated or [column for column in table.columns if column.is_numbering][:1]
    is_unit = any(column.keywords & units for column in measures)  # the nouns name a unit, not the ordered things
    expected = noun_keywords(map(question.language.properties.keyword, question.expected.words), question)
    things = expected if is_unit else nouns
    naming = [column for column in table.columns if column.keywords & things]
    naming = [column for column in naming if not column.order or column.is_numbering]
    naming.sort(key=lambda column: column.order is not None)
    name_column = naming[0] if naming else table.name_column if table.title_keywords & things else None
    if not measures or (name_column is None and not is_unit):
        return None
    headers = table.title_keywords.union(*(column.keywords for column in table.columns))
    page = words.keywords(question.items.label(table.rows[0]["page"]))
    rest = words.keywords(question.in_full) - page - (nouns & headers) - words.keyword_set(order.words)
    rows: list[int] = list(range(len(table.rows)))
    matches = 0
    if time := question.language.times.time(question.in_full):
        rows = table.within(time)
        rest = frozenset(word for word in rest if not word.isdigit())
    for word in sorted(rest - headers):
        having = [row for row in rows if word in table.row_keywords[row]]
        if having and len(having) < len(rows):
            rows = having
        matches += bool(having)
    kind, types = question.expected.kind, question.language.answer_types
    if kind == "item":
        is_name = bool(expected & things)
    else:
        is_name = kind == "any" or kind in (types.expected_type(noun).kind for noun in things)
    score = bool(name_column and name_column.keywords & nouns) + matches + len(rest & headers)
    asking = words.keywords(question.in_full) - nouns
    return _ListingTable(score, table, rows, measures, name_column, is_name, asking)


def _at_place(listing: _ListingTable, order: AskedOrder, question: Question) -> list[Computed]:
    orders = [column.order.amounts for column in listing.measures if column.order is not None]
    amounts = {row: tuple(order[row] or 0.0 for order in orders) for row in listing.rows if orders[0][row] is not None}
    is_rank = bool(order.by) and question.language.operations.is_ranking(listing.measures[0].keywords)
    different = sorted(set(amounts.values()), reverse=order.highest != is_rank)
    if len(different) < max(2, order.place):
        return []
    rows = [row for row, amount in amounts.items() if amount == different[order.place - 1]]
    if len(rows) > 1:  # equal values
        return []
    column, is_name = listing.name_column, listing.is_name
    entities = answer_in_row(listing.table, rows[0], question, listing.asking, name_column=column, is_name=is_name)
    return [Computed(entity, "order", listing.table.evidence_places(rows)) for entity in entities]


OPERATIONS: dict[str, Callable[[Question], list[Computed]]] = {"interval": by_intervals, "order": ordered_things}
