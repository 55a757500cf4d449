"""The JSON schemas of MultiQA files and the faults that they find.

`schema.json` describes all readable documents as they stand in files, in both spellings of answers, so that the path of a fault is a
path in the file. Unknown keys are allowed. `published.json` is the published schema of a context in other words: the
published spelling, and no further keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import jsonschema_rs

from ...support.errors import one_line

_LONGEST_REASON = 160  # characters; a reason quotes the value that is wrong


class Fault(NamedTuple):
    """A JSON path, the reason why its value is wrong, and the broken rule of the schema, such as `maxLength`."""

    path: str
    reason: str
    rule: str


def faults(document: Any, kind: str) -> Iterator[Fault]:
    """Yield all faults of a document.

    Args:
        document: as it stands in the file.
        kind: a definition of `schema.json`: `header` (an object with the key `header`), `head` (the value of that key, which
            may lack keys), `entry` (a context with its questions); or `published` (a context in the published schema).
    """
    try:
        errors = _validator(kind).iter_errors(document)
    except ValueError as too_deep:  # for the library
        yield Fault("$", f"cannot be checked: {one_line(too_deep)}", "")
        return
    for error in errors:
        reason = error.message
        if len(reason) > _LONGEST_REASON:
            half = _LONGEST_REASON // 2
            reason = f"{reason[:half]} ... {reason[-half:]}"
        yield Fault(json_path(error.instance_path), reason, error.kind.name)


def json_path(keys: Sequence[str | int]) -> str:
    """Return `$.qas[0].answers.open-ended` for `["qas", 0, "answers", "open-ended"]`."""
    return "$" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)


def is_key(kind: str, key: str) -> bool:
    """Return True if a definition of `schema.json` has a key."""
    return key in _schema()["definitions"][kind]["properties"]


def fits(kind: str, key: str, value: Any) -> bool:
    """Return True if a key of the format may have a value."""
    return is_key(kind, key) and not any(faults(value, f"{kind}/properties/{key}"))


@cache
def _schema(name: str = "schema") -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8"))
    return schema


@cache
def _validator(kind: str) -> jsonschema_rs.Draft7Validator:
    if kind == "published":
        return jsonschema_rs.Draft7Validator(_schema(kind), validate_formats=True)
    definitions = _schema()["definitions"]
    return jsonschema_rs.Draft7Validator({"definitions": definitions, "allOf": [{"$ref": f"#/definitions/{kind}"}]})
