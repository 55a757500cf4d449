"""Which parts of the history a representation was made of: notes for the reader of `turn["history_used"]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..language.text import Words, words
from ..records.conversation import HistoryPart, Turn


def answer_text(turn: Turn) -> str:
    """The answers of an earlier turn in words."""
    return ", ".join(answer["label"] for answer in turn.get("answers", []))


def history_part(
    history: Sequence[Turn], place: int, part: Literal["question", "answer"], text: str | None = None
) -> HistoryPart:
    """The note of a part; `text` is what was taken of it, by default all of it."""
    earlier = history[place]
    if text is None:
        text = earlier["question"].strip() if part == "question" else answer_text(earlier)
    return {"turn": earlier.get("turn", place), "part": part, "text": text}


def parts_with_words(representation: str, question: str, history: Sequence[Turn], language: Words) -> list[HistoryPart]:
    """The parts of the history that a representation can have its words from, where the question itself has them not.

    Returns:
        Of an earlier question the words that the representation has, of its answers those that it names.
    """
    stems = language.stems
    wanted = set(stems(representation))
    taken = wanted - set(stems(question))
    parts: list[HistoryPart] = []
    for place, earlier in enumerate(history):
        if taken & set(stems(earlier["question"])):
            shared = [word for word in words(earlier["question"]) if wanted & set(stems(word))]
            parts.append(history_part(history, place, "question", " ".join(shared)))
        parts += [
            history_part(history, place, "answer", answer["label"])
            for answer in earlier.get("answers", [])
            if taken & set(stems(answer["label"]))
        ]
    return parts
