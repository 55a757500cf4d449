"""Values that hold for a time, in facts and infoboxes: who held an office in 1990, who came after X, since when X holds it."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from ..language.operations import AskedNeighbour
from ..language.property_names import PropertyLabel
from ..records.evidence import Entity, entities_within
from ..records.facts import END_TIME, START_TIME, Fact, fact_of
from ..records.literals import is_date, is_item
from ..records.periods import Agreement, Boundary, Period, period_of_fact, timed_parts
from ..records.written_values import find_literals
from .question import AskedQuestion
from .ranking import AnswerCandidate, in_shares, in_year
from .tables import question_keywords
from .values import label_of


class _DatedValue(NamedTuple):
    """A value of a property that holds for a time, with the evidence that says so, and its first and last date as stated there."""

    place: int
    value: Entity
    label: PropertyLabel
    period: Period
    start: Entity | None
    end: Entity | None


_LEAST_FIT = 0.3  # of the expected type: that of an unknown type
_Groups = dict[tuple[str, ...], list[_DatedValue]]  # by subject and property


def _dated_values(asked: AskedQuestion, with_rows: bool) -> _Groups:
    groups: _Groups = defaultdict(list)
    for place, evidence in enumerate(asked.evidences):
        fact = fact_of(evidence)
        if fact is not None:
            if (own := _of_fact(place, fact)) is not None:
                groups[fact.subject["id"], fact.predicate["id"]].append(own)
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
            groups[part.group].append(_DatedValue(place, items[0], label, part.period, dates[0], end))
    for group in groups.values():
        group.sort(key=lambda own: own.period)
    return groups


def _of_fact(place: int, fact: Fact) -> _DatedValue | None:
    period = period_of_fact(fact)
    if period is None or period.is_point:
        return None
    dates = {qualifier.predicate["id"]: qualifier.value for qualifier in fact.qualifiers}
    return _DatedValue(place, fact.object, label_of(fact.predicate), period, dates.get(START_TIME), dates.get(END_TIME))


def by_intervals(asked: AskedQuestion) -> list[AnswerCandidate]:
    """Return what the intervals of values tell: what holds at the time asked about, is beside a name, or the date of an end."""
    if asked.expected.kind in ("yesno", "number"):
        return []
    groups = _dated_values(asked, with_rows=asked.expected.kind == "date")
    if asked.expected.kind == "date":
        return _boundary_dates(groups, asked)
    neighbours = asked.language.operations.neighbours
    beside = (
        _beside(groups, neighbour, asked) for neighbour in (*neighbours(asked.question), *neighbours(asked.in_full))
    )
    return next(filter(None, beside), None) or _holding(groups, asked)


def rival_places(asked: AskedQuestion, place: int) -> set[int]:
    """Return the places of the evidences that state values of the properties that the one at a place does."""
    groups = {part.group for part in timed_parts(asked.evidences[place])}
    evidences = enumerate(asked.evidences)
    return {at for at, own in evidences if any(part.group in groups for part in timed_parts(own))}


def _holding(groups: _Groups, asked: AskedQuestion) -> list[AnswerCandidate]:
    """The values of the asked property that hold at the time of the question, of several that do not all hold."""
    verdicts = {(own.place, own.part.group, own.part.period): own.verdict for own in asked.judged}
    words = question_keywords(asked)
    given: dict[str, AnswerCandidate] = {}
    for key, group in groups.items():
        own = [verdicts.get((value.place, key, value.period), Agreement.UNKNOWN) for value in group]
        if Agreement.CONTRADICTS in own and key[0] in asked.own and asked.names.asking(group[0].label, words):
            for value, verdict in zip(group, own, strict=True):
                if verdict is Agreement.HOLDS and asked.fit(value.value) >= _LEAST_FIT:
                    candidate = AnswerCandidate(value.value, 1.0, (value.place,), ("interval",))
                    given.setdefault(value.value["id"], candidate)
    return in_shares(list(given.values()))


def _beside(groups: _Groups, neighbour: AskedNeighbour, asked: AskedQuestion) -> list[AnswerCandidate]:
    """The value before or behind a named one, or the current one ("the previous CEO"); nothing where properties differ."""
    keywords = asked.language.properties.keywords
    given: dict[str, AnswerCandidate] = {}
    for (subject, *_), group in groups.items():
        named = [at for at, own in enumerate(group) if keywords(own.value["label"]) <= neighbour.named]
        if not named and subject in asked.own and not neighbour.later:
            named = [len(group) - 1] if asked.names.asking(group[0].label, neighbour.asking) else []
        if len(group) == 1 and named:
            group, named = _all_of(group[0], subject, asked)
        at = named[0] + (1 if neighbour.later else -1) if len(named) == 1 else -1
        if 0 <= at < len(group) and _is_gapless(*(group[own].period for own in sorted((at, named[0])))):
            places = tuple(dict.fromkeys((group[at].place, group[named[0]].place)))
            given[group[at].value["id"]] = AnswerCandidate(group[at].value, 1.0, places, ("interval",))
    return list(given.values()) if len(given) == 1 else []


def _is_gapless(first: Period, second: Period) -> bool:
    return first.is_open or first.is_followed_by(second)


def _all_of(named: _DatedValue, subject: str, asked: AskedQuestion) -> tuple[list[_DatedValue], list[int]]:
    """The dated values beside one whose own facts alone were retrieved, and the place of it among them."""
    facts = (Fact.of(fact) for fact in asked.resources.kb.neighborhood(subject))
    group = [
        own
        for fact in facts
        if (fact.subject["id"], fact.predicate["id"]) == (subject, named.label.id)
        and (own := _of_fact(named.place, fact)) is not None
    ]
    group.sort(key=lambda own: own.period)
    return group, [at for at, own in enumerate(group) if own.value["id"] == named.value["id"]]


def _boundary_dates(groups: _Groups, asked: AskedQuestion) -> list[AnswerCandidate]:
    """When a value that a question names with its subject began or ended, as it asks; nothing where evidences differ."""
    boundary = asked.language.times.boundary(asked.asking)
    about = {entity["id"] for entity in asked.about}
    given: dict[str, AnswerCandidate] = {}
    for (subject, *_), group in groups.items():
        for own in group if boundary is not Boundary.ANY else ():
            date = own.start if boundary in (Boundary.START, Boundary.SINCE) else own.end
            if date is not None and {subject, own.value["id"]} <= about:
                date = in_year(date) if asked.asks_for_year else date
                given.setdefault(date["id"], AnswerCandidate(date, 1.0, (own.place,), ("interval",)))
    return list(given.values()) if len(given) == 1 else []
