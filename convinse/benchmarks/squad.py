"""The formats of SQuAD 1.1 and 2.0 (Rajpurkar et al., 2016 and 2018): one JSON document with articles and paragraphs.

KorQuAD 1.0 and KLUE-MRC (whose questions have a `guid`) are read as well. `answer_start` counts characters of the
context. Keys that the format does not know are kept in `extras` and written back after the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ..errors import DataError, one_line
from .jsonlines import open_packed, reading, writing
from .records import Extras, Report, extras_field, merged

VERSION = "v2.0"


class Answer(msgspec.Struct, frozen=True):
    """An answer and the character that it begins at; -1 where the data do not say."""

    text: str
    answer_start: int = -1
    extras: Extras = extras_field()


class Question(msgspec.Struct, frozen=True):
    """A question; `id` is empty where the data have none."""

    question: str
    id: str = ""
    answers: list[Answer] = []
    is_impossible: bool = False
    plausible_answers: list[Answer] = []
    extras: Extras = extras_field()


class Paragraph(msgspec.Struct, frozen=True):
    """A context and its questions."""

    context: str
    qas: list[Question]
    extras: Extras = extras_field()


class Article(msgspec.Struct, frozen=True):
    """A titled list of paragraphs."""

    paragraphs: list[Paragraph]
    title: str = ""
    extras: Extras = extras_field()


class SquadFile(msgspec.Struct, frozen=True):
    """A whole file."""

    data: list[Article]
    version: str = ""
    extras: Extras = extras_field()


_KEYS = {
    kind: frozenset(kind.__struct_fields__) - {"extras"} for kind in (Answer, Question, Paragraph, Article, SquadFile)
}


def read_squad(path: Path) -> SquadFile:
    """A SQuAD file, plain or packed; as one JSON document, it is read as a whole.

    Raises:
        DataError: the file cannot be read, is no JSON or lacks a key; an answer is not where it says, or an id appears
            twice; the message names the file and the JSON path.
    """
    data = _read(path)
    for fault in _faults(data):
        raise DataError(f"{path}: {fault}")
    return data


def _read(path: Path) -> SquadFile:
    with open_packed(path) as file, reading(path, lambda: 1):
        text = file.read()
    try:
        value = msgspec.json.decode(text.removeprefix(b"\xef\xbb\xbf"))
        data = msgspec.convert(value, SquadFile)
    except msgspec.ValidationError as error:
        raise DataError(f"{path}: {one_line(error)}; expected SQuAD 1.1 or 2.0") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{path}: not valid JSON: {one_line(error)}") from None
    return _with_extras(data, value)


def _with_extras(record: Any, value: dict[str, Any]) -> Any:
    """The record with the keys that its type does not name, at every level; `guid` becomes the id where none is."""
    known = _KEYS[type(record)]
    changes: dict[str, Any] = {"extras": {key: value[key] for key in value if key not in known}}
    for name in ("data", "paragraphs", "qas", "answers", "plausible_answers"):
        if name in known and getattr(record, name):
            pairs = zip(getattr(record, name), value[name], strict=True)
            changes[name] = [_with_extras(each, raw) for each, raw in pairs]
    if isinstance(record, Question) and not record.id and isinstance(value.get("guid"), str):
        changes["id"] = changes["extras"].pop("guid")
    return msgspec.structs.replace(record, **changes)


def _faults(data: SquadFile) -> Iterator[str]:
    seen: dict[str, str] = {}
    for path, paragraph, question in _questions(data):
        if question.id:
            first = seen.setdefault(question.id, path)
            if first != path:
                yield f"{path}: the id '{question.id}' appears twice (at {first})"
        for index, answer in enumerate(question.answers):
            at = f"{path}.answers[{index}] (id '{question.id}')"
            start = answer.answer_start
            if start < -1 or start + len(answer.text) > len(paragraph.context):
                size = len(paragraph.context)
                yield f"{at}: '{answer.text}' at {start} is outside of the context ({size} characters)"


def _questions(data: SquadFile) -> Iterator[tuple[str, Paragraph, Question]]:
    for a, article in enumerate(data.data):
        for p, paragraph in enumerate(article.paragraphs):
            for q, question in enumerate(paragraph.qas):
                yield f"$.data[{a}].paragraphs[{p}].qas[{q}]", paragraph, question


def validate(path: Path, fix_header: bool = False) -> Report:
    """Check a whole file; `fix_header` has no effect. Raises `DataError` where it is no SQuAD file at all."""
    data = _read(path)
    problems = [f"{path}: {fault}" for fault in _faults(data)]
    warnings = []
    counts = dict.fromkeys(("articles", "paragraphs", "questions", "unanswerable", "answers"), 0)
    counts["articles"] = len(data.data)
    counts["paragraphs"] = sum(len(article.paragraphs) for article in data.data)
    for at, paragraph, question in _questions(data):
        counts["questions"] += 1
        counts["unanswerable"] += question.is_impossible
        counts["answers"] += len(question.answers)
        if not question.id:
            problems.append(f"{path}: {at}: no id")
        for answer in question.answers:
            inside = 0 <= answer.answer_start <= len(paragraph.context) - len(answer.text)
            if inside and not paragraph.context.startswith(answer.text, answer.answer_start):
                found = paragraph.context[answer.answer_start : answer.answer_start + len(answer.text)]
                problems.append(
                    f"{path}: {at} (id '{question.id}'): at {answer.answer_start} is '{found}', not '{answer.text}'"
                )
        if question.is_impossible and question.answers:
            warnings.append(f"{path}: {at} (id '{question.id}'): unanswerable, yet it has answers")
    return Report(problems, warnings, {"format": "squad", "version": data.version, **counts})


def write_squad(path: Path, articles: Iterable[Article], version: str = VERSION, extras: Extras | None = None) -> None:
    """Write SQuAD 2.0, packed where the name ends in `.gz`. Raises `OutputError`."""
    data = [
        merged({"title": article.title, "paragraphs": list(map(_paragraph, article.paragraphs))}, article.extras)
        for article in articles
    ]
    with writing(path) as write:
        write(merged({"version": version, "data": data}, extras or {}))


def _paragraph(paragraph: Paragraph) -> dict[str, Any]:
    return merged({"context": paragraph.context, "qas": list(map(_question, paragraph.qas))}, paragraph.extras)


def _question(question: Question) -> dict[str, Any]:
    known: dict[str, Any] = {
        "id": question.id,
        "question": question.question,
        "answers": list(map(_answer, question.answers)),
        "is_impossible": question.is_impossible,
    }
    if question.plausible_answers:
        known["plausible_answers"] = list(map(_answer, question.plausible_answers))
    return merged(known, question.extras)


def _answer(answer: Answer) -> dict[str, Any]:
    return merged({"text": answer.text, "answer_start": answer.answer_start}, answer.extras)
