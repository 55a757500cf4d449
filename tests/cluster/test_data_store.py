"""A store of data: what goes in comes out, whole or not at all, once for all who want it."""

import json
import shutil
import threading
from pathlib import Path

import pytest

from convinse.support.errors import ConfigError, DataError, DependencyError, NetworkError, OutputError
from places import SNAPSHOT
from refusals import refused
from written import read_json, write

pytest.importorskip("fsspec")
from convinse.cluster import data_store
from convinse.cluster.data_store import DataStore


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
