"""WikiTableQuestions (Pasupat and Liang, ACL 2015): questions in a TSV file, each on a table of its own file."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ...support.errors import DataError
from ...support.jsonlines import read_bytes, read_lines
from ..converters import Answer, Converter, Dataset, Question, Record, Span, register
from ..multiqa.to_neutral import SHAPE
from ..neutral import titled

_COLUMNS = ("id", "utterance", "context")
_ESCAPES = {"\\n": "\n", "\\p": "|", "\\\\": "\\"}
_ESCAPE = re.compile(r"\\[np\\]")
_CSV = re.compile(r"(?:\w[\w.-]{0,99}/){0,3}\w[\w.-]{0,99}")  # names of files below the folder: no others are read
_CELL, _ROW = " | ", "\n"


class _Table(msgspec.Struct):
    context: str
    header: list[str]
    rows: list[list[str]]
    title: str = ""


@register("wikitablequestions")
class WikiTableQuestions(Converter):
    """The questions of a TSV file (`id`, `utterance`, `context`, `targetValue`) with their tables.

    The tables are beside the file: `tables.jsonl` or `tables.jsonl.gz` (`context`, `title`, `header`, `rows`), or the CSV
    files that `context` names, from the folder of the file or its parent, as in the original release. A table's text is its
    rows, cells parted by ` | `; cells are in the document's `table`, too. Several answers of a question are a list. Answers
    that are not a cell (counts, differences) are `generated_text`.
    """

    def read(self, path: Path) -> Dataset:
        """Read a context for each table; the questions of the file are in memory, the tables are not."""
        return Dataset("WikiTableQuestions", "", _records(path))


def _records(path: Path) -> Iterator[Record]:
    questions: dict[str, list[dict[str, str]]] = {}
    for row in _rows(path):
        questions.setdefault(row["context"], []).append(row)
    for table in _tables(path, list(questions)):
        if table.context in questions:
            yield _record(table, questions.pop(table.context))
    if questions:
        context, rows = next(iter(questions.items()))
        raise DataError(
            f"{path}: question '{rows[0]['id']}' is on the table '{context}', which is not there; expected "
            f"{path.parent / 'tables.jsonl.gz'} or {path.parent / context}"
        )


def _rows(path: Path) -> Iterator[dict[str, str]]:
    lines = [line.rstrip("\r").split("\t") for line in _text(path).split("\n") if line.strip()]
    columns, *rows = lines or [[]]
    if missing := [name for name in _COLUMNS if name not in columns]:
        raise DataError(f"{path}:1: no column '{missing[0]}'; the first line names the columns")
    for number, cells in enumerate(rows, 2):
        if len(cells) != len(columns):
            raise DataError(f"{path}:{number}: {len(cells)} columns, where the first line names {len(columns)}")
        yield dict(zip(columns, cells, strict=True))


def _text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not valid UTF-8 at byte {error.start}") from None


def _tables(path: Path, contexts: list[str]) -> Iterator[_Table]:
    for name in ("tables.jsonl", "tables.jsonl.gz"):
        if (path.parent / name).is_file():
            yield from (table for _, table in read_lines(path.parent / name, _Table))
            return
    for context in filter(_CSV.fullmatch, contexts):
        for file in (path.parent / context, path.parent.parent / context):
            if file.is_file():
                # in the original release a backslash stands before quotes in a cell
                lines = _text(file).splitlines(keepends=True)
                header, *rows = list(csv.reader(lines, doublequote=False, escapechar="\\")) or [[]]
                yield _Table(context, header, rows)
                break


def _record(table: _Table, rows: list[dict[str, str]]) -> Record:
    lines = [[" ".join(cell.split()) for cell in line] for line in (table.header, *table.rows)]
    places: dict[str, list[Span]] = {}
    begin = 0
    for line in lines:
        for cell in line:
            if cell:
                places.setdefault(cell.casefold(), []).append(Span(begin, cell))
            begin += len(cell) + len(_CELL)
        begin += (len(_ROW) - len(_CELL)) if line else len(_ROW)
    text = _ROW.join(map(_CELL.join, lines))
    cells = [[{"text": cell} for cell in line] for line in (table.header, *table.rows)]
    document = titled(table.title, text, extras={"table": cells})
    return Record([document], [_question(row, places) for row in rows], table.context)


def _question(row: dict[str, str], places: dict[str, list[Span]]) -> Question:
    if "targetValue" not in row:
        return Question(row["id"], unescape(row["utterance"]))
    answers = []
    shape: list[dict[str, Any]] = []
    for target in row["targetValue"].split("|"):
        value = unescape(target)
        spans = places.get(" ".join(value.split()).casefold(), [])
        answers.append(Answer(value, spans, {} if spans else {"type": "generated_text"}))
        shape.append({"extractive": {"answer": value}} if spans else {"generated_text": value})
    extras = {SHAPE: {"open-ended": {"annotators_answer_candidates": [{"list": shape}]}}} if len(shape) > 1 else {}
    return Question(row["id"], unescape(row["utterance"]), answers=answers, extras=extras)


def unescape(text: str) -> str:
    """Return a field of the TSV files with its line breaks, bars and backslashes unescaped."""
    return _ESCAPE.sub(lambda match: _ESCAPES[match[0]], text)
