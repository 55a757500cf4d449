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
from functools import cache
from typing import Any, get_args, get_origin

import msgspec

from ...support.errors import DataError
from .other_keys import restored
from .records import (
    Entry,
    Instance,
    MultiqaAnswer,
    MultiqaCandidate,
    MultiqaHeader,
    MultiqaQuestion,
    MultiqaRecord,
    OpenEnded,
    keys,
)

CONTAINERS = ("single_answer", "list", "set")
TYPES = ("extractive", "yesno", "generated_text", "date", "number")
PUBLISHED = frozenset({"container first", "annotators_answer_candidates", "token_inds", "doc_id"})

_SPELLINGS: dict[type[MultiqaRecord], tuple[tuple[str, str], ...]] = {  # (published, other)
    OpenEnded: (("annotators_answer_candidates", "answer_candidates"),),
    Instance: (("doc_id", "doc_ind"), ("token_inds", "start_end_tokens")),
}
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

    def record(self, raw: Any, kind: type[MultiqaRecord], path: str) -> Any:
        """What a record of a kind is made of: the published shape, with unknown keys in `extra`; wrong types pass through.

        `path` is how messages name its place.
        """
        if not isinstance(raw, dict):
            return raw
        raw = self._respelled(raw, kind)
        known = keys(kind)
        shaped = {key: value for key, value in raw.items() if key in known and value is not None}
        if len(shaped) < len(raw):
            extra = {key: value for key, value in raw.items() if key not in shaped}
            self.unknown.update(f"{path}.{key}" for key in extra if key not in known)
            shaped["extra"] = extra
        if kind is MultiqaQuestion and shaped.get("question_tokens"):
            shaped["question_tokens"] = self._tokens(shaped["question_tokens"], shaped.get("question"))
        for key, (inner, is_list) in _inner(kind).items():
            value = shaped.get(key)
            place = _place(path, key, inner, is_list)
            if not is_list and key in shaped:
                shaped[key] = self.record(value, inner, place)
            elif isinstance(value, list):
                shaped[key] = [self.record(part, inner, place) for part in value]
        return shaped

    def _respelled(self, raw: dict[str, Any], kind: type[MultiqaRecord]) -> dict[str, Any]:
        """An object with the published names of its keys, and a candidate with the container first."""
        renamed = {}
        for published, spelling in _SPELLINGS.get(kind, ()):
            if published in raw:
                self.seen[published] += 1
            elif spelling in raw:
                self.seen[spelling] += 1
                renamed[spelling] = published
        if renamed:
            raw = {renamed.get(key, key): value for key, value in raw.items()}
        if kind is not MultiqaCandidate:
            return raw
        if any(key in raw for key in CONTAINERS):
            self.seen["container first"] += 1
        elif any(_has_containers(raw.get(key)) for key in TYPES):
            self.seen["type first"] += 1
            return _container_first(raw)
        elif "metadata" in raw:
            self.seen["candidates with metadata only"] += 1
        return raw

    def _tokens(self, tokens: Any, text: Any) -> Any:
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


def read_entry(raw: Any, dialect: Dialect) -> Entry:
    """A context of any dialect as a record; `raw` is not changed.

    Raises:
        DataError: it lacks a key or holds another type; the message has the JSON path and the reason.
    """
    try:
        return msgspec.convert(dialect.record(restored(raw), Entry, "$"), Entry)
    except msgspec.ValidationError as error:
        raise DataError(_reason(raw, "entry", error)) from None


def read_header(raw: Any, dialect: Dialect) -> MultiqaHeader:
    """The value of `header` in the first document as a record.

    Raises:
        DataError: a key holds another type; the message has the JSON path and the reason.
    """
    try:
        return msgspec.convert(dialect.record(raw, MultiqaHeader, "header"), MultiqaHeader)
    except msgspec.ValidationError as error:
        raise DataError(_reason({"header": raw}, "header", error)) from None


def _reason(raw: Any, kind: str, error: msgspec.ValidationError) -> str:
    """The first fault with its path in the file; msgspec's own path is one in the published dialect."""
    from .schema import faults

    for fault in faults(raw, kind):
        return f"{fault.path}: {fault.reason}"
    return str(error)


@cache
def _inner(kind: type[MultiqaRecord]) -> dict[str, tuple[type[MultiqaRecord], bool]]:
    """The keys of a record that hold records: their kind, and whether it is a list of them."""
    inner: dict[str, tuple[type[MultiqaRecord], bool]] = {}
    for field in msgspec.structs.fields(kind):
        for part in (field.type, *get_args(field.type)):  # such as `list[Instance] | None`
            element = get_args(part)[0] if get_origin(part) is list else part
            if hasattr(element, "__struct_fields__"):
                inner.setdefault(field.encode_name, (element, element is not part))
    return inner


def _place(path: str, key: str, kind: type[MultiqaRecord], is_list: bool) -> str:
    """How messages name a record inside of another: candidates and what is in them in the same way in all dialects."""
    if kind is MultiqaCandidate:
        return f"{path} candidate"
    head, candidate, _ = path.partition(" candidate")
    name = "answer" if kind is MultiqaAnswer else f"{key}{'[]' * is_list}"
    return f"{head}{candidate} {name}" if candidate else f"{path}.{name}"


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
