"""ConvQuestions (Christmann et al., CIKM 2019) and Verbal-ConvQuestions (Kacupaj et al., 2022): five turns over Wikidata.

A conversation has `conv_id`, `domain`, `seed_entity` (the address of an item), `seed_entity_text` and `questions`; a turn
has `turn`, `question_id`, `question`, `answer` (addresses of items, or literals in words: `1937`, `12 June 1929`, `Yes`;
several are joined by `;`) and `answer_text`, their labels. Paraphrases and verbalised answers stay as they are.
"""

from __future__ import annotations

from typing import Any, cast

from ...records.conversation import Conversation
from ...records.evidence import Entity
from .answers import item_id

_EMPTY = ("", "n/a")


def recognizes(record: dict[str, Any]) -> bool:
    """Return True if the turns have `answer` in place of ConvMix's `answers`."""
    questions = record.get("questions")
    first = questions[0] if isinstance(questions, list) and questions else None
    return isinstance(first, dict) and "answer" in first and "answers" not in first


def conversation(record: dict[str, Any], number: int) -> Conversation:
    """Return the record with `answers` in every turn and the seed entity in the `entities` of the first."""
    conv_id = record["conv_id"]
    turns = []
    for place, turn in enumerate(record["questions"]):
        answers = _answers(turn["answer"], turn.get("answer_text", ""))
        turns.append({"turn": place, "question_id": f"{conv_id}-{place}", **turn, "answers": answers})
    if turns and (seed := item_id(record.get("seed_entity", ""))):
        turns[0]["entities"] = [{"id": seed, "label": record.get("seed_entity_text") or seed}]
    return cast(Conversation, {**record, "questions": turns})


def _answers(answer: str, answer_text: str) -> list[Entity]:
    # labels are used if there is one for each answer
    labels = _parts(answer_text)
    ids = [part for part in _parts(answer) if part.lower() not in _EMPTY] or labels
    if len(ids) == 1:
        labels = [answer_text.strip() or ids[0]]
    elif len(ids) != len(labels):
        labels = ids
    return [{"id": item, "label": label} for item, label in zip(ids, labels, strict=True)]


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(";") if part.strip()]
