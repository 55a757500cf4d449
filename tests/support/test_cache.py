"""The cache: what is put is found, what is damaged is made again, and what cannot be used is done without."""

import json
import os
import pickle
import signal
import sqlite3
import stat
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from convinse.support.cache import FILE, Cache, cache_fault
from convinse.support.errors import ModelError
from convinse.support.vectors import VectorCache
from patience import PATIENCE

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
WRITER = """
import sys
from convinse.support.cache import Cache
from convinse.support.vectors import VectorCache
cache = Cache("cache")
vectors = VectorCache(cache, "model", 3)
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[2])):
    cache.put("facts", sys.argv[1], number, value=[sys.argv[1], number, "x" * 500])
    vectors.put([f"{sys.argv[1]} {number}", f"shared {number}"], [[number, 1, 2]] * 2)
    print(number, flush=True)
"""
FULL_DISK = """
import resource, signal
from convinse.support.cache import Cache
from convinse.support.vectors import VectorCache
cache = Cache("cache")
cache.put("first", value=1)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
vectors = VectorCache(cache, "model", 3)
for number in range(400):
    cache.put("more", number, value=[str(hash((number, place))) for place in range(100)])
assert vectors.found_or_computed(["a"], lambda texts: [[1, 2, 3]]).tolist() == [[1, 2, 3]]
assert cache.get("first") == 1
"""


@pytest.fixture
def cache(workdir, closed):
    return closed(Cache(workdir / "cache"))


@pytest.fixture(scope="module")
def module_cache(tmp_path_factory):
    with closing(Cache(tmp_path_factory.mktemp("module_cache"))) as opened:
        yield opened


def files(workdir):
    """The databases of the entries and of the vectors."""
    (vectors,) = workdir.rglob(f"v4/{FILE}")
    return vectors.parent / "entries" / FILE, vectors


def changed(file, statement, *values):
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement, values)


# --- entries


@given(JSON.filter(lambda value: value is not None) | st.sampled_from([[], {}, "", 0, False]))
def test_any_json_value_comes_back_even_an_empty_one(module_cache, value):
    module_cache.put("kind", value=value)
    assert json.dumps(module_cache.get("kind")) == json.dumps(value)


@given(st.lists(st.lists(JSON, max_size=3), min_size=2, max_size=2, unique_by=json.dumps))
@example([["build-1", {"k": 1}], ["build-1", {"k": "1"}]])
@example([["build-1", {"k": 1}], ["build-1"]])
def test_different_parameters_are_different_keys(module_cache, keys):
    for key, value in zip(keys, ("one", "other"), strict=True):
        module_cache.put("pair", *key, value=value)
    assert [module_cache.get("pair", *key) for key in keys] == ["one", "other"]


@pytest.mark.parametrize("path", [None, "cache"])
def test_none_is_refused_since_a_failure_is_not_an_empty_result(path):
    with pytest.raises(ValueError, match="None"):
        Cache(path).put("kind", value=None)


def test_closed_cache_opens_again_and_another_finds_its_entries(cache, workdir):
    cache.put("kind", value=[1])
    cache.close()
    cache.close()
    assert cache.get("kind") == [1] and Cache(workdir / "cache").get("kind") == [1]
    assert stat.S_IMODE(files(workdir)[1].parent.stat().st_mode) == 0o700


def test_without_a_path_no_disk_is_touched(workdir):
    cache = Cache(None)
    vectors = VectorCache(cache, "model", 2, most=2)
    cache.put("kind", value=[1])
    vectors.put(["a", "b", "c"], [[1, 2]] * 3)
    assert not cache.enabled and cache.get("kind") is None and cache.keys() == []
    assert vectors.get(["a", "b", "c"])[1].tolist() == [False, True, True]
    assert Cache("cache").enabled and list(workdir.iterdir()) == []


def test_equal_parameters_are_one_key_in_any_order(cache):
    cache.put("facts", {"k": 1, "d": {"x": 1, "y": 2}}, value=[1])
    assert cache.get("facts", {"d": {"y": 2, "x": 1}, "k": 1}) == [1]
    cache.put("caf\udce9", value=[2])
    cache.put("caf\udce9", value=[1])  # an argument of the command line in another encoding
    assert cache.get("caf\udce9") == [1] and len(cache.keys()) == 2
    cache.clear()
    assert cache.keys() == []


# --- vectors


@pytest.mark.parametrize(("precision", "same"), [("float16", False), ("float32", True)])
def test_vectors_come_back_in_their_precision(cache, workdir, precision, same):
    texts, numbers = [f"text {number}" for number in range(1500)], np.random.default_rng(1).random((1500, 3), "f4")
    VectorCache(cache, "model", 3, precision=precision).put(texts, numbers)
    found, cached = VectorCache(Cache(workdir / "cache"), "model", 3, precision=precision).get([*texts, "other"])
    assert cached.tolist() == [True] * 1500 + [False] and found.dtype == precision
    assert (found[:-1] == numbers.astype(precision)).all() and (found[:-1] == numbers).all() == same


@pytest.mark.parametrize("other", [("other", 3, "float16"), ("model", 2, "float16"), ("model", 3, "float32")])
def test_another_model_dimension_or_precision_finds_nothing(cache, other):
    VectorCache(cache, "model", 3).put(["a"], [[1, 2, 3]])
    model, dimension, precision = other
    assert not VectorCache(cache, model, dimension, precision=precision).get(["a"])[1].any()


def test_a_vector_that_is_not_finite_is_an_error(cache):
    for value in (float("nan"), 1e9):
        with pytest.raises(ModelError, match="'a' is not finite"):
            VectorCache(cache, "model", 1).put(["a"], [[value]])


def test_only_missing_vectors_are_computed(cache):
    computed = []

    def compute(texts):
        computed.extend(texts)
        return np.array([[len(text), 1 / 3] for text in texts])

    first = VectorCache(cache, "model", 2).found_or_computed(["a", "bcd"], compute)
    again = VectorCache(cache, "model", 2).found_or_computed(["bcd", "ef", "a"], compute)
    assert computed == ["a", "bcd", "ef"] and (again[[2, 0]] == first).all()  # both as they are kept


# --- damage


@pytest.mark.parametrize("value", [b"", b"no zlib", zlib.compress(b"{"), pickle.dumps([1]), 5, "text"])
def test_a_damaged_entry_is_made_again(cache, workdir, caplog, value):
    vectors = VectorCache(cache, "model", 2)
    cache.put("kind", value=[1])
    vectors.put(["a"], [[1, 2]])
    entries_file, vectors_file = files(workdir)
    changed(entries_file, "UPDATE Cache SET value = ?", value)
    changed(vectors_file, "UPDATE vectors SET value = ?", value)
    assert cache.get("kind") is None and "damaged entry is made again" in caplog.text
    assert not vectors.get(["a"])[1].any()
    cache.put("kind", value=[1])
    vectors.put(["a"], [[1, 2]])
    assert cache.get("kind") == [1] and vectors.get(["a"])[1].all()
    assert [cache_fault(file) for file in files(workdir)] == ["", ""]


class Planted:
    """Its pickle makes a file when it is read."""

    def __reduce__(self):
        return Path.touch, (Path("planted"),)


def test_a_pickle_that_somebody_planted_is_never_read(cache, workdir, caplog):
    cache.put("kind", value=[1])
    file = files(workdir)[0]
    changed(file, "UPDATE Cache SET mode = 4, value = ?", pickle.dumps(Planted()))
    assert cache.get("kind") is None and "damaged entry is made again" in caplog.text
    assert cache_fault(file).startswith("1 entries are damaged")
    changed(file, "UPDATE Cache SET raw = 0, key = ?", pickle.dumps(Planted()))
    assert cache.get("kind") is None and cache.keys() == []
    cache.put("kind", value=[1])
    assert not Path("planted").exists() and cache_fault(file).startswith("1 entries are damaged")


# --- its size


def test_the_oldest_make_place_in_a_full_cache(closed):
    cache = closed(Cache("cache", most=0.001))
    for number in range(200):
        cache.put("kind", number, value=[str(hash((number, place))) for place in range(1000)])
        cache.put_vectors([(number, os.urandom(10_000))])
    assert 10 < len(cache.keys()) < 190 and cache.get("kind", 199) and 199 in cache.get_vectors([199])
    assert cache.get("kind", 0) is None


# --- caches of version 0.2


def test_entries_of_version_0_2_are_found(workdir, closed):
    Path("cache/v4").mkdir(parents=True)
    with closing(sqlite3.connect(f"cache/v4/{FILE}")) as connection, connection:
        connection.execute("CREATE TABLE entries (key TEXT PRIMARY KEY, value BLOB NOT NULL)")
        rows = [(f'["kind",{number}]', zlib.compress(b"[%d]" % number)) for number in range(300)]
        connection.executemany("INSERT INTO entries VALUES (?, ?)", rows)
        connection.execute("CREATE TABLE vectors (id INTEGER PRIMARY KEY, value BLOB NOT NULL)")
        connection.execute("INSERT INTO vectors VALUES (1, ?)", (b"abc",))
    for _ in range(2):
        with closing(Cache("cache")) as cache:
            assert [cache.get("kind", number) for number in range(300)] == [[number] for number in range(300)]
            assert cache.get_vectors([1]) == {1: b"abc"}
    assert [cache_fault(file) for file in files(workdir)] == ["", ""]


@pytest.mark.parametrize("content", [b"not SQLite at all" * 1000, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_database_is_done_without_after_one_warning(cache, workdir, caplog, content):
    cache.put("kind", value=[1])
    cache.close()
    for file in files(workdir):
        file.write_bytes(content)
    vectors = VectorCache(cache, "model", 2)
    for _ in range(2):
        cache.put("kind", value=[1])
        vectors.put(["a"], [[1, 2]])
        assert cache.get("kind") is None and vectors.get(["a"])[1].all()  # in memory
    (message,) = caplog.messages
    assert "going on without it" in message and all(map(cache_fault, files(workdir)))


def test_a_folder_that_cannot_be_made_is_done_without_after_one_warning(workdir, caplog):
    (workdir / "file").touch()
    cache = Cache("file/cache")
    for _ in range(2):
        cache.put("kind", value=[1])
        assert cache.get("kind") is None and cache.keys() == []
    (message,) = caplog.messages
    assert "file/cache" in message and "ers_cache_path" in message


def test_on_a_full_disk_nothing_more_is_written_and_all_else_is_found(start, workdir):
    process = start(FULL_DISK)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and errors.count("going on without it") == 1, errors
    assert Cache("cache").get("first") == 1


def test_processes_share_a_cache_and_a_killed_one_loses_one_entry_at_most(start_together, workdir):
    killed, *others = start_together(WRITER, ("a", 10_000), ("b", 40), ("c", 40))
    while int(killed.stdout.readline()) < 20:
        pass
    os.kill(killed.pid, signal.SIGKILL)
    for process in others:
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
    with closing(Cache("cache")) as cache:
        for name, count in (("a", 20), ("b", 40), ("c", 40)):
            assert all(cache.get("facts", name, number)[:2] == [name, number] for number in range(count))
            vectors, cached = VectorCache(cache, "model", 3).get([f"{name} {number}" for number in range(count)])
            assert cached.all() and vectors[:, 0].tolist() == list(range(count))
    assert [cache_fault(file) for file in files(workdir)] == ["", ""]
