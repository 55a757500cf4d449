"""The formats of SQuAD 1.1 and 2.0 (Rajpurkar et al., 2016 and 2018): one JSON document with articles and paragraphs.

KorQuAD 1.0, KLUE-MRC (whose questions have a `guid`) and the rows of `datasets` are read as well. `answer_start` counts characters of the
context. Keys that the format does not know are kept in `extras` and written back, those of the document and of an article
before the list that they describe. Writing holds one paragraph at a time, however long the articles are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from ..support.errors import DataError, one_line
from ..support.jsonlines import JSON_ERRORS, decode_part, decode_whole, encoded, read_bytes, writing_bytes
from .records import Extras, Report, extras_field, merged, plain, with_extras

VERSION = "v2.0"


class SquadAnswer(msgspec.Struct, frozen=True):
    """An answer and its first character, -1 if unknown."""

    text: str
    answer_start: int = -1
    extras: Extras = extras_field()


class SquadQuestion(msgspec.Struct, frozen=True):
    """A question; `id` may be empty."""

    question: str
    id: str = ""
    answers: list[SquadAnswer] = []
    is_impossible: bool = False
    extras: Extras = extras_field()


class Paragraph(msgspec.Struct, frozen=True):
    """A context and its questions."""

    context: str
    qas: list[SquadQuestion]
    extras: Extras = extras_field()


class Article(msgspec.Struct, frozen=True):
    """An article; in a file its paragraphs are not decoded yet, beside a decoded paragraph they are left out."""

    paragraphs: list[msgspec.Raw]
    title: str = ""
    extras: Extras = extras_field()


class SquadFile(msgspec.Struct):
    """A file whose paragraphs are not decoded yet; `version` may be empty, `extras` are further keys of the document."""

    data: list[Article]
    version: str = ""
    extras: Extras = extras_field()


def read_squad(path: Path) -> tuple[SquadFile, Iterator[tuple[Article, Paragraph]]]:
    """Read a SQuAD file, plain or packed: its bytes are in memory, the paragraphs with their articles are decoded one at a time.

    Raises `DataError`.
    """
    whole = _whole(path)

    def checked() -> Iterator[tuple[Article, Paragraph]]:
        seen: dict[str, str] = {}
        for at, article, paragraph in _paragraphs(path, whole):
            for fault in _faults(at, paragraph, seen):
                raise DataError(f"{path}: {fault}")
            yield article, paragraph

    return whole, checked()


def raw_paragraphs(path: Path) -> Iterator[tuple[str, msgspec.Raw]]:
    """Yield the JSON path and the bytes of each paragraph of a file. Raises `DataError`."""
    for number, article in enumerate(_whole(path).data):
        for index, paragraph in enumerate(article.paragraphs):
            yield f"$.data[{number}].paragraphs[{index}]", paragraph


def _whole(path: Path) -> SquadFile:
    data = read_bytes(path)
    if b'"paragraphs"' not in data and b'"answer_start"' in data:
        return _of_rows(path, data)
    whole = decode_whole(path, data, SquadFile)
    try:  # a key that the format does not know may not be UTF-8
        members: dict[str, Any] = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        members["data"] = msgspec.json.decode(members["data"], type=list[dict[str, msgspec.Raw]])
        return with_extras(whole, members)
    except JSON_ERRORS as error:
        raise DataError(f"{path}: not valid JSON: {one_line(error)}") from None


def _of_rows(path: Path, data: bytes) -> SquadFile:
    """Return the file that rows make, one a question, as `datasets` writes them: JSON lines, a list, or `data` with a list."""
    if not data.lstrip().startswith(b"[") and b'"data"' not in data:
        data = b"[" + b",".join(filter(None, map(bytes.strip, data.splitlines()))) + b"]"
    decoded: Any = decode_whole(path, data, object)
    articles = []
    try:
        rows = decoded if isinstance(decoded, list) else decoded["data"]
        for (title, context), group in groupby(rows, lambda row: (row.get("title") or "", row["context"])):
            qas = [{**row, "answers": _answers(row["answers"])} for row in group]
            for row in qas:
                del row["context"]
                row.pop("title", None)
            paragraph = msgspec.Raw(msgspec.json.encode({"context": context, "qas": qas}))
            articles.append(Article([paragraph], title))
    except (KeyError, TypeError, AttributeError, ValueError):
        raise DataError(f"{path}: a row without its context, question or answers with text and answer_start") from None
    return SquadFile(articles)


def _answers(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    pairs = zip(columns["text"], columns["answer_start"], strict=True)
    return [{"text": text, "answer_start": start} for text, start in pairs]


def _paragraphs(path: Path, whole: SquadFile) -> Iterator[tuple[str, Article, Paragraph]]:
    for number, raw in enumerate(whole.data):
        article = msgspec.structs.replace(raw, paragraphs=[])
        for index, data in enumerate(raw.paragraphs):
            at = f"$.data[{number}].paragraphs[{index}]"
            members = decode_part(path, at, data, dict[str, Any])
            paragraph = with_extras(decode_part(path, at, data, Paragraph), members)
            for place, question in enumerate(paragraph.qas):
                if not question.id and isinstance(question.extras.get("guid"), str | int):  # KLUE-MRC's name for `id`
                    extras = dict(question.extras)
                    qid = str(extras.pop("guid"))
                    paragraph.qas[place] = msgspec.structs.replace(question, id=qid, extras=extras)
            yield at, article, paragraph


def _faults(at: str, paragraph: Paragraph, seen: dict[str, str]) -> Iterator[str]:
    # `seen` gets the ids of the questions with the paragraph's place
    size = len(paragraph.context)
    for number, question in enumerate(paragraph.qas):
        where = f"{at}.qas[{number}] (id '{question.id}')"
        if question.id and question.id in seen:
            yield f"{at}.qas[{number}]: the id '{question.id}' appears twice (first in {seen[question.id]})"
        seen.setdefault(question.id, at)
        for answer in question.answers:
            start = answer.answer_start
            if start < -1 or start + len(answer.text) > size:
                yield f"{where}: '{answer.text}' at {start} is outside of the context ({size} characters)"


def validate(path: Path) -> Report:
    """Check a whole file. Raises `DataError` if it is not a SQuAD file at all."""
    whole = _whole(path)
    problems: list[str] = []
    warnings: list[str] = []
    counts = dict.fromkeys(("articles", "paragraphs", "questions", "unanswerable", "answers"), 0)
    counts["articles"] = len(whole.data)
    seen: dict[str, str] = {}
    for at, _, paragraph in _paragraphs(path, whole):
        faults = list(_faults(at, paragraph, seen))
        problems += [f"{path}: {fault}" for fault in faults]
        counts["paragraphs"] += 1
        for number, question in enumerate(paragraph.qas):
            where = f"{path}: {at}.qas[{number}] (id '{question.id}')"
            counts["questions"] += 1
            counts["unanswerable"] += question.is_impossible
            counts["answers"] += len(question.answers)
            if not question.id:
                problems.append(f"{where}: no id")
            for answer in question.answers:
                start = answer.answer_start
                text = paragraph.context[start : start + len(answer.text)]
                if start >= 0 and text != answer.text and not faults:
                    problems.append(f"{where}: at {start} is '{text}', not '{answer.text}'")
            if question.is_impossible and question.answers:
                warnings.append(f"{where}: unanswerable, yet it has answers")
    return Report(problems, warnings, {"format": "squad", "version": whole.version, **counts})


def write_squad(
    path: Path, paragraphs: Iterable[tuple[Article, Paragraph]], version: str = VERSION, extras: Extras | None = None
) -> None:
    """Write SQuAD 2.0, packed if the name ends in `.gz`; a paragraph a line. Raises `OutputError`.

    Args:
        path: the file; an older file is replaced when all is written.
        paragraphs: with their articles; neighbours with equal articles are joined. A title that comes back later begins
            another article.
        version: of the format.
        extras: further keys of the document.
    """
    with writing_bytes(path) as write:
        write(_opening(path, {"version": version}, extras or {}, "data"))
        between = b""
        for article, group in groupby(paragraphs, key=itemgetter(0)):
            write(between + _opening(path, {"title": article.title}, article.extras, "paragraphs"))
            between = b""
            for _, paragraph in group:
                write(between + encoded(path, plain(paragraph)))
                between = b",\n"
            write(b"\n]}")
        write(b"\n]}\n")


def _opening(path: Path, fields: dict[str, Any], extras: Extras, name: str) -> bytes:
    # the beginning of an object, up to and with the bracket that opens its list `name`
    members = merged({**fields, name: None}, extras)
    del members[name]
    return encoded(path, members)[:-1] + b"," + encoded(path, name) + b":[\n"
