"""The benchmarks of CLOCQ (Christmann et al., WSDM 2022): LC-QuAD2.0-CQ and ConvQuestions-FQ, single questions.

A record has `question` and `answers`, a list of Wikidata ids, time stamps and literals without labels; those of LC-QuAD
also have `complexities`. Questions have no ids: their number in the file, from 0, is one.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...records.conversation import Conversation
from .one_turn import one_turn


class _LcquadQuestion(msgspec.Struct):
    question: str
    answers: list[str | int | float]
    complexities: list[str] = []


def recognizes(record: dict[str, Any]) -> bool:
    """A question with answers and without an id."""
    return {"question", "answers"} <= record.keys() and "question_id" not in record


def conversation(record: dict[str, Any], number: int) -> Conversation:
    """One turn whose domain is the question's complexities. Raises `msgspec.ValidationError`."""
    typed = msgspec.convert(record, _LcquadQuestion)
    answers = [{"id": text, "label": text} for text in map(str, typed.answers) if text.strip()]
    return one_turn(number, typed.question, answers, "+".join(sorted(typed.complexities)), record)
