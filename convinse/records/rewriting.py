"""The rewrite of a question of a conversation into one that stands alone: words left out, and words of the history put in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from .evidence import Entity

_TURNS = 4  # of a history that are read


class EarlierTurn(NamedTuple):
    """A question as it stands alone, and its answer ("" if there is none)."""

    question: str
    answer: str


class Inserted(NamedTuple):
    """Words of a history that go before `question[place]`; the turn and the part that they are from; the thing that they name."""

    place: int
    text: str
    turn: int
    part: Literal["question", "answer"]
    entity: Entity | None = None


class Insertion(NamedTuple):
    """Words of a history in a question in full, `text[start:end]`; the rest as in `Inserted`."""

    start: int
    end: int
    turn: int
    part: Literal["question", "answer"]
    entity: Entity | None = None


class FullQuestion(NamedTuple):
    """A question as it stands alone, and what of it is from the history."""

    text: str
    insertions: tuple[Insertion, ...] = ()


def history_text(history: Sequence[EarlierTurn]) -> str:
    """The earlier turns as a model reads them: the latest ones and the first one, the latest first."""
    return " | ".join(f"{history[turn].question} = {history[turn].answer}" for turn in _read(len(history)))


def _read(turns: int) -> list[int]:
    """The turns of a history that are read, in this order: what does not fit is cut from the end."""
    latest = list(range(turns - 1, max(-1, turns - _TURNS), -1))
    return latest if not turns or 0 in latest else [*latest, 0]


def rewritten(
    question: str, inserted: Sequence[Inserted], removed: Sequence[tuple[int, int]], owns: Callable[[str, str], bool]
) -> FullQuestion:
    """The question in full.

    Words behind the last word stand in brackets: they say what the question is about, not what it asks. Words in the place of one that owns what follows ("her father") become an owner.

    Args:
        question: as typed.
        inserted: words by their places.
        removed: (start, end) of the words of the question that go.
        owns: whether a word owns the one behind it, "" at the end.
    """
    end = len(question.rstrip(" ?.!"))
    gone = dict(removed)
    at = {words.place: words for words in inserted}
    text = ""
    insertions = []
    place = 0
    while place <= len(question):
        following = gone.get(place, place)
        if words := at.get(place):
            is_last = place >= end > 0
            text = f"{text.rstrip()} (" if is_last else text
            insertions.append(Insertion(len(text), len(text) + len(words.text), *words[2:]))
            text += words.text + ")" * is_last
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
    """The question behind the question before and its answer: what needs no model."""
    if not history:
        return FullQuestion(question)
    number, before = len(history) - 1, history[-1]
    told = f"{before.question} {before.answer}".rstrip()
    insertions = [Insertion(0, len(before.question), number, "question")]
    if before.answer:
        insertions.append(Insertion(len(before.question) + 1, len(told), number, "answer"))
    return FullQuestion(f"{told} {question}", tuple(insertions))
