"""Dates as answers: how well a date is the one that is meant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..language.language import Language
from ..language.property_names import PropertyNames
from ..records.evidence import Evidence
from ..records.literals import is_date
from .values import values

_UNNAMED, _OTHER = 0.4, 0.1  # weight of a date without a name, and of a date of another property
_LEAST = 0.1  # what an evidence without any word of the question counts


class DateQuestion(NamedTuple):
    """The stems of a question for a date: `telling`, what an evidence should hold; `asking`, what may name a property."""

    telling: frozenset[str]
    asking: frozenset[str]


def date_question(question: str, evidences: Iterable[Evidence], language: Language) -> DateQuestion:
    """What a question in full asks; the words of the names in it ask for no property: no stadium by "Wembley Stadium"."""
    keywords = language.properties.keywords
    words = keywords(question)
    labels = {entity["label"] for evidence in evidences for entity in evidence["wikidata_entities"]}
    names = frozenset().union(*(name for label in labels if (name := keywords(label)) <= words))
    return DateQuestion(words - language.literals.general_date_keywords, words - names)


def date_weights(
    evidence: Evidence, question: DateQuestion, names: PropertyNames, language: Language
) -> dict[str, float]:
    """How well each date of an evidence fits a question, from 0 to 1, by id.

    A date weighs by its name, where the name of another property weighs less than no name, and by the share of the
    question's words that the evidence holds: of the years of two awards, that of the asked award weighs more.
    """
    telling, asking = question
    keywords, general = language.properties.keywords, language.literals.general_date_keywords
    held = keywords(evidence["evidence_text"])
    weights: dict[str, float] = {}
    for value in values(evidence, language):
        if not is_date(value.entity["id"]):
            continue
        labels = [label for label in value.labels if not keywords(label.text) <= general]
        meant = frozenset().union(*(names.asking(label, asking) for label in labels))
        # "in which year" alone is no half of a "birth year"
        named = 1.0 if meant else max((names.asked(label, asking - general) for label in labels), default=None)
        weight = _UNNAMED if named is None else _OTHER + (1 - _OTHER) * named
        covered = len(telling & (held | meant)) / len(telling) if telling else 1.0
        weight *= (_LEAST + (1 - _LEAST) * covered) ** 2
        weights[value.entity["id"]] = max(weights.get(value.entity["id"], 0.0), weight)
    return weights
