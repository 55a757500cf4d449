"""Which of two things is older, longer, earlier; and whether one is so more than the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ..language.operations import AskedComparison
from ..language.property_names import PropertyLabel
from ..records.evidence import Entity, question_items
from ..records.facts import Fact, fact_of
from ..records.literals import is_date, is_number
from .question import AskedQuestion
from .ranking import AnswerCandidate, in_shares
from .tables import Table, cell_answers, name_keywords, whole_tables
from .values import label_of, values
from .yes_no import NO, YES

_PAIR = 2
_LONG = 4  # letters of a word that tells a name from others


class _Valued(NamedTuple):
    entity: Entity
    amount: tuple[float, ...]
    places: tuple[int, ...]


def compared_things(asked: AskedQuestion) -> list[AnswerCandidate]:
    """The answer to a comparison of two things that the question names, by dates or numbers of the same property.

    They are items, or names in one column of a table. Nothing where their values are equal, missing or of different
    precision, and where the question does not name two.
    """
    comparison = asked.language.operations.comparison(asked.asking) or asked.language.operations.comparison(
        asked.in_full
    )
    is_yes_no = asked.expected.kind == "yesno"
    if comparison is None or not (is_yes_no or asked.language.operations.is_choice(asked.question)):
        return []
    pairs = (pair for pair in (_items(comparison, asked), *_rows(comparison, asked)) if len(pair) == _PAIR)
    pair = next(pairs, None)
    if pair is None:
        return []
    first, second = (own.amount for own in pair)
    length = min(len(first), len(second))  # a year and a day are compared as years
    if first[:length] == second[:length]:
        return []
    is_first = (first > second) == comparison.higher
    places = tuple(dict.fromkeys(place for own in pair for place in own.places))
    answer = (YES if is_first else NO) if is_yes_no else pair[not is_first].entity
    return in_shares([AnswerCandidate(answer, 1.0, places, ("compare",))])


def _named_items(asked: AskedQuestion) -> list[Entity]:
    """The two items that a question names, in its order; those that it is about where it names none ("which of the two?")."""
    own = {item["id"]: item for item in question_items(asked.evidences)}
    if named := _named(own.values(), asked):
        return named
    starts = sorted((_start(item["label"], asked.in_full), name) for name, item in own.items())
    is_choice = asked.language.operations.is_choice(asked.question)
    if len(own) == _PAIR and (is_choice or all(start < len(asked.in_full) for start, _ in starts)):
        return [own[name] for _, name in starts]
    mentioned = {entity["id"]: entity for evidence in asked.evidences for entity in evidence["wikidata_entities"]}
    return _named(
        [item for name, item in mentioned.items() if name.startswith("Q") and item["label"][:1].isupper()], asked
    )


def _named(items: Collection[Entity], asked: AskedQuestion) -> list[Entity]:
    keywords = asked.language.properties.keywords
    for text in (asked.question, asked.in_full):
        told = keywords(text)
        names = {item["id"]: name for item in items if (name := keywords(item["label"])) and name <= told}
        named = [
            item for item in items if item["id"] in names and not any(names[item["id"]] < own for own in names.values())
        ]
        if len(named) == _PAIR and names[named[0]["id"]] != names[named[1]["id"]]:
            return sorted(named, key=lambda item: _start(item["label"], text))
    return []


def _start(name: str, text: str) -> int:
    low = text.casefold()
    starts = (low.find(word) for word in name.casefold().split() if len(word) >= _LONG)
    return min((start for start in starts if start >= 0), default=len(text))


def _items(comparison: AskedComparison, asked: AskedQuestion) -> list[_Valued]:
    items = _named_items(asked)
    if len(items) != _PAIR:
        return []
    told = [_literals(item, comparison, asked) for item in items]
    shared = told[0].keys() & told[1].keys()
    words = asked.language.properties.keywords(asked.asking).difference(
        *(asked.language.properties.keywords(item["label"]) for item in items)
    )
    asking = {label for label in shared if asked.names.asking(label, words) and not comparison.by}
    candidates = asking or shared
    if not candidates:
        return []
    # of several dates of both the first: when they were born, founded, published
    label = min(candidates, key=lambda label: (max(own[label][0] for own in told), label))
    return [_Valued(item, *own[label]) for item, own in zip(items, told, strict=True)]


def _literals(
    item: Entity, comparison: AskedComparison, asked: AskedQuestion
) -> dict[PropertyLabel, tuple[tuple[float, ...], tuple[int, ...]]]:
    """What orders an item, by its name: the earliest date, or the one number of each property."""
    amounts_of: dict[PropertyLabel, dict[tuple[float, ...], list[int]]] = {}
    for label, value, places in _told(item, asked):
        if comparison.by and (not is_number(value["id"]) or asked.names.asked(label, comparison.by) < 1):
            continue
        if not comparison.by and not is_date(value["id"]):
            continue
        amounts_of.setdefault(label, {}).setdefault(_amount(value), []).extend(places)
    return {
        label: (min(amounts), tuple(amounts[min(amounts)]))
        for label, amounts in amounts_of.items()
        if len(amounts) == 1 or not comparison.by
    }


def _told(item: Entity, asked: AskedQuestion) -> Iterator[tuple[PropertyLabel, Entity, Sequence[int]]]:
    shown: dict[str, list[int]] = {}
    for place, evidence in enumerate(asked.evidences):
        if fact := fact_of(evidence):
            shown.setdefault(_key(fact), []).append(place)
        elif "attribute" in evidence and evidence.get("retrieved_for_entity", {}).get("id") == item["id"]:
            for value in values(evidence, asked.language):
                for label in value.labels[:1]:
                    yield label, value.entity, [place]
    for fact in map(Fact.of, asked.resources.kb.neighborhood(item["id"])):
        if fact.subject["id"] == item["id"]:
            yield label_of(fact.predicate), fact.object, shown.get(_key(fact), [])


def _key(fact: Fact) -> str:
    return " ".join((fact.subject["id"], fact.predicate["id"], fact.object["id"]))


def _amount(value: Entity) -> tuple[float, ...]:
    """A number, or year, month and day of a date as far as its label tells them."""
    if is_number(value["id"]):
        return (float(value["id"]),)
    parts = tuple(float(part) for part in value["id"].removesuffix("T00:00:00Z").rsplit("-", 2))
    return parts[: max(1, len(value["label"].removesuffix(" BC").split()))]


def _rows(comparison: AskedComparison, asked: AskedQuestion) -> Iterator[list[_Valued]]:
    """Two names that the question has in one column of a table, by its dates, or by the column of the asked measure."""
    for table in whole_tables(asked):
        measured = [
            column
            for column in table.columns
            if column.order is not None and (column.keywords & comparison.by if comparison.by else column.is_dated)
        ]
        if measured:
            yield _named_rows(table, measured[0].order.amounts if measured[0].order else [], asked)


def _named_rows(table: Table, amounts: Sequence[float | None], asked: AskedQuestion) -> list[_Valued]:
    words = asked.language.properties
    told = words.keywords(asked.in_full)
    named: list[tuple[int, _Valued]] = []
    for row, amount in enumerate(amounts):
        cell = table.naming.cells[row] if table.naming is not None else None
        name = name_keywords(cell, words) if cell is not None else frozenset()
        if cell is not None and amount is not None and name and name <= told:
            entity = cell_answers(cell, asked)[:1] or [{"id": cell["text"], "label": cell["text"]}]
            named.append(
                (_start(cell["text"].strip('"'), asked.in_full), _Valued(entity[0], (amount,), table.shown([row])))
            )
    return [own for _, own in sorted(named, key=lambda given: given[0])]
