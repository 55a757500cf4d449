"""A walk through one JSON document: what it reads in any layout and block size, and what it refuses."""

import gzip
import io
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.support import jsonwalk
from convinse.support.errors import DataError
from convinse.support.jsonwalk import JsonWalk, typed, walking

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**25), 10**25)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def block(monkeypatch):
    return lambda size: monkeypatch.setattr(jsonwalk, "_BLOCK", size)


def walk_of(content):
    return JsonWalk(Path("file"), io.BytesIO(content if isinstance(content, bytes) else content.encode()))


def taken_apart(walk, depth):
    """The value at the place, its lists and objects taken apart down to a depth."""
    opening = walk._next()
    if depth and opening == "[":
        return [taken_apart(walk, depth - 1) for _ in walk.elements("$")]
    if depth and opening == "{":
        return {key: taken_apart(walk, depth - 1) for key in walk.members("$")}
    return walk.value()


def whole(content, depth=2):
    walk = walk_of(content)
    value = taken_apart(walk, depth)
    walk.end()
    return value


@given(
    VALUES,
    st.integers(1, 40),
    st.integers(0, 3),
    st.sampled_from([None, 1]),
    st.booleans(),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
)
def test_any_document_in_any_layout_and_blocks_of_any_size(value, size, depth, indent, ascii, mark):
    older, jsonwalk._BLOCK = jsonwalk._BLOCK, size
    try:
        content = mark + json.dumps(value, indent=indent, ensure_ascii=ascii).encode()
        assert whole(content, depth) == value
        if isinstance(value, dict | list | str):  # a part of a number may be one
            with pytest.raises(DataError, match="file:"):
                whole(content[:-1], depth)
    finally:
        jsonwalk._BLOCK = older


@pytest.mark.parametrize("number", ["12345678901234567890123", "-1.25e-10", "1E+2", "0.5", "true", "null"])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_number_that_a_block_cuts(block, number, size):
    block(size)
    assert whole(number) == whole(f" {number}\n") == json.loads(number)
    assert whole(f'{{"a":{number},"b":[{number} ]}}') == {"a": json.loads(number), "b": [json.loads(number)]}


@pytest.mark.parametrize("size", [1, 3, 1 << 18])
@pytest.mark.parametrize(
    "content, reason",
    [
        ("", ":1: not valid JSON: truncated"),
        (" \n ", ":2: not valid JSON: truncated"),
        ('{"a"', "truncated, expected ':'"),
        ('{"a": "b', "truncated, unterminated string"),
        ("[1", "truncated, expected ',' or '\\]'"),
        ("[1 2]", r"expected ',' or '\]' \(character 4\)"),
        ("[1}", "expected"),
        ("[1,]", "expecting value"),
        ("[,1]", "expecting value"),
        ('{"a": 1,}', "expected a key"),
        ("{a: 1}", "expected a key"),
        ('{"a" 1}', "expected ':'"),
        ('{"a": 1, "a": 2}', r"'a' appears twice"),
        ("[1] 2", "behind the end"),
        ('["\n"]', "control character"),
        ('["\\x"]', "escape"),
        ('["\\ud800"]', "half of a surrogate pair"),
        ('["\\udc00\\ud800"]', "half of a surrogate pair"),
        ("[NaN]", "NaN is no JSON"),
        ("[-Infinity]", "no JSON|expecting value"),
        ("[1e999]", "out of range"),
        ("[nul]", "expecting value"),
        ("\n[1,\n2,\nx]", r":4: not valid JSON: expecting value \(character 9\)"),
        (b'["\xc3', ":1: not valid JSON: not UTF-8"),
        (b'[1,\n2,\n"\xff"]', ":3: not valid JSON: not UTF-8"),
    ],
)
def test_what_is_no_json_is_named_with_its_place(block, size, content, reason):
    block(size)
    with pytest.raises(DataError, match=f"file.*{reason}") as caught:
        whole(content)
    assert "\n" not in str(caught.value)


def test_pairs_of_surrogates_are_one_character():
    assert whole('["\\ud83d\\ude00"]') == ["\U0001f600"]


@pytest.mark.parametrize(
    "value, kind", [("1", "number"), ("[", "array"), ('"', "str"), ("t", "bool"), ("null", "null")]
)
def test_another_type_than_an_object(value, kind):
    with pytest.raises(DataError, match=rf"file:2: Expected `object`, got `{kind}` - at `\$\.x`"):
        next(walk_of(f"\n{value}").members("$.x"))
    with pytest.raises(DataError, match=r"file:1: Expected `array`, got `object` - at `\$`"):
        next(walk_of("{}").elements("$"))


def test_a_long_value_is_not_read_again_for_every_block(block, monkeypatch):
    block(10)
    tries = []
    decoder = jsonwalk._DECODER

    class Counting:
        def raw_decode(self, text, at):
            tries.append(len(text))
            return decoder.raw_decode(text, at)

    monkeypatch.setattr(jsonwalk, "_DECODER", Counting())
    value = ["x" * 10] * 5000
    assert whole(json.dumps(value), 0) == value
    assert len(tries) < 20


def test_packed_files_and_their_faults(workdir):
    path = workdir / "a"
    path.write_bytes(packed := gzip.compress(json.dumps(list(range(50_000))).encode()))
    with walking(path) as walk:
        assert [walk.value() for _ in walk.elements("$")] == list(range(50_000))
        walk.end()
    path.write_bytes(packed[:-20])
    with pytest.raises(DataError, match=r"a:1: .*complete\?"), walking(path) as walk:
        for _ in walk.elements("$"):
            walk.value()
    with pytest.raises(DataError, match="missing: cannot be read"), walking(workdir / "missing"):
        pass


def test_typed_values_name_their_place():
    class Inner(msgspec.Struct):
        b: int

    class Kind(msgspec.Struct):
        a: list[Inner]

    assert typed({"a": [{"b": 1, "c": 2}]}, Kind, Path("f"), "$.x[3]").a[0].b == 1
    with pytest.raises(DataError, match=r"^f: Expected `int`, got `str` - at `\$\.x\[3\]\.a\[0\]\.b`$"):
        typed({"a": [{"b": "1"}]}, Kind, Path("f"), "$.x[3]")
    with pytest.raises(DataError, match=r"^f: Object missing required field `a` - at `\$\.x\[3\]`$"):
        typed({}, Kind, Path("f"), "$.x[3]")
