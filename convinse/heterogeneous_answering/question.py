"""What a turn asks of its evidences, made once and handed to all that give answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..answer_typing import LikelyClasses
from ..language.answer_types import AnswerType
from ..language.language import Language
from ..language.property_names import PropertyNames
from ..language.validity import judged_parts
from ..records.border import structured
from ..records.conversation import Turn, asked_in_full
from ..records.evidence import Entity, Evidence, question_items
from ..records.periods import AskedTime, JudgedPart, Period
from ..records.representation import Representation, answer_type_of, read_slots
from ..records.written_values import kind_of_value
from ..resources import Resources
from .standing import is_known

_CLASS_WEIGHT = 0.2  # of the fit of a class where a thing is asked for


def told_in_full(turn: Turn, delimiter: str) -> str:
    """The question in full, as far as question understanding knows it, without a slot for the answer type."""
    spoken = asked_in_full(turn)
    slots = read_slots(spoken, delimiter)
    return spoken if slots is None else slots.told


def likely_classes(turns: Sequence[Turn], delimiter: str, resources: Resources) -> Sequence[LikelyClasses | None]:
    """What the configured model expects of the answers of turns; None of each where it has no answer type head."""
    typing = resources.answer_typing
    if typing is None:
        return [None] * len(turns)
    in_full = [(turn["question"], told_in_full(turn, delimiter)) for turn in turns]
    alone = [(turn["question"], turn["question"]) for turn in turns]  # which `AskedQuestion.asking` compares them with
    return typing.likely([*in_full, *alone])[: len(turns)]


def expected_type(turn: Turn, delimiter: str, resources: Resources) -> AnswerType:
    """The type of answer that a turn expects: by the configured model, else that of its representation, else by its words."""
    (likely,) = likely_classes([turn], delimiter, resources)
    if likely is not None:
        return likely.expected
    label, types = answer_type_of(turn, delimiter), resources.language.answer_types
    return types.expected_type(turn["question"]) if label is None else types.parse_label(label)


@dataclass(frozen=True, eq=False)
class AskedQuestion:
    """What a turn asks.

    Attributes:
        question: as asked.
        spoken: what models read as the question.
        in_full: in full, as far as question understanding knows it, without a slot for the answer type.
        expected: the type of answer.
        stems: of what is asked, without the names of the question's own items.
        evidences: of the turn, with structure; the places of answers count in them.
        own: ids of the items that the evidences were retrieved for: the question's own, and no answers.
        resources: of the module that answers.
        likely: what a model expects of the answer; None: the word lists say what fits.
        about: what its representation says it is about; empty where that is only a string.
        renamed: of those of it that the question names by no word of their labels ("the King": Elvis Presley), by id how it does.
        unknown: names in it that mean no item, and that no page tells of.
    """

    question: str
    spoken: str
    in_full: str
    expected: AnswerType
    stems: frozenset[str]
    evidences: Sequence[Evidence]
    own: frozenset[str]
    resources: Resources
    likely: LikelyClasses | None = None
    about: Sequence[Entity] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    unknown: Sequence[str] = ()

    @classmethod
    def of(cls, turn: Turn, delimiter: str, resources: Resources) -> AskedQuestion:
        """What a turn with evidences asks; `delimiter` stands between the slots of its representation."""
        language = resources.language
        stems = language.words.stems
        items = question_items(turn["top_evidences"])
        (likely,) = likely_classes([turn], delimiter, resources)
        meant = turn.get("representation")
        asked = stems(turn.get("structured_representation") or turn["question"])
        return cls(
            question=turn["question"],
            spoken=asked_in_full(turn),
            in_full=told_in_full(turn, delimiter),
            expected=expected_type(turn, delimiter, resources),
            stems=frozenset(asked).difference(*map(stems, {item["label"] for item in items})),
            evidences=[structured(evidence) for evidence in turn["top_evidences"]],
            own=frozenset(item["id"] for item in items),
            resources=resources,
            likely=likely,
            about=(*meant["entities"], *meant["context"]) if meant else (),
            renamed=_renamed(meant, language) if meant else {},
            unknown=[name["name"] for name in meant.get("unlinked", ())] if meant else (),
        )

    @property
    def language(self) -> Language:
        """The words of the language that it is asked in."""
        return self.resources.language

    @property
    def names(self) -> PropertyNames:
        """The names of the knowledge base's properties."""
        return self.resources.property_names

    @cached_property
    def shares(self) -> list[float]:
        """Each evidence's score as a share of the best score; all are 1 where no score is above 0."""
        return score_shares(self.evidences)

    @cached_property
    def asking(self) -> str:
        """The words that ask for the type: the question, or in full where it leans on the question before for what it asks."""
        typing, question = self.resources.answer_typing, self.question
        if typing is not None:
            own = typing.likely([(question, question)])[0].expected
        else:
            own = self.language.answer_types.expected_type(question)
        return self.question if own.kind == self.expected.kind else self.in_full

    @cached_property
    def time(self) -> AskedTime | None:
        """The time that the question names."""
        return self.language.times.time(self.asking)

    @cached_property
    def existence(self) -> Period | None:
        """When the answer must have existed: the time that the question names, or that of what a clause of it is about."""
        named = self.language.times.named(self.asking) or self.language.times.named(self.question)
        if named is not None:
            return named
        event = self.resources.lifetimes.common(entity["id"] for entity in self.about)
        return None if event is None else self.language.times.clause(self.question, event)

    @cached_property
    def judged(self) -> list[JudgedPart]:
        """The dated parts of the evidences, and whether they hold at the time that the question asks about."""
        return judged_parts(self.asking, self.evidences, self.language)

    @property
    def asks_for_year(self) -> bool:
        """Whether a year is wanted where the evidences have days."""
        return self.expected.kind == "date" and self.language.answer_types.asks_for_year(self.asking)

    @cached_property
    def fit_of_name(self) -> float:
        """How well a name fits that no item is known of: it may be of any class, but is no date, number, yes or no."""
        if self.likely is not None:
            return self.likely.fit_of_name
        return 1.0 if self.expected.kind not in ("date", "number", "yesno") else 0.0

    def fit_of_kind(self, name: str) -> float:
        """How likely the answer is a date, a number, or neither, as what has this id is."""
        kind = kind_of_value(name) or "item"
        if self.likely is not None:
            return self.likely.fit_of_name if kind == "item" else self.likely.fit(name)
        return 1.0 if self.expected.kind in ("any", kind) or (kind == "item" and self.fit_of_name) else 0.0

    def fit(self, entity: Entity) -> float:
        """How well an entity fits the expected type, from 0 to 1; words that are a range, say, fit as a date or a number does."""
        if not is_known(entity):
            return self.fit_of_kind(entity["id"])
        if self.likely is not None:
            return self.likely.fit(entity["id"])
        types, is_item = self.language.answer_types, entity["id"].startswith("Q")
        classes = (self.resources.kb.types(entity["id"]) or types.types_from_label(entity["label"])) if is_item else ()
        suits = types.fit(self.expected, entity["id"], classes)
        # a class ("football club", a lower-case label) is no answer to "which club", but one to "which genre"
        is_class = is_item and entity["label"][:1].islower()
        return suits * _CLASS_WEIGHT if is_class and types.class_answers.isdisjoint(self.expected.words) else suits


def _renamed(meant: Representation, language: Language) -> dict[str, str]:
    keywords = language.properties.keywords
    about = {entity["id"]: keywords(entity["label"]) for entity in meant["entities"]}
    spoken = {named["item"]["id"]: named["question_word"] for named in meant.get("candidates", ())}
    return {
        name: words
        for name, words in spoken.items()
        if name in about and (told := keywords(words)) and told.isdisjoint(about[name])
    }


def score_shares(evidences: Sequence[Evidence]) -> list[float]:
    """Each evidence's score as a share of the best score; all are 1 where no score is above 0."""
    scores = [evidence.get("score", 1.0) for evidence in evidences]
    best = max(scores, default=0.0)
    return [max(0.0, score) / best if best > 0 else 1.0 for score in scores]
