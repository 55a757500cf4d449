"""Values that hold for a time, in facts and infoboxes: who held an office in 1990, since when X holds it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from ..language.property_names import PropertyLabel
from ..language.validity import judged_parts
from ..records.evidence import Entity, entities_within
from ..records.facts import END_TIME, START_TIME, Fact, fact_of
from ..records.literals import is_date, is_item
from ..records.periods import Agreement, Boundary, Period, period_of_fact, timed_parts
from ..records.written_values import find_literals
from .candidates import Computed, property_label
from .question import Question
from .ranked_answers import in_year
from .tables import question_keywords

_LEAST_FIT = 0.3  # of the expected type: that of an unknown type


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
    """The values that hold at the time of the question, or the date at which one began or ended."""
    if question.expected.kind in ("yesno", "number"):
        return []
    is_date_asked = question.expected.kind == "date"
    groups: _Groups = defaultdict(list)
    for group, value in _dated_values(question, with_rows=is_date_asked):
        groups[group].append(value)
    return _boundary_dates(groups, question) if is_date_asked else _holding(groups, question)


def _dated_values(question: Question, with_rows: bool) -> Iterator[tuple[tuple[str, ...], _DatedValue]]:
    for place, evidence in enumerate(question.evidences):
        fact = fact_of(evidence)
        if fact is not None:
            if (own := _of_fact(place, fact)) is not None:
                yield (fact.subject["id"], fact.predicate["id"]), own
            continue
        for part in timed_parts(evidence) if "attribute" in evidence or with_rows else ():
            entities = entities_within(evidence, part.start, part.end)
            items = [own for own in entities if is_item(own["id"]) and own["id"] != part.group[0]]
            if len(items) != 1 or part.period is None or part.period.is_point:
                continue
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


def _holding(groups: _Groups, question: Question) -> list[Computed]:
    """The values of the property that hold at the time of the question, of several that do not all hold."""
    parts = judged_parts(question.in_full, question.evidences, question.language)
    verdicts = {(own.place, own.part.group, own.part.period): own.verdict for own in parts}
    words, about = question_keywords(question), {entity["id"] for entity in question.about}
    results: dict[str, Computed] = {}
    for key, group in groups.items():
        own = [verdicts.get((value.place, key, value.period), Agreement.UNKNOWN) for value in group]
        is_asked = key[0] in about and question.knowledge.properties.asking(group[0].label, words)
        if Agreement.CONTRADICTS in own and is_asked:
            for value, verdict in zip(group, own, strict=True):
                if verdict is Agreement.HOLDS and question.fit(value.value) >= _LEAST_FIT:
                    sentence = f"{value.label.text} {value.period.in_words()} is {value.value['label']}"
                    result = Computed(value.value, "interval", sentence, (value.place,))
                    results.setdefault(value.value["id"], result)
    return list(results.values())


def _boundary_dates(groups: _Groups, question: Question) -> list[Computed]:
    """When a value that a question names with its subject began or ended; nothing if evidences differ."""
    boundary = question.language.times.boundary(question.in_full)
    about = {entity["id"] for entity in question.about}
    results: dict[str, Computed] = {}
    for (subject, *_), group in groups.items():
        for own in group if boundary is not Boundary.ANY else ():
            date = own.start if boundary in (Boundary.START, Boundary.SINCE) else own.end
            if date is not None and {subject, own.value["id"]} <= about:
                date = in_year(date) if question.asks_for_year else date
                sentence = f"{own.label.text} {own.value['label']}: {boundary.value} {date['label']}"
                results.setdefault(date["id"], Computed(date, "interval", sentence, (own.place,)))
    return list(results.values()) if len(results) == 1 else []
