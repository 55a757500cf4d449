"""TimeQuestions (Jia et al., CIKM 2021) and TIQ (Jia et al., WWW 2024): single temporal questions.

A record has `Id`, `Question`, `Temporal question type`, `Temporal signal` and `Answer`, a list of entities (`AnswerType`
`Entity`, `WikidataQid`, `WikidataLabel`) and values (`AnswerType` `Value`, `AnswerArgument`: a time stamp or a literal).
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...records.conversation import Conversation
from .one_turn import one_turn

_READ = ("Id", "Question", "Answer")


class _AnswerEntity(
    msgspec.Struct, tag_field="AnswerType", tag="Entity", rename={"qid": "WikidataQid", "label": "WikidataLabel"}
):
    qid: str
    label: str | None = None


class _AnswerValue(msgspec.Struct, tag_field="AnswerType", tag="Value", rename={"value": "AnswerArgument"}):
    value: str | int | float


class _TimeQuestion(
    msgspec.Struct, rename={"id": "Id", "question": "Question", "answers": "Answer", "types": "Temporal question type"}
):
    id: str | int
    question: str
    answers: list[_AnswerEntity | _AnswerValue]
    types: list[str] = []


def recognizes(record: dict[str, Any]) -> bool:
    """A record with these keys in capitals."""
    return {"Question", "Answer"} <= record.keys()


def conversation(record: dict[str, Any], number: int) -> Conversation:
    """One turn whose domain is the question's types, sorted and joined by `+`; further keys are kept.

    Raises:
        msgspec.ValidationError: a key is missing or of another type.
    """
    typed = msgspec.convert(record, _TimeQuestion)
    answers = [
        {"id": answer.qid, "label": answer.label or answer.qid}
        if isinstance(answer, _AnswerEntity)
        else {"id": str(answer.value), "label": str(answer.value)}
        for answer in typed.answers
    ]
    rest = {key: value for key, value in record.items() if key not in _READ}
    return one_turn(typed.id, typed.question, answers, "+".join(sorted(typed.types)), rest)
