"""The rewrite of a question of a conversation into one that stands alone: words left out, and spans of the history put in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

_TURNS = 4  # of a history that are read
_OWNING = frozenset({"his", "its", "their"})
_BEHIND_OBJECT = frozenset(
    {"in", "on", "at", "to", "for", "from", "with", "by", "and", "or", "as", "when", "before", "after"}
)


class EarlierTurn(NamedTuple):
    """A question as it stands alone, and its answer ("" if there is none)."""

    question: str
    answer: str


class Edits(NamedTuple):
    """What a rewrite does to a question.

    Attributes:
        removed: (start, end) of the words of the question that go.
        inserted: (place, start, end): `history[start:end]` goes before `question[place]`.
    """

    removed: tuple[tuple[int, int], ...] = ()
    inserted: tuple[tuple[int, int, int], ...] = ()


class Insertion(NamedTuple):
    """A span of a history in a question in full: `text[start:end]`, and the turn and the part that it is from."""

    start: int
    end: int
    turn: int
    part: Literal["question", "answer"]


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


def rewritten(question: str, history: Sequence[EarlierTurn], edits: Edits) -> FullQuestion:
    """The question in full.

    A span behind the last word stands in brackets, unless another one opens the question: it says what the question is
    about, not what it asks. A span in the place of a word that owns what follows ("her father") becomes an owner.
    """
    told = history_text(history)
    end = len(question.rstrip(" ?.!"))
    text = ""
    insertions = []
    removed = dict(edits.removed)
    place = 0
    spans = {gap: _balanced(told, start, stop) for gap, start, stop in edits.inserted}
    while place <= len(question):
        if place in spans:
            start, stop = spans[place]
            is_last = place >= end > 0
            bracket = is_last and 0 not in spans
            text = f"{text.rstrip()} " if is_last else text
            text += "(" * bracket
            insertions.append(Insertion(len(text), len(text) + stop - start, *_origin(history, start)))
            text += told[start:stop] + ")" * bracket
            if place not in removed and not is_last:
                text += " "
        following = removed.get(place, place)
        if following > place:
            if place in spans and _owns(question, place, following):
                text += "'s"
            elif place not in spans:
                following += len(question[following:]) - len(question[following:].lstrip())
            place = following
        else:
            text += question[place : place + 1]
            place += 1
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


def _balanced(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without a bracket at its ends that has no partner in it."""
    while start < end and text[start] == "(" and ")" not in text[start:end]:
        start += 1
    while start < end and text[end - 1] == ")" and "(" not in text[start:end]:
        end -= 1
    if "(" in text[start:end] and ")" not in text[start:end]:
        end = start + text[start:end].index("(")
        end = start + len(text[start:end].rstrip())
    return start, end


def _owns(question: str, start: int, end: int) -> bool:
    word, following = question[start:end].casefold(), question[end:].split()[:1]
    if word == "her":  # "her father", but "who directed her in 1990"
        return bool(following) and following[0].casefold().strip("?.!,") not in _BEHIND_OBJECT
    return word in _OWNING


def _origin(history: Sequence[EarlierTurn], place: int) -> tuple[int, Literal["question", "answer"]]:
    start = 0
    for number in _read(len(history)):
        turn = history[number]
        if place < start + len(turn.question) + 3:
            return number, "question"
        start += len(turn.question) + 3 + len(turn.answer)
        if place < start:
            return number, "answer"
        start += 3
    raise ValueError(f"the history has no character {place}")
