"""ConvMix (Christmann et al., SIGIR 2022): conversations of five and of ten turns over Wikidata and Wikipedia.

Its files have the structure that the pipeline works with, so nothing is changed here. Answers are `{"id", "label"}` with
Wikidata ids, time stamps and literals; turns also have `completed`, `entities`, `answer_src` and `answer_text`.
"""

from __future__ import annotations

from typing import Any

from ...records.conversation import Conversation
from . import convquestions


def recognizes(record: dict[str, Any]) -> bool:
    """Conversations whose turns do not name their answers as ConvQuestions does."""
    return isinstance(record.get("questions"), list) and not convquestions.recognizes(record)


def conversation(record: dict[str, Any], number: int) -> Conversation:
    """The record itself."""
    return record  # type: ignore[return-value]
