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

from typing import Any

Json = dict[str, Any]

CONTAINERS = ("single_answer", "list", "set")
TYPES = ("extractive", "yesno", "generated_text", "date", "number")
CANDIDATES = "annotators_answer_candidates"

_OTHER_NAMES = {"answer_candidates": CANDIDATES, "start_end_tokens": "token_inds", "doc_ind": "doc_id"}
_ANSWERS = (CANDIDATES, "answer_candidates", "choices")
OBJECTS = {"answers", "open-ended", "multi-choice", "supporting_context", "instances", *_ANSWERS, *CONTAINERS, *TYPES}
OTHER_SPELLINGS = frozenset({"type first", *_OTHER_NAMES, "question tokens without offsets"})
SPELLINGS = (  # in the order of reports
    "container first",
    "type first",
    *(name for spelling, published in _OTHER_NAMES.items() for name in (published, spelling)),
    "question tokens with offsets",
    "question tokens without offsets",
    "candidates with metadata only",
)


def respelled(entry: Json, seen: set[str]) -> Json:
    """Return the published spelling of a context that `schema.json` accepts; `seen` gets the spellings that it has."""
    questions = []
    for question in entry["qas"]:
        question = _respelled("", question, seen)
        if tokens := question.get("question_tokens"):
            question["question_tokens"] = _placed(tokens, question["question"], seen)
        questions.append(question)
    return {**entry, "qas": questions}


def _placed(tokens: list[Any], text: str, seen: set[str]) -> list[Any]:
    # with offsets if all are found in the text one after the other, else as they are
    if not all(isinstance(token, str) for token in tokens):
        seen.add("question tokens with offsets")
        return tokens
    seen.add("question tokens without offsets")
    placed: list[Any] = []
    end = 0
    for token in tokens:
        start = text.find(token, end)
        if start < 0 or text[end:start].strip():
            return tokens
        placed.append([token, start])
        end = start + len(token)
    return placed


def _respelled(key: str, value: Any, seen: set[str]) -> Any:
    if isinstance(value, list):
        return [_respelled(key, part, seen) for part in value]
    if not isinstance(value, dict):
        return value
    if key in _ANSWERS:
        value = _container_first(value, seen)
    names = {name: name for name in value}
    for spelling, published in _OTHER_NAMES.items():
        if published in value:
            seen.add(published)
        elif spelling in value:
            seen.add(spelling)
            names[spelling] = published
    return {names[name]: _respelled(name, part, seen) if name in OBJECTS else part for name, part in value.items()}


def _container_first(raw: Json, seen: set[str]) -> Json:
    # {"yesno": {"single_answer": "yes"}} -> {"single_answer": {"yesno": "yes"}}; lists of types are joined
    typed = [key for key, value in raw.items() if key in TYPES and _has_container(value)]
    if any(key in raw for key in CONTAINERS):
        seen.add("container first")
        return raw
    if not typed:
        seen |= {"candidates with metadata only"} if "metadata" in raw else set()
        return raw
    seen.add("type first")
    candidate: Json = {}
    rest: Json = {key: value for key, value in raw.items() if key not in typed}
    for key in typed:
        for container, part in raw[key].items():
            if container not in CONTAINERS or part is None:
                rest.setdefault(key, {})[container] = part
            elif container == "single_answer":
                candidate.setdefault(container, {})[key] = part
            else:
                candidate.setdefault(container, []).extend({key: element} for element in part)
    return {**candidate, **rest}


def _has_container(value: Any) -> bool:
    return isinstance(value, dict) and any(value.get(key) is not None for key in CONTAINERS)


def is_placed(token: Any) -> bool:
    """Return True if a token has an integer offset; a schema takes 1.0 for an integer, too."""
    return not isinstance(token, str) and type(token[1]) is int
