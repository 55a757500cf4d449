"""Feedback of users on answers, in a JSON lines file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from ..support.jsonlines import decoded, raw_lines
from .evidence import Entity


class AnsweredQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question with its first answer, or all answers of a list; empty if the answer is unknown."""

    question: str
    answers: list[Entity]


class Feedback(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The feedback of a user on an answer.

    Attributes:
        conversation: a checksum of its id, which does not give access to it.
        history: the turns before.
        rated: the question and the rated answers.
        rating: `up` or `down`.
        answer: the right answer, in words or as an id; may be empty.
        comment: anything else.
    """

    conversation: str
    history: list[AnsweredQuestion]
    rated: AnsweredQuestion
    rating: Literal["up", "down"]
    answer: str = ""
    comment: str = ""


def read_feedback(path: Path) -> Iterator[Feedback]:
    """Read the lines of a file; an incomplete last line, left by a killed server, is skipped.

    Raises:
        DataError: the file cannot be read, or a line is invalid.
    """
    decoder = msgspec.json.Decoder(Feedback)
    for number, line in raw_lines(path):
        if line.endswith(b"\n"):
            yield decoded(decoder, path, number, line)
