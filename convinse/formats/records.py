"""What the typed records of all formats share: keys kept from elsewhere, and the report of a check."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import msgspec

Extras = dict[str, Any]


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


def merged(known: dict[str, Any], extras: Extras) -> dict[str, Any]:
    """The keys of a format and those kept from elsewhere; one of the latter that the format uses gets a `_` before it."""
    for key, value in extras.items():
        while key in known:
            key = f"_{key}"
        known[key] = value
    return known


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
