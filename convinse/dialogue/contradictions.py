"""Contradictions between sources: another value of the same property in an evidence of another source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from ..language.property_names import PropertyLabel, PropertyNames
from ..records.conversation import Turn
from ..records.evidence import Entity, Evidence
from ..records.facts import fact_of
from ..records.literals import is_date, is_number
from ..records.periods import Period
from ..records.replies import Contradiction

_DIGIT = re.compile(r"\d").search
_SAME_UNIT = 2  # values with a larger quotient have different units
_LARGE, _ROUNDED = 1000, Decimal("0.05")  # values from here on may be rounded by this share


def contradictions(turn: Turn, names: PropertyNames) -> list[Contradiction]:
    """Return the value of another source that contradicts the best answer, if it is a date or a number.

    A value counts if a fact or an infobox states it for the same item and property, and not for a time or a part alone. The list
    is empty if there are several such values.
    """
    answers = turn["pred_answers"][:1]
    if "abstained" in turn or not answers or not answers[0].get("evidences"):
        return []
    best, evidences = answers[0]["answer"], turn["top_evidences"]
    if not (is_date(best["id"]) or is_number(best["id"])):
        return []
    first = evidences[answers[0]["evidences"][0]]
    labels = [label for value, label in _values(first) if _agree(value, best)]
    rivals = {
        value["id"]: Contradiction(answer=value, evidence=number)
        for number, evidence in enumerate(evidences)
        if evidence["source"] != first["source"] and _subject(evidence) == _subject(first)
        for value, label in _values(evidence)
        if any(names.is_same(first_label, label) for first_label in labels)
    }
    if len(rivals) != 1:
        return []
    (rival,) = rivals.values()
    value = rival["answer"]
    if is_date(value["id"]) and is_date(best["id"]):
        return [] if _agree(value, best) else [rival]
    if not (is_number(value["id"]) and is_number(best["id"])):
        return []
    low, high = sorted((abs(Decimal(value["id"])), abs(Decimal(best["id"]))))
    is_rounded = high >= _LARGE and high - low <= high * _ROUNDED
    return [rival] if low * _SAME_UNIT > high > low and not is_rounded else []


def _subject(evidence: Evidence) -> str:
    fact = fact_of(evidence)
    return fact.subject["id"] if fact else evidence.get("retrieved_for_entity", {}).get("id", "")


def _values(evidence: Evidence) -> Iterator[tuple[Entity, PropertyLabel]]:
    # the date or number that a fact or an infobox entry states for all times
    if fact := fact_of(evidence):
        values = [] if fact.qualifiers else [fact.object]
        label = PropertyLabel(fact.predicate["label"], fact.predicate["id"])
    elif "attribute" in evidence:
        path = evidence["attribute"]["path"]
        values = [] if any(map(_DIGIT, path)) else evidence["wikidata_entities"]
        label = PropertyLabel(path[-1])
    else:  # a row or a sentence does not say for sure of what a value is
        return
    values = [value for value in values if is_date(value["id"]) or is_number(value["id"])]
    if len(values) == 1:  # not "1960–1970"
        yield values[0], label


def _agree(value: Entity, best: Entity) -> bool:
    if is_date(value["id"]) and is_date(best["id"]):
        return Period.of_date(value).overlaps(Period.of_date(best))
    return value["id"] == best["id"]
