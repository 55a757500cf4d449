"""The intent of a question as fields, and its rendering `context || question entities || predicate || expected answer type`.

The four slots are those of CONVINSE's structured representation (Christmann et al., SIGIR 2022).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from typing_extensions import NotRequired, TypedDict

from .evidence import Entity, Row, unique_entities

SLOTS = 4  # context entities, question entities, predicate and answer type


class QuestionEntity(TypedDict):
    """A possible item of a mention in the question, in CLOCQ's shape: ranks count from 0 for each mention."""

    item: Entity
    question_word: str
    score: float
    rank: int


class Representation(TypedDict):
    """The intent of a question: its items by ids, and its predicate in words.

    `candidates` are all possible items of its names, with those of `entities` and `context`, best first; retrieval reads all of
    them. `unlinked` are the names that link to no item of the knowledge base. `row` is the row of a table that a follow-up is about,
    with no more than the cells that it asks for; without any the table does not tell.
    """

    context: list[Entity]
    entities: list[Entity]
    predicate: str
    answer_type: str
    candidates: NotRequired[list[QuestionEntity]]
    unlinked: NotRequired[list[dict[Literal["name"], str]]]
    row: NotRequired[Row]


def read_slots(text: str, delimiter: str) -> list[str]:
    """Return the four slots of a representation that is a string; empty if it has another form."""
    slots = [slot.strip() for slot in text.split(delimiter.strip())]
    return slots if len(slots) == SLOTS else []


def without_answer_type(text: str, delimiter: str) -> str:
    """Return a representation that is a string without its answer type, which names nothing; another text as it is."""
    slots = read_slots(text, delimiter)
    return " | ".join(filter(None, slots[:-1])) if slots else text  # the mark keeps names within slots


def render(representation: Representation, delimiter: str) -> str:
    """Return a representation as the string that people and models read.

    An ambiguous name stays as in the question; other items have their labels.
    """
    names = representation.get("candidates", [])
    unsure = {name["question_word"] for name in names if name["rank"]}
    spoken = {name["item"]["id"]: name["question_word"] for name in names if name["question_word"] in unsure}
    context, entities = (
        ", ".join(spoken.get(entity["id"], entity["label"]) for entity in part)
        for part in (representation["context"], representation["entities"])
    )
    return delimiter.join((context, entities, representation["predicate"], representation["answer_type"]))


def answer_type_of(turn: Mapping[str, Any], delimiter: str) -> str | None:
    """Return the expected answer type of a turn, from its representation; None if it has none."""
    representation: Representation | None = turn.get("representation")
    if representation is not None:
        return representation["answer_type"]
    slots = read_slots(turn.get("structured_representation", ""), delimiter)
    return slots[-1] if slots else None


def question_entities(representation: Representation) -> list[QuestionEntity]:
    """Return the items of a question in CLOCQ's shape, best first."""
    if "candidates" in representation:
        return representation["candidates"]
    return certain(*representation["entities"], *representation["context"])


def certain(*entities: Entity) -> list[QuestionEntity]:
    """Return question entities for certain items, without repetitions."""
    return [
        QuestionEntity(item=item, question_word=item["label"], score=1.0, rank=0) for item in unique_entities(entities)
    ]
