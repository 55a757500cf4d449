"""A store of data: what goes in comes out, whole or not at all, once for all who want it."""

import errno
import json
import shutil
import threading
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from convinse.batch_runner import BatchRunner
from convinse.config import load_config
from convinse.identity import origins
from convinse.resources import Resources
from convinse.support.errors import ConfigError, DataError, DependencyError, FetchError, NetworkError, OutputError
from places import SNAPSHOT
from refusals import refused
from written import read_json, write

pytest.importorskip("fsspec")
from convinse import data_store
from convinse.data_store import DataStore, stored_path

KB = SimpleNamespace(build_id="of the knowledge base")
COUNTED = """
import sys
from fsspec.implementations.local import LocalFileSystem
from convinse.data_store import stored_path
get = LocalFileSystem.get_file
"""
KILLED = (
    COUNTED
    + """
def half(self, source, target, **options):
    get(self, source, target, **options)
    print("half", flush=True)
    sys.stdin.readline()

LocalFileSystem.get_file = half
stored_path(f"store:{sys.argv[1]}", "store")
"""
)
TOGETHER = (
    COUNTED
    + """
def told(self, source, target, **options):
    print(source, flush=True)
    get(self, source, target, **options)

LocalFileSystem.get_file = told
print("ready", flush=True)
sys.stdin.readline()
stored_path(f"store:{sys.argv[1]}", "store")
"""
)


def contents(folder):
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(params=["store", "memory://store"])
def store(request, workdir):
    store = DataStore(request.param)
    yield store
    for data in store.list():
        store._system.rm(f"{store._root}/{data.id}", recursive=True)


@pytest.fixture
def folder(workdir):
    write("model/weights.bin", b"\x00\x01" * 1000)
    write("model/inner/config.json", {"a": 1})
    return workdir / "model"


def test_a_folder_comes_out_as_it_went_in(store, folder, workdir):
    id = store.push(folder).id
    assert store.pull(id, workdir / "there" / "model")
    assert contents(workdir / "there" / "model") == contents(folder)
    assert not store.pull(id, workdir / "there" / "model")


def test_a_file_comes_out_as_it_went_in(store, workdir):
    write("dump.db", b"evidences")
    assert store.pull(store.push(workdir / "dump.db").id, workdir / "own.db")
    assert (workdir / "own.db").read_bytes() == b"evidences"


def test_a_built_folder_has_its_build_id_too(store, workdir):
    pushed = store.push(SNAPSHOT / "kb")
    assert pushed.build_id == read_json(SNAPSHOT / "kb" / "manifest.json")["build_id"]
    assert store.list() == [pushed]
    assert store.pull(pushed.build_id, workdir / "kb")
    assert contents(workdir / "kb") == contents(SNAPSHOT / "kb")


def test_the_same_is_stored_once_and_a_change_beside_it(store, folder):
    first = store.push(folder)
    assert store.push(folder) == first
    write("model/inner/config.json", {"a": 2})
    second = store.push(folder)
    assert {data.id for data in store.list()} == {first.id, second.id}


def test_what_was_pushed_in_part_is_not_there_and_is_made_whole(store, folder, workdir):
    pushed = store.push(folder)
    store._system.rm(f"{store._root}/{pushed.id}/contents.json")
    store._system.rm(f"{store._root}/{pushed.id}/files/weights.bin")
    assert store.list() == []
    refused(DataError, lambda: store.pull(pushed.id, workdir / "own"), "has nothing with the id", "data list")
    store.push(folder)
    assert store.pull(pushed.id, workdir / "own")


def test_a_damaged_file_is_refused_and_nothing_is_left(store, folder, workdir):
    id = store.push(folder).id
    store._system.pipe_file(f"{store._root}/{id}/files/weights.bin", b"\x00\x02" * 1000)
    refused(DataError, lambda: store.pull(id, workdir / "own"), "weights.bin: is damaged", "push it again")
    assert not (workdir / "own").exists()


def test_something_else_is_not_replaced(store, folder, workdir):
    id = store.push(folder).id
    write("own/mine.txt", "mine")
    refused(OutputError, lambda: store.pull(id, workdir / "own"), "is something else")
    assert contents(workdir / "own") == {"mine.txt": b"mine"}


@pytest.mark.parametrize("name", ["../outside", "/outside", "inner/../../outside", "."])
def test_a_table_of_contents_leads_nowhere_else(folder, workdir, name):
    store = DataStore("store")
    id = store.push(folder).id
    place = workdir / "store" / id
    told = read_json(place / "contents.json")
    told["files"] = {name: told["files"]["weights.bin"]}
    told["id"] = id = data_store._id_of({name: data_store.StoredFile(**told["files"][name])})
    place.rename(workdir / "store" / id)
    write(f"store/{id}/contents.json", json.dumps(told))
    refused(DataError, lambda: store.pull(id, workdir / "own"), "is not what its name says")
    assert not (workdir / "outside").exists()


def test_several_who_want_the_same_fetch_it_once(folder, workdir):
    id = DataStore("store").push(folder).id
    fetched = []
    threads = [
        threading.Thread(target=lambda: fetched.append(DataStore("store").pull(id, workdir / "own"))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(fetched) == [False, False, False, True]


@pytest.mark.parametrize(
    ("url", "error", "words"),
    [
        ("s3://bucket/x", DependencyError, ["s3fs"]),
        ("carrier-pigeon://x", ConfigError, ["carrier-pigeon", "give a folder"]),
    ],
)
def test_a_store_that_cannot_be_used_is_told(url, error, words):
    refused(error, lambda: DataStore(url), url, *words)


def test_offline_asks_nobody(monkeypatch, workdir):
    monkeypatch.setenv("CONVINSE_OFFLINE", "1")
    refused(NetworkError, lambda: DataStore("s3://bucket/x"), "CONVINSE_OFFLINE")
    assert DataStore("store").list() == []


def test_the_commands(folder, command, command_error):
    id = command("data", "push", folder, "store", "--quiet").strip()
    assert id in command("data", "list", "store")
    assert command("data", "pull", id, "store", "own", "--quiet").strip() == "own"
    assert command("data", "pull", id, "store", "own", "--quiet").strip() == "own is there already"
    shutil.rmtree("own")
    assert "no such file" in command_error("data", "push", "none", "store")
    assert not Path("own").exists()


# --- data that a configuration names


@pytest.fixture
def kept(workdir, monkeypatch):
    """The folder of what this machine has fetched."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(workdir / "own"))
    return workdir / "own" / "convinse" / "data"


def answered(config):
    with closing(BatchRunner(config)) as runner:
        made_from = {name: id for name, id in runner.origins().items() if name != "settings"}
        return made_from, runner.pipeline.ask(["who directed Titanic?", "when was it released?"])["questions"]


def test_data_of_a_store_give_what_the_files_give(kept):
    """All kinds of data, each fetched once: then the store may be gone."""
    pushed = {name: DataStore("store").push(SNAPSHOT / name) for name in ("kb", "wikipedia.db", "model", "answers")}
    model = f"store:{pushed['model'].id}"
    stored = load_config(
        "config.yml",
        ers_use_cache=False,
        data_store="store",
        kb_path=f"store:{pushed['kb'].build_id}",
        ers_wikipedia_dump=f"store:{pushed['wikipedia.db'].id}",
        ha_ranker=f"store:{pushed['answers'].id}",
        qu_history={"encoder": model},
        evs_model=model,
        evs_bi_encoder=model,
        ha_model=model,
    )
    plain = answered(load_config("config.yml", ers_use_cache=False))
    assert answered(stored) == plain
    shutil.rmtree("store")
    assert answered(stored) == plain
    ids = {data.build_id if name == "kb" else data.id for name, data in pushed.items()}
    assert {path.name for path in kept.iterdir() if not path.name.startswith(".")} == ids


def test_where_the_store_lies_makes_no_other_result(folder):
    one, two = (load_config("lexical.yml", kb_path="store:0123456789abcdef", data_store=url) for url in ("a", "b"))
    settings = [origins(config, Resources(config, kb=KB), ())["settings"] for config in (one, two)]
    assert settings[0] == settings[1]


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        ("no store", ["no_store: has nothing with the id"]),
        ("damaged", ["weights.bin: is damaged"]),
        ("full", ["needs 0.0 MB, and its disk has 0.0 MB left", "XDG_CACHE_HOME"]),
        ("fills up", ["cannot be written: No space left on device"]),
        ("no folder", ["cannot be written: Not a directory"]),
    ],
)
def test_data_that_cannot_be_fetched_is_told_and_nothing_is_left(folder, workdir, kept, monkeypatch, harm, words):
    store = DataStore("store")
    id = store.push(folder).id
    if harm == "damaged":
        write(f"store/{id}/files/weights.bin", b"\x00\x02" * 1000)
    elif harm == "full":
        monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=17))
    elif harm == "fills up":

        def full(self, source, target, **_):
            Path(target).write_bytes(b"\x00")
            raise OSError(errno.ENOSPC, "No space left on device", target)

        monkeypatch.setattr(type(store._system), "get_file", full)
    elif harm == "no folder":
        write("own/convinse", "a file")
    url = "no_store" if harm == "no store" else "store"
    refused(FetchError, lambda: stored_path(f"store:{id}", url), f"store:{id}: ", *words)
    assert not kept.is_dir() or [path.name for path in kept.iterdir()] == [f".{id}.pull"]


def test_what_was_killed_half_way_is_fetched_anew(folder, workdir, kept, start):
    id = DataStore("store").push(folder).id
    process = start(KILLED, id)
    assert process.stdout.readline() == "half\n"
    process.kill()
    process.wait(60)
    assert not (kept / id).exists()
    path = stored_path(f"store:{id}", "store")
    assert contents(Path(path)) == contents(folder)
    assert sorted(path.name for path in kept.iterdir()) == sorted([id, f".{id}.pull"])


def test_processes_that_want_the_same_fetch_it_once(folder, workdir, kept, start_together):
    id = DataStore("store").push(folder).id
    processes = start_together(TOGETHER, *[(id,)] * 3)
    fetched = [process.communicate(timeout=60)[0].split() for process in processes]
    assert sorted(len(files) for files in fetched) == [0, 0, 2]
    assert contents(kept / id) == contents(folder)


def test_a_name_needs_a_store_and_an_id():
    refused(ConfigError, lambda: load_config("lexical.yml", kb_path="store:0123456789abcdef"), "kb_path", "data_store")
    refused(
        ConfigError,
        lambda: load_config("lexical.yml", qu_history={"encoder": "store:../x"}, data_store="store"),
        "qu_history.encoder: 'store:../x' has no id",
    )
