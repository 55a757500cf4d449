"""The dates and numbers of an evidence, each with what the evidence calls it."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..language.language import Language
from ..language.text import Words, fold
from ..records.evidence import Entity, Evidence, normalize_source
from ..records.facts import fact_of
from ..records.literals import is_date, is_number

_HEADER = re.compile(r"(?:^|, )([^,]+?) is ")
_BEHIND_NUMBER = re.compile(r"[\s-]*((?:[^\W\d_]+[\s-]*){0,3})")
FAR, _REACH = 0.3, 3.0  # the least nearness in an evidence; words over which nearness halves
_BEHIND = 3.0  # how much farther a word behind an entity is than a word before it ("Director is", "directed by")


class Value(NamedTuple):
    """A date or a number in an evidence.

    Attributes:
        entity: the literal.
        labels: what names it: of a fact its property and qualifier, of a row the header, of an infobox the attribute
            (and what stands above it); nothing in a sentence.
        unit: keywords of the words behind it (`minut`), and of a currency before it.
    """

    entity: Entity
    labels: tuple[str, ...]
    unit: frozenset[str]


def values(evidence: Evidence, language: Language) -> list[Value]:
    """The dates and numbers that an evidence mentions, in reading order."""
    text, source = evidence["evidence_text"], normalize_source(evidence["source"])
    labels = {entity["id"]: entity["label"] for entity in evidence["wikidata_entities"]}
    literals: list[Value] = []
    place, begin = 0, None
    for surface, entity_id in evidence["disambiguations"]:
        start = text.find(surface, place)
        if start < 0:
            continue
        place = start + len(surface)
        if not (is_date(entity_id) or is_number(entity_id)):
            continue
        begin = start if begin is None else begin
        entity: Entity = {"id": entity_id, "label": labels.get(entity_id, surface)}
        literals.append(Value(entity, _labels(evidence, source, start, begin), _unit(text, surface, start, language)))
    return literals


def _labels(evidence: Evidence, source: str, start: int, begin: int) -> tuple[str, ...]:
    """What names the literal at `start`; the first literal of the evidence begins at `begin`."""
    text = evidence["evidence_text"]
    if source == "kb":
        fact = fact_of(evidence)
        before = text[:start].removesuffix(", ").rsplit(", ", 1)[-1]
        return tuple(dict.fromkeys((fact.predicate, before))) if fact else (before,)
    if source == "table":
        headers = _HEADER.findall(text, 0, start)
        return (headers[-1],) if headers else ()
    if source == "info":
        return tuple(part for part in text[:begin].split(", ")[1:] if part)
    return ()


def _unit(text: str, surface: str, start: int, language: Language) -> frozenset[str]:
    behind = _BEHIND_NUMBER.match(text, start + len(surface))
    words = surface.lstrip("0123456789.,") + " " + (behind[1] if behind else "")
    currency = language.literals.currencies.get(text[start - 1 : start], "")
    return language.properties.keywords(f"{words} {currency}")


def nearness(evidence: Evidence, wanted: set[str], language: Words) -> dict[str, float]:
    """How near each mentioned entity stands to a word that is asked for, from `FAR` to 1, by entity id.

    In "Year is 1996, Film is Basquiat, Role is Andy Warhol", a question for the role prefers the value beside it.
    """
    words = re.findall(r"\w+", fold(evidence["evidence_text"]))
    hits = [place for place, word in enumerate(words) if language.stem(word) in wanted]
    near: dict[str, float] = {}
    for surface, entity_id in evidence["disambiguations"]:
        parts = fold(surface).split()
        for place in range(len(words) - len(parts) + 1) if parts else ():
            if words[place : place + len(parts)] == parts:
                end = place + len(parts) - 1
                gaps = [
                    place - hit if hit < place else _BEHIND * (hit - end) for hit in hits if not place <= hit <= end
                ]
                gap = min(gaps, default=None)
                value = FAR if gap is None else FAR + (1 - FAR) / (1 + gap / _REACH)
                near[entity_id] = max(near.get(entity_id, 0.0), value)
    return near
