"""Ways to damage a file that a reader has to survive: values of its structure, its bytes, its packing.

All chance comes from the `random.Random` that is given, so that a seed repeats a file; that is also why the files are
not drawn by hypothesis, which keeps and shrinks examples of its own.
"""

from __future__ import annotations

import bz2
import copy
import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

_DEPTHS = (40, 150, 260, 330, 480, 900, 2000)  # about those at which Python or a library gives up
_RAW = "\ue000raw\ue000"  # stands for text that no encoder writes; private-use characters are in no sample
_AGAIN = "\ue001"  # behind a key that is to be there twice

# JSON texts that a reader may stumble over
_NUMBERS = (
    *("null", "true", "0", "-1", "1.5", "1e999", "-1e400", "1e-400", "1E5", "NaN", "Infinity", "-Infinity", "-0", "01"),
    *(str(2**power + more) for power in (31, 32, 53, 63, 64) for more in (-1, 0)),
    *("9" * 5000, f"-{'8' * 400}", f"0.{'1' * 5000}", f"1{'0' * 400}.5", "13"),
)  # fmt: skip
_NESTED = (
    *("[]", "{}", "[[]]", "[null]", '{"": null}', "[[],{}]"),
    *("[" * depth + "]" * depth for depth in _DEPTHS),
    *('{"a":' * depth + "1" + "}" * depth for depth in _DEPTHS),
    *('[{"id":' * depth + "1" + "}]" * depth for depth in _DEPTHS),
)
_STRINGS = (
    *('""', '" "', '"\\n"', '"\\t"', '"a\\nb"', '"\\u0000"', '"\\ud800"', '"\\udc00x"', '"\\ufeff"', '"\\u2028"', '"\\u0085"'),
    *('"a\\u001fb\\u001fQ5\\u001f"', '"\\u001b[31m"', '"[/red]"', '"[bold"', '"%s {0}"', '"../../x"', '"/"', '"\u0661"', '"\u00b2"', '"Q"', '"Q0"', '"Px"'),
    *('"Q5000000000"', '"P5000000000"', '"P99999999999999999999"', '"L1"', '"Q1-F1"', '"q42"', '"Q\u0661"', '"42"', '"yes"'),
    *('"+2000-13-45T00:00:00Z"', '"+99999999999999999999-01-01T00:00:00Z"', '"-0000-00-00T00:00:00Z"', '"1e999"', '"NaN"'),
    *(f'"{"9" * 5000}"', f'"+{"9" * 5000}-01-01T00:00:00Z"', f'"{"x" * 70000}"', f'"{"a " * 3000}"', '"1,2,,"', '"+"', '"inf"'),
)  # fmt: skip
VALUES = (_NUMBERS, _NESTED, _STRINGS)
_BYTES = (
    b"\x00", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc3", b"\xf5\x80\x80\x80", b"\r",
    b"\r\n", b"\n", b"\n\n", b"\t", b",", b'"', b"\\", b"{", b"[", b"]", b"}", b"\xe2\x80\xa8", b"\xc2\x85", b"\x1a", b" ",
)  # fmt: skip
_WHOLE = (
    b"", b"\n", b" \n \n", b"\xef\xbb\xbf", b"null", b"[]", b"{}", b"[[]]", b"[{}]", b"[null]", b'"text"', b"1", b"true",
    b"\x00" * 64, b"\xff" * 64, b"[" * 100_000, b'{"a":' * 20_000, b"9" * 5000, b"{}\n{}\n", b"\t\t\n\t\n", b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd", b"BZh9", b"SQLite format 3\x00",
)  # fmt: skip
_YAML = (
    "[" * 600 + "]" * 600, "{a: " * 600 + "1" + "}" * 600, "&x [*x]", "&x {a: *x}", "*unknown", "!!python/object:os.x {}",
    "!!binary '=='", "!!set {a, b}", "!!timestamp 2000-13-45", "2000-13-45", "2000-02-30", "2000-01-01 99:99:99", "1:99:99",
    ".nan", ".inf", "-.inf", "9" * 5000, "0x", "0b2", "1_000", "09", "1e999", "1e5", "~", "{? [a] : b}", "{? {a: b} : c}",
    "'\\ud800'", '"\\uD800"', '"\\x00"', "|\n  a", "%TAG", "@", "`", "\t", "{<<: 1}", "{<<: [1]}", "!!int x", "!!float x",
    "!!bool x", "!!omap [a]", "!!pairs [a]", "!!null x", "=", "{1: 2}", "{null: 1}", "[1, 2]", "on", "''", "../../../x",
)  # fmt: skip
_FIELDS = (
    "", " ", "0", "-1", "1e999", "nan", "inf", "9" * 5000, "x" * 70000, "\u00b2", "\u0661", "\x00", "a b", '"', "Q0", "Q99999999999",
    "\u2028", "\u0085", "\x1c", "\ufeff", "macro", "all", "..", "/", "1_0", "0x1", "--", "\\",
)  # fmt: skip


def mutated(chance: random.Random, kind: str, data: bytes) -> bytes:
    """The content of a file with one to three damages: of its structure where it has one, or of its bytes.

    Args:
        chance: all of it.
        kind: `json`, `lines` (JSON lines), `yaml`, `table` (fields by tab) or `bytes`.
        data: a valid file, not packed.
    """
    structured = _KINDS.get(kind, _of_bytes)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        data = (structured if chance.random() < 0.75 else _of_bytes)(chance, data)
    if chance.random() < 0.03:
        data = chance.choice(_WHOLE)
    if chance.random() < 0.05:
        data = b"\xef\xbb\xbf" + data
    return data


def packed(chance: random.Random, data: bytes) -> bytes:
    """The content packed in one of three ways, mostly damaged: cut off, with other bytes in it, or with more behind it."""
    import zstandard

    pack: Callable[[bytes], bytes] = chance.choice((gzip.compress, bz2.compress, zstandard.compress))
    whole = pack(data)
    way = chance.randrange(6)
    if way < 2:
        return whole[: chance.randrange(len(whole))]
    if way == 2:
        return _flipped(chance, whole)
    if way == 3:
        return whole + chance.choice((b"\x00" * 9, b"more", whole, whole[:7]))
    return whole


def put(chance: random.Random, path: Path, kind: str) -> None:
    """Damage a file in its place: its content, its packing, or rarely that it is a file at all."""
    way = chance.random()
    if way < 0.01:
        path.unlink()
    elif way < 0.02:
        path.unlink()
        path.mkdir()
    elif way < 0.03:
        path.unlink()
        path.symlink_to(path.name)  # a link to itself
    elif way < 0.1:
        path.write_bytes(packed(chance, path.read_bytes()))
    else:
        path.write_bytes(mutated(chance, kind, path.read_bytes()))


def _flipped(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8))):
        if changed:
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _of_bytes(chance: random.Random, data: bytes) -> bytes:
    way = chance.randrange(6)
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.choice((1, 1, 4, 40, 400)))
    if way == 0:
        return data[:start]
    if way == 1:
        return _flipped(chance, data)
    if way == 2:
        return data[:start] + chance.choice(_BYTES) + data[start:]
    if way == 3:
        return data[:start] + data[end:]
    if way == 4:
        return data[:end] + data[start:]
    lines = data.splitlines(keepends=True)
    chance.shuffle(lines)
    return b"".join(lines)


def _of_json(chance: random.Random, data: bytes) -> bytes:
    raw: list[str] = []
    try:
        return _written(chance, _changed(chance, json.loads(data), raw), raw)
    except (ValueError, ArithmeticError, RecursionError):  # what was damaged before
        return _of_bytes(chance, data)


def _of_lines(chance: random.Random, data: bytes) -> bytes:
    """One of the JSON documents of a file of lines, with or without the brackets and commas of a dump."""
    lines = data.splitlines(keepends=True)
    places = [place for place, line in enumerate(lines) if line[:1] in b"{[" and len(line) > 3]
    if not places:
        return _of_bytes(chance, data)
    (place,) = chance.choices(places, [len(lines[place]) for place in places])
    if chance.random() < 0.08:
        lines.insert(place, chance.choice((lines[place], b"\n", b"null\n", b"[]\n", b"{}\n", b'"x"\n', b"1\n")))
        return b"".join(lines)
    document = lines[place].rstrip(b",\r\n")
    lines[place] = _of_json(chance, document) + lines[place][len(document) :]
    return b"".join(lines)


def _of_table(chance: random.Random, data: bytes) -> bytes:
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    place = chance.randrange(len(lines))
    fields = lines[place].split("\t")
    at = chance.randrange(len(fields))
    way = chance.randrange(6)
    if way == 0:
        del fields[at]
    elif way == 1:
        fields.insert(at, chance.choice(_FIELDS))
    elif way == 2:
        fields.insert(at, fields[at])
    elif way == 3:
        lines.insert(place, chance.choice(("", lines[place], "\t", " ")))
    else:
        fields[at] = chance.choice(_FIELDS)
    lines[place] = "\t".join(fields)
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _of_yaml(chance: random.Random, data: bytes) -> bytes:
    """A value, or all of a line, as something else that YAML has."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    place = chance.randrange(len(lines))
    key, colon, value = lines[place].partition(": ")
    new = chance.choice(chance.choice((_YAML, _YAML, *VALUES)))
    way = chance.randrange(5)
    if way == 0:
        lines.insert(place, lines[place])
    elif way == 1:
        lines[place] = f"{new}{colon}{value}"
    elif way == 2 and chance.random() < 0.2:
        lines = [new]
    else:
        lines[place] = f"{key}: {new}"
    return "\n".join(lines).encode("utf-8", "surrogateescape")


_KINDS: dict[str, Callable[[random.Random, bytes], bytes]] = {
    "json": _of_json, "lines": _of_lines, "yaml": _of_yaml, "table": _of_table,
}  # fmt: skip


def _places(tree: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values of a tree, its own among them."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [place, *(path for key, value in inner for path in _places(value, (*place, key)))]


def _at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def _changed(chance: random.Random, tree: Any, raw: list[str]) -> Any:
    """A tree with one value dropped, replaced, retyped, moved or doubled; `raw` gets texts that stand for values."""
    places = _places(tree)
    path = chance.choice(places)
    value = _at(tree, path)
    new: Any = f"{_RAW}{len(raw)}{_RAW}"
    way = chance.randrange(9)
    if way == 0:
        new = copy.deepcopy(_at(tree, chance.choice(places)))
    elif way == 1:
        new = chance.choice(([value], {"value": value}, str(value), [value, value], [], {}, None, not value))
    elif way == 2 and isinstance(value, str):
        new = chance.choice(
            (value + "\n", value * 3, value[1:], value.upper(), "\ud800" + value, value[: len(value) // 2])
        )
    elif way == 2 and isinstance(value, int | float):
        new = chance.choice((-value, value + 1, value * 10**12, value + 0.5, str(value)))
    else:
        raw.append(chance.choice(chance.choice(VALUES)))
    if not path:
        return new
    parent, key = _at(tree, path[:-1]), path[-1]
    if way == 3:
        del parent[key]
    elif way == 4 and isinstance(parent, dict):
        parent[chance.choice(("header", "id", "answers", "text", "more"))] = new
    elif way == 5 and isinstance(parent, list):
        parent.insert(chance.randrange(len(parent) + 1), new)
    elif way == 5:
        parent[f"{key}{_AGAIN}"] = new
    elif way == 6 and isinstance(parent, dict):
        del parent[key]
        parent[chance.choice(("", "\ud800", "\u0000", key.upper(), f"{key} ", "__class__", "extras", "9" * 5000))] = (
            value
        )
    else:
        parent[key] = new
    return tree


def _written(chance: random.Random, tree: Any, raw: list[str]) -> bytes:
    ascii_only = chance.random() < 0.5
    text = json.dumps(tree, ensure_ascii=ascii_only)
    for number, own in enumerate(raw):
        text = text.replace(json.dumps(f"{_RAW}{number}{_RAW}", ensure_ascii=ascii_only), own)
    text = text.replace(json.dumps(_AGAIN, ensure_ascii=ascii_only).strip('"'), "")
    return text.encode("utf-8", "surrogatepass")
