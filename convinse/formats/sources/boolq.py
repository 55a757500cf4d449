"""BoolQ: yes/no questions on a passage (Clark et al., NAACL 2019), one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import msgspec

from ...support.jsonlines import read_lines
from ..converters import Answer, Converter, Dataset, Question, Record, register
from ..neutral import question_id, titled


class _BoolqLine(msgspec.Struct):
    question: str
    passage: str
    title: str = ""
    answer: bool | None = None  # None: the test part


@register("boolq")
class BoolQ(Converter):
    """Lines of `question`, `title`, `passage` and `answer`; equal passages that follow each other share a context."""

    def read(self, path: Path) -> Dataset:
        """Read a context for each passage."""
        return Dataset("BoolQ", "", _records(path))


def _records(path: Path) -> Iterator[Record]:
    lines = (line for _, line in read_lines(path, _BoolqLine))
    for (title, passage), group in groupby(lines, key=lambda line: (line.title, line.passage)):
        questions = []
        for line in group:
            answers = [] if line.answer is None else [Answer("yes" if line.answer else "no", extras={"type": "yesno"})]
            questions.append(Question(question_id(line.question, passage), line.question, answers=answers))
        yield Record([titled(title, passage)], questions)
