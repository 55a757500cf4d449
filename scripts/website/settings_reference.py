"""The keys of a configuration, from the types and docstrings of `convinse.config`: name, values, unit, default, since, meaning."""

import inspect
import json
import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect as types

_FIRST_VERSION = "0.1"
_NAME = r"[a-z][a-z_0-9]*"


class Key(NamedTuple):
    """A key: `values` says in words what may be given; `default` is YAML, empty if a value is required."""

    name: str
    values: str
    unit: str
    default: str
    since: str
    about: str


def keys(kind: type[msgspec.Struct], prefix: str = "", since: str = _FIRST_VERSION) -> Iterator[Key]:
    """The keys of a structure that is there since a version, each before the keys below it."""
    about = explained(kind)
    info = types.type_info(kind)
    assert isinstance(info, types.StructType)
    for field in info.fields:
        if field.name not in about:
            raise LookupError(f"{kind.__name__}: its docstring does not say what the key {field.name} is")
        default, text = about[field.name]
        first = max(default, since, key=lambda version: [int(part) for part in version.split(".")])
        values, unit = _values(field.type)
        yield Key(prefix + field.name, values, unit, _default(field), first, text)
        for part in field.type.types if isinstance(field.type, types.UnionType) else [field.type]:
            if isinstance(part, types.StructType):
                yield from keys(part.cls, f"{prefix}{field.name}.", first)


def explained(kind: type[msgspec.Struct]) -> dict[str, tuple[str, str]]:
    """What the docstrings of a structure and of those it inherits say: key -> (version, text)."""
    texts: dict[str, tuple[str, str]] = {}
    for ancestor in reversed(kind.__mro__):
        fields = getattr(ancestor, "__struct_fields__", ())
        if not fields or not ancestor.__doc__:
            continue
        text = " ".join(inspect.cleandoc(ancestor.__doc__).split())
        name = "|".join(fields)
        heads = list(re.finditer(rf"(?<![\w`.])((?:{name})(?:, (?:{name}))*)(?: \((\d+\.\d+)\))?: ", text))
        for head, behind in zip_longest(heads, heads[1:]):
            end = behind.start() if behind else len(text)
            said = text[head.end() : end].strip().rstrip(";.")
            texts |= dict.fromkeys(head[1].split(", "), (head[2] or _FIRST_VERSION, said))
    return texts


def _values(kind: types.Type) -> tuple[str, str]:
    """What may be given, in words, and its unit."""
    extra: dict[str, Any] = {}
    while isinstance(kind, types.Metadata):
        extra |= kind.extra or {}
        kind = kind.type
    if isinstance(kind, types.UnionType):
        parts = [_values(part) for part in kind.types]
        words = [text for text, _ in parts if text != code("null")]
        null = [code("null")] if len(words) < len(parts) else []
        return " or ".join([*words, *null]), next((unit for _, unit in parts if unit), "")
    return extra.get("form") or _words(kind), extra.get("unit", "")


def _words(kind: types.Type) -> str:
    if isinstance(kind, (types.IntType, types.FloatType)):
        noun = "whole number" if isinstance(kind, types.IntType) else "number"
        if kind.ge is not None and kind.le is not None:
            return f"{noun} from {kind.ge:g} to {kind.le:g}"
        bounds = (
            f", {kind.ge:g} or more" if kind.ge is not None else f" above {kind.gt:g}" if kind.gt is not None else ""
        )
        return noun + bounds
    if isinstance(kind, types.LiteralType):
        *first, last = [code(str(value)) for value in kind.values]
        return " or ".join(filter(None, [", ".join(first), last]))
    if isinstance(kind, types.ListType):
        return f"list of {_values(kind.item_type)[0]}"
    if isinstance(kind, types.TupleType):
        return "list of " + " and ".join(_values(part)[0] for part in kind.item_types)
    names = {
        types.BoolType: "true or false",
        types.StrType: "text",
        types.NoneType: code("null"),
        types.StructType: "keys of its own",
        types.DictType: "any keys",
    }
    if isinstance(kind, types.CustomType) or type(kind) not in names:
        raise LookupError(f"no words for the type {kind}")
    return names[type(kind)]


def _default(field: types.Field) -> str:
    if isinstance(field.type, types.StructType):
        return ""
    if field.default_factory is not msgspec.NODEFAULT:
        return json.dumps(field.default_factory())
    if field.default is msgspec.NODEFAULT:
        return ""
    return field.default if isinstance(field.default, str) and field.default.strip() else json.dumps(field.default)


def markdown(key: Key) -> str:
    required = "" if key.default or key.values == "keys of its own" else "required"
    default = f"default {code(key.default)}" if key.default else required
    facts = ", ".join(filter(None, [key.values, key.unit, default, f"since {key.since}"]))
    return f"- `{key.name}`: {key.about} ({facts})"


def code(text: str) -> str:
    """Return text as code within a line; backticks in it make the fence longer."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"
