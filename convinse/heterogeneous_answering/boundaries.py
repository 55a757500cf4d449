"""When something began or ended: "since when has X led Y?", "when did X join Y?"."""

from __future__ import annotations

from ..records.evidence import Entity
from ..records.facts import END_TIME, START_TIME, fact_of
from ..records.periods import Boundary
from .question import AskedQuestion
from .ranking import AnswerCandidate, in_year

_PROPERTIES = {Boundary.START: START_TIME, Boundary.SINCE: START_TIME, Boundary.END: END_TIME, Boundary.UNTIL: END_TIME}


def boundary_dates(asked: AskedQuestion) -> list[AnswerCandidate]:
    """Return the start or end time, as asked for, of the facts that hold most of the items of a question, if that is one date."""
    property_id = _PROPERTIES.get(asked.language.times.boundary(asked.asking))
    if asked.expected.kind != "date" or property_id is None:
        return []
    about = {entity["id"] for entity in asked.about}
    best: dict[int, dict[str, tuple[Entity, int]]] = {}
    for place, evidence in enumerate(asked.evidences):
        fact = fact_of(evidence)
        named = 0 if fact is None else len(about & {entity["id"] for entity in fact.entities})
        if fact is None or named < 2:
            continue
        for qualifier in fact.qualifiers:
            if qualifier.predicate["id"] == property_id:
                date = in_year(qualifier.value) if asked.asks_for_year else qualifier.value
                best.setdefault(named, {}).setdefault(date["id"], (date, place))
    dates = best[max(best)] if best else {}
    if len(dates) != 1:
        return []
    ((date, place),) = dates.values()
    return [AnswerCandidate(date, 1.0, (place,), ("boundary",))]
