"""Hugging Face datasets: conversations and the evidences of a run as tables, for training, looking and publishing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..records.conversation import Conversation, check_conversations
from ..scoring.convqa import has_answer
from ..support.errors import missing_extra
from .shared import document_id

try:
    from datasets import Dataset, Features, List, Value
except ModuleNotFoundError as error:
    raise missing_extra(f"{error.name} is missing", "datasets") from error

_ENTITIES = List({"id": Value("string"), "label": Value("string")})
_TURN = {name: Value("string") for name in ("conv_id", "domain", "question_id", "question", "representation")}
TURNS = Features(
    {**_TURN, "turn": Value("int32"), "history": List(Value("string")), "answers": _ENTITIES, "predicted": _ENTITIES}
)
EVIDENCES = Features(
    {**{name: Value("string") for name in ("question_id", "question", "evidence_id", "evidence_text", "source")},
     "rank": Value("int32"), "score": Value("float64"), "entities": _ENTITIES, "has_answer": Value("bool")}
)  # fmt: skip


def turns(conversations: Iterable[Conversation]) -> Dataset:
    """Return a row for every turn, with the questions before it as `history`; missing values are empty.

    Raises `DataError`.
    """
    rows = [
        {
            "conv_id": str(conversation["conv_id"]),
            "domain": conversation.get("domain"),
            "question_id": name,
            "question": turn["question"],
            "representation": turn.get("structured_representation"),
            "turn": turn.get("turn", number),
            "history": [earlier.get("question", "") for earlier in conversation["questions"][:number]],
            "answers": [{"id": answer["id"], "label": answer.get("label", "")} for answer in turn.get("answers") or []],
            "predicted": [ranked["answer"] for ranked in turn.get("pred_answers", [])],
        }
        for conversation, number, turn, name in _numbered(conversations)
    ]
    return _table(rows, TURNS)


def evidences(conversations: Iterable[Conversation]) -> Dataset:
    """Return a row for every evidence of answered turns (`top_evidences`), best first; `has_answer` is empty without gold answers.

    Raises `DataError`.
    """
    rows = [
        {
            "question_id": name,
            "question": turn["question"],
            "evidence_id": document_id(evidence),
            "evidence_text": evidence["evidence_text"],
            "source": evidence["source"],
            "rank": place,
            "score": evidence.get("score"),
            "entities": evidence["wikidata_entities"],
            "has_answer": has_answer(evidence, turn["answers"]) if turn.get("answers") else None,
        }
        for _, _, turn, name in _numbered(conversations)
        for place, evidence in enumerate(turn.get("top_evidences", []), start=1)
    ]
    return _table(rows, EVIDENCES)


def _table(rows: list[dict[str, Any]], features: Features) -> Dataset:
    return Dataset.from_dict({name: [row[name] for row in rows] for name in features}, features=features)


def _numbered(conversations: Iterable[Conversation]) -> Iterator[tuple[Conversation, int, Any, str]]:
    for conversation in check_conversations(list(conversations), "conversations"):
        for number, turn in enumerate(conversation["questions"]):
            yield conversation, number, turn, str(turn.get("question_id") or f"{conversation['conv_id']}-{number}")
