"""Feedback of users on answers: a line of a file each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from ..support.jsonlines import decoded, raw_lines
from .evidence import Entity


class AnsweredQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question, and its first answer, or the whole list that it asked for; empty if nothing was found."""

    question: str
    answers: list[Entity]


class Feedback(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a user said of an answer.

    Attributes:
        conversation: a checksum of its id, which nothing can be asked with.
        history: the turns before.
        rated: the question, and the answers that were rated.
        rating: `up` or `down`.
        answer: the right one, in words or as an id; empty if it was not given.
        comment: anything else.
    """

    conversation: str
    history: list[AnsweredQuestion]
    rated: AnsweredQuestion
    rating: Literal["up", "down"]
    answer: str = ""
    comment: str = ""


def read_feedback(path: Path) -> Iterator[Feedback]:
    """Read the lines of a file; half a line at its end, left by a server that was killed, is passed over.

    Raises:
        DataError: the file cannot be read, or a line is something else.
    """
    decoder = msgspec.json.Decoder(Feedback)
    for number, line in raw_lines(path):
        if line.endswith(b"\n"):
            yield decoded(decoder, path, number, line)
