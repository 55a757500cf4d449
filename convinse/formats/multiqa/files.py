"""Reading and writing MultiQA files, streamed: memory grows with the largest context, not with the file."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ...support.errors import DataError
from ...support.jsonlines import encoded, read_documents, writing
from .answers import is_answered
from .schema import faults
from .spelling import Json, respelled

VERSION = "0.1.0"  # of the format
CONTEXTS, QUESTIONS, ANSWERED = "number_of_contexts", "number_of_qas", "number_of_qas_with_gold_answers"


def read_header(path: Path) -> Json:
    """Read the header of a file, plain or packed, JSON lines or documents one after the other; empty without one.

    Raises `DataError`.
    """
    for line, document in read_documents(path):
        header: Json = document["header"] if is_header(document) else {}
        for fault in faults(header, "head"):
            raise DataError(f"{path}:{line}: $.header{fault.path[1:]}: {fault.reason}")
        return header
    raise DataError(f"{path}: holds no JSON document; a MultiQA file begins with a header")


def read_entries(path: Path) -> Iterator[Json]:
    """Read the contexts of a file in the published spelling. Raises `DataError`."""
    for number, (line, document) in enumerate(read_documents(path)):
        if number or not is_header(document):
            for fault in faults(document, "entry"):
                raise DataError(f"{path}:{line}: {fault.path}: {fault.reason}")
            yield respelled(document)


def is_header(document: Any) -> bool:
    """Return True if a document is a header, not a context."""
    return isinstance(document, dict) and isinstance(document.get("header"), dict) and "qas" not in document


def count(counts: Counter[str], questions: list[Json]) -> None:
    """Count a context with its questions, by the keys of the header."""
    counts.update({CONTEXTS: 1, QUESTIONS: len(questions), ANSWERED: sum(map(is_answered, questions))})


def counted(header: Json, counts: Counter[str]) -> Json:
    """Return a header with the right numbers; that of answered questions only if the header has it."""
    numbers = {CONTEXTS: counts[CONTEXTS], QUESTIONS: counts[QUESTIONS]}
    if header.get(ANSWERED) is not None:
        numbers[ANSWERED] = counts[ANSWERED]
    return {**header, **numbers}


def write(path: Path, header: Json, entries: Iterable[Json]) -> Counter[str]:
    """Write a file of contexts in the published spelling, JSON lines; `.gz` is packed. Returns the numbers in its header.

    Raises `OutputError`.
    """
    counts: Counter[str] = Counter()
    # the header comes first and is known last; the file without a name is on the same disk, so that no other fills up
    with writing(path) as write_document, tempfile.TemporaryFile(dir=path.parent) as body:
        for entry in entries:
            count(counts, entry["qas"])
            body.write(encoded(path, entry) + b"\n")
        write_document({"header": counted(header, counts)})
        body.seek(0)
        for line in body:
            write_document(msgspec.Raw(line.rstrip(b"\n")))
    return counts
