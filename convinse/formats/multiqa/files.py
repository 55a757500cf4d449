"""Reading and writing MultiQA files, streamed: memory grows with the largest context, not with the file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ...support.errors import DataError, OutputError, one_line
from ...support.jsonlines import read_documents, writing
from .dialects import Dialect, read_entry, read_header
from .other_keys import publishable
from .records import Entry, MultiqaHeader, plain

VERSION = "0.1.0"  # of the format


class MultiqaReader:
    """The header and the contexts of a file in any dialect; JSON lines or JSON documents one after the other.

    Iterating yields the contexts and may be done once for each call of `iter`. `header` is there at once.

    Args:
        path: the file, plain or packed (gzip, bzip2, Zstandard).

    Attributes:
        header: None where the file begins with a context.
        dialect: the spellings met so far, complete after a whole pass.

    Raises:
        DataError: the file cannot be read or a document is wrong; the text names file, line, JSON path and reason.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.dialect = Dialect()
        self.header: MultiqaHeader | None = None
        for line, document in read_documents(path):
            if is_header(document):
                self.header = self._checked(line, read_header, document["header"])
            return
        raise DataError(f"{path}: holds no JSON document; a MultiQA file begins with a header")

    def __iter__(self) -> Iterator[Entry]:
        self.dialect = Dialect()
        for number, (line, document) in enumerate(read_documents(self.path)):
            if number or not is_header(document):
                yield self._checked(line, read_entry, document)

    def _checked(self, line: int, read: Any, document: Any) -> Any:
        try:
            return read(document, self.dialect)
        except DataError as error:
            raise DataError(f"{self.path}:{line}: {one_line(error)}") from None


def is_header(document: Any) -> bool:
    """Whether a document is a header and no context."""
    return isinstance(document, dict) and isinstance(document.get("header"), dict) and "qas" not in document


class Counts:
    """Counts what the header of a file has to say."""

    def __init__(self) -> None:
        self.contexts = self.questions = self.answered = 0

    def add(self, entry: Entry) -> None:
        """Count a context."""
        self.contexts += 1
        self.questions += len(entry.qas)
        self.answered += sum(question.is_answered() for question in entry.qas)

    def fix(self, header: dict[str, Any]) -> dict[str, Any]:
        """A header, as it stands in a file, with these counts; the number of answered questions only if it has one."""
        fixed = {**header, "number_of_contexts": self.contexts, "number_of_qas": self.questions}
        if header.get("number_of_qas_with_gold_answers") is not None:
            fixed["number_of_qas_with_gold_answers"] = self.answered
        return fixed


def write(path: Path, header: MultiqaHeader, entries: Iterable[Entry]) -> Counts:
    """Write a file in the dialect of the published schema, JSON lines; `.gz` is packed.

    Keys that the schema refuses are kept in `metadata` and found again by a reader; see `other_keys`.

    The counts in the header are those of what was written, whatever `header` says. Reading the file and writing it
    again gives the same bytes.

    Raises:
        OutputError: the file cannot be written.
    """
    counts = Counts()
    encoder = msgspec.json.Encoder()
    # the header comes first and is known last; the file without a name is on the same disk, so that no other fills up
    with writing(path) as write_document, tempfile.TemporaryFile(dir=path.parent) as body:
        for entry in entries:
            counts.add(entry)
            try:
                body.write(encoder.encode(publishable(plain(entry))) + b"\n")
            except (TypeError, ValueError, RecursionError) as error:
                raise OutputError(f"{path}: context '{entry.id}' cannot be written: {one_line(error)}") from None
        write_document({"header": counts.fix(plain(header))})
        body.seek(0)
        for line in body:
            write_document(msgspec.Raw(line.rstrip(b"\n")))
    return counts
