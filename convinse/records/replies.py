"""The additions of a conversation to a turn, for people: reasons, a sentence, clarification questions and follow-ups."""

from __future__ import annotations

from typing import Literal

from typing_extensions import NotRequired, TypedDict

from .evidence import Entity


class Reason(TypedDict):
    """An evidence that the best answer of a turn rests on, by its place in `top_evidences`.

    Without it the best answer is `without` (empty for no answer), and the turn's first answer has this `probability`. `together`:
    these are for all evidences with the answer left out, as several say the same.
    """

    evidence: int
    without: str
    probability: float
    together: NotRequired[bool]


Confidence = Literal["likely", "perhaps", "not known"]


class SpokenReply(TypedDict, total=False):
    """The additions of a conversation to an answered turn, for people: see `convinse.dialogue`.

    `attribution`: the reasons of its best answer, best first. `sentence`: the answer as a sentence; `[2]` is the second
    evidence of the best answer. `confidence`: the probability of the answer, in words. `follow_ups`: suggested next questions.
    """

    attribution: list[Reason]
    sentence: str
    confidence: Confidence
    follow_ups: list[str]


class PossibleMeaning(TypedDict):
    """A possible meaning of a name."""

    id: str
    label: str
    description: str


class Clarification(TypedDict):
    """A clarification question with the meanings to choose from; without choices, the reply names the topic."""

    question: str
    choices: list[PossibleMeaning]


class Meaning(TypedDict):
    """The item that a person chose for a name."""

    name: str
    item: Entity
