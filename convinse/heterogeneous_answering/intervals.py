"""Values that hold for a time, in facts and infoboxes: who held an office in 1990, who came after X, since when X holds it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from ..language.property_names import PropertyLabel
from ..records.evidence import Entity, entities_within
from ..records.facts import END_TIME, START_TIME, fact_of
from ..records.literals import is_date, is_item
from ..records.periods import Boundary, Period, timed_parts
from ..records.written_values import find_literals
from .candidates import Computed
from .question import Question


class _DatedValue(NamedTuple):
    """A value of a property that holds for a time, its evidence, and its first and last date as stated there."""

    place: int
    value: Entity
    label: PropertyLabel
    period: Period
    start: Entity | None
    end: Entity | None


_Groups = dict[tuple[str, ...], list[_DatedValue]]  # by subject and property


def by_intervals(question: Question) -> list[Computed]:
    """The date at which a value began or ended, or the value before or after another in time; nothing if evidences differ."""
    if question.expected.kind in ("yesno", "number"):
        return []
    groups: _Groups = defaultdict(list)
    for group, value in _dated_values(question):
        groups[group].append(value)
    results = _boundary_dates(groups, question) if question.expected.kind == "date" else _beside(groups, question)
    return results if len({own.entity["id"] for own in results}) == 1 else []


def _dated_values(question: Question) -> Iterator[tuple[tuple[str, ...], _DatedValue]]:
    for place, evidence in enumerate(question.evidences):
        for part in timed_parts(evidence):
            if part.period is None or part.period.is_point:
                continue
            if fact := fact_of(evidence):
                dates = {qualifier.predicate["id"]: qualifier.value for qualifier in fact.qualifiers}
                start, end = dates.get(START_TIME), dates.get(END_TIME)
                values, label = [fact.object], PropertyLabel(fact.predicate["label"], fact.predicate["id"])
            else:
                values = [own for own in entities_within(evidence, part.start, part.end) if is_item(own["id"])]
                label = PropertyLabel(evidence["attribute"]["path"][-1] if "attribute" in evidence else "")
                literals = find_literals(evidence["evidence_text"][part.start : part.end])
                stated = [literal.entity for literal in literals if is_date(literal.entity["id"])]
                start, end = stated[0], None if part.period.is_open else stated[-1]
            values = [own for own in values if own["id"] != part.group[0]]
            if len(values) == 1:
                yield part.group, _DatedValue(place, values[0], label, part.period, start, end)


def _boundary_dates(groups: _Groups, question: Question) -> list[Computed]:
    """When a value that a question names with its subject began or ended."""
    boundary = question.language.times.boundary(question.in_full)
    is_start = boundary in (Boundary.START, Boundary.SINCE)
    about = {entity["id"] for entity in question.about}
    results = []
    for (subject, *_), group in groups.items():
        places = frozenset(own.place for own in group)
        for own in group if boundary is not Boundary.ANY else ():
            date = own.start if is_start else own.end
            if date is not None and {subject, own.value["id"]} <= about:
                date = question.in_year(date)
                results.append(Computed(date, "interval", (own.place,), rivals=places))
    return results


def _beside(groups: _Groups, question: Question) -> list[Computed]:
    """The value before or after a named one, or before the current one ("the previous CEO")."""
    is_later = question.language.times.asks_beside(question.in_full)
    keywords, names = question.language.properties.keywords, question.knowledge.properties
    told = keywords(question.in_full)
    words = told.difference(*(keywords(item["label"]) for item in question.about))
    about = {entity["id"] for entity in question.about}
    results = []
    for (subject, *_), group in groups.items() if is_later is not None else ():
        group.sort(key=lambda own: own.period)
        named = [at for at, own in enumerate(group) if keywords(own.value["label"]) <= told]
        if not named and subject in about and not is_later and names.asking(group[0].label, words):
            named = [len(group) - 1]
        at = named[0] + (1 if is_later else -1) if len(named) == 1 else -1
        if 0 <= at < len(group):
            own, neighbour = group[at], group[named[0]]
            places = frozenset(value.place for value in group)
            results.append(Computed(own.value, "interval", (own.place, neighbour.place), rivals=places))
    return results
