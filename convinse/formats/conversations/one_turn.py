"""Conversations of one turn, for benchmarks of single questions."""

from __future__ import annotations

from typing import Any

from ...records.conversation import Conversation, Turn


def one_turn(
    conv_id: str | int, question: str, answers: list[dict[str, Any]], domain: str, rest: dict[str, Any]
) -> Conversation:
    """A conversation that has one question only.

    Args:
        conv_id: the question's id, which becomes that of the conversation and, unless `rest` has one, of the turn.
        question: its words.
        answers: as published, `{"id", "label"}`.
        domain: by which results are grouped; empty for none.
        rest: further keys of the turn, kept as they are.
    """
    turn: Turn = {"turn": 0, "question_id": str(conv_id), **rest, "question": question, "answers": answers}  # type: ignore[typeddict-item]
    conversation: Conversation = {"conv_id": conv_id, "domain": domain, "questions": [turn]}  # type: ignore[typeddict-item]
    if not domain:
        del conversation["domain"]
    return conversation
