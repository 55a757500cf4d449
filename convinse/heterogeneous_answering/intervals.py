"""Values that hold for a time, in facts and infoboxes: who held an office in 1990, who came after X, since when X holds it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from ..language.property_names import PropertyLabel
from ..records.evidence import Entity, entities_within
from ..records.facts import END_TIME, START_TIME, Fact, fact_of
from ..records.literals import is_date, is_item
from ..records.periods import Boundary, Period, period_of_fact, timed_parts
from ..records.written_values import find_literals
from .candidates import Computed, property_label
from .question import Question
from .ranked_answers import in_year
from .tables import question_keywords


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
        fact = fact_of(evidence)
        if fact is not None:
            if (own := _of_fact(place, fact)) is not None:
                yield (fact.subject["id"], fact.predicate["id"]), own
            continue
        for part in timed_parts(evidence):
            entities = entities_within(evidence, part.start, part.end)
            items = [own for own in entities if is_item(own["id"]) and own["id"] != part.group[0]]
            if len(items) == 1 and part.period is not None and not part.period.is_point:
                text = evidence["evidence_text"][part.start : part.end]
                label = PropertyLabel(evidence["attribute"]["path"][-1] if "attribute" in evidence else "")
                dates = [literal.entity for literal in find_literals(text) if is_date(literal.entity["id"])]
                end = None if part.period.is_open else dates[-1]
                yield part.group, _DatedValue(place, items[0], label, part.period, dates[0], end)


def _of_fact(place: int, fact: Fact) -> _DatedValue | None:
    period = period_of_fact(fact)
    if period is None or period.is_point:
        return None
    dates = {qualifier.predicate["id"]: qualifier.value for qualifier in fact.qualifiers}
    label = property_label(fact.predicate)
    return _DatedValue(place, fact.object, label, period, dates.get(START_TIME), dates.get(END_TIME))


def _boundary_dates(groups: _Groups, question: Question) -> list[Computed]:
    """When a value that a question names with its subject began or ended."""
    boundary = question.language.times.boundary(question.in_full)
    is_start = boundary in (Boundary.START, Boundary.SINCE)
    about = {entity["id"] for entity in question.about}
    results = []
    for (subject, *_), group in groups.items():
        for own in group if boundary is not Boundary.ANY else ():
            date = own.start if is_start else own.end
            if date is not None and {subject, own.value["id"]} <= about:
                date = in_year(date) if question.asks_for_year else date
                words = ("has been", "since") if is_start else ("was", "until")
                sentence = f"{own.value['label']} {words[0]} {own.label.text} {words[1]} {date['label']}."
                results.append(Computed(date, "interval", sentence, (own.place,), rivals=_places(group)))
    return results


def _beside(groups: _Groups, question: Question) -> list[Computed]:
    """The value before or after a named one, or before the current one ("the previous CEO")."""
    is_later = question.language.times.asks_beside(question.in_full)
    keywords, names = question.language.properties.keywords, question.knowledge.properties
    words, told = question_keywords(question), keywords(question.in_full)
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
            order, beside = ("after", "next") if is_later else ("before", "previous")
            sentence = f"The {beside} {own.label.text} {order} {neighbour.value['label']} was {own.value['label']}."
            results.append(
                Computed(own.value, "interval", sentence, (own.place, neighbour.place), rivals=_places(group))
            )
    return results


def _places(group: list[_DatedValue]) -> frozenset[int]:
    return frozenset(own.place for own in group)
