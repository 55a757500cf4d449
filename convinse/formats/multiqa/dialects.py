"""The spellings of MultiQA contexts (format of Talmor and Berant, ACL 2019): all are read, the published one is written.

| what | written (published schema) | also read |
| --- | --- | --- |
| answer candidate | container first: `single_answer` -> `extractive` | type first: `extractive` -> `single_answer` |
| candidates | `annotators_answer_candidates` | `answer_candidates` |
| tokens of an instance | `token_inds` | `start_end_tokens` |
| document of an instance | `doc_id` | `doc_ind` |
| tokens of a question | `["word", offset]` | `"word"` (the offset is looked for) |

Where a file has two spellings of one key in the same object, the published one counts and the other is kept as it is.
Offsets, `start_byte` too, count **characters** (Unicode code points), as in all published samples but the tokens of
NaturalQuestions; the name is true in ASCII only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from ...support.errors import DataError
from .schema import faults

Json = dict[str, Any]

CONTAINERS = ("single_answer", "list", "set")
TYPES = ("extractive", "yesno", "generated_text", "date", "number")
CANDIDATES = "annotators_answer_candidates"

_OTHER_NAMES = {"answer_candidates": CANDIDATES, "start_end_tokens": "token_inds", "doc_ind": "doc_id"}
_LISTS = ("supporting_context", "instances", CANDIDATES, "answer_candidates", "choices")
OBJECTS = frozenset({"answers", "open-ended", "multi-choice", *_LISTS, *CONTAINERS, *TYPES})
_OTHERS = frozenset({"type first", *_OTHER_NAMES, "question tokens without offsets"})
_ORDER = (
    "container first",
    "type first",
    *(name for spelling, published in _OTHER_NAMES.items() for name in (published, spelling)),
    "question tokens with offsets",
    "question tokens without offsets",
    "candidates with metadata only",
)


class Dialect:
    """The spellings of contexts, counted while the contexts are read."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def describe(self) -> list[str]:
        """Return the spellings of the contexts so far, in a fixed order."""
        return [name for name in _ORDER if self.seen[name]]

    def is_published(self) -> bool:
        """Return True if all contexts so far are spelled as in the published schema."""
        return not self.seen.keys() & _OTHERS

    def read(self, raw: Any) -> Json:
        """Return a context of any dialect in the published spelling; `raw` is not changed.

        Raises:
            DataError: `schema.json` refuses the context; the message has the JSON path and the reason.
        """
        for fault in faults(raw, "entry"):
            raise DataError(f"{fault.path}: {fault.reason}")
        return self.respell(raw)

    def respell(self, entry: Json) -> Json:
        """Return the published spelling of a context that `schema.json` accepts."""
        questions = [self._object(question) for question in entry["qas"]]
        for question in questions:
            if tokens := question.get("question_tokens"):
                question["question_tokens"] = self._tokens(tokens, question["question"])
        return {**entry, "qas": questions}

    def _tokens(self, tokens: list[Any], text: str) -> list[Any]:
        # with offsets if all are found in the text one after the other, else as they are
        if not all(isinstance(token, str) for token in tokens):
            self.seen["question tokens with offsets"] += 1
            return tokens
        self.seen["question tokens without offsets"] += 1
        placed: list[Any] = []
        end = 0
        for token in tokens:
            start = text.find(token, end)
            if start < 0 or text[end:start].strip():
                return tokens
            placed.append([token, start])
            end = start + len(token)
        return placed

    def _object(self, value: Json) -> Json:
        renamed = {}
        for spelling, published in _OTHER_NAMES.items():
            if published in value:
                self.seen[published] += 1
            elif spelling in value:
                self.seen[spelling] += 1
                renamed[spelling] = published
        return {renamed.get(key, key): self._value(key, part) for key, part in value.items()}

    def _value(self, key: str, value: Any) -> Any:
        if key not in OBJECTS:
            return value
        read: Callable[[Json], Json] = (
            self._candidate if key.endswith("candidates") or key == "choices" else self._object
        )
        if isinstance(value, list):
            return [read(part) if isinstance(part, dict) else part for part in value]
        return read(value) if isinstance(value, dict) else value

    def _candidate(self, candidate: Json) -> Json:
        if any(key in candidate for key in CONTAINERS):
            self.seen["container first"] += 1
        elif any(_has_container(candidate.get(key)) for key in TYPES):
            self.seen["type first"] += 1
            candidate = _container_first(candidate)
        elif "metadata" in candidate:
            self.seen["candidates with metadata only"] += 1
        return self._object(candidate)


def is_placed(token: Any) -> bool:
    """Return True if a token has an integer offset; a schema takes 1.0 for an integer, too."""
    return not isinstance(token, str) and type(token[1]) is int


def _has_container(value: Any) -> bool:
    return isinstance(value, dict) and any(value.get(key) is not None for key in CONTAINERS)


def _container_first(raw: Json) -> Json:
    # {"yesno": {"single_answer": "yes"}} -> {"single_answer": {"yesno": "yes"}}; lists of types are joined
    candidate: Json = {}
    unknown_keys: Json = {}
    for key, value in raw.items():
        if key not in TYPES or not _has_container(value):
            unknown_keys[key] = value
            continue
        beside = {}
        for container, part in value.items():
            if container not in CONTAINERS or part is None:
                beside[container] = part
            elif container == "single_answer":
                candidate.setdefault(container, {})[key] = part
            else:
                candidate.setdefault(container, []).extend({key: element} for element in part)
        if beside:
            unknown_keys[key] = beside
    return {**candidate, **unknown_keys}
