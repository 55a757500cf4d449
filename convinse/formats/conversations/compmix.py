"""CompMix (Christmann et al., WWW 2024): the completed questions of ConvMix, each on its own.

A record has `question_id`, `question`, `domain`, `entities`, `answers` (`{"id", "label"}`), `answer_text`, `answer_src` and
`convmix_question_id`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...records.conversation import Conversation
from .one_turn import one_turn


class _CompmixQuestion(msgspec.Struct):
    question_id: str | int
    question: str
    answers: list[dict[str, Any]]
    domain: str = ""


def recognizes(record: dict[str, Any]) -> bool:
    """A question with an id and answers."""
    return {"question_id", "question", "answers"} <= record.keys()


def conversation(record: dict[str, Any], number: int) -> Conversation:
    """One turn with all keys of the record but `domain`, which is the conversation's. Raises `msgspec.ValidationError`."""
    typed = msgspec.convert(record, _CompmixQuestion)
    rest = {key: value for key, value in record.items() if key != "domain"}
    return one_turn(typed.question_id, typed.question, typed.answers, typed.domain, rest)
