"""The question of a turn as answering reads it: its words, the expected type of answer, its items, its evidences."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..knowledge_base.items import Items
from ..knowledge_base.lifetimes import Lifetimes
from ..language.answer_types import AnswerType
from ..language.language import Language
from ..language.property_names import PropertyNames
from ..language.read_evidence import ReadEvidence
from ..language.time_words import clock_times
from ..language.word_lists import WordSet
from ..records.conversation import Turn, asked_in_full
from ..records.evidence import Entity, Row, is_same_row, question_items
from ..records.evidence_structure import structured
from ..records.literals import is_date, is_item, is_known, number_entity, year_of, years_of
from ..records.representation import answer_type_of, without_answer_type
from ..records.rewriting import TOPIC
from ..records.units import quantity_of
from ..records.written_values import kind_of_value
from ..resources import Resources
from ..resources.answer_typing import LikelyClasses
from ..wikipedia.pages import Pages

YES: Entity = {"id": "Yes", "label": "Yes"}
NO: Entity = {"id": "No", "label": "No"}
_NOUN = re.compile(r" (?:[^\W\d_]+[ -]?){1,2}")  # one or two words behind a number
# fit of an amount of money or time for a question for such, at least, and a factor of that of another quantity; chosen on 157 questions
# over three folders: .5 makes two more wrong ones sure
_OF_QUANTITY, _OF_OTHER_QUANTITY = 0.3, 0.1
_OF_HOUR = 0.5  # fit of a time of the day for a question over files for a date: "when does it start?"
_CLASS_WEIGHT = 0.2  # factor of the fit of a class if the question expects a thing


@dataclass(frozen=True, eq=False)
class Question:
    """The question of a turn.

    Attributes:
        text: as the user typed it.
        in_full: in full, without a slot for the answer type.
        spoken: the question as models read it.
        expected: the type of answer.
        likely: the classes that the model expects of the answer; None if the word lists decide.
        evidences: of the turn, with structure, each read once.
        about: the items that the question is about.
        unlinked: names in the question that link to no item.
        row: the row of a table that it asks about, among the evidences, with the cells that it asks for; None of most questions.
        said: the answers of earlier turns.
        language: the words of its language.
        items: of the knowledge base and of the documents.
        open_pages: opens the pages with the whole tables of rows; facts alone need none.
        property_names: of the knowledge base.
        lifetimes: of its items.
        embed: texts to their vectors [n, d] of length 1; None without a bi-encoder.
    """

    text: str
    in_full: str
    spoken: str
    expected: AnswerType
    likely: LikelyClasses | None
    evidences: Sequence[ReadEvidence]
    about: Sequence[Entity]
    unlinked: Sequence[str]
    row: Row | None
    said: Sequence[Entity]
    language: Language
    items: Items
    open_pages: Callable[[], Pages]
    property_names: PropertyNames
    lifetimes: Lifetimes
    embed: Callable[[Sequence[str]], np.ndarray | None]

    @cached_property
    def pages(self) -> Pages:
        """The pages with the whole tables of rows."""
        return self.open_pages()

    @cached_property
    def choice(self) -> str:
        """The question as typed; in full if only that names things to choose from: "which of them is longer, A or B?"."""
        offers = self.language.operations.offers
        return (
            self.in_full
            if offers(self.in_full) and not offers(self.text) and not TOPIC.search(self.in_full)
            else self.text
        )

    @cached_property
    def is_of_files(self) -> bool:
        """True if an evidence is of a file of the user's."""
        return any(evidence.is_of_document for evidence in self.evidences)

    @cached_property
    def shares(self) -> list[float]:
        """The scores of the evidences as shares of the best; all are 1 if no score is above 0."""
        scores = [evidence.score for evidence in self.evidences]
        best = max(scores, default=0.0)
        return [max(0.0, score) / best if best > 0 else 1.0 for score in scores]

    def as_asked(self, entity: Entity) -> Entity:
        """Return the year of a date if the question asks for a year, and the number of a year that is a count; else the entity."""
        if not is_date(entity["id"]) or years_of(entity) != 1:
            return entity
        if self.expected.kind == "date" and self.language.answer_types.asks_for_year(self.in_full):
            return year_of(entity["id"])
        return number_entity(entity["label"]) if entity["label"] in self._counts else entity

    @cached_property
    def _counts(self) -> frozenset[str]:
        """Numbers that look like years and answer a question for a number: "1450 seats", or 1950 below "pupils"."""
        if self.expected.kind != "number":
            return frozenset()
        words = self.language.properties.keywords(self.in_full)
        return frozenset(
            label
            for evidence in self.evidences
            for start, end in evidence.years
            if (label := evidence.text[start:end]) and self._counts_there(evidence, start, end, words)
        )

    def _counts_there(self, evidence: ReadEvidence, start: int, end: int, words: WordSet) -> bool:
        # the question has the name of the column or of the value, which does not ask for a date, or the words behind the number
        labels = [label.text for label in evidence.labels_at(start) if label.text]
        if not labels and (behind := _NOUN.match(evidence.text, end)):
            labels = [behind[0]]
        types, keywords = self.language.answer_types, self.language.properties.keywords
        return any(keywords(label) & words and types.expected_type(label).kind != "date" for label in labels)

    @cached_property
    def _quantity(self) -> str:
        """Return the quantity that a question over files asks for; empty if its words do not tell."""
        return self.language.literals.quantity(self.in_full) if self.is_of_files else ""

    @cached_property
    def _may_be_hour(self) -> bool:
        """Return True if a question over files asks for a time, which hours tell, too."""
        kinds = (self.expected.kind, self.language.answer_types.expected_type(self.in_full).kind)
        return self.is_of_files and "date" in kinds

    def fit(self, entity: Entity) -> float:
        """Return how well an entity fits the expected type, from 0 to 1."""
        fit = self._fit_of_kind(entity)
        if self._may_be_hour and clock_times(entity["label"]) is not None:
            return max(fit, _OF_HOUR)
        found = quantity_of(entity["label"]) if self._quantity else ""
        if not found:
            return fit
        return max(fit, _OF_QUANTITY) if found == self._quantity else fit * _OF_OTHER_QUANTITY

    def _fit_of_kind(self, entity: Entity) -> float:
        name, label = entity["id"], entity["label"]
        kind = kind_of_value(name)
        if not is_known(entity) and not kind:  # a name may be of any class, but is not a date, a number, yes or no
            if self.likely is not None:
                return self.likely.fit_of_name(is_number=any(map(str.isdigit, name)))
            return 1.0 if self.expected.kind not in ("date", "number", "yesno") else 0.0
        if self.likely is not None:
            return self.likely.fit(name)
        if not is_item(name):  # a range of dates or numbers fits like one of them
            return 1.0 if self.expected.kind in ("any", kind) else 0.0
        types = self.language.answer_types
        fit = types.fit(self.expected, name, self.items.types(name) or types.types_from_label(label))
        # a class ("football club", a lower-case label) answers "which genre", but not "which club"
        is_class = label[:1].islower() and types.class_answers.isdisjoint(self.expected.words)
        return fit * _CLASS_WEIGHT if is_class else fit


def questions_of(turns: Sequence[Turn], resources: Resources) -> list[Question]:
    """Return the questions of turns with `top_evidences`; their answer types are predicted together.

    An evidence that several turns have, as attribution asks without one after the other, is read once for all of them.
    """
    questions = []
    language, read = resources.language, dict[int, ReadEvidence]()
    for turn in turns:
        for evidence in turn["top_evidences"]:
            if id(evidence) not in read:
                read[id(evidence)] = ReadEvidence(structured(evidence), language)
    for turn, type_and_classes in zip(turns, expected_types(turns, resources), strict=True):
        representation = turn.get("representation")
        if representation:
            about = [*representation["entities"], *representation["context"]]
        else:
            about = question_items(turn["top_evidences"])
        questions.append(
            Question(
                language.times.with_weekdays(turn["question"]),
                language.times.with_weekdays(in_full(turn, resources.config.sr_delimiter)),
                asked_in_full(turn),
                *type_and_classes,
                [read[id(evidence)] for evidence in turn["top_evidences"]],
                about,
                [name["name"] for name in representation.get("unlinked", ())] if representation else [],
                _row_at_hand(turn),
                turn.get("history_answers", ()),
                language,
                resources.kb,
                lambda: resources.pages,
                resources.property_names,
                resources.lifetimes,
                resources.embed,
            )
        )
    return questions


def _row_at_hand(turn: Turn) -> Row | None:
    """Return the row that a follow-up is about if it is among the evidences; without tables among the sources others may answer."""
    representation = turn.get("representation")
    row = representation.get("row") if representation else None
    return row if any(is_same_row(row, evidence.get("row")) for evidence in turn["top_evidences"]) else None


def in_full(turn: Turn, delimiter: str) -> str:
    """Return the question in full, without a slot for the answer type."""
    return without_answer_type(asked_in_full(turn), delimiter)


def expected_types(turns: Sequence[Turn], resources: Resources) -> list[tuple[AnswerType, LikelyClasses | None]]:
    """Return the expected answer types of turns: by the model, else from the representation, else by the words."""
    delimiter, typing = resources.config.sr_delimiter, resources.answer_typing
    if typing is not None:
        likely = typing.likely([(turn["question"], in_full(turn, delimiter)) for turn in turns])
        return [(classes.expected, classes) for classes in likely]
    types = resources.language.answer_types
    labels = [answer_type_of(turn, delimiter) for turn in turns]
    return [
        (types.expected_type(in_full(turn, delimiter)) if label is None else types.parse_label(label), None)
        for turn, label in zip(turns, labels, strict=True)
    ]
