"""Requests and calls of a wrong shape, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..support.errors import nearest

_EXPECTED = {
    "string": "text",
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "list": "a list",
    "dict": "an object",
    "model": "an object",
    "model_attributes": "an object",
}
_TYPES = {"str", "int", "bool", "float", "dict", "list"}


def fault_of(errors: Sequence[Mapping[str, Any]], before: int = 0, valid: Iterable[str] = ()) -> str:
    """Return what is wrong first, of the errors of a pydantic model: the key and what is expected of its value.

    The first `before` parts of a place do not belong to it. `valid` keys are suggested for an unknown one.
    """
    first = errors[0]
    place = _place(first, before)
    if first["type"] == "json_invalid":
        return f"the body is not JSON: {first['ctx']['error']}"
    if first["type"] == "missing":
        return f"{place}: is missing" if place else "the body is missing: give a JSON object"
    if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        hint = f"; {nearest(place, [*valid])}" if valid else ""
        return f"{place}: unknown key{hint}"
    together = [error for error in errors if _place(error, before) == place]
    expected = [_EXPECTED.get(error["type"].removesuffix("_type").removesuffix("_parsing")) for error in together]
    if None not in expected:
        return f"{place or 'the body'}: expected {' or '.join(dict.fromkeys(filter(None, expected)))}"
    text = str(first["msg"]).replace("Input should be", "should be")
    return f"{place or 'the body'}: {text[:1].lower()}{text[1:]}"


def _place(error: Mapping[str, Any], before: int) -> str:
    # a member of a union is told by the name of its type, which a caller does not know
    parts = [str(part) for part in error["loc"][before:]]
    return ".".join(part for part in parts if part not in _TYPES and "[" not in part)
