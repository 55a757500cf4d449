"""Values that hold for a time, in facts and infoboxes: the holder of an office in 1990, his successor, the date he began."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

from ..language.property_names import PropertyLabel
from ..language.text import fold
from ..records.evidence import Entity
from ..records.facts import END_TIME, START_TIME
from ..records.literals import is_date, is_item
from ..records.periods import Boundary, Period, place_beside
from ..records.written_values import find_literals
from .candidates import Computed
from .question import Question

_NAME = re.compile(r"[^\W\d_][^()\d,;]*[^\W\d_](?= ?\()")  # before the time of a value: "Anna Berg (1961–1969)"


_NOUN_WORDS = 2  # behind a place in an order: "second head coach"


class _DatedValue(NamedTuple):
    """A value of a property that holds for a time, its evidence, and its first and last date as stated there."""

    place: int
    value: Entity
    label: PropertyLabel
    period: Period
    start: Entity | None
    end: Entity | None


_MUTUAL = ("P26", "P451")  # spouse, partner
_Groups = dict[tuple[str, ...], list[_DatedValue]]  # by subject and property


def by_intervals(question: Question) -> list[Computed]:
    """Return the date at which a value began or ended, the value before or after another, or the one that held at a time.

    Empty if evidences differ.
    """
    if question.expected.kind in ("yesno", "number"):
        return []
    groups = _dated_values(question)
    if question.expected.kind == "date":
        results = _boundary_dates(groups, question)
    else:
        results = _beside(groups, question) or _at_place(groups, question)
    if results or question.expected.kind == "date":
        return results if len({result.entity["id"] for result in results}) == 1 else []
    return _held_then(groups, question)


def _dated_values(question: Question) -> _Groups:
    groups: _Groups = defaultdict(list)
    for place, read in enumerate(question.evidences):
        evidence = read.evidence
        for part in read.parts:
            if part.period is None or part.period.is_point:
                continue
            if fact := read.fact:
                dates = {predicate["id"]: value for predicate, value in fact.qualifiers}
                start, end = dates.get(START_TIME), dates.get(END_TIME)
                values, label = [fact.object], PropertyLabel(fact.predicate["label"], fact.predicate["id"])
            else:
                values = [entity for entity in read.within(part.start, part.end) if is_item(entity["id"])]
                label = PropertyLabel(evidence["attribute"]["path"][-1] if "attribute" in evidence else "")
                literals = find_literals(read.text[part.start : part.end])
                stated = [literal.entity for literal in literals if is_date(literal.entity["id"])]
                if not stated:  # the period is that of the name: "2019–2021, Norvia"
                    continue
                start, end = stated[0], None if part.period.is_open else stated[-1]
                if not values and (name := _NAME.match(read.text[part.start : part.end])):
                    values = [{"id": name[0], "label": name[0]}]
            values = [value for value in values if value["id"] != part.group[0]]
            if len(values) == 1:
                groups[part.group].append(_DatedValue(place, values[0], label, part.period, start, end))
            if fact and label.id in _MUTUAL:  # who is married to whom may be stated of either
                mirrored = _DatedValue(place, fact.subject, label, part.period, start, end)
                groups[fact.object["id"], label.id].append(mirrored)
    return groups


def _boundary_dates(groups: _Groups, question: Question) -> list[Computed]:
    """Return when a value began or ended that a question names with its subject."""
    boundary = question.language.times.boundary(question.in_full)
    is_start = boundary in (Boundary.START, Boundary.SINCE)
    about, keywords = {entity["id"] for entity in question.about}, question.language.properties.keywords
    words = keywords(question.in_full)
    results = []
    for (subject, *_), group in groups.items():
        places = frozenset(dated.place for dated in group)
        for dated in group if boundary is not Boundary.ANY else ():
            date = dated.start if is_start else dated.end
            is_named = dated.value["id"] in about or keywords(dated.value["label"]) <= words
            if date is not None and subject in about and is_named:
                results.append(Computed(question.as_asked(date), "interval", (dated.place,), rivals=places))
    return results


def _beside(groups: _Groups, question: Question) -> list[Computed]:
    """Return the value before or after a named value, or before the current value ("the previous CEO")."""
    is_later = question.language.times.asks_beside(question.in_full)
    keywords, names = question.language.properties.keywords, question.property_names
    all_words = keywords(question.in_full)
    words = all_words.difference(*(keywords(item["label"]) for item in question.about))
    about = {entity["id"] for entity in question.about}
    results = []
    if any(subject in about for subject, *_ in groups):  # the coaches of the club, not those of his next one
        groups = {key: group for key, group in groups.items() if key[0] in about}
    for (subject, *_), group in groups.items() if is_later is not None else ():
        group.sort(key=lambda dated: dated.period)
        named = [
            at
            for at, dated in enumerate(group)
            if dated.value["id"] in about or keywords(dated.value["label"]) <= all_words
        ]
        if not named and subject in about and not is_later and names.asking(group[0].label, words):
            named = [len(group) - 1]
        at = place_beside([dated.period for dated in group], named[0], bool(is_later)) if len(named) == 1 else -1
        if 0 <= at < len(group):
            result, neighbour = group[at], group[named[0]]
            places = frozenset(dated.place for dated in group)
            results.append(Computed(result.value, "interval", (result.place, neighbour.place), rivals=places))
    return results


def _at_place(groups: _Groups, question: Question) -> list[Computed]:
    """Return the value at a place in the order of time: "her second husband", "the first president"."""
    operations, keywords = question.language.operations, question.language.properties.keywords
    words = fold(question.in_full).split()
    about = {entity["id"] for entity in question.about}
    for at, word in enumerate(words[:-1]):
        nth = operations.place(word)
        noun = keywords(" ".join(words[at + 1 : at + 1 + _NOUN_WORDS]))
        for (subject, *_), group in groups.items() if nth is not None else ():
            group.sort(key=lambda dated: dated.period)
            if (
                subject in about
                and len(group) >= abs(nth or 0)
                and question.property_names.asking(group[0].label, noun)
            ):
                dated = group[nth - 1 if nth is not None and nth > 0 else nth or 0]
                rivals = frozenset(each.place for each in group)
                return [Computed(dated.value, "interval", (dated.place,), rivals=rivals)]
    return []


def _held_then(groups: _Groups, question: Question) -> list[Computed]:
    """Return the values of a property that held at the time that a question names, or hold now, if others do not."""
    times, keywords = question.language.times, question.language.properties.keywords
    time = times.time(question.in_full)
    # "who is he married to?"
    is_now = time is None and not times.present.isdisjoint(fold(question.in_full).split()[:2])
    if time is None and not is_now:
        return []
    words = keywords(question.in_full).difference(*(keywords(item["label"]) for item in question.about))
    about = {entity["id"] for entity in question.about}
    results = []
    for (subject, *_), group in groups.items():
        holding = [dated for dated in group if (dated.period.is_open if time is None else time.admits(dated.period))]
        if is_now and (len(holding) != 1 or len(group) < 2):
            continue
        if subject in about and question.property_names.asking(group[0].label, words):
            rivals = frozenset(dated.place for dated in group)
            results += [Computed(dated.value, "interval", (dated.place,), rivals=rivals) for dated in holding]
    return results
