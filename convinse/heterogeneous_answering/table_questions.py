"""Answers that are computed from tables and facts.

| operation | question | answer |
|---|---|---|
| `order` | "Who produced their first album?", "her longest film" | the row at that place of the order |
| `interval` | "Who led Y before X?", "Since when has X led Y?" | facts and infobox values that hold for a time |

An operation gives nothing if it cannot be carried out: there are no such rows or facts, or values are equal or missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ..language.operations import AskedOrder
from .candidates import Computed
from .intervals import by_intervals
from .question import Question
from .tables import Column, Table, answer_in_row, noun_keywords, whole_tables


def computed_answers(question: Question) -> list[Computed]:
    """The results of all operations that can be carried out."""
    return [result for operation in OPERATIONS.values() for result in operation(question)]


class _ListingTable(NamedTuple):
    """A table that lists what is ordered.

    Attributes:
        score: how much of the question it has.
        rows: that the question leaves.
        measures: the columns that order.
        thing: the column of what is ordered.
        is_thing: the answer is what is ordered, not another cell of its row.
        rest: the keywords that may ask for another cell.
    """

    score: float
    table: Table
    rows: Sequence[int]
    measures: Sequence[Column]
    thing: Column | None
    is_thing: bool
    rest: frozenset[str]


def ordered_things(question: Question) -> list[Computed]:
    """The answer to a superlative or an ordinal, of the rows of a table."""
    order = question.language.operations.order(question.text) or question.language.operations.order(question.in_full)
    if order is None:
        return []
    listing = [own for table in whole_tables(question) if (own := _listing(table, order, question)) is not None]
    for own in sorted(listing, key=lambda own: -own.score):
        if results := _at_place(own, order, question):
            return results
    return []


def _listing(table: Table, order: AskedOrder, question: Question) -> _ListingTable | None:
    words = question.language.properties
    nouns = noun_keywords(order.noun, question)
    measures = _measures(table, order, question)
    named = frozenset().union(*map(question.language.literals.names_of, order.noun)) if order.by else frozenset()
    is_measure = any(column.keywords & named for column in measures)
    wanted = noun_keywords(map(question.language.properties.keyword, question.expected.words), question)
    thing = _thing_column(table, wanted if is_measure else nouns)
    if not measures or (thing is None and not is_measure):
        return None
    known = table.about.union(*(column.keywords for column in table.columns))
    page = words.keywords(question.knowledge.kb.label(table.rows[0]["page"]))
    rest = words.keywords(question.in_full) - page - (nouns & known) - words.keyword_set(order.words)
    rows: list[int] = list(range(len(table.rows)))
    held = 0
    if time := question.language.times.time(question.in_full):
        rows = table.within(time)
        rest = frozenset(word for word in rest if not word.isdigit())
    for word in sorted(rest - known):
        having = [row for row in rows if word in table.held[row]]
        if having and len(having) < len(rows):
            rows = having
        held += bool(having)
    is_thing = _asks_for(wanted if is_measure else nouns, wanted, question)
    score = bool(thing and thing.keywords & nouns) + held + len(rest & known)
    return _ListingTable(score, table, rows, measures, thing, is_thing, words.keywords(question.in_full) - nouns)


def _thing_column(table: Table, nouns: AbstractSet[str]) -> Column | None:
    named = [own for own in table.columns if own.keywords & nouns and (not own.order or own.numbers_rows)]
    named.sort(key=lambda column: column.order is not None)
    return named[0] if named else table.naming if table.about & nouns else None


def _asks_for(nouns: AbstractSet[str], wanted: AbstractSet[str], question: Question) -> bool:
    if question.expected.kind == "item":
        return bool(wanted & nouns)
    kinds = (question.language.answer_types.expected_type(noun).kind for noun in nouns)
    return question.expected.kind == "any" or question.expected.kind in kinds


def _measures(table: Table, order: AskedOrder, question: Question) -> list[Column]:
    """The columns that order: those of dates from the left (of one year the days decide), else the one of the measure."""
    if not order.by:
        return table.dated or [column for column in table.columns if column.numbers_rows][:1]
    numbers = [column for column in table.columns if column.order is not None and not column.is_dated]
    nouns = frozenset().union(*map(question.language.literals.names_of, order.noun))
    named = [column for column in numbers if column.keywords & nouns]
    return (named or [column for column in numbers if column.keywords & order.by])[:1]


def _at_place(own: _ListingTable, order: AskedOrder, question: Question) -> list[Computed]:
    orders = [column.order.amounts for column in own.measures if column.order is not None]
    amounts = {row: tuple(order[row] or 0.0 for order in orders) for row in own.rows if orders[0][row] is not None}
    is_rank = bool(order.by) and question.language.operations.is_ranking(own.measures[0].keywords)
    row = _only_at(amounts, order.highest != is_rank, order.place)
    if row is None:
        return []
    entities = answer_in_row(own.table, row, question, own.rest, own.thing, own.is_thing)
    return [Computed(entity, "order", own.table.shown([row])) for entity in entities]


def _only_at(amounts: dict[int, tuple[float, ...]], highest: bool, place: int) -> int | None:
    """The only key at a place of the order of amounts, of which there must be at least two."""
    different = sorted(set(amounts.values()), reverse=highest)
    if len(different) < max(2, place):
        return None
    keys = [key for key, amount in amounts.items() if amount == different[place - 1]]
    return keys[0] if len(keys) == 1 else None


OPERATIONS: dict[str, Callable[[Question], list[Computed]]] = {"interval": by_intervals, "order": ordered_things}
