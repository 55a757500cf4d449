"""The spellings of MultiQA files: all are read, the published schema's is written.

| what | written (published schema) | also read |
| --- | --- | --- |
| answer candidate | container first: `single_answer` -> `extractive` | type first: `extractive` -> `single_answer` |
| candidates | `annotators_answer_candidates` | `answer_candidates` |
| tokens of an instance | `token_inds` | `start_end_tokens` |
| document of an instance | `doc_id` | `doc_ind` |
| tokens of a question | `["word", offset]` | `"word"` (the offset is looked for) |

Where a file has two spellings of one key in the same object, the published one counts and the other is kept as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from ...support.errors import DataError
from .records import (
    Context,
    Date,
    Entry,
    Extractive,
    Instance,
    MultiChoice,
    MultiqaAnswer,
    MultiqaAnswers,
    MultiqaCandidate,
    MultiqaDocument,
    MultiqaHeader,
    MultiqaQuestion,
    MultiqaRecord,
    OpenEnded,
    keys,
)

CONTAINERS = ("single_answer", "list", "set")
TYPES = ("extractive", "yesno", "generated_text", "date", "number")
PUBLISHED = frozenset({"container first", "annotators_answer_candidates", "token_inds", "doc_id"})

_ORDER = (
    "container first",
    "type first",
    "annotators_answer_candidates",
    "answer_candidates",
    "token_inds",
    "start_end_tokens",
    "doc_id",
    "doc_ind",
    "question tokens with offsets",
    "question tokens without offsets",
    "candidates with metadata only",
)


class Dialect:
    """Counts the spellings of a file while it is read, and the keys that the format does not know."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()

    def describe(self) -> list[str]:
        """The spellings that were met, in a fixed order."""
        return [name for name in _ORDER if self.seen[name]]

    def is_published(self) -> bool:
        """Whether all that has two spellings is written as in the published schema."""
        return not ({*self.seen} - PUBLISHED - {"question tokens with offsets", "candidates with metadata only"})


def read_entry(raw: Any, dialect: Dialect) -> Entry:
    """A context of any dialect as a record; `raw` is not changed.

    Raises:
        DataError: it lacks a key or holds another type; the message has the JSON path and the reason.
    """
    try:
        return msgspec.convert(_PublishedShape(dialect).entry(raw), Entry)
    except msgspec.ValidationError as error:
        raise DataError(_reason(raw, "entry", error)) from None


def read_header(raw: Any, dialect: Dialect) -> MultiqaHeader:
    """The value of `header` in the first document as a record.

    Raises:
        DataError: a key holds another type; the message has the JSON path and the reason.
    """
    try:
        return msgspec.convert(_PublishedShape(dialect).split(raw, MultiqaHeader, "header"), MultiqaHeader)
    except msgspec.ValidationError as error:
        raise DataError(_reason({"header": raw}, "header", error)) from None


def _reason(raw: Any, kind: str, error: msgspec.ValidationError) -> str:
    """The first fault with its path in the file; msgspec's own path is one in the published dialect."""
    from .schema import faults

    for path, reason in faults(raw, kind):
        return f"{path}: {reason}"
    return str(error)


class _PublishedShape:
    """Renames and reorders to the published shape and puts unknown keys into `extra`; wrong types pass through."""

    def __init__(self, dialect: Dialect) -> None:
        self.seen = dialect.seen
        self.unknown = dialect.unknown

    def split(self, raw: Any, kind: type[MultiqaRecord], path: str) -> Any:
        if not isinstance(raw, dict):
            return raw
        known = keys(kind)
        shaped = {key: value for key, value in raw.items() if key in known and value is not None}
        if len(shaped) < len(raw):
            extra = {key: value for key, value in raw.items() if key not in shaped}
            self.unknown.update(f"{path}.{key}" for key in extra if key not in known)
            shaped["extra"] = extra
        return shaped

    def rename(self, raw: Any, kind: type[MultiqaRecord], path: str, names: tuple[tuple[str, str], ...]) -> Any:
        """`split`, where a key may have another spelling (`names`: published, other)."""
        if not isinstance(raw, dict):
            return raw
        renamed = {}
        for published, spelling in names:
            if published in raw:
                self.seen[published] += 1
            elif spelling in raw:
                self.seen[spelling] += 1
                renamed[spelling] = published
        if renamed:
            raw = {renamed.get(key, key): value for key, value in raw.items()}
        return self.split(raw, kind, path)

    def entry(self, raw: Any) -> Any:
        entry = self.split(raw, Entry, "$")
        self.inside(entry, "context", self.context)
        self.inside_list(entry, "qas", self.question)
        return entry

    def context(self, raw: Any) -> Any:
        context = self.split(raw, Context, "$.context")
        path = "$.context.documents[]"
        self.inside_list(context, "documents", lambda document: self.split(document, MultiqaDocument, path))
        return context

    def question(self, raw: Any) -> Any:
        path = "$.qas[]"
        question = self.split(raw, MultiqaQuestion, path)
        self.inside_list(
            question, "supporting_context", lambda part: self.instance(part, f"{path}.supporting_context[]")
        )
        if isinstance(question, dict) and question.get("question_tokens"):
            question["question_tokens"] = self.tokens(question["question_tokens"], question.get("question"))
        self.inside(question, "answers", lambda answers: self.answers(answers, f"{path}.answers"))
        return question

    def answers(self, raw: Any, path: str) -> Any:
        answers = self.split(raw, MultiqaAnswers, path)
        self.inside(answers, "open-ended", lambda part: self.open_ended(part, f"{path}.open-ended"))
        self.inside(answers, "multi-choice", lambda part: self.multi_choice(part, f"{path}.multi-choice"))
        return answers

    def open_ended(self, raw: Any, path: str) -> Any:
        names = (("annotators_answer_candidates", "answer_candidates"),)
        open_ended = self.rename(raw, OpenEnded, path, names)
        self.inside_list(open_ended, "annotators_answer_candidates", lambda part: self.candidate(part, path))
        return open_ended

    def multi_choice(self, raw: Any, path: str) -> Any:
        multi_choice = self.split(raw, MultiChoice, path)
        self.inside_list(multi_choice, "choices", lambda part: self.candidate(part, path))
        return multi_choice

    def candidate(self, raw: Any, path: str) -> Any:
        if not isinstance(raw, dict):
            return raw
        path = f"{path} candidate"
        if any(key in raw for key in CONTAINERS):
            self.seen["container first"] += 1
        elif any(_has_containers(raw.get(key)) for key in TYPES):
            self.seen["type first"] += 1
            raw = _container_first(raw)
        elif "metadata" in raw:
            self.seen["candidates with metadata only"] += 1
        candidate = self.split(raw, MultiqaCandidate, path)
        self.inside(candidate, "single_answer", lambda part: self.answer(part, path))
        for key in ("list", "set"):
            self.inside_list(candidate, key, lambda part: self.answer(part, path))
        return candidate

    def answer(self, raw: Any, path: str) -> Any:
        answer = self.split(raw, MultiqaAnswer, f"{path} answer")
        self.inside(answer, "extractive", lambda part: self.extractive(part, path))
        self.inside(answer, "date", lambda part: self.split(part, Date, f"{path} date"))
        return answer

    def extractive(self, raw: Any, path: str) -> Any:
        extractive = self.split(raw, Extractive, f"{path} extractive")
        self.inside_list(extractive, "instances", lambda part: self.instance(part, f"{path} instances[]"))
        return extractive

    def instance(self, raw: Any, path: str) -> Any:
        return self.rename(raw, Instance, path, (("doc_id", "doc_ind"), ("token_inds", "start_end_tokens")))

    def tokens(self, tokens: Any, text: Any) -> Any:
        """Tokens with their offsets, where all are found in `text` one after the other; else as they are."""
        bare = isinstance(tokens, list) and all(isinstance(token, str) for token in tokens)
        self.seen[f"question tokens {'without' if bare else 'with'} offsets"] += 1
        if not bare or not isinstance(text, str):
            return tokens
        placed = []
        end = 0
        for token in tokens:
            start = text.find(token, end)
            if start < 0 or text[end:start].strip():
                return tokens
            placed.append((token, start))
            end = start + len(token)
        return placed

    @staticmethod
    def inside(record: Any, key: str, shape: Callable[[Any], Any]) -> None:
        if isinstance(record, dict) and key in record:
            record[key] = shape(record[key])

    @staticmethod
    def inside_list(record: Any, key: str, shape: Callable[[Any], Any]) -> None:
        if isinstance(record, dict) and isinstance(record.get(key), list):
            record[key] = [shape(part) for part in record[key]]


def _has_containers(value: Any) -> bool:
    return isinstance(value, dict) and any(value.get(key) is not None for key in CONTAINERS)


def _container_first(raw: dict[str, Any]) -> dict[str, Any]:
    """`{"yesno": {"single_answer": "yes"}}` -> `{"single_answer": {"yesno": "yes"}}`; lists of types are joined."""
    candidate: dict[str, Any] = {}
    rest = {}
    for key, value in raw.items():
        if key not in TYPES or not _has_containers(value):
            rest[key] = value
            continue
        left = {}
        for name, part in value.items():
            if name == "single_answer" and part is not None:
                candidate.setdefault(name, {})[key] = part
            elif name in CONTAINERS and isinstance(part, list) and isinstance(candidate.get(name, []), list):
                candidate.setdefault(name, []).extend({key: element} for element in part)
            elif name in CONTAINERS and part is not None:
                candidate[name] = part  # no list: the schema names the fault
            else:
                left[name] = part
        if left:
            rest[key] = left
    return {**candidate, **rest}
