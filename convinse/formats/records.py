"""Shared parts of the typed records of all formats: unknown keys (`extras`), and the report of a check."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_args, get_origin

import msgspec

Extras = dict[str, Any]
R = TypeVar("R", bound=msgspec.Struct)


class Report(NamedTuple):
    """The result of a check of a file: `problems` break the format, `warnings` do not, `summary` describes the file."""

    problems: list[str]
    warnings: list[str]
    summary: dict[str, Any]


def extras_field() -> Any:
    """Return the field of a record for unknown keys.

    Its name in JSON begins with a private-use character, so that data may have a key `extras`.
    """
    return msgspec.field(default_factory=dict, name="\uf8ffextras")


@cache
def keys(kind: type[msgspec.Struct]) -> frozenset[str]:
    """Return the keys of a record in its format."""
    return frozenset(kind.__struct_fields__) - {"extras"}


@cache
def _lists(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    # the fields that are lists of records
    types = {field.name: field.type for field in msgspec.structs.fields(kind) if get_origin(field.type) is list}
    return tuple(name for name, listed in types.items() if hasattr(get_args(listed)[0], "__struct_fields__"))


def with_extras(record: R, members: dict[str, Any]) -> R:
    """Return a record whose `extras` have the keys that its type does not name, at every level.

    Args:
        record: its fields may be lists of records, but not records.
        members: its keys in the file, decoded or `msgspec.Raw`.
    """
    fields = keys(type(record))
    changes: dict[str, Any] = {}
    if not members.keys() <= fields:
        changes["extras"] = {
            key: msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value
            for key, value in members.items()
            if key not in fields
        }
    for name in _lists(type(record)):
        if parts := getattr(record, name):
            changes[name] = list(map(with_extras, parts, members[name]))
    return msgspec.structs.replace(record, **changes) if changes else record


def merged(members: dict[str, Any], extras: Extras) -> dict[str, Any]:
    """Add extras to the keys of a format; an extra key that the format uses gets a `_` before it."""
    for key, value in extras.items():
        while key in members:
            key = f"_{key}"
        members[key] = value
    return members


def without(members: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the members beside those of some names."""
    return {key: value for key, value in members.items() if key not in names}


def first_of(members: dict[str, Any], names: Sequence[str]) -> Any:
    """Remove the first of `names` that has a value from `members` and return the value; a number becomes text."""
    name = next((name for name in names if members.get(name) is not None), None)
    value = None if name is None else members.pop(name)
    return str(value) if type(value) is int else value


def taken(extras: Extras, *names: str) -> list[str]:
    """Remove the strings of some keys from `extras` and return them; "" for a missing key or another type, which stays."""
    return [extras.pop(name) if isinstance(extras.get(name), str) else "" for name in names]


def plain(record: Any) -> dict[str, Any]:
    """Return a record as JSON-shaped data: the keys of its format in the order of the fields, then `extras`."""
    members = {name: getattr(record, name) for name in record.__struct_fields__ if name != "extras"}
    for name, value in members.items():
        if isinstance(value, list) and value and isinstance(value[0], msgspec.Struct):
            members[name] = [plain(part) for part in value]
    return merged(members, record.extras)
