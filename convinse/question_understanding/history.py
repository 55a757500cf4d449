"""The parts of the history that a representation uses, for `turn["history_used"]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..language.text import Words, words
from ..records.conversation import HistoryPart, Turn


def answer_text(turn: Turn) -> str:
    """Return the answers of an earlier turn in words."""
    return ", ".join(answer["label"] for answer in turn.get("answers", []))


def history_part(
    history: Sequence[Turn], place: int, part: Literal["question", "answer"], text: str | None = None
) -> HistoryPart:
    """Return the entry for a part; `text` is the used text, by default all of the part."""
    earlier = history[place]
    if text is None:
        text = earlier["question"].strip() if part == "question" else answer_text(earlier)
    return {"turn": earlier.get("turn", place), "part": part, "text": text}


def parts_with_words(representation: str, question: str, history: Sequence[Turn], language: Words) -> list[HistoryPart]:
    """Return the parts of the history that may be the source of words of a representation that its question lacks.

    Returns:
        The words that an earlier question and the representation share, and the earlier answers that it names.
    """
    stems = language.stems
    used = set(stems(representation))
    taken = used - set(stems(question))
    parts: list[HistoryPart] = []
    for place, earlier in enumerate(history):
        if taken & set(stems(earlier["question"])):
            shared = [word for word in words(earlier["question"]) if used & set(stems(word))]
            parts.append(history_part(history, place, "question", " ".join(shared)))
        parts += [
            history_part(history, place, "answer", answer["label"])
            for answer in earlier.get("answers", [])
            if taken & set(stems(answer["label"]))
        ]
    return parts
