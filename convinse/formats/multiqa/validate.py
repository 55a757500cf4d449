"""Validation of MultiQA files: JSON, our schema and the published one, cross-checks, the counts of the header."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ...support.errors import DataError, one_line
from ...support.jsonlines import decoded, raw_documents
from ..records import Report
from .checks import NOTE, check_entry
from .dialects import Dialect, Json
from .files import Counts, is_header
from .schema import faults

_PUBLISHED = "published schema"
_KEY_RULES = ("additionalProperties", "falseSchema")  # by which a schema refuses a key


def validate(path: Path) -> Report:
    """Check a whole file, and go on after a problem if that is possible.

    A problem names the line that the document begins on (0: the whole file), the JSON path in it and the reason.
    Memory grows with the largest context and with the question ids, which have to be unique.

    Args:
        path: the file, plain or packed, JSON lines or documents one after the other.

    Raises:
        DataError: the file cannot be read.
    """
    check = _Check(path)
    problems = [f"{path}:{fault}" for fault in check.faults()]
    warnings = [f"{path}: {text} ({times} times)" for text, times in check.notes.items()]
    summary = {
        "format": "multiqa",
        "header": [check.header.get("dataset_name"), check.header.get("split")],
        "contexts": check.counts.contexts,
        "questions": check.counts.questions,
        "answered": check.counts.answered,
        "dialect": check.dialect.describe(),
        "published_dialect": check.dialect.is_published() and not check.has_refused_keys,
    }
    return Report(problems, warnings, summary)


class _Check:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: Counter[str] = Counter()
        self.dialect = Dialect()
        self.counts = Counts()
        self.header: Json = {}
        self.has_refused_keys = False
        self._lines: dict[str, int] = {}  # of questions by their ids

    def faults(self) -> Iterator[str]:
        decoder = msgspec.json.Decoder()
        number, header_line = -1, 0
        for number, (line, document) in enumerate(raw_documents(self.path)):
            try:
                value = decoded(decoder, self.path, line, document)
            except DataError as error:
                yield f"{line}: $: {one_line(error).removeprefix(f'{self.path}:{line}: ')}"
                continue
            if isinstance(value, dict) and "header" in value and "qas" not in value:
                yield from (f"{line}: {fault.path}: {fault.reason}" for fault in faults(value, "header"))
                if number:
                    yield f"{line}: $: a header that is not the first document of the file"
                elif is_header(value):
                    self.header, header_line = value["header"], line
                continue
            if number == 0:
                yield f"{line}: $: the file does not begin with a header"
            yield from (f"{line}: {fault}" for fault in self._entry(line, value))
        if number < 0:
            yield "0: $: the file is empty"
        elif header_line:
            for key, true in self.counts.fix(self.header).items():
                stated = self.header.get(key)
                if key.startswith("number_of_") and type(stated) is int and stated != true:
                    yield (
                        f"{header_line}: $.header.{key}: {stated}, but the file holds {true}; convert --to multiqa writes "
                        "the true number"
                    )

    def _entry(self, line: int, value: Any) -> Iterator[str]:
        of_schema = list(faults(value, "entry"))
        yield from (f"{fault.path}: {fault.reason}" for fault in of_schema)
        reported = {(fault.path, fault.rule) for fault in of_schema}
        for fault in faults(value, "published"):
            self.has_refused_keys |= fault.rule in _KEY_RULES
            if (fault.path, fault.rule) not in reported:
                yield f"{fault.path}: {fault.reason} ({_PUBLISHED})"
        if of_schema:
            self.counts.contexts += 1  # the header counts it all the same
            questions = value.get("qas") if isinstance(value, dict) else None
            self.counts.questions += len(questions) if isinstance(questions, list) else 0
            return
        self.counts.add(self.dialect.respell(value)["qas"])
        for finding in check_entry(value):
            if finding.rule == NOTE:
                self.notes[f"{finding.path.rpartition('.')[2]}: {finding.reason}"] += 1
            else:
                yield f"{finding.path}: {finding.reason}"
        for index, question in enumerate(value["qas"]):
            first = self._lines.get(question["qid"])
            if first is not None:
                yield f"$.qas[{index}].qid: '{question['qid']}' is also the qid of a question in line {first}"
            else:
                self._lines[question["qid"]] = line
