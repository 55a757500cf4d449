"""What answering modules share that look at the type of answer a question asks for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ..config import Config, resolve
from ..knowledge_base.index import KnowledgeBase
from ..language.answer_types import AnswerType
from ..language.property_names import PropertyNames
from ..records.conversation import RankedAnswer, Turn, asked_in_full
from ..records.evidence import Entity
from .base import HeterogeneousAnswering
from .dates import in_years
from .quantities import asked_quantity, counted, stated
from .ranking import combined
from .yes_no import Judge, decide

_LESS_THAN_STATED = 0.25  # the share of voting and reading where an evidence states the number that is asked for
_CLASS_WEIGHT = 0.2


class TypedAnswering(HeterogeneousAnswering):
    """Knows the expected answer type of a turn, how well an item fits it, and answers questions for yes or no.

    Args:
        config: `kb_path` (types of items) and `sr_delimiter` are used.
        kb: the knowledge base to use instead of the configured one.
    """

    judge: Judge | None = None  # reads texts for questions for yes or no

    def __init__(self, config: Config, kb: KnowledgeBase | None = None) -> None:
        super().__init__(config)
        if kb is not None:
            self.kb = kb

    @cached_property
    def kb(self) -> KnowledgeBase:
        """The knowledge base that types are looked up in, opened on first use."""
        return KnowledgeBase(resolve(self.config.kb_path))

    @cached_property
    def property_names(self) -> PropertyNames:
        """The names of the knowledge base's properties."""
        return PropertyNames(self.kb.properties(), self.language.properties)

    def expected(self, turn: Turn) -> AnswerType:
        """The type of answer: the representation's last slot, else by the question's words."""
        slots = turn.get("structured_representation", "").split(self.config.sr_delimiter.strip())
        types = self.language.answer_types
        return types.parse_label(slots[-1]) if len(slots) == 4 else types.expected_type(turn["question"])

    def fit(self, expected: AnswerType, entity: Entity) -> float:
        """How well an entity fits the expected type, from 0 to 1."""
        language = self.language.answer_types
        types: Iterable[str] = ()
        if entity["id"].startswith("Q"):
            types = self.kb.types(entity["id"]) or language.types_from_label(entity["label"])
        suits = language.fit(expected, entity["id"], types)
        # a class ("football club", a lower-case label) is no answer to "which club", but one to "which genre"
        is_class = entity["id"].startswith("Q") and entity["label"][:1].islower()
        return suits * _CLASS_WEIGHT if is_class and language.class_answers.isdisjoint(expected.words) else suits

    def in_full(self, turn: Turn) -> str:
        """The question in full, as far as question understanding knows it, without a slot for the answer type."""
        full = asked_in_full(turn)
        slots = full.split(self.config.sr_delimiter.strip())
        return " ".join(slots[:-1]) if len(slots) == 4 else full

    def yes_or_no(self, turn: Turn) -> list[RankedAnswer]:
        """ "Yes" and "No" in the order that the evidences decide; see `yes_no.decide`."""
        return decide(
            self.in_full(turn), turn["top_evidences"], self.property_names, self.language, self.judge
        ).answers()

    def of_type(self, turn: Turn, expected: AnswerType, answers: list[RankedAnswer]) -> list[RankedAnswer]:
        """A ranking as the expected type wants it.

        Numbers that the evidences state for what is asked come first, else the count of what they list; see `quantities`.
        Dates are years where a year is asked for.
        """
        full, evidences, names = self.in_full(turn), turn["top_evidences"], self.property_names
        language, types = self.language, self.language.answer_types
        # a question that leans on the question before for what it asks has no word of its own for the type
        question = turn["question"] if types.expected_type(turn["question"]).kind == expected.kind else full
        if expected.kind == "date" and types.asks_for_year(question):
            return in_years(answers)
        asked = asked_quantity(question, full, language) if expected.kind == "number" else None
        if asked is None:
            return answers
        numbers = stated(asked, evidences, names, language) or counted(asked, evidences, names, language)
        return combined(numbers, answers, _LESS_THAN_STATED, None) if numbers else answers
