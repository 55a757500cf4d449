"""The format of the MRQA 2019 shared task (Fisch et al., 2019): extractive questions, a context a line.

A file (`.jsonl`, or packed as `.jsonl.gz`) begins with a header, which may be missing; every other line is a context
with its questions. Spans are inclusive, `char_spans` in characters of the context, `token_spans` in its tokens. Unknown
keys go to `extras` and are written back after the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from ..support.errors import DataError, one_line
from ..support.jsonlines import decoded, raw_lines, writing
from .records import Extras, Report, extras_field, plain, with_extras
from .tokens import Token, normalize

MAX_TOKENS = 800  # of a context, as the task's files have


class DetectedAnswer(msgspec.Struct, frozen=True):
    """An answer with all its places in the context."""

    text: str
    char_spans: list[tuple[int, int]] = []
    token_spans: list[tuple[int, int]] = []
    extras: Extras = extras_field()


class MrqaQuestion(msgspec.Struct, frozen=True):
    """A question; `answers` are all accepted strings, whether in the context or not."""

    qid: str
    question: str
    question_tokens: list[Token] = []
    detected_answers: list[DetectedAnswer] = []
    answers: list[str] = []
    extras: Extras = extras_field()


class MrqaExample(msgspec.Struct, frozen=True):
    """A context and its questions."""

    context: str
    qas: list[MrqaQuestion]
    context_tokens: list[Token] = []
    extras: Extras = extras_field()


class MrqaHeader(msgspec.Struct, frozen=True):
    """The first line of a file: the data set and its part."""

    dataset: str = ""
    split: str = ""
    extras: Extras = extras_field()


class PlainQuestion(msgspec.Struct, frozen=True):
    """A question without its tokens and its `extras`."""

    qid: str
    question: str
    detected_answers: list[DetectedAnswer] = []
    answers: list[str] = []
    is_impossible: bool = False


class PlainExample(msgspec.Struct, frozen=True):
    """A context with such questions."""

    context: str
    qas: list[PlainQuestion]


class _MrqaHeaderLine(msgspec.Struct):
    header: MrqaHeader | None = None


_HEADER = msgspec.json.Decoder(_MrqaHeaderLine)
_EXAMPLE = msgspec.json.Decoder(MrqaExample)
_PLAIN = msgspec.json.Decoder(PlainExample)
_OBJECT = msgspec.json.Decoder(dict[str, Any])


def read_header(path: Path) -> MrqaHeader | None:
    """Read the header of a file, None if it has no header. Raises `DataError`."""
    for number, line in raw_lines(path):
        return _header(path, number, line)
    return None


def read_examples(path: Path) -> Iterator[MrqaExample]:
    """Read the contexts of a file, one after the other; only the ids of the questions stay in memory.

    Raises `DataError`.
    """
    seen: dict[str, int] = {}
    for number, line in raw_lines(path):
        if _header(path, number, line) is None:
            example = _decoded_example(path, number, line)
            for fault in _faults(example, f"{path}:{number}", seen, number):
                raise DataError(fault)
            yield example


def read_plain(path: Path) -> Iterator[tuple[str, PlainQuestion, int]]:
    """Read context, question and line of every question, without tokens (several times as fast) and without checks.

    Raises `DataError`.
    """
    for number, line in raw_lines(path):
        if _header(path, number, line) is None:
            example = decoded(_PLAIN, path, number, line)
            for question in example.qas:
                yield example.context, question, number


def _decoded_example(path: Path, number: int, line: bytes) -> MrqaExample:
    return with_extras(decoded(_EXAMPLE, path, number, line), decoded(_OBJECT, path, number, line))


def _header(path: Path, number: int, line: bytes) -> MrqaHeader | None:
    # None for a context; a header behind the first line comes of joined files
    if b'"header"' not in line[:100]:
        return None
    header = decoded(_HEADER, path, number, line).header
    return None if header is None else with_extras(header, decoded(_OBJECT, path, number, line)["header"])


def _faults(example: MrqaExample, where: str, seen: dict[str, int], number: int) -> Iterator[str]:
    # `seen` gets the ids of the questions and their line
    characters, tokens = len(example.context), len(example.context_tokens)
    for question in example.qas:
        at = f"{where}: qid '{question.qid}'"
        if question.qid in seen:
            yield f"{at} appears twice (line {seen[question.qid]}); a qid must be unique in the file"
        seen.setdefault(question.qid, number)
        for answer in question.detected_answers:
            for start, end in answer.char_spans:
                if not 0 <= start <= end < characters:
                    yield f"{at}: the character span [{start}, {end}] is outside of the context ({characters} characters)"
            for start, end in answer.token_spans:
                if tokens and not 0 <= start <= end < tokens:
                    yield f"{at}: the token span [{start}, {end}] is outside of the context ({tokens} tokens)"


def validate(path: Path) -> Report:
    """Check a whole file, and go on after a problem if possible. Raises `DataError`."""
    problems: list[str] = []
    warnings: list[str] = []
    counts = dict.fromkeys(("contexts", "questions", "answers", "spans"), 0)
    header: MrqaHeader | None = None
    seen: dict[str, int] = {}
    for number, line in raw_lines(path):
        where = f"{path}:{number}"
        try:
            if (described := _header(path, number, line)) is not None:
                if number == 1:
                    header = described
                else:
                    problems.append(f"{where}: a header behind the first line")
                continue
            example = _decoded_example(path, number, line)
        except DataError as error:
            problems.append(one_line(error))
            continue
        faults = list(_faults(example, where, seen, number))
        problems += faults or _disagreements(example, where)
        warnings += [] if faults else _oddities(example, where)
        answers = [answer for question in example.qas for answer in question.detected_answers]
        counts["contexts"] += 1
        counts["questions"] += len(example.qas)
        counts["answers"] += len(answers)
        counts["spans"] += sum(len(answer.char_spans) for answer in answers)
    summary = {"format": "mrqa", "header": None if header is None else [header.dataset, header.split], **counts}
    return Report(problems, warnings, summary)


def _disagreements(example: MrqaExample, where: str) -> Iterator[str]:
    yield from _wrong_tokens(example.context, example.context_tokens, f"{where}: context_tokens")
    for question in example.qas:
        at = f"{where}: qid '{question.qid}'"
        yield from _wrong_tokens(question.question, question.question_tokens, f"{at}: question_tokens")
        for answer in question.detected_answers:
            spans, token_spans = len(answer.char_spans), len(answer.token_spans)
            if example.context_tokens and spans != token_spans:
                yield f"{at}: '{answer.text}' has {spans} char_spans and {token_spans} token_spans"


def _wrong_tokens(text: str, tokens: list[Token], where: str) -> Iterator[str]:
    for index, (token, offset) in enumerate(tokens):
        if offset < 0 or not text.startswith(token, offset):
            yield f"{where}[{index}]: '{token}' does not stand at {offset}"
            return  # the others are wrong for the same reason, as a rule


def _oddities(example: MrqaExample, where: str) -> Iterator[str]:
    if len(example.context_tokens) > MAX_TOKENS:
        yield f"{where}: the context has {len(example.context_tokens)} tokens; the task's limit is {MAX_TOKENS}"
    for question in example.qas:
        at = f"{where}: qid '{question.qid}'"
        if not question.detected_answers:
            yield f"{at}: no detected answer"
        for answer in question.detected_answers:
            for start, end in answer.char_spans:
                text = example.context[start : end + 1]
                if normalize(text) != normalize(answer.text):
                    yield f"{at}: the span [{start}, {end}] is '{text}', not '{answer.text}'"


@contextmanager
def writing_examples(path: Path, header: MrqaHeader) -> Iterator[Callable[[MrqaExample], object]]:
    """Yield a function that writes an example; the file appears when the block ends well. Raises `OutputError`."""
    with writing(path) as write:
        write({"header": plain(header)})
        yield lambda example: write(plain(example))


def limit_context(example: MrqaExample, tokens: int = MAX_TOKENS) -> list[MrqaExample]:
    """Split an example whose context is too long; every question and accepted answer goes to exactly one part.

    The first part has the first `tokens` tokens of the context, and all questions with an answer there or with no span.
    Further parts begin at a multiple of half of `tokens` (the last one ends with the context), each with the questions
    whose first answer is there: the task itself dropped those. Spans outside of their question's part are dropped, and so
    are detected answers without a span.
    """
    size = len(example.context_tokens)
    if size <= tokens:
        return [example]
    parts: dict[int, list[MrqaQuestion]] = {0: []}
    for question in example.qas:
        begin = _part_of(question, tokens, size)
        parts.setdefault(begin, []).append(_within(question, example.context_tokens, begin, tokens))
    examples = []
    for begin, questions in sorted(parts.items()):
        if questions:
            inside = example.context_tokens[begin : begin + tokens]
            start = inside[0][1] if begin else 0
            context = example.context[start : inside[-1][1] + len(inside[-1][0])]
            moved = [(token, offset - start) for token, offset in inside]
            examples.append(msgspec.structs.replace(example, context=context, context_tokens=moved, qas=questions))
    return examples


def _part_of(question: MrqaQuestion, tokens: int, size: int) -> int:
    # the first token of the part that the question goes to
    spans = [span for answer in question.detected_answers for span in answer.token_spans]
    if any(last < tokens for _, last in spans):
        return 0
    for first, last in sorted(spans):
        half = max(1, tokens // 2)
        for begin in (first // half * half, first):
            begin = min(begin, size - tokens)
            if last < begin + tokens:
                return begin
    return 0


def _within(question: MrqaQuestion, context_tokens: list[Token], begin: int, tokens: int) -> MrqaQuestion:
    # only the spans inside of the part, counted from its beginning
    offset = context_tokens[begin][1] if begin else 0
    answers = []
    for answer in question.detected_answers:
        pairs = [
            ((start - offset, end - offset), (first - begin, last - begin))
            for (start, end), (first, last) in zip(answer.char_spans, answer.token_spans, strict=False)
            if begin <= first and last < begin + tokens
        ]
        if pairs:
            char_spans, token_spans = zip(*pairs, strict=True)
            answers.append(msgspec.structs.replace(answer, char_spans=list(char_spans), token_spans=list(token_spans)))
    return msgspec.structs.replace(question, detected_answers=answers)
