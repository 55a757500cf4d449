"""Reading and writing MultiQA files, streamed: memory grows with the largest context, not with the file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ...support.errors import DataError, OutputError, one_line
from ...support.jsonlines import read_documents, writing
from .answers import is_answered
from .dialects import Dialect, Json
from .schema import faults

VERSION = "0.1.0"  # of the format


class MultiqaReader:
    """The header and the contexts of a file in any dialect; JSON lines or JSON documents one after the other.

    Every iteration reads the contexts anew, in the published spelling. `header` is there at once.

    Args:
        path: the file, plain or packed (gzip, bzip2, Zstandard).

    Attributes:
        header: None if the file begins with a context.
        dialect: the spellings so far, complete after a whole pass.

    Raises:
        DataError: the file cannot be read or a document is wrong; the text names file, line, JSON path and reason.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.dialect = Dialect()
        self.header: Json | None = None
        for line, document in read_documents(path):
            if is_header(document):
                self.header = document["header"]
                for fault in faults(self.header, "head"):
                    raise DataError(f"{path}:{line}: $.header{fault.path[1:]}: {fault.reason}")
            return
        raise DataError(f"{path}: holds no JSON document; a MultiQA file begins with a header")

    def __iter__(self) -> Iterator[Json]:
        self.dialect = Dialect()
        for number, (line, document) in enumerate(read_documents(self.path)):
            if number or not is_header(document):
                try:
                    yield self.dialect.read(document)
                except DataError as error:
                    raise DataError(f"{self.path}:{line}: {one_line(error)}") from None


def is_header(document: Any) -> bool:
    """Return True if a document is a header, not a context."""
    return isinstance(document, dict) and isinstance(document.get("header"), dict) and "qas" not in document


class Counts:
    """The numbers in the header of a file."""

    def __init__(self) -> None:
        self.contexts = self.questions = self.answered = 0

    def add(self, questions: list[Json]) -> None:
        """Count a context."""
        self.contexts += 1
        self.questions += len(questions)
        self.answered += sum(map(is_answered, questions))

    def fix(self, header: Json) -> Json:
        """Return a header with these counts; the number of answered questions only if the header has it."""
        fixed = {**header, "number_of_contexts": self.contexts, "number_of_qas": self.questions}
        if header.get("number_of_qas_with_gold_answers") is not None:
            fixed["number_of_qas_with_gold_answers"] = self.answered
        return fixed


def write(path: Path, header: Json, entries: Iterable[Json]) -> Counts:
    """Write a file of contexts in the published spelling, JSON lines; `.gz` is packed.

    The counts in the header are counted anew. Reading the file and writing it again gives the same bytes.

    Raises:
        OutputError: the file cannot be written.
    """
    counts = Counts()
    encoder = msgspec.json.Encoder()
    # the header comes first and is known last; the file without a name is on the same disk, so that no other fills up
    with writing(path) as write_document, tempfile.TemporaryFile(dir=path.parent) as body:
        for entry in entries:
            counts.add(entry["qas"])
            try:
                body.write(encoder.encode(entry) + b"\n")
            except (TypeError, ValueError, RecursionError) as error:
                raise OutputError(f"{path}: context '{entry['id']}' cannot be written: {one_line(error)}") from None
        write_document({"header": counts.fix(header)})
        body.seek(0)
        for line in body:
            write_document(msgspec.Raw(line.rstrip(b"\n")))
    return counts
