"""What a model says of evidences, held to them: an answer counts where an evidence that it cites contains it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..language.text import fold
from ..records.evidence import Entity, Evidence
from ..records.literals import is_date, year_of
from ..records.written_values import find_literals, value_at
from .question import NO, YES, Question, is_known
from .ranked_answers import in_year
from .reader import as_words, meaning, names_in


class Cited(NamedTuple):
    """What an answer in words stands for, and the places of the cited evidences that contain it; none: it is unsupported."""

    entity: Entity
    places: tuple[int, ...]


def cited(text: str, places: Iterable[int], asked: Question, shown: Sequence[int]) -> Cited:
    """An answer in words, named as a reader's answers are, by the evidences that it cites.

    An evidence contains an answer by its item, by its name or words, or as a date or a number. Yes and no, where they are asked
    for, are in no evidence: there it counts that any is cited.

    Args:
        text: the answer.
        places: of the evidences that it cites; others than those of `shown` do not count.
        asked: the question with its evidences.
        shown: the places of those that the model has seen: where none that is cited contains the answer, they name it.
    """
    text = " ".join(text.split())
    own = [place for place in dict.fromkeys(places) if place in shown]
    if asked.expected.kind == "yesno":
        for verdict in (YES, NO):
            if fold(text) == fold(verdict["label"]):
                return Cited(verdict, tuple(own))
    holding = _holding(text, own, asked)
    named = holding or _holding(text, shown, asked)
    entity = next(
        (entity for _, entity in named if is_known(entity)),
        named[0][1] if named else value_at(text, 0, len(text)) or as_words(text),
    )
    if asked.asks_for_year:
        entity = in_year(entity)
    return Cited(entity, tuple(place for place, _ in holding))


def _holding(text: str, places: Iterable[int], asked: Question) -> list[tuple[int, Entity]]:
    held = ((place, _held(text, asked.evidences[place], asked)) for place in places)
    return [(place, entity) for place, entity in held if entity is not None]


def _held(text: str, evidence: Evidence, asked: Question) -> Entity | None:
    """What an answer stands for in an evidence; None: the evidence does not contain it."""
    words = r"\s+".join(map(re.escape, text.split()))
    match = re.search(rf"(?<!\w){words}(?!\w)", evidence["evidence_text"], re.IGNORECASE) if words else None
    span = match.span() if match else None
    entity = meaning(text, evidence, asked.fit, names_in(evidence), span)
    if span is not None:
        return entity or as_words(text)
    if entity is None:
        return None
    stated = {own["id"] for own in evidence["wikidata_entities"]}
    if entity["id"] in stated:
        return entity
    stated |= {literal.entity["id"] for literal in find_literals(evidence["evidence_text"])}
    years = {year_of(own)["id"] for own in stated if is_date(own)}
    return entity if entity["id"] in stated | years else None
