"""Merges the candidates for an answer that name the same."""

from __future__ import annotations

from functools import lru_cache

from ..language.language import Language
from ..language.text import fold
from ..records.evidence import Entity
from ..records.literals import in_scale, is_document_item, is_item, is_known, number_entity
from ..records.units import UNIT
from .candidates import EntityCandidate
from .question import Question
from .reader import same_words


class MergedCandidates:
    """Candidates, merged if they name the same.

    Dates become years if the question expects a year, numbers are put in the scale of the question, and a name, or surname, of a
    single item in the evidences becomes that item; so does a name in documents that are asked together with a knowledge base.
    """

    def __init__(self, question: Question) -> None:
        self.candidates: dict[str, EntityCandidate] = {}
        self._question = question
        self._scale = question.language.literals.asked_scale(question.text)
        self._has_documents = question.is_of_files
        self._items: dict[str, str] = {}  # by name
        self._amounts: dict[str, str] = {}  # keys of known values by name
        for evidence in question.evidences:
            for entity in evidence.entities:
                if is_item(entity["id"]):
                    self._items.setdefault(same_words(entity["label"], question.language.words), entity["id"])
        self._surnames: dict[str, set[str]] = {}  # items by the last word of their names
        fillers = question.language.words.fillers
        for name, item in self._items.items():
            # "Hello Ines" of a letter is not the name of Ines
            if is_document_item(item) and name.split()[0] in fillers:
                continue
            self._surnames.setdefault(name.split()[-1], set()).add(item)

    def _owner(self, name: str) -> str | None:
        # a name in a file is the item of a knowledge base that is asked with it, so that the next question may be about that
        owners = self._question.items.candidates(fold(name))
        found = {owner.id for owner in owners if owner.is_label and not is_document_item(owner.id)}
        return found.pop() if len(found) == 1 else None

    def candidate(self, entity: Entity) -> EntityCandidate:
        """Return the candidate of an entity: that of another name for the same, else a new one."""
        if is_known(entity):
            entity = in_scale(self._question.as_asked(entity), self._scale)
        elif (number := number_in_words(entity, self._question.language)) is not entity:
            entity = in_scale(number, self._scale)
        if is_document_item(entity["id"]) and (owner := self._owner(entity["label"])) is not None:
            entity = {"id": owner, "label": self._question.items.label(owner)}
        name = same_words(entity["label"], self._question.language.words)
        if is_known(entity):
            self._amounts.setdefault(name, entity["id"].lower())
            found = self.candidates.setdefault(entity["id"].lower(), EntityCandidate(entity))
            # "three months" beside the number of a section
            has_unit = any(map(str.isalpha, entity["label"]))
            if self._has_documents and has_unit and not found.read and found.entity["label"].isdecimal():
                found.entity = entity
            return found
        if name in self._amounts and any(map(str.isalpha, name)):  # "8 GB", whose unit is no known one; not "^4.2"
            return self.candidates[self._amounts[name]]
        items = {self._items[name]} if name in self._items else self._surnames.get(name, set())
        if self._has_documents and all(map(is_document_item, items)) and (owner := self._owner(entity["label"])):
            items = {owner}
        item = next(iter(items)) if len(items) == 1 else None
        key = f"words {name}" if item is None else item.lower()
        if item is not None and key not in self.candidates:
            entity = {"id": item, "label": self._question.items.label(item) or entity["label"]}
        return self.candidates.setdefault(key, EntityCandidate(entity))


def number_in_words(entity: Entity, language: Language) -> Entity:
    """Return the number that an entity is in words, with or without a unit ("eight", "six metres"); else the entity."""
    return _number_in_words(entity["label"], language) or entity


@lru_cache(maxsize=8_192)  # a turn has some thousand texts, and attribution answers it again with fewer evidences
def _number_in_words(text: str, language: Language) -> Entity | None:
    number = language.literals.number_in_words(text)
    if number is not None:
        return number_entity(str(number))
    start = next((unit.start() for unit in UNIT.finditer(text) if unit.end() == len(text)), None)
    number = None if start is None else language.literals.number_in_words(text[:start])
    return None if number is None else {"id": str(number), "label": text}
