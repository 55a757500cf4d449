"""What the typed records of all formats share: keys kept from elsewhere, and the report of a check."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_args, get_origin

import msgspec

Extras = dict[str, Any]
R = TypeVar("R", bound=msgspec.Struct)

_RAW_OBJECTS = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])


class Report(NamedTuple):
    """What a check of a file found: `problems` break the format, `warnings` do not, `summary` describes the file."""

    problems: list[str]
    warnings: list[str]
    summary: dict[str, Any]


def extras_field() -> Any:
    """The field of a record for keys that its format does not know.

    Its name in JSON is one that no data set has (a private-use character), so that data may have a key `extras`.
    """
    return msgspec.field(default_factory=dict, name="\uf8ffextras")


@cache
def keys(kind: type[msgspec.Struct]) -> frozenset[str]:
    """The keys of a record that its format knows."""
    return frozenset(kind.__struct_fields__) - {"extras"}


@cache
def _lists(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of a record that are lists of records."""
    types = {field.name: field.type for field in msgspec.structs.fields(kind) if get_origin(field.type) is list}
    return tuple(name for name, listed in types.items() if hasattr(get_args(listed)[0], "__struct_fields__"))


def with_extras(record: R, members: dict[str, Any]) -> R:
    """A record with the keys in `extras` that its type does not name, at every level.

    Args:
        record: with lists of records, but no records of its own.
        members: its keys in the file; the values decoded, or `msgspec.Raw`, as most files have few such keys.
    """
    changes: dict[str, Any] = {}
    known = keys(type(record))
    if not members.keys() <= known:
        changes["extras"] = {
            key: msgspec.json.decode(value) if isinstance(value, msgspec.Raw) else value
            for key, value in members.items()
            if key not in known
        }
    for name in _lists(type(record)):
        if parts := getattr(record, name):
            values = members[name]
            objects = _RAW_OBJECTS.decode(values) if isinstance(values, msgspec.Raw) else values
            completed = list(map(with_extras, parts, objects))
            if any(new is not old for new, old in zip(completed, parts, strict=True)):
                changes[name] = completed
    return msgspec.structs.replace(record, **changes) if changes else record


def merged(known: dict[str, Any], extras: Extras) -> dict[str, Any]:
    """The keys of a format and those kept from elsewhere; one of the latter that the format uses gets a `_` before it."""
    for key, value in extras.items():
        while key in known:
            key = f"_{key}"
        known[key] = value
    return known


def first_of(members: dict[str, Any], names: Sequence[str]) -> Any:
    """The value of the first of `names` that has one, which is taken out of `members`; a number becomes text."""
    name = next((name for name in names if members.get(name) is not None), None)
    value = None if name is None else members.pop(name)
    return str(value) if type(value) is int else value


def taken(extras: Extras, *names: str) -> list[str]:
    """The values of keys, which are taken out of `extras`; "" for what is not there or no string, which stays."""
    return [extras.pop(name) if isinstance(extras.get(name), str) else "" for name in names]


def plain(record: Any) -> dict[str, Any]:
    """A record with `extras` as JSON-shaped data: the keys of its format in the order of the fields, then the others."""
    known = {name: getattr(record, name) for name in record.__struct_fields__ if name != "extras"}
    for name, value in known.items():
        if isinstance(value, list) and value and isinstance(value[0], msgspec.Struct):
            known[name] = [plain(part) for part in value]
    return merged(known, record.extras)
