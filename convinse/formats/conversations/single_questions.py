"""Benchmarks of single questions, read as conversations of one turn.

- CompMix (Christmann et al., WWW 2024), the completed questions of ConvMix: `question_id`, `question`, `domain`,
  `entities`, `answers` (`{"id", "label"}`), `answer_text`, `answer_src` and `convmix_question_id`.
- TimeQuestions (Jia et al., CIKM 2021) and TIQ (Jia et al., WWW 2024), temporal questions: `Id`, `Question`,
  `Temporal question type`, `Temporal signal` and `Answer`, a list of entities (`AnswerType` `Entity`, `WikidataQid`,
  `WikidataLabel`) and values (`AnswerType` `Value`, `AnswerArgument`: a time stamp or a literal).
- The benchmarks of CLOCQ (Christmann et al., WSDM 2022), LC-QuAD2.0-CQ and ConvQuestions-FQ: `question` and `answers`, a
  list of Wikidata ids, time stamps and literals without labels; those of LC-QuAD also have `complexities`. Questions
  have no ids: their number in the file, from 0, is one.
- The files of tasks of CLOCQ's task handler: those with a `question` are questions without gold answers.

The functions raise `msgspec.ValidationError` if a key is missing or of another type.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...records.conversation import Conversation, Turn


class _CompmixQuestion(msgspec.Struct):
    question_id: str | int
    question: str
    answers: list[dict[str, Any]]
    domain: str = ""


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


class _LcquadQuestion(msgspec.Struct):
    question: str
    answers: list[str | int | float]
    complexities: list[str] = []


class _ClocqTask(msgspec.Struct):
    question: str


def compmix(record: dict[str, Any], number: int) -> Conversation:
    """Return a turn with all keys of the record but `domain`, which the conversation gets."""
    typed = msgspec.convert(record, _CompmixQuestion)
    return _one_turn(typed.question_id, typed.question, typed.answers, typed.domain, _without(record, "domain"))


def timequestions(record: dict[str, Any], number: int) -> Conversation:
    """Return a turn whose domain is the question's types, sorted and joined by `+`; further keys stay."""
    typed = msgspec.convert(record, _TimeQuestion)
    answers = [
        {"id": answer.qid, "label": answer.label or answer.qid}
        if isinstance(answer, _AnswerEntity)
        else {"id": str(answer.value), "label": str(answer.value)}
        for answer in typed.answers
    ]
    rest = _without(record, "Id", "Question", "Answer")
    return _one_turn(typed.id, typed.question, answers, "+".join(sorted(typed.types)), rest)


def lcquad2(record: dict[str, Any], number: int) -> Conversation:
    """Return a turn whose domain is the question's complexities."""
    typed = msgspec.convert(record, _LcquadQuestion)
    answers = [{"id": text, "label": text} for text in map(str, typed.answers) if text.strip()]
    return _one_turn(number, typed.question, answers, "+".join(sorted(typed.complexities)), record)


def clocq_task(record: dict[str, Any], number: int) -> Conversation:
    """Return a turn without answers, with all keys of the task."""
    question = msgspec.convert(record, _ClocqTask).question
    return {"conv_id": number, "questions": [{**record, "turn": 0, "question_id": str(number), "question": question}]}  # type: ignore[typeddict-item]


def _without(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in keys}


def _one_turn(
    conv_id: str | int, question: str, answers: list[dict[str, Any]], domain: str, rest: dict[str, Any]
) -> Conversation:
    # the turn has the id of the question, too, unless the further keys `rest` have an id
    turn: Turn = {"turn": 0, "question_id": str(conv_id), **rest, "question": question, "answers": answers}  # type: ignore[typeddict-item]
    conversation: Conversation = {"conv_id": conv_id, "domain": domain, "questions": [turn]}  # type: ignore[typeddict-item]
    if not domain:
        del conversation["domain"]
    return conversation
