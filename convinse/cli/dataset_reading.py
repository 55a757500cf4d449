"""The questions of data set files, read a chunk at a time: any format that `convert` reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import msgspec

from ..encoder.extractive_reader import ExtractiveReader, best_answers
from ..formats.converters import Record, find_converter, guess_format
from ..formats.neutral import flatten, question_id
from ..support.errors import DataError
from ..support.progress import progress

_CHUNK = 512  # questions read together


def read_file(
    path: Path, reader: ExtractiveReader, source: str | None = None, quiet: bool = False
) -> dict[str, tuple[str, float]]:
    """The best answer to every question of a file and the probability of no answer, by the question's id, in the file's order.

    Raises `ConfigError`, `DataError` or `ModelError`.

    Args:
        path: an MRQA, SQuAD or MultiQA file, or of another data set that has a converter; plain or packed.
        reader: the reader.
        source: the name of its format; None: guessed from its content.
        quiet: no progress.
    """
    dataset = find_converter(source or guess_format(path)).read(path)
    questions = _questions(path, dataset.records)
    predictions: dict[str, tuple[str, float]] = {}
    with progress(f"read {path.name}", None, "questions", quiet) as advance:
        while chunk := list(islice(questions, _CHUNK)):
            answers = best_answers(reader, [(question, context) for _, question, context in chunk])
            predictions.update(zip((qid for qid, _, _ in chunk), answers, strict=True))
            advance(len(chunk))
    if not predictions:
        raise DataError(f"{path}: has no questions")
    return predictions


def _questions(path: Path, records: Iterable[Record]) -> Iterator[tuple[str, str, str]]:
    seen: set[str] = set()
    for record in records:
        context = flatten(record).text  # questions without an id get one from this text
        # the text to read must not depend on the answers, but `flatten` leaves out a title that holds no answer
        unanswered = [msgspec.structs.replace(question, answers=[]) for question in record.questions]
        is_titled = len(record.documents) == 1 and record.documents[0].part("title") is not None
        read = flatten(msgspec.structs.replace(record, questions=unanswered)).text if is_titled else context
        for question in record.questions:
            qid = question.id or question_id(question.text, context)
            if qid in seen:
                raise DataError(f"{path}: question '{qid}' is given twice; an id must be unique in the file")
            seen.add(qid)
            yield qid, question.text, read
