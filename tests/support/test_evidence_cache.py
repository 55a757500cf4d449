import json
import os
import pickle
import signal
import sqlite3
import stat
import zlib
from contextlib import closing
from pathlib import Path

import diskcache
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from convinse.support import evidence_cache as cache_module
from convinse.support.errors import CacheError
from convinse.support.evidence_cache import EvidenceCache
from refusals import refused

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
WRITER = """
import sys
from convinse.support.evidence_cache import EvidenceCache
cache = EvidenceCache("cache")
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[2])):
    cache.put("facts", sys.argv[1], number, value=[sys.argv[1], number, "x" * 500])
    cache.put("shared", number, value=[number])
    print(number, flush=True)
"""


class Bomb:
    """An object whose unpickling creates a file."""

    def __reduce__(self):
        return Path.touch, (Path("exploded").absolute(),)


@pytest.fixture
def cache(workdir, closed):
    return closed(EvidenceCache(workdir / "cache"))


@pytest.fixture(scope="module")
def module_cache(tmp_path_factory):
    with closing(EvidenceCache(tmp_path_factory.mktemp("module_cache"))) as opened:
        yield opened


def database(workdir):
    (path,) = workdir.rglob("cache.db")
    return path


def plant(workdir, statement, values=()):
    """Change the rows of the cache behind its back, as whoever may write the folder can."""
    with closing(sqlite3.connect(database(workdir))) as connection, connection:
        assert connection.execute(statement, values).rowcount == 1


def fails(action, *words):
    return refused(CacheError, action, *words)


# --- values and keys


@given(JSON.filter(lambda value: value is not None) | st.sampled_from([[], {}, "", 0, False]))
def test_any_json_value_comes_back_empty_ones_too(module_cache, value):
    module_cache.put("kind", value=value)
    assert json.dumps(module_cache.get("kind")) == json.dumps(value)


@given(st.lists(st.lists(JSON, max_size=3), min_size=2, max_size=2, unique_by=json.dumps))
@example([["build-1", {"k": 1}], ["build-1", {"k": "1"}]])
@example([["build-1", {"k": 1}], ["build-1"]])
@example([["build-1", {"k": 1}], []])
def test_different_parameters_are_different_keys(module_cache, keys):
    one, other = keys
    module_cache.put("pair", *one, value="one")
    module_cache.put("pair", *other, value="other")
    assert module_cache.get("pair", *one) == "one"
    assert module_cache.get("pair", *other) == "other"


def test_the_order_of_parameters_in_a_mapping_does_not_count(cache):
    cache.put("facts", "build-1", {"k": 1, "d": {"x": 1, "y": 2}}, value=[1])
    assert cache.get("facts", "build-1", {"d": {"y": 2, "x": 1}, "k": 1}) == [1]


def test_a_new_format_of_values_returns_no_old_one(cache, monkeypatch):
    cache.put("facts", value=[1])
    monkeypatch.setattr(cache_module, "FORMAT", "next")
    assert cache.get("facts") is None


@pytest.mark.parametrize("path", [None, "cache"])
def test_none_is_refused(path):
    assert "None" in fails(lambda: EvidenceCache(path).put("kind", value=None))


def test_a_value_that_is_no_json_is_refused_and_changes_nothing(cache):
    cache.put("kind", value=[1])
    fails(lambda: cache.put("kind", value=object()))
    assert cache.get("kind") == [1]


def test_a_key_of_broken_text_is_no_crash(cache):
    # what an argument of the command line in another encoding becomes
    try:
        cache.put("facts", "caf\udce9", value=[1])
    except CacheError:
        return
    assert cache.get("facts", "caf\udce9") == [1]


def test_a_second_put_replaces_the_first(cache):
    cache.put("kind", value=[1])
    cache.put("kind", value=[2])
    assert cache.get("kind") == [2]
    assert len(list(cache.keys())) == 1


def test_keys_are_the_text_of_all_keys(cache):
    cache.put("facts", "Q42", value=[1])
    cache.put("pages", "Q42", value=[2])
    found = sorted(cache.keys())
    assert len(found) == 2
    assert all(isinstance(key, str) for key in found)
    assert "facts" in found[0] and "pages" in found[1]


def test_a_closed_cache_opens_again(cache, workdir):
    cache.put("kind", value=[1])
    cache.close()
    cache.close()
    assert cache.get("kind") == [1]
    with closing(EvidenceCache(workdir / "cache")) as other:
        assert other.get("kind") == [1]


# --- the folder


def test_no_path_touches_no_disk(workdir, monkeypatch):
    monkeypatch.setattr(diskcache.Cache, "__init__", lambda *_, **__: pytest.fail("a disk was touched"))
    cache = EvidenceCache(None)
    assert not cache.enabled
    cache.put("kind", value=[1])
    assert cache.get("kind") is None
    assert list(cache.keys()) == []
    cache.close()
    assert EvidenceCache("cache").enabled  # touches none before its use
    assert list(workdir.iterdir()) == []


def test_the_folder_of_the_database_is_for_its_owner_only(workdir):
    before = os.umask(0)
    try:
        with closing(EvidenceCache("deep/er/cache")) as cache:
            cache.put("kind", value=[1])
    finally:
        os.umask(before)
    assert stat.S_IMODE(database(workdir).parent.stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_made_is_one_line(workdir):
    (workdir / "file").write_text("x")
    cache = EvidenceCache("file/cache")
    for action in (lambda: cache.get("a"), lambda: cache.put("a", value=1), lambda: list(cache.keys())):
        fails(action, "file/cache", "ers_cache_path", "ers_use_cache: false")


def test_a_read_only_folder_is_one_line(cache, workdir, monkeypatch):
    cache.put("kind", value=[1])
    cache.close()
    connect = sqlite3.connect
    # root may write everywhere: let SQLite itself hold the folder for read-only
    monkeypatch.setattr(
        sqlite3, "connect", lambda path, **options: connect(f"file:{path}?mode=ro", uri=True, **options)
    )
    for action in (lambda: cache.get("kind"), lambda: cache.put("kind", value=[2])):
        fails(action, str(workdir / "cache"), "readonly")


def test_a_file_that_is_no_database_is_one_line(cache, workdir):
    cache.put("kind", value=[1])
    path = database(workdir)
    cache.close()
    path.write_bytes(b"not SQLite at all" * 1000)
    assert "not a database" in fails(lambda: cache.get("kind"))


def test_nothing_is_evicted(cache, workdir):
    cache.put("first", value="x" * 1000)
    folder = database(workdir).parent
    cache.close()
    # limits that a former program, or diskcache's own defaults, left in the folder do not count
    diskcache.Cache(folder, size_limit=1, cull_limit=50, eviction_policy="least-recently-stored").close()
    for number in range(40):
        cache.put("more", number, value=os.urandom(2000).hex())
    assert cache.get("first") == "x" * 1000
    assert len(list(cache.keys())) == 41
    with closing(sqlite3.connect(database(workdir))) as connection:
        settings = dict(connection.execute("SELECT key, value FROM Settings"))
    assert settings["eviction_policy"] == "none"
    assert settings["cull_limit"] == 0
    assert settings["size_limit"] > 2**50


def test_few_pages_stay_in_memory_whatever_the_folder_says(cache, workdir):
    cache.put("first", value=1)
    folder = database(workdir).parent
    cache.close()
    with closing(diskcache.Cache(folder, sqlite_cache_size=100_000)) as former:
        assert former._con.execute("PRAGMA cache_size").fetchone() == (100_000,)
    assert cache.get("first") == 1
    assert cache._cache._con.execute("PRAGMA cache_size").fetchone() == (512,)  # 2 MB


def test_values_are_compressed_in_the_database_without_files_beside(cache, workdir):
    cache.put("large", value="evidence " * 500_000)
    assert cache.get("large") == "evidence " * 500_000
    cache.close()
    files = list(database(workdir).parent.rglob("*"))
    assert all(file.name.startswith("cache.db") for file in files)
    assert sum(file.stat().st_size for file in files) < 500_000


# --- a folder that someone else wrote


def test_the_bomb_explodes_when_it_is_unpickled(workdir):
    pickle.loads(pickle.dumps(Bomb()))  # or the tests below would prove nothing
    assert (workdir / "exploded").exists()


@pytest.mark.parametrize("mode", [0, 2, 3, 4, 5])
def test_a_planted_pickle_value_is_refused_and_not_run(cache, workdir, mode):
    cache.put("kind", value=[1])
    plant(workdir, "UPDATE Cache SET mode = ?, value = ?", (mode, pickle.dumps(Bomb())))
    assert "delete the folder" in fails(lambda: cache.get("kind"))
    assert not (workdir / "exploded").exists()


@pytest.mark.parametrize(("raw", "key"), [(0, None), (1, b"bytes"), (1, 7), (1, 1.5)])
def test_a_planted_key_that_is_no_text_is_refused_and_not_run(cache, workdir, raw, key):
    cache.put("kind", value=[1])
    plant(workdir, "UPDATE Cache SET raw = ?, key = ?", (raw, pickle.dumps(Bomb()) if key is None else key))
    assert cache.get("kind") is None
    assert "delete the folder" in fails(lambda: list(cache.keys()))
    assert not (workdir / "exploded").exists()


def test_a_folder_that_stock_diskcache_filled_is_refused_and_not_run(cache, workdir):
    cache.put("kind", value=[1])
    (key,) = cache.keys()
    folder = database(workdir).parent
    cache.close()
    with diskcache.Cache(folder) as stock:
        stock[key] = Bomb()
        stock[("a", "tuple")] = 1
    fails(lambda: cache.get("kind"))
    fails(lambda: list(cache.keys()))
    assert not (workdir / "exploded").exists()


def test_a_folder_of_another_disk_class_is_refused(cache, workdir):
    cache.put("kind", value=[1])
    folder = database(workdir).parent
    cache.close()
    diskcache.Cache(folder, disk=diskcache.JSONDisk, disk_compress_level=6).close()
    fails(lambda: cache.get("kind"))


@pytest.mark.parametrize("mode", [1, 2, 3, 4])
@pytest.mark.parametrize("absolute", [True, False])
def test_an_entry_that_names_a_file_neither_reads_nor_deletes_it(cache, workdir, mode, absolute):
    secret = workdir / "secret.txt"
    secret.write_bytes(zlib.compress(b'"secret"'))
    cache.put("kind", value=[1])
    name = str(secret) if absolute else os.path.relpath(secret, database(workdir).parent)
    plant(workdir, "UPDATE Cache SET mode = ?, filename = ?, value = NULL", (mode, name))
    assert "secret" not in fails(lambda: cache.get("kind")).replace("secret.txt", "")
    cache.put("kind", value=[2])  # diskcache removes the file of the value that it replaces
    assert secret.exists()
    assert cache.get("kind") == [2]


DAMAGED = [
    b"no zlib",
    zlib.compress(b"{no json"),
    zlib.compress(b'"\xff"'),
    zlib.compress(b'"cut"')[:-3],
    zlib.compress(b"[" * 5000),
    b"",
    b"\x01\x00",
]


@pytest.mark.parametrize("value", DAMAGED)
def test_a_damaged_value_is_told_dropped_and_made_again(cache, workdir, caplog, value):
    cache.put("kind", value=[1])
    plant(workdir, "UPDATE Cache SET value = ?", (value,))
    assert list(cache.faults())
    assert cache.get("kind") is None
    assert len(caplog.messages) == 1 and "an entry is damaged" in caplog.text and '"kind"' in caplog.text
    cache.put("kind", value=[2])
    assert cache.get("kind") == [2] and len(caplog.messages) == 1
    assert list(cache.faults()) == []


@pytest.mark.parametrize("value", ["text", 7, None])
def test_a_value_of_another_type_is_one_line(cache, workdir, value):
    cache.put("kind", value=[1])
    plant(workdir, "UPDATE Cache SET value = ?", (value,))
    assert list(cache.faults())
    fails(lambda: cache.get("kind"))


def test_the_value_of_another_key_is_no_answer(cache, workdir, caplog):
    cache.put("kind", "a", value=[1])
    cache.put("kind", "b", value=[2])
    plant(workdir, "UPDATE Cache SET value = (SELECT value FROM Cache WHERE rowid = 1) WHERE rowid = 2")
    assert [fault.split(":")[0] for fault in cache.faults()] == ["an entry is damaged (it is of another key)"]
    assert cache.get("kind", "a") == [1]
    assert cache.get("kind", "b") is None and "another key" in caplog.text


def test_entries_of_an_earlier_version_are_read(cache, workdir):
    cache.put("kind", value=[1])
    plant(workdir, "UPDATE Cache SET value = ?", (zlib.compress(b"[2]"),))
    assert cache.get("kind") == [2] and list(cache.faults()) == []


# --- processes


def test_processes_that_write_one_cache_at_once_lose_nothing(start_together, cache):
    count, names = 60, ["a", "b", "c"]
    for writer in start_together(WRITER, *((name, count) for name in names)):
        _, errors = writer.communicate(timeout=60)
        assert writer.returncode == 0, errors
    assert all(cache.get("facts", name, n) == [name, n, "x" * 500] for name in names for n in range(count))
    assert [cache.get("shared", n) for n in range(count)] == [[n] for n in range(count)]
    assert len(list(cache.keys())) == count * (len(names) + 1)


@pytest.mark.parametrize("after", [0, 37])
def test_a_killed_process_loses_at_most_the_entry_being_written(start_together, cache, after):
    (writer,) = start_together(WRITER, ("a", 100_000))
    done = [int(writer.stdout.readline()) for _ in range(after + 1)]
    os.kill(writer.pid, signal.SIGKILL)
    done += [int(line) for line in writer.stdout]  # what it had printed before
    assert writer.wait() == -signal.SIGKILL
    assert [cache.get("facts", "a", n) for n in done] == [["a", n, "x" * 500] for n in done]
    assert len(list(cache.keys())) - 2 * len(done) in (0, 1, 2)
    cache.put("facts", "a", "afterwards", value=[1])
    assert cache.get("facts", "a", "afterwards") == [1]


def test_a_full_disk_is_one_line_and_keeps_what_is_there(run_python, cache):
    code = """
import os, resource, signal
from convinse.support.evidence_cache import EvidenceCache
from convinse.support.errors import CacheError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
cache = EvidenceCache("cache")
cache.put("first", value=[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
done = 0
try:
    while done < 1000:
        cache.put("more", done, value=os.urandom(20_000).hex())
        done += 1
except CacheError as error:
    print(done)
    print(error)
"""
    done, message = run_python(code).splitlines()
    assert 0 < int(done) < 1000
    assert "the cache cannot be written" in message
    assert cache.get("first") == [1]
    assert all(len(cache.get("more", number)) == 40_000 for number in range(int(done)))
