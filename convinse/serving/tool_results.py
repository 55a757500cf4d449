"""The results of the tools that agents call, as the Model Context Protocol describes and sends them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from ..records.conversation import RankedAnswer, Turn
from ..records.evidence import Entity, Evidence
from ..records.replies import Clarification, Reason
from ..records.representation import Representation


@dataclass
class NumberedEvidence:
    """A quotation of Wikidata or Wikipedia; answers name their evidences by `number`, `about` is the item of its page."""

    number: int
    text: str
    source: str
    entities: list[Entity]
    score: float | None
    about: Entity | None


@dataclass
class ScoredAnswer:
    """An answer: its probability, the numbers of the evidences that support it, what gave it, and when it holds ("since 2019")."""

    id: str
    label: str
    score: float
    evidences: list[int]
    reasons: list[str]
    time: str = ""


@dataclass
class QuestionReading:
    """How the question was understood; `from_history` are words of earlier turns."""

    in_full: str
    entities: list[Entity]
    context: list[Entity]
    predicate: str
    answer_type: str
    from_history: list[str]


@dataclass
class PartAnswers:
    """A further part of a question, and its answers."""

    question: str
    answers: list[ScoredAnswer]


@dataclass
class AskResult:
    """A turn of a conversation: answers, best first; `abstained` says why none of them can be relied on.

    `sentence` says the best answer with the numbers of its evidences, or replies to talk; `confidence` is likely, perhaps or not known;
    `attribution` are the evidences that it rests on, by number; `follow_ups` can be asked next. `act` is what was said if it was
    not a question (`thanks`). `clarification` is a question back: the next question may be a choice, by its number, id or label,
    or name what is meant.
    """

    conversation_id: str
    turn: int
    sources: list[str]
    answers: list[ScoredAnswer]
    abstained: str | None
    understood: QuestionReading
    evidences: list[NumberedEvidence]
    sentence: str
    confidence: str
    attribution: list[Reason]
    follow_ups: list[str]
    act: str = ""
    clarification: Clarification | None = None
    parts: list[PartAnswers] = field(default_factory=list)


@dataclass
class EvidencesResult:
    """The first of `total` evidences, best first."""

    evidences: list[NumberedEvidence]
    total: int


def ask_result(turn: Turn, name: str, sources: tuple[str, ...], most: int) -> AskResult:
    """Write a turn as `ask` gives it, with the evidences that support its answers, the best answer's first, else the best ones."""
    evidences, answers = turn["top_evidences"], turn["pred_answers"]
    reasons = turn.get("attribution", [])
    best, *rest = [answer.get("evidences", []) for answer in answers] or [[]]
    supporting = dict.fromkeys(chain(best, (reason["evidence"] for reason in reasons), *rest))
    places = list(supporting or range(len(evidences)))[:most]
    numbers = {place: number for number, place in enumerate(places, 1)}
    scored = _scored(answers, numbers)
    # a module may give a string alone
    fields = turn.get("representation") or Representation(
        context=[], entities=[], predicate=turn["structured_representation"], answer_type=""
    )
    understood = QuestionReading(
        turn.get("resolved_question", turn["question"]),
        fields["entities"],
        fields["context"],
        fields["predicate"],
        fields["answer_type"],
        [part["text"] for part in turn.get("history_used", [])],
    )
    abstained = turn["abstained"]["reason"] if "abstained" in turn else None
    first = [_numbered(evidences[place], number) for place, number in numbers.items()]
    return AskResult(
        name,
        turn["turn"],
        list(sources),
        scored,
        abstained,
        understood,
        first,
        turn.get("sentence", ""),
        turn.get("confidence", ""),
        [
            Reason(
                evidence=numbers[reason["evidence"]],
                without=reason["without"],
                probability=reason["probability"],
                together=reason.get("together", False),
            )
            for reason in reasons
            if reason["evidence"] in numbers
        ],
        turn.get("follow_ups", []),
        turn.get("act", ""),
        turn.get("clarification"),
        [PartAnswers(part["question"], _scored(part["pred_answers"], {})) for part in turn.get("parts", [])],
    )


def _scored(answers: Sequence[RankedAnswer], numbers: Mapping[int, int]) -> list[ScoredAnswer]:
    return [
        ScoredAnswer(
            **answer["answer"],
            score=answer["score"],
            evidences=[numbers[place] for place in answer.get("evidences", []) if place in numbers],
            reasons=list(answer.get("reasons", [])),
            time=answer.get("time", ""),
        )
        for answer in answers
    ]


def first_evidences(evidences: list[Evidence], limit: int) -> EvidencesResult:
    """Return the first `limit` evidences, numbered from 1."""
    first = [_numbered(evidence, number) for number, evidence in enumerate(evidences[:limit], 1)]
    return EvidencesResult(first, len(evidences))


def _numbered(evidence: Evidence, number: int) -> NumberedEvidence:
    text, source, entities = evidence["evidence_text"], evidence["source"], evidence["wikidata_entities"]
    return NumberedEvidence(number, text, source, entities, evidence.get("score"), evidence.get("retrieved_for_entity"))
