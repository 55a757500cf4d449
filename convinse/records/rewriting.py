"""The rewrite of a question of a conversation into one that stands alone: words left out, and words of the history put in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from .evidence import Entity, Row

TOPIC = re.compile(r" (\([^()]*\))[?]?$")  # behind a question in full, in brackets
_TURNS = 4  # of a history that are read


class EarlierTurn(NamedTuple):
    """A question as it stands alone, and its answer, which may be empty."""

    question: str
    answer: str


class Insertion(NamedTuple):
    """Words of a history in a question in full, `text[start:end]`, with their turn, part and entity."""

    start: int
    end: int
    turn: int
    part: Literal["question", "answer"]
    entity: Entity | None = None


class FullQuestion(NamedTuple):
    """A question as it stands alone, with the parts that are from the history, and the row of a table that it asks about, with the cell."""

    text: str
    insertions: tuple[Insertion, ...] = ()
    row: Row | None = None


def history_text(history: Sequence[EarlierTurn]) -> str:
    """Return the earlier turns as a model reads them: the latest and the first, the latest first, as the end may be cut."""
    turns = list(reversed(history[1 - _TURNS :]))
    if len(history) >= _TURNS:
        turns.append(history[0])
    return " | ".join(f"{turn.question} = {turn.answer}" for turn in turns)


def rewritten(
    question: str,
    inserted: Sequence[tuple[str, Insertion]],
    removed: Sequence[tuple[int, int]],
    owns: Callable[[str, str], bool],
) -> FullQuestion:
    """Return the question in full.

    Words behind the last word stand in brackets, as the topic of the question. Words in the place of a possessive ("her father")
    get "'s".

    Args:
        question: as typed.
        inserted: words of the history, each with its insertion, whose `start` is the place in the question that they go before.
        removed: (start, end) of the words of the question that go.
        owns: returns True if a word owns the next word, "" at the end.
    """
    end = len(question.rstrip(" ?.!"))
    gone = dict(removed)
    at = {insertion.start: (words, insertion) for words, insertion in inserted}
    text = ""
    insertions = []
    place = 0
    while place <= len(question):
        following = gone.get(place, place)
        if place in at:
            words, insertion = at[place]
            is_last = place >= end > 0
            text = f"{text.rstrip()} (" if is_last else text
            insertions.append(insertion._replace(start=len(text), end=len(text) + len(words)))
            text += words + ")" * is_last
            if following > place:
                behind = question[following:].casefold().split()[:1]
                owned = behind[0].strip("?.!,") if behind else ""
                text += "'s" * owns(question[place:following].casefold(), owned)
            elif not is_last:
                text += " "
        elif following > place:
            following += len(question[following:]) - len(question[following:].lstrip())
        if following == place:
            text += question[place : place + 1]
        place = max(place + 1, following)
    return FullQuestion(text, tuple(insertions))


def concatenated(question: str, history: Sequence[EarlierTurn]) -> FullQuestion:
    """Return the question behind the question before and its answer, without a model."""
    if not history:
        return FullQuestion(question)
    number, before = len(history) - 1, history[-1]
    text = f"{before.question} {before.answer}".rstrip()
    insertions = [Insertion(0, len(before.question), number, "question")]
    if before.answer:
        insertions.append(Insertion(len(before.question) + 1, len(text), number, "answer"))
    return FullQuestion(f"{text} {question}", tuple(insertions))
