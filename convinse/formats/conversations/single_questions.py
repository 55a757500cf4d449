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
"""

from __future__ import annotations

from typing import Any

from ...records.conversation import Conversation, Turn
from ..records import without


def compmix(record: dict[str, Any], number: int) -> Conversation:
    """Return a turn with all keys of the record but `domain`, which the conversation gets."""
    turn = without(record, "domain")
    return _one_turn(record["question_id"], record["question"], record["answers"], record.get("domain", ""), turn)


def timequestions(record: dict[str, Any], number: int) -> Conversation:
    """Return a turn whose domain is the question's types, sorted and joined by `+`; further keys stay."""
    answers = []
    for answer in record["Answer"]:
        if answer["AnswerType"] == "Entity":
            answers.append({"id": answer["WikidataQid"], "label": answer.get("WikidataLabel") or answer["WikidataQid"]})
        else:
            answers.append(dict.fromkeys(("id", "label"), str(answer["AnswerArgument"])))
    domain = "+".join(sorted(record.get("Temporal question type", [])))
    return _one_turn(record["Id"], record["Question"], answers, domain, without(record, "Id", "Question", "Answer"))


def lcquad2(record: dict[str, Any], number: int) -> Conversation:
    """Return a turn whose domain is the question's complexities."""
    answers = [{"id": text, "label": text} for text in map(str, record["answers"]) if text.strip()]
    return _one_turn(number, record["question"], answers, "+".join(sorted(record.get("complexities", []))), record)


def clocq_task(record: dict[str, Any], number: int) -> Conversation:
    """Return a turn without answers, with all keys of the task."""
    return {"conv_id": number, "questions": [{**record, "turn": 0, "question_id": str(number)}]}  # type: ignore[typeddict-item]


def _one_turn(
    conv_id: str | int, question: str, answers: list[dict[str, Any]], domain: str, rest: dict[str, Any]
) -> Conversation:
    # the turn has the id of the question, too, unless the further keys `rest` have an id
    turn: Turn = {"turn": 0, "question_id": str(conv_id), **rest, "question": question, "answers": answers}  # type: ignore[typeddict-item]
    named = {"domain": domain} if domain else {}
    return {"conv_id": conv_id, **named, "questions": [turn]}  # type: ignore[typeddict-item]
