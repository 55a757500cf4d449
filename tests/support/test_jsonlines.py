"""Streamed JSON documents: lines, runs of documents of any layout, packed files, and what is wrong with files."""

import bz2
import gzip
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.support.errors import DataError
from convinse.support.jsonlines import read_documents, read_lines, writing
from convinse.support.zstd import zstd
from memory import memory_below
from refusals import refused
from written import write

PACKERS = {"plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "zst": zstd.compress}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=6), VALUES, max_size=4)


@pytest.fixture
def written(workdir):
    return lambda content, name="data.jsonl": write(workdir / name, content)


def unreadable(read, path, *words):
    refused(DataError, lambda: list(read(path)), str(path), *words)


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("read", [read_lines, read_documents])
def test_packed_files_are_recognized_by_their_content(written, packer, read):
    path = written(PACKERS[packer](b'\xef\xbb\xbf{"a": 1}\r\n\n{"b": "\xc3\xa9"}'), "no.suffix")
    assert list(read(path)) == [(1, {"a": 1}), (3, {"b": "é"})]
    if packer in ("gz", "zst"):  # several packed parts
        path = written(PACKERS[packer](b'{"a": 1}\n') + PACKERS[packer](b'{"a": 2}\n'))
        assert [value["a"] for _, value in read(path)] == [1, 2]
    assert list(read(written(PACKERS[packer](b"\n \n")))) == list(read(written(""))) == []


@given(
    st.lists(OBJECTS, max_size=5),
    st.sampled_from([None, 0, 2]),
    st.sampled_from(["", "\n", " \r\n\n"]),
    st.integers(0, 60),
)
def test_documents_of_any_layout_are_read(tmp_path_factory, objects, indent, between, cut):
    """However they are laid out, and wherever the end of a block cuts them."""
    path = tmp_path_factory.mktemp("documents") / "x"
    texts = [json.dumps(value, indent=indent, ensure_ascii=False) for value in objects]
    before = " " * ((1 << 17) - cut)
    path.write_text(before + between.join(texts), encoding="utf-8", newline="")
    assert [value for _, value in read_documents(path)] == objects
    path.write_text(before + json.dumps(objects, indent=indent), encoding="utf-8")
    assert [value for _, value in read_documents(path, unwrap=True)] == objects


def test_unwrapping_leaves_other_documents_alone(written):
    path = written('[{"a": 1},\n {"a": [2]}]\n{"a": 3} []')
    assert [(line, value["a"]) for line, value in read_documents(path, unwrap=True)] == [(1, 1), (2, [2]), (3, 3)]
    assert [value for _, value in read_documents(path)][1:] == [{"a": 3}, []]


def test_values_of_another_type_are_refused(written):
    class Kind(msgspec.Struct):
        a: int

    path = written('{"a": 1, "b": 2}\n{"a": "x"}')
    assert next(read_lines(path, Kind))[1].a == 1
    unreadable(lambda path: read_lines(path, Kind), path, ":2:", "$.a")
    unreadable(lambda path: read_documents(path, Kind), path, ":2:", "$.a")


@pytest.mark.parametrize("read", [read_lines, read_documents])
@pytest.mark.parametrize(
    "content, line",
    [
        (b'{"a": 1}\n{broken}\n', 2),
        (b'{"a": 1}\n\n{"a": "\xff"}\n', 3),
        (b'{"a": 1}\nnonsense\n', 2),
        (b'{"a": 1}\n{"a": "b\n"}', 2),
        (b'{"a": 1}\n{"a": 1', 2),
        (b'{"a": 1}\n}\n', 2),
        (b'{"a": "\\ud800"}', 1),
        (b"[" * 100_000 + b"]" * 100_000, 1),
    ],
)
def test_invalid_json_error_names_the_line(written, read, content, line):
    unreadable(read, written(content), f":{line}:", "not valid JSON")


@pytest.mark.parametrize("content", ["{}\n,{}", '{} "text"', "[{}] ]", "[{}] x", "[{} x]", "7"])
def test_text_between_documents_is_refused(written, content):
    unreadable(lambda path: read_documents(path, unwrap=True), written(content), "not valid JSON")


@pytest.mark.parametrize("packer", ["gz", "bz2", "zst"])
@pytest.mark.parametrize("read", [read_lines, read_documents])
def test_a_truncated_file_names_the_line_that_was_reached(written, packer, read):
    content = PACKERS[packer](b"".join(b'{"a": "%d"}\n' % (i * i) for i in range(20_000)))
    path = written(content[: len(content) // 2])
    if packer == "zst":  # the end of the frame is missing: what was whole is read, the broken line is an error
        with pytest.raises(DataError):
            list(read(path))
    else:
        unreadable(read, path, "cannot be read", "complete?")


@pytest.mark.parametrize("content", [b"\x1f\x8bnonsense", b"BZhnonsense", b"\x28\xb5\x2f\xfdnonsense"])
def test_damaged_and_missing_files_are_refused(written, workdir, content):
    unreadable(read_lines, written(content), ":1:")
    unreadable(read_lines, workdir / "missing", "No such file")
    unreadable(read_lines, workdir)


@given(st.lists(VALUES, max_size=5))
def test_written_values_are_read(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("written")
    for name in ("a.jsonl", "a.jsonl.gz", "b.jsonl.gz"):
        with writing(folder / name) as add:
            for value in values:
                add(value)
        assert [value for _, value in read_lines(folder / name)] == values
    assert (folder / "a.jsonl.gz").read_bytes() == (folder / "b.jsonl.gz").read_bytes()
    assert (folder / "a.jsonl.gz").read_bytes()[3:8] == bytes(5)  # no name, time 0


@pytest.mark.parametrize("layout", ["lines", "documents", "list"])
def test_memory_does_not_grow_with_the_file(workdir, layout):
    path = workdir / "big.gz"
    document = {"text": "x" * 2000, "list": list(range(50))}
    with gzip.open(path, "wt", compresslevel=1) as file:
        if layout == "list":
            file.write("[")
        for number in range(4000):  # 8 MB
            indent = 1 if layout == "documents" else None
            file.write(f"{',' if layout == 'list' and number else ''}{json.dumps(document, indent=indent)}\n")
        if layout == "list":
            file.write("]")
    with memory_below(3 << 20):
        read = read_lines(path) if layout == "lines" else read_documents(path, unwrap=True)
        assert sum(1 for _ in read) == 4000
