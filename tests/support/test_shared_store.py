import json
import logging
import pickle
import socket
import subprocess
import sys
import threading
import time
import zlib
from contextlib import ExitStack
from shutil import which

import numpy as np
import pytest
from convinse.batch_runner import open_elsewhere

from convinse import Pipeline, load_config
from convinse.config import parse_config
from convinse.resources import Resources
from convinse.support import shared_store
from convinse.support.errors import CacheError, ConfigError, DependencyError, NetworkError
from convinse.support.evidence_cache import EvidenceCache
from convinse.support.shared_store import SharedStore
from convinse.support.vector_cache import VectorCache
from loopback import free_port

pytest.importorskip("redis")

from redis_server import running


class Planted:
    def __reduce__(self):
        return pytest.fail, ("something was unpickled",)


@pytest.fixture
def server(tmp_path):
    if which("redis-server") is None:
        pytest.skip("redis-server is not installed (Debian: apt-get install redis-server)")
    with running(tmp_path) as started:
        yield started


def hits(server):
    return server.client.info("stats")["keyspace_hits"]


def test_what_one_machine_keeps_another_finds(server):
    first, second = (EvidenceCache(SharedStore(server.url)) for _ in range(2))
    assert first.enabled and second.get("kind", {"k": 1}, "é") is None
    first.put("kind", {"k": 1}, "é", value=[1, {"a": "b"}, []])
    assert second.get("kind", {"k": 1}, "é") == [1, {"a": "b"}, []]
    assert second.get("kind", {"k": 2}, "é") is None
    with pytest.raises(CacheError, match="is shared, and not emptied from here"):
        first.clear()
    with pytest.raises(CacheError, match="None cannot be cached"):
        first.put("kind", value=None)


def test_vectors_are_those_that_were_put(server):
    texts = [f"text {number}" for number in range(300)] + ["\ud800"]
    vectors = np.random.default_rng(1).normal(size=(301, 24)).astype(np.float32)
    for precision in ("float16", "float32"):
        store = SharedStore(server.url)
        VectorCache(store, "model", 24, precision=precision).put(texts, vectors)
        known = VectorCache(SharedStore(server.url), "model", 24, precision=precision)
        got, which_known = known.get([*texts, "unknown"])
        assert which_known.tolist() == [True] * 301 + [False]
        assert got[:301].tobytes() == vectors.astype(precision).tobytes()
        for other in (VectorCache(store, "another", 24), VectorCache(store, "model", 12)):
            assert not other.get(texts)[1].any()
        assert known.get([])[0].shape == (0, 24)


@pytest.mark.parametrize(
    "entry",
    [b"x", b"", pickle.dumps(Planted()), b"\0" * 16 + pickle.dumps(Planted()), b"\0" * 100, "cut", "of another key"],
)
def test_what_others_wrote_is_not_taken(server, caplog, entry):
    cache, vectors = EvidenceCache(SharedStore(server.url)), VectorCache(SharedStore(server.url), "model", 4)
    cache.put("a", value="one")
    (name,) = server.client.keys()
    vectors.put(["text"], np.ones((1, 4)))
    cache.put("b", value="two")
    if entry == "of another key":
        keys = [key for key in server.client.scan_iter() if len(server.client.get(key)) != 24]
        contents = [server.client.get(key) for key in keys]
        server.client.mset(dict(zip(keys, reversed(contents), strict=True)))
    else:
        for key in server.client.scan_iter():
            server.client.set(key, server.client.get(key)[:-1] if entry == "cut" else entry)
        assert not vectors.get(["text"])[1].any()
    assert cache.get("a") is None
    assert not entry or "damaged, or not ours" in caplog.text
    cache.put("a", value="one")
    assert cache.get("a") == "one" and server.client.exists(name)


def test_a_key_of_another_kind_is_a_slower_run(server, caplog):
    cache = EvidenceCache(SharedStore(server.url))
    cache.put("a", value=1)
    (name,) = server.client.keys()
    server.client.delete(name)
    server.client.lpush(name, "foreign")
    assert cache.get("a") is None and "WRONGTYPE" in caplog.text


def test_an_entry_that_would_unpack_to_anything_is_refused(server, caplog, monkeypatch):
    store = SharedStore(server.url)
    cache = EvidenceCache(store)
    for content, told in (
        (zlib.compress(b" " * 2_000_000 + b"1"), "has more than"),
        (zlib.compress(b'"abc"')[:-3], "is cut"),
        (zlib.compress(b"{not JSON"), "damaged"),
        (b"no zlib", "damaged"),
    ):
        monkeypatch.setattr("convinse.support.evidence_cache._LONGEST", 1_000_000)
        cache.put("a", value=1)
        caplog.clear()
        monkeypatch.setattr(SharedStore, "get", lambda *_, content=content: [content])
        assert cache.get("a") is None and told in caplog.text
        monkeypatch.undo()
    monkeypatch.setattr(shared_store, "_LONGEST", 100)
    store.put({b"long": b"x" * 101, b"short": b"x" * 100})
    assert store.get([b"long", b"short"], 100) == [None, b"x" * 100]


def test_a_server_that_goes_and_comes_back(server, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(shared_store, "_REST", 0.0)
    cache = EvidenceCache(SharedStore(server.url))
    cache.put("a", value=1)
    server.process.kill()
    server.process.wait(60)
    assert [cache.get("a") for _ in range(3)] == [None] * 3
    cache.put("b", value=2)
    assert sum(record.levelno == logging.WARNING for record in caplog.records) == 1  # it is told once
    assert "the shared cache cannot be read" in caplog.text and "going on without it" in caplog.text
    command = ["redis-server", "--port", str(server.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as again:
        try:
            for _ in range(600):
                cache.put("c", value=3)
                if cache.get("c") == 3:
                    break
                time.sleep(0.1)
            assert cache.get("c") == 3 and "again" in caplog.text
        finally:
            again.kill()


def test_a_server_that_rests_is_not_asked(server, monkeypatch):
    cache = EvidenceCache(SharedStore(server.url))
    cache.put("a", value=1)
    server.process.kill()
    server.process.wait(60)
    assert cache.get("a") is None
    monkeypatch.setattr("redis.client.Pipeline.execute", lambda *_, **__: pytest.fail("it was asked"))
    assert cache.get("a") is None
    cache.put("a", value=1)


def test_a_server_that_hangs_is_given_up(monkeypatch, caplog):
    monkeypatch.setattr(shared_store, "_PATIENCE", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        cache = EvidenceCache(SharedStore(f"redis://127.0.0.1:{listening.getsockname()[1]}"))
        with pytest.raises(CacheError, match="the shared cache cannot be used: .*name another one in ers_cache_path"):
            cache.get("a")


def test_a_full_server_keeps_no_more(tmp_path, server, caplog):
    with running(tmp_path, "--maxmemory", "3mb", "--maxmemory-policy", "noeviction") as small:
        cache = EvidenceCache(SharedStore(small.url))
        rng = np.random.default_rng(1)
        for number in range(40):
            cache.put("long", number, value=rng.bytes(100_000).hex())
        assert "the shared cache cannot be written" in caplog.text and "memory" in caplog.text
        assert cache.get("long", 0) is not None and cache.get("long", 39) is None


def test_a_password(tmp_path, server, monkeypatch, caplog):
    with running(tmp_path, "--requirepass", "secret") as locked:
        monkeypatch.delenv("CONVINSE_CACHE_PASSWORD", raising=False)
        with pytest.raises(CacheError, match=r"cannot be used: .*[Aa]uth.*CONVINSE_CACHE_PASSWORD"):
            EvidenceCache(SharedStore(locked.url)).get("a")
        monkeypatch.setenv("CONVINSE_CACHE_PASSWORD", "secret")
        cache = EvidenceCache(SharedStore(locked.url))
        cache.put("a", value=1)
        assert cache.get("a") == 1 and "secret" not in caplog.text


def test_what_is_no_server(monkeypatch):
    cache = EvidenceCache(SharedStore(f"redis://127.0.0.1:{free_port()}"))
    with pytest.raises(NetworkError, match="cannot be reached .*; is the server of ers_cache_path running"):
        cache.get("a")
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer():
            for _ in range(3):
                connection, _ = listening.accept()
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                connection.close()

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(CacheError, match="the shared cache cannot be used"):
            EvidenceCache(SharedStore(f"redis://127.0.0.1:{listening.getsockname()[1]}")).get("a")
    monkeypatch.setenv("CONVINSE_OFFLINE", "1")
    with pytest.raises(NetworkError, match="CONVINSE_OFFLINE"):
        EvidenceCache(SharedStore("redis://192.0.2.1:6379")).get("a")
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(DependencyError, match=r"pip install 'convinse\[redis\]'"):
        EvidenceCache(SharedStore("redis://localhost")).get("a")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("http://node1:80", "no address of a shared cache"),
        ("redis://", "no address"),
        ("redis://node1:99999", "no address"),
        ("redis://node1/x", "no address"),
        ("redis://node1?db=1", "no address"),
        ("redis://:secret@node1:6379", "export it as CONVINSE_CACHE_PASSWORD"),
    ],
)
def test_addresses_that_are_none(path, message):
    with pytest.raises(ConfigError, match=message) as error:
        parse_config({"ers_cache_path": path})
    assert "secret" not in str(error.value)
    parse_config({"ers_cache_path": "rediss://me@[::1]:7000/3"})


def test_workers_elsewhere_have_the_same_cache(server, tmp_path):
    """A second run finds all that the first computed, on whatever machine."""
    config = load_config("config.yml", ers_cache_path=server.url)
    question = ["who wrote the Hobbit?"]
    with Pipeline(load_config("config.yml", ers_use_cache=False)) as pipeline:
        plain = pipeline.ask(question, "kb_text_table_info")
    for run in range(2):
        before, entries = hits(server), server.client.dbsize()
        runner = open_elsewhere(config, "another machine")
        answered = runner.pipeline.ask(question, "kb_text_table_info")
        runner.close()
        assert json.dumps(answered) == json.dumps(plain)
        assert (server.client.dbsize() > entries) == (run == 0) and (hits(server) > before) == (run == 1)
    with Resources(config) as resources, ExitStack():
        assert resources.cache.enabled and not list(tmp_path.rglob("entries"))
