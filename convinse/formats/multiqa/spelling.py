"""The spellings of the answers in MultiQA contexts (format of Talmor and Berant, ACL 2019).

The published schema has the container first (`single_answer` -> `extractive`); several of the published files have the type
first (`extractive` -> `single_answer`), and `answer_candidates` for `annotators_answer_candidates`. Both are read, the
schema's is written.

Offsets, `start_byte` too, count **characters** (Unicode code points), as in all published samples but the tokens of
NaturalQuestions; the name is true in ASCII only.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

CONTAINERS = ("single_answer", "list", "set")
TYPES = ("extractive", "yesno", "generated_text", "date", "number")
CANDIDATES = "annotators_answer_candidates"


def respelled(entry: Json) -> Json:
    """Return a context that `schema.json` accepts with its answers in the spelling of the published schema."""
    return {**entry, "qas": [_question(question) for question in entry["qas"]]}


def _question(question: Json) -> Json:
    answers = dict(question.get("answers") or {})
    if opened := answers.get("open-ended"):
        named = {(CANDIDATES if key == "answer_candidates" else key): value for key, value in opened.items()}
        answers["open-ended"] = _with_candidates(named, CANDIDATES)
    if choice := answers.get("multi-choice"):
        answers["multi-choice"] = _with_candidates(choice, "choices")
    return {**question, "answers": answers} if answers else question


def _with_candidates(members: Json, key: str) -> Json:
    listed = members.get(key)
    return {**members, key: [_container_first(candidate) for candidate in listed]} if listed else members


def _container_first(raw: Json) -> Json:
    # {"yesno": {"single_answer": "yes"}} -> {"single_answer": {"yesno": "yes"}}; lists of types are joined
    if any(key in raw for key in CONTAINERS):
        return raw
    candidate: Json = {}
    rest: Json = {}
    for key, value in raw.items():
        if key not in TYPES or not isinstance(value, dict) or value.keys().isdisjoint(CONTAINERS):
            rest[key] = value
            continue
        for container, part in value.items():
            if container not in CONTAINERS or part is None:
                continue
            if container == "single_answer":
                candidate.setdefault(container, {})[key] = part
            else:
                candidate.setdefault(container, []).extend({key: element} for element in part)
    return {**candidate, **rest}


def is_placed(token: Any) -> bool:
    """Return True if a token has an integer offset; a schema takes 1.0 for an integer, too."""
    return not isinstance(token, str) and type(token[1]) is int
