"""Keys that the published schema refuses, kept in `metadata`, which is free, while they are in a file.

`metadata` of a question or a document has a list `convinse_keys` of `{"at": [key or number, ...], "value": ...}`, whose
places begin at the context; those of the context itself are with its first document, or its first question.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

KEPT = "convinse_keys"
Place = tuple[str | int, ...]

_ENTRY = frozenset({"id", "context", "qas"})
_CONTEXT = frozenset({"documents"})
_DOCUMENT = frozenset({"title", "url", "text", "snippet", "table", "image", "metadata", "tokens"})
_CELL = frozenset({"text", "links"})
_IMAGE = frozenset({"url", "caption", "title"})
_QUESTION = frozenset({"qid", "question", "question_tokens", "supporting_context", "metadata", "answers"})
_ANSWERS = frozenset({"open-ended", "multi-choice"})
_OPEN_ENDED = frozenset({"cannot_answer", "annotators_answer_candidates"})
_INSTANCE = frozenset({"doc_id", "part", "start_byte", "text", "token_inds"})
_ANY = None  # an object that may have any key but one that is null


def publishable(entry: dict[str, Any]) -> dict[str, Any]:
    """A context without keys that the published schema refuses; they are in `metadata`.

    Args:
        entry: a context in the published spelling; its objects are changed.
    """
    holders: list[tuple[Place, dict[str, Any], list[tuple[Place, dict[str, Any]]]]] = []
    for number, document in enumerate(entry["context"]["documents"]):
        place: Place = ("context", "documents", number)
        holders.append((place, document, _of_document(document, place)))
    for number, question in enumerate(entry["qas"]):
        place = ("qas", number)
        holders.append((place, question, _of_question(question, place)))
    if holders:  # a context without any asks nothing of nothing: its keys stay
        holders[0][2].extend([*_refused(entry, _ENTRY, ()), *_refused(entry["context"], _CONTEXT, ("context",))])
    for place, holder, refused in holders:
        _keep(holder, place, refused)
    return entry


def restored(raw: Any) -> Any:
    """A context with the keys where they were; as it is where there are none, or where they do not fit."""
    if not any(KEPT in holder["metadata"] for holder in _holders(raw)):
        return raw
    entry = msgspec.json.decode(msgspec.json.encode(raw))
    for holder in list(_holders(entry)):
        kept = holder["metadata"].pop(KEPT, None)
        if kept is not None and not holder["metadata"]:
            del holder["metadata"]
        try:
            for part in kept or []:
                _put(entry, part["at"], part["value"])
        except (TypeError, KeyError, IndexError):
            return raw
    return entry


def _holders(raw: Any) -> Iterator[dict[str, Any]]:
    """The documents and the questions that have an object as `metadata`."""
    context = raw.get("context") if isinstance(raw, dict) else None
    documents = context.get("documents") if isinstance(context, dict) else None
    for holder in [*_list(documents), *_list(raw.get("qas") if isinstance(raw, dict) else None)]:
        if isinstance(holder, dict) and isinstance(holder.get("metadata"), dict):
            yield holder


def _put(entry: Any, place: list[str | int], value: Any) -> None:
    for key in place[:-1]:
        entry = entry[key]
    if not isinstance(entry, dict) or place[-1] in entry:
        raise KeyError(place[-1])
    entry[place[-1]] = value


def _keep(holder: dict[str, Any], place: Place, refused: list[tuple[Place, dict[str, Any]]]) -> None:
    """Move keys, each with its place and the object that it is in, into the metadata of a holder that is at `place`."""
    kept = [{"at": [*at], "value": inside.pop(str(at[-1]))} for at, inside in refused]
    if not kept:
        return
    metadata = holder.get("metadata")
    if "metadata" in holder and (not isinstance(metadata, dict) or not metadata or KEPT in metadata):
        kept.append({"at": [*place, "metadata"], "value": metadata})  # comes back as it is
        metadata = None
    holder["metadata"] = {**(metadata or {}), KEPT: kept}


def _of_document(document: dict[str, Any], place: Place) -> list[tuple[Place, dict[str, Any]]]:
    refused = _refused(document, _DOCUMENT, place)
    if isinstance(document.get("image"), dict):  # such values are those of the record, which stays as it is
        document["image"] = dict(document["image"])
    if isinstance(document.get("table"), list):
        document["table"] = [
            [dict(cell) if isinstance(cell, dict) else cell for cell in row] if isinstance(row, list) else row
            for row in document["table"]
        ]
    for row_number, row in enumerate(_list(document.get("table"))):
        for number, cell in enumerate(_list(row)):
            refused += _refused(cell, _CELL, (*place, "table", row_number, number))
    return refused + _refused(document.get("image"), _IMAGE, (*place, "image"))


def _of_question(question: dict[str, Any], place: Place) -> list[tuple[Place, dict[str, Any]]]:
    answers = question.get("answers")
    open_ended = answers.get("open-ended") if isinstance(answers, dict) else None
    refused = _refused(question, _QUESTION, place)
    refused += _refused(answers, _ANSWERS, (*place, "answers"))
    refused += _refused(open_ended, _OPEN_ENDED, (*place, "answers", "open-ended"))
    name = "annotators_answer_candidates"
    for number, candidate in enumerate(_list(open_ended.get(name) if isinstance(open_ended, dict) else None)):
        refused += _of_candidate(candidate, (*place, "answers", "open-ended", name, number))
    return refused


def _of_candidate(candidate: dict[str, Any], place: Place) -> list[tuple[Place, dict[str, Any]]]:
    refused = _refused(candidate, _ANY, place)
    answers: list[tuple[Place, Any]] = [((*place, "single_answer"), candidate.get("single_answer"))]
    for name in ("list", "set"):
        answers += [((*place, name, number), answer) for number, answer in enumerate(_list(candidate.get(name)))]
    for here, answer in answers:
        refused += _refused(answer, _ANY, here)
        extractive = answer.get("extractive") if isinstance(answer, dict) else None
        refused += _refused(extractive, _ANY, (*here, "extractive"))
        for number, instance in enumerate(_list(extractive.get("instances") if isinstance(extractive, dict) else None)):
            refused += _refused(instance, _INSTANCE, (*here, "extractive", "instances", number))
    return refused


def _refused(value: Any, known: frozenset[str] | None, place: Place) -> list[tuple[Place, dict[str, Any]]]:
    """The places of keys of an object that are not known, or null where a value is asked for."""
    if not isinstance(value, dict):
        return []
    return [
        ((*place, key), value)
        for key, part in value.items()
        if key != "metadata"
        and (key == "additionalProperties" or (known is not None and key not in known) or part is None)
    ]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
