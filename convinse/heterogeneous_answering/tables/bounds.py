"""Bounds of a question for amounts: numbers ("above 50 euros"), or another column ("below the minimum stock")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ...records.literals import MONTHS
from ...records.ranked_rows import value_of
from ...records.units import IN_BASE, quantity_of
from ..question import Question
from .columns import Column, written_out
from .table import Table

_LIMIT_WORDS = 4  # behind "below" that may name a column
_AMOUNT = re.compile(r"[$€£¥]?\s?(?P<number>\d[\d.,'’]*)(?:\s?(?:[^\W\d_]{1,12}|%))?")


def with_measures(words: frozenset[str], question: Question) -> frozenset[str]:
    """Return keywords with the names of the measures that they ask for: "long" asks for the length, "costs" for the price."""
    return words.union(*map(question.language.literals.names_of, words))


def bound_words(question: Question) -> list[str]:
    """Return the bounds of a question, in its words: "more than 2 km"."""
    return [bound.words for bound in bounds_of(question)]


class Bound(NamedTuple):
    """A number that a question compares amounts with."""

    words: str  # of the question: "more than 2 km"
    number: float  # in the unit that values are compared in
    written: float  # in its own unit
    unit: str
    is_above: bool
    is_inclusive: bool

    def admits(self, row: int, column: Column) -> bool:
        """Return True if the amount in a row of a column is within the bound."""
        amount, number = column.amount(row), self.number
        if amount is None:
            return False
        if self.unit and not (column.order and column.order.unit):  # "2 km" of "Length in m", of "Length"
            number = next((self.number / size for base, size in _units_in(column) if base == self.unit), self.written)
        return (amount > number if self.is_above else amount < number) or (self.is_inclusive and amount == number)


def _units_in(column: Column) -> list[tuple[str, float]]:
    """Return the base units, with their sizes, that the header of a column has: "Length in m", "Milk (l/day)"."""
    return [IN_BASE[word] for word in re.split(r"[\s()\[\],/]+", column.header.casefold()) if word in IN_BASE]


def bounds_of(question: Question) -> Iterator[Bound]:
    """Yield the bounds of a question, in its order."""
    between = question.language.operations.within.search(question.in_full)
    if between and question.language.times.time(question.in_full) is None:  # "between 30 and 50 euros"
        for number, is_above in ((between["lower"], True), (between["upper"], False)):
            value, written = value_of(f"{number}{between['unit'] or ''}"), value_of(number)
            if value and written:
                yield Bound(between[0].strip(), value.amount, written.amount, value.unit, is_above, True)
    for comparing, is_above, is_inclusive in _comparing(question):
        behind = _in_digits(question, question.in_full[comparing.end() :])
        amount = _AMOUNT.match(behind)
        written = amount and value_of(amount["number"].rstrip(".,"))
        if amount and written and written_out(amount[0].split()[-1]) not in MONTHS:  # "from 20 April" is a day
            *_, last = amount[0].split()
            has_unit = last.casefold() not in question.language.words.common  # "above 500 who have not paid"
            counted = amount[0] if has_unit else amount["number"]
            value = value_of(counted.strip()) or written
            said = question.in_full[comparing.end() :].split()[: len(counted.split())]
            words = question.in_full[comparing.start() : comparing.end()] + " ".join(said)
            yield Bound(words, value.amount, written.amount, value.unit, is_above, is_inclusive)


def _in_digits(question: Question, text: str) -> str:
    """Return a text with its first word as a number, if it is one: "3 hours" for "three hours"."""
    first, _, rest = text.partition(" ")
    number = question.language.literals.number_in_words(first)
    return text if number is None else f"{number} {rest}"


def _comparing(question: Question) -> Iterator[tuple[re.Match[str], bool, bool]]:
    """Yield the words that compare ("above", "at most"), whether with what is below them, and whether what is equal counts."""
    operations, denial = question.language.operations, question.language.words.denial.search
    for pattern, is_above in ((operations.exceeding, True), (operations.undercutting, False)):
        for match in pattern.finditer(question.in_full):
            is_inclusive = match[0].strip().lower() in question.language.literals.inclusive
            # "not more than", "does not have more than"
            is_denied = denial(question.in_full[: match.start()]) is not None
            yield match, is_above != is_denied, is_inclusive != is_denied


def measure_of(
    question: Question, table: Table, bound: Bound, words: frozenset[str], is_of_table: bool
) -> Column | None:
    """Return the column that a bound is of: the one that the question names, that of its unit or currency, or the only one.

    The only one may be something else ("cars below 50,000 km" of numbers of telephones): it counts for a bound with a unit only if
    `is_of_table`, if the table has all other words of the question.
    """
    keywords = question.language.properties.keywords(bound.words)
    compared, _ = question.language.operations.comparison(bound.words) or (frozenset[str](), True)
    named = table.measures(with_measures(words | keywords | compared, question))
    alike = [
        column
        for column in table.amounts
        if bound.unit and column.order and bound.unit in (column.order.unit, *(base for base, _ in _units_in(column)))
    ]
    if quantity_of(bound.words) == "money":
        alike = [column for column in table.amounts if column.has_currency]
    others = table.amounts if is_of_table or not bound.unit else []
    return next((columns[0] for columns in (named, alike, others) if len(columns) == 1), None)


class Limit(NamedTuple):
    """A column of amounts (`limit`) that those of another (`measure`) are compared with, by some words: "below the minimum stock"."""

    measure: Column
    limit: Column
    is_above: bool
    is_inclusive: bool
    words: frozenset[str]

    def admits(self, row: int) -> bool | None:
        """Return True if the amount of a row is within its limit; None if one of the two is missing."""
        amount, limit = self.measure.amount(row), self.limit.amount(row)
        if amount is None or limit is None:
            return None
        return (amount > limit if self.is_above else amount < limit) or (self.is_inclusive and amount == limit)


def limiting_column(question: Question, table: Table) -> Limit | None:
    """Return the column whose amounts bound those of another one of the table; None if a question names no two such columns."""
    keywords, text = question.language.properties.keywords, question.in_full
    for match, is_above, is_inclusive in _comparing(question):
        if _AMOUNT.match(text, match.end()):
            continue
        behind = keywords(" ".join(text[match.end() :].split()[:_LIMIT_WORDS]))
        limits = table.measures(behind)
        if len(limits) != 1:
            continue
        others = [column for column in table.amounts if column is not limits[0]]
        asking, place = keywords(text[: match.start()]), table.columns.index(limits[0])
        named = (
            [column for column in others if column.keywords & asking],
            [column for column in others if column.keywords & limits[0].keywords],
            [column for column in others if column in table.columns[place - 1 : place]],  # "Stock", "Minimum"
        )
        measure = next((columns[0] for columns in named if len(columns) == 1), None)
        if measure is not None:
            used = keywords(text[match.start() :]) & (keywords(match[0]) | limits[0].keywords) | measure.keywords
            return Limit(measure, limits[0], is_above, is_inclusive, used)
    return None
