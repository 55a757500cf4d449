"""Turn and conversation: the JSON-shaped records that the stages pass on, and their checks.

The shapes are those of CONVINSE and ConvMix (Christmann et al., SIGIR 2022).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from ..support.errors import DataError, nearest
from .evidence import Entity, Evidence
from .representation import QuestionEntity, Representation


class RankedAnswer(TypedDict, total=False):
    """One answer of a turn; ranks count from 1 without ties.

    `evidences` are the places in `top_evidences` of those that support it most, `reasons` what gave it: `reader`, `votes`,
    `numbers`, `dates`, `yes_no`, an operation (`compare`, `role` ...), `evidences` (they have it, and nothing else gave it).
    """

    answer: Entity
    score: float
    rank: int
    evidences: list[int]
    reasons: list[str]


class _EarlierWords(TypedDict):
    turn: int
    part: Literal["question", "answer"]
    text: str


class HistoryPart(_EarlierWords, total=False):
    """What a representation took from an earlier turn: the turn's number, which part of it, and its words.

    `score`: the probability that the question is about it, where a model chose it.
    """

    score: float


class Understanding(TypedDict, total=False):
    """What question understanding makes of a question.

    `structured_representation` is a rendering of `representation` where there is one; `resolved_question` is the question in
    full, for models that read sentences; `history_used` are the parts of the history that were taken.
    """

    structured_representation: str
    representation: Representation
    resolved_question: str
    history_used: list[HistoryPart]


class Abstention(TypedDict):
    """Why a turn is better left without an answer; the answers that it has are suggestions."""

    reason: str


class Turn(Understanding, total=False):
    """One question of a conversation, and what the stages add to it. Unknown keys pass through.

    `answers` that are an empty list say that the question has no answer; `kind` that it is measured with others of its kind.
    """

    turn: int
    question_id: str
    question: str
    kind: str
    answers: list[Entity]
    question_entities: list[QuestionEntity]
    top_evidences: list[Evidence]
    pred_answers: list[RankedAnswer]
    abstained: Abstention
    answer_presence: bool
    answer_presence_per_src: dict[str, bool]
    p_at_1: float
    mrr: float
    h_at_5: float


class Conversation(TypedDict, total=False):
    """A conversation in the ConvMix structure."""

    conv_id: str
    domain: str
    part: str
    questions: list[Turn]


def asked_in_full(turn: Turn) -> str:
    """What models read as the question: in full where question understanding wrote it so, else the representation."""
    return turn.get("resolved_question") or turn.get("structured_representation") or turn["question"]


def check_conversations(data: Any, where: str) -> list[Conversation]:
    """Raise `DataError` unless `data` is a list of conversations in the ConvMix structure; return it.

    The message names `where` (the file), the conversation, the turn and the key.
    """
    if not isinstance(data, list):
        raise DataError(f"{where}: expected a list of conversations, found {type(data).__name__}")
    seen: set[str] = set()
    for number, conversation in enumerate(data):
        place = f"{where}: conversation {number}"
        if not isinstance(conversation, dict):
            raise DataError(f"{place} is {type(conversation).__name__}, not an object")
        conv_id = _require(conversation, "conv_id", (str, int), place)
        place = f"{where}: conversation '{conv_id}'"
        if str(conv_id) in seen:
            raise DataError(f"{place} appears twice; conv_id must be unique")
        seen.add(str(conv_id))
        for index, turn in enumerate(_require(conversation, "questions", (list,), place)):
            if not isinstance(turn, dict):
                raise DataError(f"{place}, turn {index} is {type(turn).__name__}, not an object")
            spot = f"{place}, turn {turn.get('turn', index)}"
            _require(turn, "question", (str,), spot)
            answers = turn.get("answers")
            if answers is None:
                continue
            if not isinstance(answers, list):
                raise DataError(f"{spot}: 'answers' is {type(answers).__name__}, not a list")
            for answer in answers:
                if not isinstance(answer, dict):
                    raise DataError(f"{spot}: an answer is {type(answer).__name__}, not an object with id and label")
                _require(answer, "id", (str,), f"{spot}, answers")
                answer.setdefault("label", answer["id"])
                _require(answer, "label", (str,), f"{spot}, answers")
    return data


def _require(record: Mapping[str, Any], key: str, kinds: tuple[type, ...], place: str) -> Any:
    if key not in record:
        near = nearest(key, [name for name in record if isinstance(name, str)]) if record else "the object is empty"
        hint = f" ({near})" if near.startswith("did you mean") else ""
        raise DataError(f"{place}: the key '{key}' is missing{hint}")
    if not isinstance(record[key], kinds):
        raise DataError(
            f"{place}: '{key}' is {type(record[key]).__name__}, not {' or '.join(k.__name__ for k in kinds)}"
        )
    return record[key]
