"""The names of items, dates and numbers in evidences, for the texts that generative models write."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from ..language.text import fold
from ..records.evidence import Entity
from ..records.literals import is_date, year_of
from ..records.written_values import value_at
from .question import Question
from .ranked_answers import AnswerCandidate
from .reader import as_words

_LEAST_LIKE = 0.5  # likeness of a text and a name; below it more is edited than kept
_SHORTEST = 4  # characters of a name that is looked for within a text


class NamesInEvidences:
    """The names in some evidences of a question for items, dates and numbers.

    CONVINSE (Christmann et al., SIGIR 2022) takes the mention of an evidence with the smallest edit distance to the text.
    Here exact matches come first, and the likeness of a near match is a factor of the score and at least one half.
    """

    def __init__(self, question: Question, places: Iterable[int]) -> None:
        self._question = question
        self._entities: dict[str, dict[str, Entity]] = {}  # folded name -> by id, those of the best evidences first
        self._places: dict[str, list[int]] = {}  # id -> of the evidences that name it
        self._texts: dict[int, str] = {}
        for place in places:
            evidence = question.evidences[place]
            self._texts[place] = evidence.folded
            for name, entity in evidence.names.items():
                self._entities.setdefault(name, {}).setdefault(entity["id"], entity)
            for entity_id in {entity["id"] for entity in evidence.names.values()}:
                self._places.setdefault(entity_id, []).append(place)

    def named(self, text: str) -> AnswerCandidate | None:
        """Return the entity that a text names, and the places of the evidences that contain it; None if no evidence does.

        The score is the likeness of text and name, from 0 to 1 (normalised Levenshtein similarity).

        In this order: the entity with this name, but for case, accents and punctuation; the date or the number that is written
        out, the year of a date included; the longest name in the text; the shortest name that contains the text; the words
        themselves, if they stand in an evidence; the most similar name. Of several entities with a name the best fit to the
        expected type is taken.
        """
        name = fold(text)
        if not name:
            return None
        if name in self._entities:
            return self._of_name(name)
        if (value := value_at(text, 0, len(text))) is not None:
            places = self._places.get(value["id"], [])
            if not places and is_date(value["id"]) and year_of(value["id"]) == value:
                years = [key for key in self._places if is_date(key) and year_of(key) == value]
                places = sorted({place for key in years for place in self._places[key]})
            return AnswerCandidate(self._question.as_asked(value), 1.0, tuple(places)) if places else None
        within = [key for key in self._entities if len(key) >= _SHORTEST and f" {key} " in f" {name} "]
        if within:
            return self._of_name(max(within, key=len))
        around = [key for key in self._entities if f" {name} " in f" {key} "]
        if around:
            return self._of_name(min(around, key=len))
        holding = tuple(place for place, evidence_text in self._texts.items() if f" {name} " in evidence_text)
        if holding:
            return AnswerCandidate(as_words(text), 1.0, holding)
        near = process.extractOne(
            name, self._entities.keys(), scorer=Levenshtein.normalized_similarity, score_cutoff=_LEAST_LIKE
        )
        return None if near is None else self._of_name(near[0], near[1])

    def _of_name(self, name: str, likeness: float = 1.0) -> AnswerCandidate:
        entity = max(self._entities[name].values(), key=self._question.fit)  # the first of equal ones
        return AnswerCandidate(self._question.as_asked(entity), likeness, tuple(self._places[entity["id"]]))
