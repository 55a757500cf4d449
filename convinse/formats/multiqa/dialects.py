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

_KEYS = {kind: keys(kind) for kind in
         (MultiqaAnswer, MultiqaAnswers, MultiqaCandidate, Context, Date, MultiqaDocument, Entry, Extractive, MultiqaHeader, Instance, MultiChoice, OpenEnded,
          MultiqaQuestion)}  # fmt: skip
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
        known = _KEYS[kind]
        found = {}
        extra = {}
        for key, value in raw.items():
            if key in known and value is not None:
                found[key] = value
            else:
                extra[key] = value
                if key not in known:
                    self.unknown[f"{path}.{key}"] += 1
        if extra:
            found["extra"] = extra
        return found

    def rename(self, raw: Any, kind: type[MultiqaRecord], path: str, names: tuple[tuple[str, str], ...]) -> Any:
        """`split`, where a key may have another spelling (`names`: published, other)."""
        if not isinstance(raw, dict):
            return raw
        other = {}
        for published, spelling in names:
            if published in raw:
                self.seen[published] += 1
            elif spelling in raw:
                self.seen[spelling] += 1
                other[spelling] = published
        return self.split({other.get(key, key): value for key, value in raw.items()} if other else raw, kind, path)

    def entry(self, raw: Any) -> Any:
        found = self.split(raw, Entry, "$")
        if isinstance(found, dict):
            context = self.split(found.get("context"), Context, "$.context")
            if isinstance(context, dict):
                self.each(context, "documents", lambda part: self.split(part, MultiqaDocument, "$.context.documents[]"))
                found["context"] = context
            self.each(found, "qas", self.question)
        return found

    def question(self, raw: Any) -> Any:
        path = "$.qas[]"
        found = self.split(raw, MultiqaQuestion, path)
        if not isinstance(found, dict):
            return found
        self.each(found, "supporting_context", lambda part: self.instance(part, f"{path}.supporting_context[]"))
        if found.get("question_tokens"):
            found["question_tokens"] = self.tokens(found["question_tokens"], found.get("question"))
        path = f"{path}.answers"
        answers = self.split(found.get("answers"), MultiqaAnswers, path)
        if isinstance(answers, dict):
            found["answers"] = answers
            if "open-ended" in answers:
                names = (("annotators_answer_candidates", "answer_candidates"),)
                inner = self.rename(answers["open-ended"], OpenEnded, f"{path}.open-ended", names)
                self.each(
                    inner, "annotators_answer_candidates", lambda part: self.candidate(part, f"{path}.open-ended")
                )
                answers["open-ended"] = inner
            if "multi-choice" in answers:
                inner = self.split(answers["multi-choice"], MultiChoice, f"{path}.multi-choice")
                self.each(inner, "choices", lambda part: self.candidate(part, f"{path}.multi-choice"))
                answers["multi-choice"] = inner
        return found

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
        found = self.split(raw, MultiqaCandidate, path)
        if "single_answer" in found:
            found["single_answer"] = self.answer(found["single_answer"], path)
        for key in ("list", "set"):
            self.each(found, key, lambda part: self.answer(part, path))
        return found

    def answer(self, raw: Any, path: str) -> Any:
        found = self.split(raw, MultiqaAnswer, f"{path} answer")
        if isinstance(found, dict):
            if "extractive" in found:
                extractive = self.split(found["extractive"], Extractive, f"{path} extractive")
                self.each(extractive, "instances", lambda part: self.instance(part, f"{path} instances[]"))
                found["extractive"] = extractive
            if "date" in found:
                found["date"] = self.split(found["date"], Date, f"{path} date")
        return found

    def instance(self, raw: Any, path: str) -> Any:
        return self.rename(raw, Instance, path, (("doc_id", "doc_ind"), ("token_inds", "start_end_tokens")))

    def tokens(self, tokens: Any, text: Any) -> Any:
        """Tokens with their offsets, where all are found in `text` one after the other; else as they are."""
        bare = isinstance(tokens, list) and all(isinstance(token, str) for token in tokens)
        self.seen[f"question tokens {'without' if bare else 'with'} offsets"] += 1
        if not bare or not isinstance(text, str):
            return tokens
        found = []
        end = 0
        for token in tokens:
            start = text.find(token, end)
            if start < 0 or text[end:start].strip():
                return tokens
            found.append((token, start))
            end = start + len(token)
        return found

    @staticmethod
    def each(found: Any, key: str, function: Any) -> None:
        if isinstance(found, dict) and isinstance(found.get(key), list):
            found[key] = [function(part) for part in found[key]]


def _has_containers(value: Any) -> bool:
    return isinstance(value, dict) and any(value.get(key) is not None for key in CONTAINERS)


def _container_first(raw: dict[str, Any]) -> dict[str, Any]:
    """`{"yesno": {"single_answer": "yes"}}` -> `{"single_answer": {"yesno": "yes"}}`; lists of types are joined."""
    found: dict[str, Any] = {}
    rest = {}
    for key, value in raw.items():
        if key not in TYPES or not _has_containers(value):
            rest[key] = value
            continue
        left = {}
        for name, part in value.items():
            if name == "single_answer" and part is not None:
                found.setdefault(name, {})[key] = part
            elif name in CONTAINERS and isinstance(part, list) and isinstance(found.get(name, []), list):
                found.setdefault(name, []).extend({key: one} for one in part)
            elif name in CONTAINERS and part is not None:
                found[name] = part  # no list: the schema names the fault
            else:
                left[name] = part
        if left:
            rest[key] = left
    return {**found, **rest}
