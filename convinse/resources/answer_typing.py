"""The expected class of an answer: a probability for each class of the model, of items by the knowledge base's classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ..encoder.answer_classes import DATE, NUMBER, OTHER, TEXT, YES_NO, AnswerClasses, typed_text
from ..encoder.question_readers import AnswerTypeReader
from ..knowledge_base.items import INSTANCE_OF, SUBCLASS_OF, Items
from ..language.answer_types import AnswerType, AnswerTypes
from ..language.language import Language
from ..records.literals import is_item
from ..records.written_values import kind_of_value
from ..support.recently_used import RecentlyUsed

_ABOVE = 3  # steps to a class that the model knows
_UNKNOWN = 0.3  # fit of an item of which no class is known
_KINDS = {DATE: "date", NUMBER: "number", YES_NO: "yesno", TEXT: "any", OTHER: "any"}
_SURE = 0.5  # a class that is less likely is not told
_KEPT = 2_000  # questions whose answer types stay in memory, 1 MB

Question = tuple[str, str]
"""As asked, and in full, as far as that is known."""
_Typed = tuple[
    str, bool, bool | None
]  # text of a question, whether it begins with a verb, whether it asks for yes or no (None: perhaps)


class ClassesOfEntities:
    """The classes of a model that an entity belongs to.

    Args:
        classes: that the model tells.
        kb: knows the classes of items.
    """

    def __init__(self, classes: AnswerClasses, kb: Items) -> None:
        self.classes, self._kb = classes, kb
        self.places = lru_cache(maxsize=50_000)(self._places)

    def _places(self, entity_id: str) -> tuple[int, ...]:
        if is_item(entity_id):
            kinds = self._kb.objects(entity_id, INSTANCE_OF)
            names = {root for name in kinds for root in self._roots(name)}
        elif kind := kind_of_value(entity_id):
            names = {DATE if kind == "date" else NUMBER}
        else:
            names = {YES_NO if entity_id in ("Yes", "No") else TEXT}
        return tuple(sorted(self.classes.place[name] for name in names))

    def _roots(self, name: str) -> set[str]:
        # a class that the model lacks counts as the nearest one above it, else as another item
        level, seen = [name], {name}
        for _ in range(_ABOVE + 1):
            roots = {self.classes.joined[name] for name in level if name in self.classes.joined}
            if roots:
                return roots
            above = (higher for name in level for higher in self._kb.objects(name, SUBCLASS_OF))
            level = [higher for higher in dict.fromkeys(above) if higher not in seen]
            seen.update(level)
        return {OTHER}


@dataclass(frozen=True, eq=False)
class LikelyClasses:
    """The expected classes of the answer of one question."""

    chances: np.ndarray  # [classes] of each class; together 1
    entities: ClassesOfEntities  # which classes an entity has
    types: AnswerTypes  # names the types of the language

    def fit(self, entity_id: str) -> float:
        """Return the probability that the answer has a class of this entity."""
        places = self.entities.places(entity_id)
        return float(sum(self.chances[place] for place in places)) if places else _UNKNOWN

    def fit_of_name(self, is_number: bool) -> float:
        """Return the probability that the answer is no date, no yes or no, and no number unless the name has a digit ("1m46s").

        A name that no item is known of may be all else.
        """
        places, literals = self.entities.classes.place, (DATE, YES_NO) if is_number else (DATE, NUMBER, YES_NO)
        return 1.0 - float(sum(self.chances[places[name]] for name in literals))

    @cached_property
    def expected(self) -> AnswerType:
        """Return the likeliest class as a type of answer."""
        names = self.entities.classes.names
        likeliest = list(names)[int(self.chances.argmax())]
        return AnswerType(_KINDS[likeliest]) if likeliest in _KINDS else self.types.of_class(names[likeliest])

    @property
    def confident(self) -> AnswerType:
        """Return the expected type if it is likelier than all others together, else "any"."""
        return self.expected if self.chances.max() >= _SURE else AnswerType("any")


class AnswerTyping:
    """The classes of answers by a model, which reads each question once.

    Where the verb stands counts, too: a question that begins with it asks for yes or no, unless it has "or"; one that begins with "who"
    or "what" does not.

    Args:
        reader: has the answer type head.
        kb: knows the classes of items.
        language: of the questions.
    """

    def __init__(self, reader: AnswerTypeReader, kb: Items, language: Language) -> None:
        self._reader, self._types, self._offers = reader, language.answer_types, language.operations.offers
        self._chooses = language.operations.chooses
        self._entities = ClassesOfEntities(reader.classes, kb)
        self._classes = RecentlyUsed[_Typed, LikelyClasses](_KEPT)

    def likely(self, questions: Sequence[Question]) -> list[LikelyClasses]:
        """Return the expected classes of the answers of questions."""
        typed = [
            (
                typed_text(question, in_full),
                self._begins_with_verb(question, in_full),
                self._asks_yes_no(question, in_full),
            )
            for question, in_full in questions
        ]
        return self._classes.of(typed, self._new)

    def _asks_yes_no(self, question: str, in_full: str) -> bool | None:
        text = question or in_full
        if self._is_cut_short(question, in_full) and not self._offers(in_full):
            return True
        last = text.rstrip("? ").rpartition("?")[2]  # "Is there one? Which one?"
        if self._types.asks_what(last) or self._types.is_request(text):
            return False
        if self._types.is_existential(question) and self._chooses(question):  # "Is the Orla or the Tern longer?"
            return False
        # so do 121 of 123 questions that begin with a verb: of the parts to learn from and to choose by, and of ConvMix dev
        return True if self._types.is_existential(question) and not self._offers(question) else None

    def _begins_with_verb(self, question: str, in_full: str) -> bool:
        return self._types.is_existential(question) or self._is_cut_short(question, in_full)

    def _is_cut_short(self, question: str, in_full: str) -> bool:
        """Return True for "and taller?", in full "Is she taller than her sister?"."""
        return not self._types.asks(question) and self._types.is_existential(in_full)

    def _new(self, typed: Sequence[_Typed]) -> Iterator[LikelyClasses]:
        texts, verb_first, asks_yes_no = zip(*typed, strict=True)
        chances = self._reader.probabilities(texts, verb_first)
        yes_no = self._entities.classes.place[YES_NO]
        left = chances.copy()
        left[[asks is False for asks in asks_yes_no], yes_no] = 0.0
        left[[asks is True for asks in asks_yes_no]] = np.arange(chances.shape[1]) == yes_no
        total = left.sum(axis=1, keepdims=True)
        chances = np.where(total > 0, left / np.where(total > 0, total, 1), chances)
        return (LikelyClasses(row.copy(), self._entities, self._types) for row in chances)
