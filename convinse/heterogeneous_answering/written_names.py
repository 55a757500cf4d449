"""From a text that a model wrote to what it names in the evidences: nothing that they do not hold becomes an answer.

CONVINSE (Christmann et al., SIGIR 2022) takes the mention of an evidence that has the smallest edit distance to the text.
Here that comes last, after what is certain, counts less the farther it is, and ends where more is edited than kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from ..language.text import fold
from ..records.evidence import Entity
from ..records.literals import is_date, year_of
from ..records.written_values import value_at
from .question import Question
from .reader import names_in

_LEAST_LIKE = 0.5  # below it more of a name is edited than kept
_SHORTEST = 4  # characters of a name that is looked for within a text


class NamedText(NamedTuple):
    """What a text names.

    Attributes:
        entity: an item, a date, a number, or words that are their own id.
        likeness: of text and name, from 0 to 1: 1 minus the edits for each character of the longer one.
        places: of the evidences that hold it, in their order.
    """

    entity: Entity
    likeness: float
    places: tuple[int, ...]


class NamesInEvidences:
    """The names that the evidences of a question have for items, dates and numbers.

    Args:
        asked: the question with its evidences.
    """

    def __init__(self, asked: Question) -> None:
        self._asked = asked
        self._entities: dict[str, dict[str, Entity]] = {}  # folded name -> by id, those of the best evidences first
        self._places: dict[str, list[int]] = {}  # id -> of the evidences that name it
        for place, evidence in enumerate(asked.evidences):
            own = names_in(evidence)
            for name, entity in own.items():
                self._entities.setdefault(name, {}).setdefault(entity["id"], entity)
            for entity_id in {entity["id"] for entity in own.values()}:
                self._places.setdefault(entity_id, []).append(place)
        self._texts = [f" {fold(evidence['evidence_text'])} " for evidence in asked.evidences]

    def named(self, text: str) -> NamedText | None:
        """What a text names; None: nothing of the evidences.

        In this order: what has this name, but for case, accents and punctuation; the date or the number that is written out,
        the year of a date included; the longest name that stands in the text; the name that the text is a part of; the words
        themselves, where they stand in an evidence; the name with the smallest edit distance for its length, if that is half of it at most. Of several that
        a name stands for it is the one that fits the expected type best.
        """
        name = fold(text)
        if not name or not self._asked.evidences:
            return None
        if name in self._entities:
            return self._meant(name)
        literal = value_at(text, 0, len(text))
        if literal is not None:
            return self._stated(literal)
        within = [own for own in self._entities if len(own) >= _SHORTEST and f" {own} " in f" {name} "]
        if within:
            return self._meant(max(within, key=len))
        around = [own for own in self._entities if f" {name} " in f" {own} "]
        if around:
            return self._meant(self._nearest(name, around)[0])
        holding = tuple(place for place, own in enumerate(self._texts) if f" {name} " in own)
        if holding:
            words = " ".join(text.split())
            return NamedText({"id": words, "label": words}, 1.0, holding)
        if not self._entities:
            return None
        nearest, likeness = self._nearest(name, list(self._entities))
        return self._meant(nearest, likeness) if likeness >= _LEAST_LIKE else None

    def _nearest(self, name: str, names: Sequence[str]) -> tuple[str, float]:
        """The nearest name with its likeness; of equally near ones the longest, then that of the better evidence."""
        near = process.extract(name, names, scorer=Levenshtein.normalized_similarity, limit=None)
        best, likeness, _ = max(near, key=lambda own: (own[1], len(own[0]), -own[2]))
        return best, likeness

    def _meant(self, name: str, likeness: float = 1.0) -> NamedText:
        entity = max(self._entities[name].values(), key=self._asked.fit)  # the first of equal ones
        return NamedText(entity, likeness, tuple(self._places[entity["id"]]))

    def _stated(self, literal: Entity) -> NamedText | None:
        places = self._places.get(literal["id"], [])
        if not places and is_date(literal["id"]) and year_of(literal["id"]) == literal:
            years = {own: at for own, at in self._places.items() if is_date(own) and year_of(own) == literal}
            places = sorted({place for at in years.values() for place in at})
        return NamedText(literal, 1.0, tuple(places)) if places else None
