"""Validation of MultiQA files: JSON, the published schema, ours, cross-checks, header; and a header with true counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from ...support.errors import DataError, one_line
from ...support.jsonlines import decoded, raw_documents, writing
from ..records import Report
from .checks import Finding, check_entry
from .dialects import Dialect, read_entry, read_header
from .files import Counts, is_header
from .other_keys import restored
from .schema import faults as schema_faults

_PUBLISHED = "published schema"
_KEY_RULES = ("additionalProperties", "falseSchema")  # by which a schema refuses a key


class Findings:
    """What a validation found beside the faults.

    Attributes:
        notes: differences that do no harm, with how often each was met.
        dialect: the spellings of the file. counts: its contexts and questions.
        header: as it stands in the file.
        refused_keys: how many objects have keys that the published schema refuses.
    """

    def __init__(self) -> None:
        self.notes: Counter[str] = Counter()
        self.dialect = Dialect()
        self.counts = Counts()
        self.header: dict[str, Any] = {}
        self.refused_keys = 0

    def summary(self) -> dict[str, Any]:
        """What the file is: data set, counts, dialect, and whether it is that of the published schema."""
        return {
            "format": "multiqa",
            "header": [self.header.get("dataset_name"), self.header.get("split")],
            "contexts": self.counts.contexts,
            "questions": self.counts.questions,
            "answered": self.counts.answered,
            "dialect": self.dialect.describe(),
            "published_dialect": self.dialect.is_published() and not self.refused_keys,
        }

    def warnings(self) -> list[str]:
        """The notes, and the keys that the format does not know."""
        notes = [f"{text} ({times} times)" for text, times in self.notes.items()]
        return notes + [f"unknown key {path}, kept as it is ({n} times)" for path, n in self.dialect.unknown.items()]


def validate(path: Path, fix_header: bool = False) -> Report:
    """Check a whole file, and go on after a problem where that is possible.

    Args:
        path: the file, plain or packed, JSON lines or documents one after the other.
        fix_header: write the true counts into the header first; see `recount`.

    Raises:
        DataError: the file cannot be read.
        OutputError: the header cannot be written.
    """
    findings = Findings()
    faults = list(faults_of(path, findings))
    fixed = fix_header and recount(path, findings.counts)
    if fixed:
        findings = Findings()
        faults = list(faults_of(path, findings))
    problems = [f"{path}:{fault}" for fault in faults]
    warnings = [f"{path}: {text}" for text in findings.warnings()]
    return Report(problems, warnings, {**findings.summary(), **({"header_fixed": fixed} if fix_header else {})})


def faults_of(path: Path, findings: Findings) -> Iterator[str]:
    """The faults of a file, in its order, as they are found; `findings` is complete at the end.

    A fault is the line that the document begins on (0: the whole file), the JSON path in it and the reason.

    Memory grows with the largest context and with the question ids, which have to be unique.

    Raises:
        DataError: the file cannot be opened or unpacked.
    """
    header: dict[str, Any] | None = None
    header_line = 0
    seen: dict[str, int] = {}
    empty = True
    decoder = msgspec.json.Decoder()
    for number, (line, document) in enumerate(raw_documents(path)):
        empty = False
        try:
            value = decoded(decoder, path, line, document)
        except DataError as error:
            yield f"{line}: $: {one_line(error).removeprefix(f'{path}:{line}: ')}"
            continue
        if is_header(value) or (isinstance(value, dict) and "header" in value and "qas" not in value):
            yield from (f"{line}: {fault.path}: {fault.reason}" for fault in schema_faults(value, "header"))
            if number:
                yield f"{line}: $: a header that is not the first document of the file"
            elif is_header(value):
                header, header_line = value["header"], line
                findings.header = header
                with suppress(DataError):  # notes its unknown keys; its faults are the schema's to name
                    read_header(value["header"], findings.dialect)
            continue
        if number == 0:
            yield f"{line}: $: the file does not begin with a header"
        yield from _entry_faults(line, value, findings, seen)
    if empty:
        yield "0: $: the file is empty"
    elif header is not None:
        yield from (f"{header_line}: {fault}" for fault in _count_faults(header, findings.counts))


def _entry_faults(line: int, value: Any, findings: Findings, seen: dict[str, int]) -> Iterator[str]:
    of_schema = list(schema_faults(value, "entry"))
    yield from (f"{line}: {fault.path}: {fault.reason}" for fault in of_schema)
    told = {(fault.path, fault.rule) for fault in of_schema}
    for fault in schema_faults(value, "published"):
        findings.refused_keys += fault.rule in _KEY_RULES
        if (fault.path, fault.rule) not in told:
            yield f"{line}: {fault.path}: {fault.reason} ({_PUBLISHED})"
    listed = value.get("qas") if isinstance(value, dict) else None
    questions: list[Any] = listed if isinstance(listed, list) else []
    try:
        findings.counts.add(read_entry(value, findings.dialect))
    except DataError as error:
        if not of_schema:
            yield f"{line}: $: {one_line(error)}"
        findings.counts.contexts += 1  # the header counts it all the same
        findings.counts.questions += len(questions)
    for finding in check_entry(restored(value)):
        if finding.is_fault:
            yield f"{line}: {finding.path}: {finding.reason}"
        else:
            findings.notes[_kind(finding)] += 1
    for index, question in enumerate(questions):
        qid = question.get("qid") if isinstance(question, dict) else None
        if isinstance(qid, str) and qid in seen:
            yield f"{line}: $.qas[{index}].qid: '{qid}' is also the qid of a question in line {seen[qid]}"
        elif isinstance(qid, str):
            seen[qid] = line


def _kind(finding: Finding) -> str:
    """What notes of one kind have in common: the last key of the path, and the reason without its numbers."""
    key = finding.path.replace("]", "").replace("[", ".").rsplit(".", 1)[-1]
    reason = " ".join(word for word in finding.reason.split() if not word.isdigit())
    return f"{key}: {reason}" if not key.isdigit() else reason


def _count_faults(header: dict[str, Any], counts: Counts) -> Iterator[str]:
    for key, true in counts.fix(header).items():
        given = header.get(key)
        if key.startswith("number_of_") and type(given) is int and given != true:
            yield f"$.header.{key}: {given}, but the file holds {true}; --fix-header writes the true number"


def recount(path: Path, counts: Counts) -> bool:
    """Write the true counts into the header of a file; returns whether anything changed.

    The other documents stay as they are, byte for byte; the file is replaced as a whole, or not at all. A file
    without a header gets one, named after the file.

    Raises:
        DataError: the file cannot be read, or is packed in another way than its name ends.
        OutputError: the file cannot be written.
    """
    documents = raw_documents(path)
    first = next(documents, None)
    if first is None:
        raise DataError(f"{path}: the file is empty; there is nothing to count")
    old = decoded(msgspec.json.Decoder(), path, *first)
    has_header = is_header(old)
    header = old["header"] if has_header else {"dataset_name": path.name.split(".")[0]}
    fixed = counts.fix(header)
    if has_header and fixed == header:
        return False
    _check_packing(path)
    with writing(path) as write:
        write({**old, "header": fixed} if has_header else {"header": fixed})
        if not has_header:
            write(msgspec.Raw(first[1]))
        for _, document in documents:
            write(msgspec.Raw(document))
    return True


def _check_packing(path: Path) -> None:
    """Only gzip is written, and by the name: a file that is packed under another name would change its kind."""
    with path.open("rb") as file:
        start = file.read(4)
    packed = start[:2] == b"\x1f\x8b"
    if packed != (path.suffix == ".gz") or start.startswith((b"BZh", b"\x28\xb5\x2f\xfd")):
        raise DataError(f"{path}: --fix-header writes plain files, and gzip named .gz; unpack the file first")
