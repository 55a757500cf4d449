"""What a conversation adds to a turn, for people: reasons, a sentence, questions back and suggestions."""

from __future__ import annotations

from typing import Literal, TypedDict

from .evidence import Entity


class _CountedReason(TypedDict):
    evidence: int
    without: str
    probability: float


class Reason(_CountedReason, total=False):
    """An evidence that the best answer of a turn rests on, by its place in `top_evidences`.

    Without it the best answer is `without` (empty: none), and the turn's own has this `probability`. `together`: only without all
    evidences that name the answer, since several say the same.
    """

    together: bool


class Contradiction(TypedDict):
    """What an evidence of another source says in the place of the best answer."""

    answer: Entity
    evidence: int


Confidence = Literal["likely", "perhaps", "not known"]


class SpokenReply(TypedDict, total=False):
    """What a conversation adds to an answered turn, for people: see `convinse.dialogue`.

    `attribution`: the evidences that its best answer rests on, best first. `contradiction`: the other values that sources give.
    `sentence`: the answer as a sentence; `[2]` is the second of the evidences of the best answer. `confidence`: how probable the
    answer is, in words. `follow_ups`: questions that may be asked next.
    """

    attribution: list[Reason]
    contradiction: list[Contradiction]
    sentence: str
    confidence: Confidence
    follow_ups: list[str]


class PossibleMeaning(TypedDict):
    """A meaning that a question may have."""

    id: str
    label: str
    description: str


class Clarification(TypedDict):
    """A question back, and the meanings to choose from; without any, what is meant is to be named."""

    question: str
    choices: list[PossibleMeaning]


class Meaning(TypedDict):
    """The item that a person said a name means."""

    name: str
    item: Entity
