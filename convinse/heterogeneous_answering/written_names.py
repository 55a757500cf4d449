"""The names of items, dates and numbers in evidences, for the texts that generative models write."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from ..language.text import fold
from ..records.evidence import Entity
from ..records.literals import is_date, year_of
from ..records.written_values import value_at
from .question import Question
from .reader import as_words, names_in

_LEAST_LIKE = 0.5  # likeness of a text and a name; below it more is edited than kept
_SHORTEST = 4  # characters of a name that is looked for within a text


class NamedText(NamedTuple):
    """The entity that a written text names.

    Attributes:
        entity: an item, a date, a number, or words that are their own id.
        likeness: of text and name, from 0 to 1: 1 minus the edits for each character of the longer one.
        places: of the evidences that hold it, in their order.
    """

    entity: Entity
    likeness: float
    places: tuple[int, ...]


class NamesInEvidences:
    """The names that some evidences of a question have for items, dates and numbers.

    CONVINSE (Christmann et al., SIGIR 2022) takes the mention of an evidence with the smallest edit distance to the text.
    Here that comes last, after what is certain, counts less the farther it is, and ends where more is edited than kept.
    """

    def __init__(self, question: Question, places: Iterable[int]) -> None:
        self._question = question
        self._entities: dict[str, dict[str, Entity]] = {}  # folded name -> by id, those of the best evidences first
        self._places: dict[str, list[int]] = {}  # id -> of the evidences that name it
        self._texts: dict[int, str] = {}
        for place in places:
            evidence = question.evidences[place]
            self._texts[place] = f" {fold(evidence['evidence_text'])} "
            own = names_in(evidence)
            for name, entity in own.items():
                self._entities.setdefault(name, {}).setdefault(entity["id"], entity)
            for entity_id in {entity["id"] for entity in own.values()}:
                self._places.setdefault(entity_id, []).append(place)

    def named(self, text: str) -> NamedText | None:
        """Return the entity that a text names; None if the evidences hold nothing of it.

        In this order: the entity with this name, but for case, accents and punctuation; the date or the number that is written
        out, the year of a date included; the longest name in the text; the name that the text is a part of; the words
        themselves, if they stand in an evidence; the name with the smallest edit distance for its length, if that is half of it
        at most. Of several entities with a name the one that fits the expected type best.
        """
        name = fold(text)
        if not name:
            return None
        if name in self._entities:
            return self._of_name(name)
        if (value := value_at(text, 0, len(text))) is not None:
            return self._of_value(value)
        within = [own for own in self._entities if len(own) >= _SHORTEST and f" {own} " in f" {name} "]
        if within:
            return self._of_name(max(within, key=len))
        around = [own for own in self._entities if f" {name} " in f" {own} "]
        if around:
            return self._of_name(min(around, key=len))
        holding = tuple(place for place, own in self._texts.items() if f" {name} " in own)
        if holding:
            return NamedText(as_words(text), 1.0, holding)
        near = process.extractOne(
            name, self._entities.keys(), scorer=Levenshtein.normalized_similarity, score_cutoff=_LEAST_LIKE
        )
        return None if near is None else self._of_name(near[0], near[1])

    def _of_name(self, name: str, likeness: float = 1.0) -> NamedText:
        entity = max(self._entities[name].values(), key=self._question.fit)  # the first of equal ones
        return NamedText(self._question.in_year(entity), likeness, tuple(self._places[entity["id"]]))

    def _of_value(self, value: Entity) -> NamedText | None:
        places = self._places.get(value["id"], [])
        if not places and is_date(value["id"]) and year_of(value["id"]) == value:
            years = {own: at for own, at in self._places.items() if is_date(own) and year_of(own) == value}
            places = sorted({place for at in years.values() for place in at})
        return NamedText(self._question.in_year(value), 1.0, tuple(places)) if places else None
