"""What a model expects of the answer of a question: how likely each class is, of items by the knowledge base's classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..encoder.answer_classes import DATE, NUMBER, OTHER, TEXT, YES_NO, AnswerClasses
from ..encoder.answer_type_reader import AnswerTypeReader
from ..knowledge_base.index import KnowledgeBase
from ..language.answer_types import AnswerType
from ..records.literals import is_date, is_number

_INSTANCE_OF, _SUBCLASS_OF = 31, 279
_ABOVE = 3  # steps to a class that the model knows
_UNKNOWN = 0.3  # fit of an item of which no class is known
_HUMAN = "Q5"
_KINDS = {DATE: "date", NUMBER: "number", YES_NO: "yesno", _HUMAN: "person", TEXT: "any", OTHER: "any"}


class ClassesOfEntities:
    """Which of a model's classes an entity has.

    Args:
        classes: that the model tells.
        kb: knows the classes of items.
    """

    def __init__(self, classes: AnswerClasses, kb: KnowledgeBase) -> None:
        self.classes, self._kb = classes, kb
        self.places = lru_cache(maxsize=50_000)(self._places)

    def _places(self, entity_id: str) -> tuple[int, ...]:
        """The places of the classes of an entity; empty where nothing is known of an item."""
        if entity_id.startswith("Q"):
            own = self._kb.objects(entity_id, _INSTANCE_OF)
            names = {root for name in own for root in self._roots(name)}
        elif is_date(entity_id):
            names = {DATE}
        elif is_number(entity_id):
            names = {NUMBER}
        else:
            names = {YES_NO if entity_id in ("Yes", "No") else TEXT}
        return tuple(sorted(self.classes.place[name] for name in names))

    def _roots(self, name: str) -> set[str]:
        """What a class counts as; one that the model does not know as the nearest above it, or as another item."""
        level, seen = [name], {name}
        for _ in range(_ABOVE + 1):
            known = {self.classes.joined[own] for own in level if own in self.classes.joined}
            if known:
                return known
            above = (higher for own in level for higher in self._kb.objects(own, _SUBCLASS_OF))
            level = [higher for higher in dict.fromkeys(above) if higher not in seen]
            seen.update(level)
        return {OTHER}


@dataclass(frozen=True, eq=False)
class LikelyClasses:
    """What a model expects of the answer of one question.

    Attributes:
        chances: [classes] of each class; together 1.
        entities: which classes an entity has.
    """

    chances: np.ndarray
    entities: ClassesOfEntities

    def fit(self, entity_id: str) -> float:
        """How likely the answer has a class that this entity has, from 0 to 1."""
        places = self.entities.places(entity_id)
        return float(self.chances[list(places)].sum()) if places else _UNKNOWN

    @property
    def expected(self) -> AnswerType:
        """The likeliest class as a type of answer."""
        names = self.entities.classes.names
        likeliest = list(names)[int(self.chances.argmax())]
        kind = _KINDS.get(likeliest, "item")
        return AnswerType(kind, tuple(names[likeliest].split()) if kind == "item" else ())


class AnswerTyping:
    """Asks a model what the answers of questions are.

    Args:
        reader: has the answer type head.
        kb: knows the classes of items.
    """

    def __init__(self, reader: AnswerTypeReader, kb: KnowledgeBase) -> None:
        self._reader = reader
        self._entities = ClassesOfEntities(reader.classes, kb)

    def likely(self, questions: Sequence[str]) -> list[LikelyClasses]:
        """What the model expects of each question, as `typed_text` gives it."""
        return [LikelyClasses(chances, self._entities) for chances in self._reader.probabilities(questions)]
