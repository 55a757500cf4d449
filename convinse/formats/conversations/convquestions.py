"""ConvQuestions (Christmann et al., CIKM 2019) and Verbal-ConvQuestions (Kacupaj et al., 2022): five turns over Wikidata.

A conversation has `conv_id`, `domain`, `seed_entity` (the address of an item), `seed_entity_text` and `questions`; a turn
has `turn`, `question_id`, `question`, `answer` (addresses of items, or literals in words: `1937`, `12 June 1929`, `Yes`;
several are joined by `;`) and `answer_text`, their labels. Paraphrases and verbalised answers stay as they are.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from ...records.conversation import Conversation
from ...records.evidence import Entity
from .answers import item_id

_EMPTY = ("", "n/a")


class _ConvquestionsTurn(msgspec.Struct):
    question: str
    answer: str
    answer_text: str = ""


class _ConvquestionsConversation(msgspec.Struct):
    conv_id: str | int
    questions: list[_ConvquestionsTurn]
    seed_entity: str = ""
    seed_entity_text: str = ""


def recognizes(record: dict[str, Any]) -> bool:
    """Return True if the turns have `answer` in place of ConvMix's `answers`."""
    questions = record.get("questions")
    first = questions[0] if isinstance(questions, list) and questions else None
    return isinstance(first, dict) and "answer" in first and "answers" not in first


def conversation(record: dict[str, Any], number: int) -> Conversation:
    """Return the record with `answers` in every turn and the seed entity in the `entities` of the first."""
    typed = msgspec.convert(record, _ConvquestionsConversation)
    turns = []
    for place, (turn, members) in enumerate(zip(typed.questions, record["questions"], strict=True)):
        question_id = f"{typed.conv_id}-{place}"
        turns.append({"turn": place, "question_id": question_id, **members, "answers": _answers(turn)})
    if turns and (seed := item_id(typed.seed_entity)):
        turns[0]["entities"] = [{"id": seed, "label": typed.seed_entity_text or seed}]
    return cast(Conversation, {**record, "questions": turns})


def _answers(turn: _ConvquestionsTurn) -> list[Entity]:
    # labels are used if there is one for each answer
    labels = _parts(turn.answer_text)
    ids = [part for part in _parts(turn.answer) if part.lower() not in _EMPTY] or labels
    if len(ids) == 1:
        labels = [turn.answer_text.strip() or ids[0]]
    elif len(ids) != len(labels):
        labels = ids
    return [{"id": answer, "label": label} for answer, label in zip(ids, labels, strict=True)]


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(";") if part.strip()]
