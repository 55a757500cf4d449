"""QAMR (Michael et al., NAACL 2018): questions on single sentences, one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import msgspec

from ...support.errors import DataError
from ...support.jsonlines import read_lines
from ..converters import Answer, Converter, Dataset, Document, Part, Question, Record, Span, register


class _Mark(msgspec.Struct):
    answer: str
    answer_start: int


class _QamrLine(msgspec.Struct):
    id: str
    sentence: str
    question: str
    answer: str
    answer_start: int
    validator_answers: list[_Mark] = []


@register("qamr")
class Qamr(Converter):
    """Lines of `id`, `sentence`, `question`, `answer`, `answer_start` and `validator_answers`.

    The writer of the question and each validator is an annotator; lines of one sentence that follow each other share a
    context.
    """

    def read(self, path: Path) -> Dataset:
        """Read a context for each sentence."""
        return Dataset("QAMR", "", _records(path))


def _records(path: Path) -> Iterator[Record]:
    for sentence, group in groupby(read_lines(path, _QamrLine), key=lambda pair: pair[1].sentence):
        questions = []
        for number, line in group:
            answers = []
            for mark in (_Mark(line.answer, line.answer_start), *line.validator_answers):
                if mark.answer_start < 0 or not sentence.startswith(mark.answer, mark.answer_start):
                    raise DataError(
                        f"{path}:{number}: id '{line.id}': '{mark.answer}' does not stand at character {mark.answer_start} of "
                        "the sentence"
                    )
                answers.append(Answer(mark.answer, [Span(mark.answer_start, mark.answer)]))
            questions.append(Question(line.id, line.question, answers=answers))
        yield Record([Document([Part("text", sentence)])], questions, questions[0].id.rpartition("/")[0])
