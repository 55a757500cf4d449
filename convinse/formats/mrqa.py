"""The format of the MRQA 2019 shared task (Fisch et al., 2019): extractive questions, a context a line.

A file (`.jsonl`, or packed as `.jsonl.gz`) begins with a header, which may be missing; every other line is a context
with its questions. Spans are inclusive, `char_spans` in characters of the context, `token_spans` in its tokens. Keys
that the format does not know are kept in `extras` and written back after the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from ..support.errors import DataError, one_line
from ..support.jsonlines import not_json, raw_lines, read_lines, writing
from .records import Extras, Report, extras_field, merged
from .tokens import Token, normalize

MAX_TOKENS = 800  # of a context, as the task's files have


class DetectedAnswer(msgspec.Struct, frozen=True):
    """An answer as found in the context: all places where it stands."""

    text: str
    char_spans: list[tuple[int, int]] = []
    token_spans: list[tuple[int, int]] = []
    extras: Extras = extras_field()


class Question(msgspec.Struct, frozen=True):
    """A question; `answers` are all accepted strings, in the context or not."""

    qid: str
    question: str
    question_tokens: list[Token] = []
    detected_answers: list[DetectedAnswer] = []
    answers: list[str] = []
    extras: Extras = extras_field()


class Example(msgspec.Struct, frozen=True):
    """A context and its questions."""

    context: str
    qas: list[Question]
    context_tokens: list[Token] = []
    extras: Extras = extras_field()


class Header(msgspec.Struct, frozen=True):
    """The first line of a file: which data set, and which part of it."""

    dataset: str = ""
    split: str = ""
    extras: Extras = extras_field()


class Gold(msgspec.Struct, frozen=True):
    """What an evaluation needs of a question."""

    qid: str
    answers: list[str]


_ANSWER_KEYS = frozenset(("text", "char_spans", "token_spans"))
_QUESTION_KEYS = frozenset(("qid", "question", "question_tokens", "detected_answers", "answers"))
_EXAMPLE_KEYS = frozenset(("context", "context_tokens", "qas"))
_HEADER_KEYS = frozenset(("dataset", "split"))


class _HeaderLine(msgspec.Struct):
    header: Header


class _Kind(msgspec.Struct):
    header: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _GoldLine(msgspec.Struct):
    qas: list[Gold] = []
    header: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_KIND, _HEADER, _EXAMPLE = (msgspec.json.Decoder(kind) for kind in (_Kind, _HeaderLine, Example))
_RAW_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_RAW_OBJECTS = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])


def read_header(path: Path) -> Header | None:
    """The header of a file, None where it has none. Raises `DataError`."""
    for number, line in raw_lines(path):
        return _decode_header(path, number, line) if _is_header(path, number, line) else None
    return None


def read_examples(path: Path) -> Iterator[Example]:
    """The contexts of a file, one after the other; only the ids of the questions are remembered.

    Raises:
        DataError: the file cannot be read, a line is no JSON or lacks a key, a span is outside of the context, or a
            `qid` appears twice; the message names file, line and qid.
    """
    for _, example in numbered_examples(path):
        yield example


def numbered_examples(path: Path) -> Iterator[tuple[int, Example]]:
    """`read_examples` with the number of each line."""
    seen: dict[str, int] = {}
    for number, line in raw_lines(path):
        if _is_header(path, number, line):
            continue
        example = decode_example(line, str(path), number)
        for fault in _faults(example, f"{path}:{number}", seen, number):
            raise DataError(fault)
        yield number, example


def read_gold(path: Path) -> Iterator[Gold]:
    """The accepted answers of every question, without the rest of the file: fast, and unchecked but for types.

    Raises:
        DataError: the file cannot be read, a line is no JSON or lacks a key.
    """
    for _, line in read_lines(path, _GoldLine):
        yield from line.qas


def decode_example(line: bytes, path: str = "input", number: int = 1) -> Example:
    """The context of one line (or of a request's body). Raises `DataError` naming path, line and qid."""
    try:
        example = _EXAMPLE.decode(line)
        raw = _RAW_OBJECT.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        place = _question_of(line, error)
        fault = not_json(Path(path), number, error)
        raise DataError(f"{fault}{place}") from None
    return _with_extras(example, raw)


def _with_extras(example: Example, raw: dict[str, msgspec.Raw]) -> Example:
    """Add the keys that the types do not name; the cheap way, as most files have few."""
    questions = []
    for question, keys in zip(example.qas, _RAW_OBJECTS.decode(raw["qas"]), strict=True):
        answers = question.detected_answers
        if answers:
            found = [_extras(each, _ANSWER_KEYS) for each in _RAW_OBJECTS.decode(keys["detected_answers"])]
            if any(found):
                answers = [
                    msgspec.structs.replace(answer, extras=extras) if extras else answer
                    for answer, extras in zip(answers, found, strict=True)
                ]
        extras = _extras(keys, _QUESTION_KEYS)
        if extras or answers is not question.detected_answers:
            question = msgspec.structs.replace(question, detected_answers=answers, extras=extras)
        questions.append(question)
    return msgspec.structs.replace(example, qas=questions, extras=_extras(raw, _EXAMPLE_KEYS))


def _extras(raw: dict[str, msgspec.Raw], known: frozenset[str]) -> Extras:
    if raw.keys() <= known:
        return {}
    return {key: msgspec.json.decode(value) for key, value in raw.items() if key not in known}


def _is_header(path: Path, number: int, line: bytes) -> bool:
    if number > 1 and b'"header"' not in line[:100]:  # a header behind the first line comes of joined files
        return False
    try:
        return _KIND.decode(line).header is not msgspec.UNSET
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise not_json(path, number, error) from None


def _decode_header(path: Path, number: int, line: bytes) -> Header:
    try:
        header = _HEADER.decode(line).header
        raw = _RAW_OBJECT.decode(_RAW_OBJECT.decode(line)["header"])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise not_json(path, number, error) from None
    return msgspec.structs.replace(header, extras=_extras(raw, _HEADER_KEYS))


def _question_of(line: bytes, error: BaseException) -> str:
    """` (qid '...')` for a wrong type inside of a question, whose place `msgspec` gives as `$.qas[3].question`."""
    _, found, rest = str(error).partition("$.qas[")
    if not found:
        return ""
    try:
        qid = msgspec.json.decode(line)["qas"][int(rest.partition("]")[0])]["qid"]
    except (msgspec.DecodeError, LookupError, TypeError, ValueError):
        return ""
    return f" (qid {qid!r})"


def _faults(example: Example, where: str, seen: dict[str, int], number: int) -> Iterator[str]:
    """What makes an example unusable; `seen` gets the ids of its questions and their line."""
    characters, tokens = len(example.context), len(example.context_tokens)
    for question in example.qas:
        first = seen.setdefault(question.qid, number)
        at = f"{where}: qid '{question.qid}'"
        if first != number or sum(other.qid == question.qid for other in example.qas) > 1:
            yield f"{at} appears twice (line {first}); a qid must be unique in the file"
        for answer in question.detected_answers:
            for start, end in answer.char_spans:
                if not 0 <= start <= end < characters:
                    yield f"{at}: the character span [{start}, {end}] is outside of the context ({characters} characters)"
            for start, end in answer.token_spans:
                if tokens and not 0 <= start <= end < tokens:
                    yield f"{at}: the token span [{start}, {end}] is outside of the context ({tokens} tokens)"


def validate(path: Path, fix_header: bool = False) -> Report:
    """Check a whole file, and go on after a problem where that is possible.

    Args:
        path: the file.
        fix_header: has no effect, as an MRQA header counts nothing.

    Raises:
        DataError: the file cannot be opened or unpacked.
    """
    problems: list[str] = []
    warnings: list[str] = []
    counts = dict.fromkeys(("contexts", "questions", "answers", "spans"), 0)
    header: Header | None = None
    seen: dict[str, int] = {}
    for number, line in raw_lines(path):
        where = f"{path}:{number}"
        try:
            if _is_header(path, number, line):
                if number == 1:
                    header = _decode_header(path, number, line)
                else:
                    problems.append(f"{where}: a header behind the first line")
                continue
            example = decode_example(line, str(path), number)
        except DataError as error:
            problems.append(one_line(error))
            continue
        faults = list(_faults(example, where, seen, number))
        problems += faults
        counts["contexts"] += 1
        counts["questions"] += len(example.qas)
        for question in example.qas:
            counts["answers"] += len(question.detected_answers)
            counts["spans"] += sum(len(answer.char_spans) for answer in question.detected_answers)
        if not faults:
            problems += _disagreements(example, where)
            warnings += _oddities(example, where)
    summary = {"format": "mrqa", "header": None if header is None else [header.dataset, header.split], **counts}
    return Report(problems, warnings, summary)


def _disagreements(example: Example, where: str) -> Iterator[str]:
    """Tokens that are not where they say, and spans that come without their partner."""
    yield from _wrong_tokens(example.context, example.context_tokens, f"{where}: context_tokens")
    for question in example.qas:
        at = f"{where}: qid '{question.qid}'"
        yield from _wrong_tokens(question.question, question.question_tokens, f"{at}: question_tokens")
        for answer in question.detected_answers:
            if example.context_tokens and len(answer.char_spans) != len(answer.token_spans):
                yield (
                    f"{at}: '{answer.text}' has {len(answer.char_spans)} char_spans and "
                    f"{len(answer.token_spans)} token_spans"
                )


def _wrong_tokens(text: str, tokens: list[Token], where: str) -> Iterator[str]:
    for index, (token, offset) in enumerate(tokens):
        if offset < 0 or not text.startswith(token, offset):
            yield f"{where}[{index}]: '{token}' does not stand at {offset}"
            return  # the others are wrong for the same reason, as a rule


def _oddities(example: Example, where: str) -> Iterator[str]:
    if len(example.context_tokens) > MAX_TOKENS:
        yield f"{where}: the context has {len(example.context_tokens)} tokens; the task's limit is {MAX_TOKENS}"
    for question in example.qas:
        at = f"{where}: qid '{question.qid}'"
        if not question.detected_answers:
            yield f"{at}: no detected answer"
        for answer in question.detected_answers:
            for start, end in answer.char_spans:
                text = example.context[start : end + 1]
                if text != answer.text and normalize(text) != normalize(answer.text):
                    yield f"{at}: the span [{start}, {end}] is '{text}', not '{answer.text}'"


def encode_header(header: Header) -> dict[str, Any]:
    """The first line of a file."""
    return {"header": merged({"dataset": header.dataset, "split": header.split}, header.extras)}


def encode_example(example: Example) -> dict[str, Any]:
    """The line of a context: the keys of the format in a fixed order, then the others."""
    questions = [
        merged(
            {
                "qid": question.qid,
                "question": question.question,
                "question_tokens": question.question_tokens,
                "detected_answers": [
                    merged(
                        {"text": answer.text, "char_spans": answer.char_spans, "token_spans": answer.token_spans},
                        answer.extras,
                    )
                    for answer in question.detected_answers
                ],
                "answers": question.answers,
            },
            question.extras,
        )
        for question in example.qas
    ]
    known = {"context": example.context, "qas": questions, "context_tokens": example.context_tokens}
    return merged(known, example.extras)


@contextmanager
def writing_examples(path: Path, header: Header | None = None) -> Iterator[Callable[[Example], None]]:
    """A function that writes one example; the file takes its place when the block ends well. Raises `OutputError`."""
    with writing(path) as write:
        if header is not None:
            write(encode_header(header))
        yield lambda example: write(encode_example(example))
