"""The intent of a question as fields, and its rendering `context || question entities || predicate || expected answer type`.

The four slots are those of CONVINSE's structured representation (Christmann et al., SIGIR 2022).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypedDict

from .evidence import Entity, unique_entities

SLOTS = 4


class QuestionEntity(TypedDict):
    """An item that a mention of the question stands for, in CLOCQ's shape: ranks count from 0 for each mention."""

    item: Entity
    question_word: str
    score: float
    rank: int


class UnlinkedName(TypedDict):
    """A name in a question that means no item of the knowledge base."""

    name: str


class _Fields(TypedDict):
    context: list[Entity]
    entities: list[Entity]
    predicate: str
    answer_type: str


class Representation(_Fields, total=False):
    """What a question is about, by ids, and what it asks, in words.

    `candidates` are all the items that its names may mean, those of `entities` and `context` among them, best first:
    retrieval looks at all of them. `unlinked` are the names that mean no item.
    """

    candidates: list[QuestionEntity]
    unlinked: list[UnlinkedName]


class RepresentationSlots(NamedTuple):
    """The four slots of a representation that is a string."""

    context: str
    entities: str
    predicate: str
    answer_type: str

    @property
    def told(self) -> str:
        """What the question is about and asks, without the answer type, which names nothing."""
        return " | ".join(filter(None, self[:-1]))  # names do not reach over slots


def read_slots(text: str, delimiter: str) -> RepresentationSlots | None:
    """The slots of a string; None where it has another form."""
    slots = text.split(delimiter.strip())
    return RepresentationSlots(*map(str.strip, slots)) if len(slots) == SLOTS else None


def render(representation: Representation, delimiter: str) -> str:
    """A representation as the string that people and models read.

    A name that may mean several items stays as the question has it; other items have their labels.
    """
    known = representation.get("candidates", [])
    unsure = {candidate["question_word"] for candidate in known if candidate["rank"]}
    spoken = {name["item"]["id"]: name["question_word"] for name in known if name["question_word"] in unsure}
    context, entities = (
        ", ".join(spoken.get(entity["id"], entity["label"]) for entity in part)
        for part in (representation["context"], representation["entities"])
    )
    return delimiter.join((context, entities, representation["predicate"], representation["answer_type"]))


def answer_type_of(turn: Mapping[str, Any], delimiter: str) -> str | None:
    """The expected answer type of a turn, from its representation; None where that says nothing of it."""
    representation: Representation | None = turn.get("representation")
    if representation is not None:
        return representation["answer_type"]
    slots = read_slots(turn.get("structured_representation", ""), delimiter)
    return None if slots is None else slots.answer_type


def question_entities(representation: Representation) -> list[QuestionEntity]:
    """The items that a question is about as CLOCQ lists them, best first."""
    if "candidates" in representation:
        return representation["candidates"]
    return certain(*representation["entities"], *representation["context"])


def certain(*entities: Entity) -> list[QuestionEntity]:
    """Question entities of items that are known, each once."""
    return [
        QuestionEntity(item=item, question_word=item["label"], score=1.0, rank=0) for item in unique_entities(entities)
    ]
