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
from .files import ANSWERED, CONTEXTS, QUESTIONS, count, counted, is_header
from .schema import faults
from .spelling import Json, respelled


def validate(path: Path) -> Report:
    """Check a whole file, and go on after a problem if that is possible. Raises `DataError`.

    A problem names the line that the document begins on (0: the whole file), the JSON path in it and the reason.
    Memory grows with the largest context and with the question ids, which have to be unique.

    Args:
        path: the file, plain or packed, JSON lines or documents one after the other.
    """
    check = _Check()
    problems = [f"{path}:{fault}" for fault in check.faults(path)]
    warnings = [f"{path}: {text} ({times} times)" for text, times in check.notes.items()]
    summary = {
        "format": "multiqa",
        "header": [check.header.get("dataset_name"), check.header.get("split")],
        "contexts": check.counts[CONTEXTS],
        "questions": check.counts[QUESTIONS],
        "answered": check.counts[ANSWERED],
    }
    return Report(problems, warnings, summary)


class _Check:
    def __init__(self) -> None:
        self.notes: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.header: Json = {}
        self._lines: dict[str, int] = {}  # of questions by their ids

    def faults(self, path: Path) -> Iterator[str]:
        decoder = msgspec.json.Decoder()
        number, header_line = -1, 0
        for number, (line, document) in enumerate(raw_documents(path)):
            try:
                value = decoded(decoder, path, line, document)
            except DataError as error:
                yield f"{line}: $: {one_line(error).removeprefix(f'{path}:{line}: ')}"
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
        for key, true in counted(self.header, self.counts).items():
            stated = self.header.get(key)
            if key in (CONTEXTS, QUESTIONS, ANSWERED) and type(stated) is int and stated != true:
                yield f"{header_line}: $.header.{key}: {stated}, but the file holds {true}; convert --to multiqa mends it"

    def _entry(self, line: int, value: Any) -> Iterator[str]:
        refused = list(faults(value, "entry"))
        yield from (f"{fault.path}: {fault.reason}" for fault in refused)
        reported = {(fault.path, fault.rule) for fault in refused}
        for fault in faults(value, "published"):
            if (fault.path, fault.rule) not in reported:
                yield f"{fault.path}: {fault.reason} (published schema)"
        if refused:
            self.counts[CONTEXTS] += 1  # the header counts it all the same
            questions = value.get("qas") if isinstance(value, dict) else None
            self.counts[QUESTIONS] += len(questions) if isinstance(questions, list) else 0
            return
        count(self.counts, respelled(value)["qas"])
        for finding in check_entry(value):
            if finding.rule == NOTE:
                self.notes[f"{finding.path.rpartition('.')[2]}: {finding.reason}"] += 1
            else:
                yield f"{finding.path}: {finding.reason}"
        for index, question in enumerate(value["qas"]):
            qid = question["qid"]
            if qid in self._lines:
                yield f"$.qas[{index}].qid: '{qid}' is also the qid of a question in line {self._lines[qid]}"
            self._lines.setdefault(qid, line)
