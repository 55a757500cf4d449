"""Questions to search passages for: PolEval 2022's `questions.jl` (id, text) or `in.tsv` (set name, text)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from ...support.errors import DataError
from ...support.jsonlines import raw_lines, read_lines
from ..records import first_of

_IDS, _TEXTS = ("id", "_id", "qid", "query_id"), ("text", "query", "question")


class SearchQuestion(NamedTuple):
    """A question; in `in.tsv` its id is the number of its line (from 1), and the set is named."""

    id: str
    text: str
    set: str | None = None


def read_questions(path: Path) -> list[SearchQuestion]:
    """Read the questions of a file, in its order. Raises `DataError`.

    A file whose first line begins with `{` holds JSON lines (PolEval's, or BEIR's with `_id`), any other file is `in.tsv`.
    """
    return [question for _, question in numbered_questions(path)]


def numbered_questions(path: Path) -> list[tuple[int, SearchQuestion]]:
    """Read the questions of a file with their lines, see `read_questions`."""
    lines = list(raw_lines(path))
    if not lines:
        raise DataError(f"{path}: no questions; give JSON lines with id and text, or lines of set name, tab and text")
    if lines[0][1].lstrip().startswith(b"{"):
        return _from_json(path)
    return _from_table(path, lines)


def _from_json(path: Path) -> list[tuple[int, SearchQuestion]]:
    seen: dict[str, int] = {}
    questions = []
    for number, members in read_lines(path, dict[str, Any]):
        name, text = first_of(members, _IDS), first_of(members, _TEXTS)
        if not isinstance(name, str) or not isinstance(text, str) or name.split() != [name] or not text.strip():
            needs = f"{' or '.join(_IDS)} without white space, and {' or '.join(_TEXTS)}"
            raise DataError(f"{path}:{number}: is not a question; it needs {needs}")
        if seen.setdefault(name, number) != number:
            raise DataError(f"{path}:{number}: the id '{name}' was given in line {seen[name]} already")
        questions.append((number, SearchQuestion(name, text)))
    return questions


def _from_table(path: Path, lines: list[tuple[int, bytes]]) -> list[tuple[int, SearchQuestion]]:
    questions = []
    for place, (number, line) in enumerate(lines, 1):
        if number != place:
            raise DataError(f"{path}:{place}: an empty line; the lines of a submission would not match")
        try:
            row = [field.strip() for field in line.decode().split("\t")]
        except UnicodeDecodeError:
            raise DataError(f"{path}:{number}: is not UTF-8") from None
        if len(row) != 2 or not all(row):
            raise DataError(f"{path}:{number}: expected a set name and a question with one tab between them")
        questions.append((number, SearchQuestion(str(number), row[1], row[0])))
    return questions
