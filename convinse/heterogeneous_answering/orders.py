"""The first, last, longest, n-th of what tables list or facts link to an item; how many there are within years."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ..language.operations import AskedOrder
from ..records.evidence import Entity
from ..records.facts import Fact, fact_of
from ..records.literals import is_date, is_number, number_entity
from ..records.periods import AskedTime, Period
from .quantities import asked_quantity
from .question import AskedQuestion
from .ranking import AnswerCandidate, in_shares
from .tables import Column, Table, asked_cell, asking_keywords, noun_keywords, question_keywords, whole_tables
from .values import label_of

_MOST_ITEMS = 200  # whose facts are looked at
_LEAST_FIT = 0.5  # of the expected type: who made the first film is not the film


class _Suited(NamedTuple):
    """A table that lists what is asked for: the rows that the question leaves, and how much of the question it holds."""

    score: float
    table: Table
    rows: Sequence[int]
    measures: Sequence[Column]
    thing: Column | None
    is_asked: bool
    rest: frozenset[str]


def ordered_things(asked: AskedQuestion) -> list[AnswerCandidate]:
    """What a question with a superlative or an ordinal asks for: of the rows of a table, else of what facts link to the item."""
    order = asked.language.operations.order(asked.question) or asked.language.operations.order(asked.asking)
    if order is None:
        return []
    suited = [own for table in whole_tables(asked) if (own := _suited(table, order, asked)) is not None]
    for own in sorted(suited, key=lambda own: -own.score):
        if given := _at_place(own, order, asked):
            return given
    return _of_facts(order, asked)


def counted_rows(asked: AskedQuestion) -> list[AnswerCandidate]:
    """How many rows of a table lie within the years that a question names ("how many albums before 1970?")."""
    time = asked.time
    if asked.expected.kind != "number" or time is None:
        return []
    quantity = asked_quantity(asked.asking, asked.in_full, asked.language)
    if quantity is None or not quantity.countable:
        return []
    for table in whole_tables(asked):
        nouns = noun_keywords(quantity.nouns[-1], asked)
        is_stated = any(
            column.keywords & nouns and column.order and not column.numbers_rows for column in table.columns
        )
        rows = table.within(time)
        if rows and not is_stated and _thing(table, nouns) is not None:
            count = number_entity(str(len(rows)))
            return [AnswerCandidate(count, 1.0, table.shown(rows), ("count",))]
    return []


def within_years(asked: AskedQuestion) -> list[AnswerCandidate]:
    """The one row whose years hold those that a question names: "who was the coach in 1998?", where rows have two dates."""
    time = asked.time
    if time is None or asked.expected.kind in ("yesno", "number", "date"):
        return []
    for table in whole_tables(asked):
        keywords = table.about.union(*(column.keywords for column in table.columns))
        words = {word for word in question_keywords(asked) if not word.isdigit()}
        rows = [row for row in table.within(time) or () if _goes_on(table.period(row), time)]
        if len(rows) == 1 and words and words <= keywords:  # what else is asked the span of the row does not tell
            return _given(asked_cell(table, rows[0], asked, asking_keywords(asked)), table, rows, "during")
    return []


def _goes_on(period: Period | None, time: AskedTime) -> bool:
    """Return True if a row holds all through the time; one year is no span unless it is both ends."""
    asked = time.period
    return period is not None and not period.is_point and period.first <= asked.first and asked.last <= period.last


def _given(entities: Iterable[Entity], table: Table, rows: Sequence[int], reason: str) -> list[AnswerCandidate]:
    places = table.shown(rows)
    return in_shares([AnswerCandidate(entity, 1.0, places, (reason,)) for entity in entities])


# -- tables ------------------------------------------------------------------------------------------------------------


def _thing(table: Table, nouns: AbstractSet[str]) -> Column | None:
    named = [
        column for column in table.columns if column.keywords & nouns and (not column.order or column.numbers_rows)
    ]
    named.sort(key=lambda column: column.order is not None)
    return named[0] if named else table.naming if table.about & nouns else None


def _suited(table: Table, order: AskedOrder, asked: AskedQuestion) -> _Suited | None:
    """Whether a table lists what is ordered, and which of its rows have what else the question names."""
    nouns = noun_keywords(order.noun, asked)
    measures = _measures(table, order, asked)
    named = frozenset().union(*map(asked.language.literals.names_of, order.noun)) if order.by else frozenset()
    is_measure = any(column.keywords & named for column in measures)
    wanted = noun_keywords(map(asked.language.literals.keyword, asked.expected.words), asked)
    thing = _thing(table, wanted if is_measure else nouns)
    if not measures or (thing is None and not is_measure):
        return None
    known = table.about.union(*(column.keywords for column in table.columns))
    keywords = asked.language.properties.keywords
    page = keywords(asked.resources.kb.label(table.rows[0]["page"]))
    # a number that only the turn before named ("season 2") is not asked for any more
    told = keywords(asked.question) | {word for word in keywords(asked.in_full) if not word.isdigit()}
    rest = told - page - (nouns & known) - asked.language.properties.keyword_set(order.words)
    rows: list[int] = list(range(len(table.rows)))
    held = 0
    if time := asked.time:
        within = table.within(time) or []
        rows = [row for row in rows if row in within]
        rest = frozenset(word for word in rest if not word.isdigit())
    for word in sorted(rest - known):
        having = [row for row in rows if word in table.held[row]]
        if having and len(having) < len(rows):
            rows = having
        held += bool(having)
        if not having and word in _capitals(asked):
            return None  # of something that the table says nothing of
    is_asked = _asks_for(wanted if is_measure else nouns, wanted, asked)
    score = bool(thing and thing.keywords & nouns) + held + len(rest & known)
    return _Suited(score, table, rows, measures, thing, is_asked, asking_keywords(asked) - nouns)


def _asks_for(nouns: AbstractSet[str], wanted: AbstractSet[str], asked: AskedQuestion) -> bool:
    if asked.expected.kind == "item":
        return bool(wanted & nouns)
    noun_types = (asked.language.answer_types.expected_type(noun).kind for noun in nouns)
    return asked.expected.kind == "any" or asked.expected.kind in noun_types


def _capitals(asked: AskedQuestion) -> frozenset[str]:
    return asked.language.properties.keywords(" ".join(word for word in asked.asking.split()[1:] if word[:1].isupper()))


def _measures(table: Table, order: AskedOrder, asked: AskedQuestion) -> list[Column]:
    """The columns that order: those of dates from the left (of one year the days decide), else the one of the measure."""
    if not order.by:
        return table.dated or [column for column in table.columns if column.counts_rows][:1]
    numbers = [column for column in table.columns if column.order is not None and not column.is_dated]
    nouns = frozenset().union(*map(asked.language.literals.names_of, order.noun))
    named = [column for column in numbers if column.keywords & nouns]
    return (named or [column for column in numbers if column.keywords & order.by])[:1]


def _at_place(own: _Suited, order: AskedOrder, asked: AskedQuestion) -> list[AnswerCandidate]:
    orders = [column.order.amounts for column in own.measures if column.order is not None]
    amounts = {row: tuple(order[row] or 0.0 for order in orders) for row in own.rows if orders[0][row] is not None}
    is_rank = bool(order.by) and asked.language.operations.is_ranking(own.measures[0].keywords)
    different = sorted(set(amounts.values()), reverse=order.highest != is_rank)
    if len(different) < max(2, order.place):
        return []
    rows = [row for row, amount in amounts.items() if amount == different[order.place - 1]]
    if len(rows) > 1:
        return []
    return _given(asked_cell(own.table, rows[0], asked, own.rest, own.thing, own.is_asked), own.table, rows, "order")


# -- facts -------------------------------------------------------------------------------------------------------------


class _FactLink(NamedTuple):
    fact: Fact
    partner: Entity


def _of_facts(order: AskedOrder, asked: AskedQuestion) -> list[AnswerCandidate]:
    """Of the items that facts link to the question's own: the one at the asked place in the order of dates or measures.

    They are the values of a property that the noun names, or of a class that it names. Where the question asks for one of
    the properties that link them, only those count. Nothing where one of them has no value.
    """
    rest = question_keywords(asked) & _capitals(asked) - noun_keywords(order.noun, asked)
    if rest or asked.expected.kind in ("date", "number", "yesno") or asked.time:
        return []  # facts are not looked through for more than the noun
    linked = _linked(order, asked)
    values: dict[str, float] = {}
    for own in linked:
        value = _value(own, order, asked)
        if value is None:
            return []
        name, amount = own.partner["id"], _amount(value)
        if name not in values or (amount > values[name]) == (order.highest and not order.by):
            values[name] = amount
    different = sorted(set(values.values()), reverse=order.highest)
    if len(different) < max(2, order.place):
        return []
    names = [name for name, amount in values.items() if amount == different[order.place - 1]]
    if len(names) > 1:
        return []
    winner = next(own.partner for own in linked if own.partner["id"] == names[0])
    facts = [own.fact for own in linked if own.partner["id"] == winner["id"]]
    if asked.fit(winner) < _LEAST_FIT:
        return []
    places = [place for place, evidence in enumerate(asked.evidences) if fact_of(evidence) in facts]
    return [AnswerCandidate(winner, 1.0, tuple(places), ("order",))] if places else []


def _linked(order: AskedOrder, asked: AskedQuestion) -> list[_FactLink]:
    nouns, kb = noun_keywords(order.noun, asked), asked.resources.kb
    types, words = asked.language.answer_types, question_keywords(asked)
    linked: dict[tuple[str, str], list[_FactLink]] = {}
    for item in dict.fromkeys(
        evidence["retrieved_for_entity"]["id"] for evidence in asked.evidences if "retrieved_for_entity" in evidence
    ):
        for fact in map(Fact.of, kb.neighborhood(item)):
            if item not in (fact.subject["id"], fact.object["id"]):
                continue
            is_subject = item == fact.subject["id"]
            partner = fact.object if is_subject else fact.subject
            if not partner["id"].startswith("Q"):
                continue
            is_named = is_subject and bool(asked.names.asking(label_of(fact.predicate), nouns))
            if is_named or types.heads(kb.types(partner["id"])) & nouns:
                linked.setdefault((fact.predicate["id"], str(is_subject)), []).append(_FactLink(fact, partner))
    asking = [own for own in linked.values() if asked.names.asking(label_of(own[0].fact.predicate), words)]
    given = [link for own in asking or linked.values() for link in own]
    return given if len({link.partner["id"] for link in given}) <= _MOST_ITEMS else []


def _value(own: _FactLink, order: AskedOrder, asked: AskedQuestion) -> Entity | None:
    """What orders an item: a date of the fact itself, else the earliest of its own; or its number of the measure."""
    if not order.by:
        dates = [qualifier.value for qualifier in own.fact.qualifiers if is_date(qualifier.value["id"])]
        if dates:
            return min(dates, key=lambda date: date["id"])
    facts = [Fact.of(fact) for fact in asked.resources.kb.neighborhood(own.partner["id"])]
    literals = [(label_of(fact.predicate), fact.object) for fact in facts if fact.subject["id"] == own.partner["id"]]
    if order.by:
        numbers = [
            value for label, value in literals if is_number(value["id"]) and asked.names.asked(label, order.by) == 1
        ]
        return numbers[0] if len({value["id"] for value in numbers}) == 1 else None
    return min((value for _, value in literals if is_date(value["id"])), key=lambda date: date["id"], default=None)


def _amount(value: Entity) -> float:
    """A number that grows with a number, or with the day of a date."""
    if is_number(value["id"]):
        return float(value["id"])
    year, month, day = value["id"].removesuffix("T00:00:00Z").rsplit("-", 2)
    return int(year) * 372.0 + int(month) * 31 + int(day)
