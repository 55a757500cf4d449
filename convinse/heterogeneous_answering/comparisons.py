"""The older, longer, earlier of two things; and whether one is so more than the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ..language.operations import AskedComparison
from ..language.property_names import PropertyLabel
from ..records.evidence import Entity
from ..records.facts import Fact, fact_of
from ..records.literals import is_date, is_number
from .candidates import Computed, entity_roles, property_label
from .question import NO, YES, Question
from .tables import Table, cell_answers, name_keywords, whole_tables

_PAIR = 2
_LONG = 4  # letters of a word that tells a name from others


class _Valued(NamedTuple):
    """A thing with the value that a comparison goes by."""

    entity: Entity
    amount: tuple[float, ...]
    places: tuple[int, ...]


def compared_things(question: Question) -> list[Computed]:
    """The answer to a comparison of two things that the question names, by dates or numbers of the same property.

    They are items, or names in one column of a table. Nothing if their values are equal, missing or of different precision, or if
    the question does not name two.
    """
    operations = question.language.operations
    comparison = operations.comparison(question.in_full)
    is_yes_no = question.expected.kind == "yesno"
    if comparison is None or not (is_yes_no or operations.pairs(question.text)):
        return []
    pairs = (pair for pair in (_items(comparison, question), *_rows(comparison, question)) if len(pair) == _PAIR)
    pair = next(pairs, None)
    if pair is None:
        return []
    first, second = (own.amount for own in pair)
    length = min(len(first), len(second))  # a year and a day are compared as years
    if first[:length] == second[:length]:
        return []
    is_first = (first > second) == comparison.higher
    answer = (YES if is_first else NO) if is_yes_no else pair[not is_first].entity
    stated = ", ".join(f"{own.entity['label']} has {'-'.join(map('{:g}'.format, own.amount))}" for own in pair)
    places = tuple(dict.fromkeys(place for own in pair for place in own.places))
    return [Computed(answer, "compare", f"{stated}: {answer['label']}", places)]


def _items(comparison: AskedComparison, question: Question) -> list[_Valued]:
    items = _named_items(question)
    if len(items) != _PAIR:
        return []
    keywords, names = question.language.properties.keywords, question.knowledge.properties
    told = [_literals(item, comparison, question) for item in items]
    shared = told[0].keys() & told[1].keys()
    words = keywords(question.in_full).difference(*(keywords(item["label"]) for item in items))
    asking = {label for label in shared if names.asking(label, words) and not comparison.by}
    if not shared:
        return []
    # of several dates of both the first: when they were born, founded, published
    label = min(asking or shared, key=lambda label: (max(own[label][0] for own in told), label))
    return [_Valued(item, *own[label]) for item, own in zip(items, told, strict=True)]


def _named_items(question: Question) -> list[Entity]:
    """The two items that a question names, in its order."""
    if len(question.about) == _PAIR:
        return sorted(question.about, key=lambda item: _start(item["label"], question.in_full))
    own = {item["id"]: item for item in question.about}
    for evidence in question.evidences:
        for entity in evidence["wikidata_entities"]:
            if entity["id"].startswith("Q") and entity["label"][:1].isupper():
                own.setdefault(entity["id"], entity)
    return _named(list(own.values()), question.text, question) or _named(list(own.values()), question.in_full, question)


def _named(items: Collection[Entity], text: str, question: Question) -> list[Entity]:
    keywords = question.language.properties.keywords
    told = keywords(text)
    names = {item["id"]: name for item in items if (name := keywords(item["label"])) and name <= told}
    longest = {item for item, name in names.items() if not any(name < other for other in names.values())}
    named = [item for item in items if item["id"] in longest]
    is_pair = len(named) == _PAIR and names[named[0]["id"]] != names[named[1]["id"]]
    return sorted(named, key=lambda item: _start(item["label"], text)) if is_pair else []


def _start(name: str, text: str) -> int:
    low = text.casefold()
    starts = (low.find(word) for word in name.casefold().split() if len(word) >= _LONG)
    return min((start for start in starts if start >= 0), default=len(text))


def _literals(
    item: Entity, comparison: AskedComparison, question: Question
) -> dict[PropertyLabel, tuple[tuple[float, ...], tuple[int, ...]]]:
    """The value of each property that orders an item: the earliest date, or the one number."""
    amounts_of: dict[PropertyLabel, dict[tuple[float, ...], list[int]]] = {}
    for label, value, places in _values(item, question):
        if comparison.by:
            suits = is_number(value["id"]) and question.knowledge.properties.asked(label, comparison.by) == 1
        else:
            suits = is_date(value["id"])
        if suits:
            amounts_of.setdefault(label, {}).setdefault(_amount(value), []).extend(places)
    return {
        label: (min(amounts), tuple(amounts[min(amounts)]))
        for label, amounts in amounts_of.items()
        if len(amounts) == 1 or not comparison.by
    }


def _values(item: Entity, question: Question) -> Iterator[tuple[PropertyLabel, Entity, Sequence[int]]]:
    """The values of an item in its infobox and its facts, each with the evidences that show it."""
    shown: dict[str, list[int]] = {}
    for place, evidence in enumerate(question.evidences):
        if fact := fact_of(evidence):
            shown.setdefault(_key(fact), []).append(place)
        elif "attribute" in evidence and evidence.get("retrieved_for_entity", {}).get("id") == item["id"]:
            for role in entity_roles(place, evidence, question.language):
                for label in role.labels[:1]:
                    yield label, role.entity, [place]
    for fact in map(Fact.of, question.knowledge.kb.neighborhood(item["id"])):
        if fact.subject["id"] == item["id"]:
            yield property_label(fact.predicate), fact.object, shown.get(_key(fact), [])


def _key(fact: Fact) -> str:
    return " ".join((fact.subject["id"], fact.predicate["id"], fact.object["id"]))


def _amount(value: Entity) -> tuple[float, ...]:
    """A number, or year, month and day of a date as far as its label tells them."""
    if is_number(value["id"]):
        return (float(value["id"]),)
    parts = tuple(float(part) for part in value["id"].removesuffix("T00:00:00Z").rsplit("-", 2))
    return parts[: max(1, len(value["label"].removesuffix(" BC").split()))]


def _rows(comparison: AskedComparison, question: Question) -> Iterator[list[_Valued]]:
    """Two names that the question has in one column of a table, by its dates, or by the column of the measure."""
    for table in whole_tables(question):
        for column in table.columns:
            is_measure = bool(column.keywords & comparison.by) if comparison.by else column.is_dated
            if column.order is not None and is_measure:
                yield _named_rows(table, column.order.amounts, question)
                break


def _named_rows(table: Table, amounts: Sequence[float | None], question: Question) -> list[_Valued]:
    words = question.language.properties
    told = words.keywords(question.in_full)
    named: list[tuple[int, _Valued]] = []
    for row, amount in enumerate(amounts):
        cell = table.naming.cells[row] if table.naming is not None else None
        name = name_keywords(cell, words) if cell is not None else frozenset()
        if cell is not None and amount is not None and name and name <= told:
            entity = cell_answers(cell, question)[:1] or [{"id": cell["text"], "label": cell["text"]}]
            start = _start(cell["text"].strip('"'), question.in_full)
            named.append((start, _Valued(entity[0], (amount,), table.shown([row]))))
    return [own for _, own in sorted(named, key=lambda pair: pair[0])]
