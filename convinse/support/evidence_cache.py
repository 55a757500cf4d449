"""The evidence cache: JSON in SQLite below one folder, without pickles, without silent eviction, with a checksum of each entry;
or on a server that several machines share.

diskcache does the locking and the storage. Its stock `Disk` unpickles what a cache folder holds (CVE-2025-69872), so
the `JsonBlobDisk` here reads and writes one kind of entry only, compressed JSON under a text key, and refuses all else.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import weakref
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import diskcache
import msgspec
from diskcache.core import MODE_RAW, Disk

from .errors import CacheError, one_line
from .jsonlines import JSON_ERRORS
from .shared_store import SharedStore

FORMAT = "2"  # part of every key; raised when the meaning of cached values changes
LOGGER = logging.getLogger(__name__)
_MISSING = object()
_PAGES = 512  # of 4 KB that each thread's connection keeps in memory, SQLite's own default; diskcache's fills for thousands of turns
_LONGEST = 256 << 20  # bytes of the JSON of an entry of a server: one could be made to unpack to anything
_KEYED = (
    b"\x01"  # begins an entry, before the CRC-32 of its key; earlier versions kept neither, and zlib begins with 0x78
)


class KeptEntry(NamedTuple):
    """A value as it is kept, and the CRC-32 of its key; None where an earlier version wrote it. `fault`: why it is none."""

    value: Any
    key: int | None = None
    fault: str = ""


class JsonBlobDisk(Disk):  # type: ignore[misc]
    """Text keys and zlib-compressed JSON values, stored raw; anything else in the folder is refused, never loaded."""

    def put(self, key: object) -> tuple[str, bool]:
        """Text keys only; diskcache would pickle others."""
        if not isinstance(key, str):
            raise CacheError(f"a cache key must be text, not {type(key).__name__}")
        return key, True

    def get(self, key: object, raw: bool) -> str:
        """Refuse a pickled key."""
        if not raw or not isinstance(key, str):
            raise CacheError(f"{self._directory}: the cache holds a key that is not text; delete the folder")
        return key

    def store(self, value: object, read: bool, key: object = None) -> tuple[int, int, None, sqlite3.Binary]:
        """Compress a JSON value into one blob."""
        assert isinstance(key, str)
        blob = _KEYED + _sum(key).to_bytes(4, "little") + zlib.compress(msgspec.json.encode(value), 3)
        return len(blob), MODE_RAW, None, sqlite3.Binary(blob)

    def fetch(self, mode: int, filename: str | None, value: object, read: bool) -> KeptEntry:
        """Refuse what `store` did not write (a pickle, a file); else the entry. zlib compares the checksum of its content."""
        if mode != MODE_RAW or filename is not None or not isinstance(value, bytes):
            raise CacheError(f"{self._directory}: the cache holds a foreign entry (mode {mode}); delete the folder")
        keyed = value[:1] == _KEYED
        try:
            content = msgspec.json.decode(zlib.decompress(value[5:] if keyed else value))
        except (zlib.error, *JSON_ERRORS) as error:
            return KeptEntry(None, None, one_line(error))
        return KeptEntry(content, int.from_bytes(value[1:5], "little") if keyed else None)

    def remove(self, file_path: str) -> None:
        """No entry of ours has a file; a foreign one does not get to name one for deletion."""


class EvidenceCache:
    """A cache of retrieval results that several processes share.

    A key is a kind of result, the build id of the data it comes from, its parameters and what was asked; a changed
    parameter is another key. Each `put` is one SQLite transaction: a killed process loses at most that entry. Nothing
    is evicted. With `path=None` nothing is kept and no disk is touched. With a `SharedStore` the entries lie there.
    """

    def __init__(self, path: str | os.PathLike[str] | SharedStore | None) -> None:
        self._shared = path if isinstance(path, SharedStore) else None
        self._path = None if path is None or isinstance(path, SharedStore) else Path(path).expanduser() / "entries"
        self._cache: diskcache.Cache | None = None

    @property
    def enabled(self) -> bool:
        """Whether anything is kept."""
        return self._path is not None or self._shared is not None

    def get(self, *key: Any) -> Any:
        """The value under `key`, or None. Values are never None."""
        if self._shared is not None:
            return _unpacked(self._shared, _key(key))
        if self._path is None:
            return None
        text = _key(key)
        entry = self._guard("read", lambda cache: cache.get(text, default=_MISSING))
        if entry is _MISSING:
            return None
        if fault := entry_fault(text, entry):
            LOGGER.warning("%s: an entry is damaged (%s) and made again: %s", self._path, fault, text[:80])
            self._guard("written", lambda cache: cache.delete(text))
            return None
        return entry.value

    def put(self, *key: Any, value: Any) -> None:
        """Keep a JSON value; it is on disk when the call returns."""
        if value is None:
            raise CacheError("None cannot be cached: a failure is not an empty result")
        if self._shared is not None:
            self._shared.put({_bytes(_key(key)): zlib.compress(msgspec.json.encode(value), 3)})
        if self._path is not None:
            self._guard("written", lambda cache: cache.set(_key(key), value))

    def clear(self) -> None:
        """Forget all entries. Raises `CacheError` where others share them."""
        if self._shared is not None:
            raise CacheError(f"{self._shared}: is shared, and not emptied from here; call redis-cli FLUSHDB there")
        if self._path is not None:
            self._guard("written", lambda cache: cache.clear())

    def keys(self) -> Iterator[str]:
        """The keys, as text."""
        if self._path is not None:
            yield from self._guard("read", list)

    def close(self) -> None:
        """Close the database; the next use opens it again."""
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def faults(self) -> Iterator[str]:
        """What is wrong with the database or an entry, whole and read-only; nothing where nothing is."""
        assert self._path is not None
        file = self._path / "cache.db"
        try:
            with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
                for (fault,) in connection.execute("PRAGMA integrity_check(3)"):
                    if fault != "ok":
                        yield one_line(sqlite3.DatabaseError(fault))
                disk = JsonBlobDisk(str(self._path))
                for key, raw, mode, filename, value in connection.execute(
                    "SELECT key, raw, mode, filename, value FROM Cache"
                ):
                    try:
                        fault = entry_fault(disk.get(key, raw), disk.fetch(mode, filename, value, False))
                    except CacheError as error:
                        fault = one_line(error)
                    if fault:
                        yield f"an entry is damaged ({fault}): {str(key)[:80]}"
        except sqlite3.Error as error:
            yield one_line(error)

    def _guard(self, verb: str, action: Any) -> Any:
        try:
            if self._cache is None:
                self._cache = self._open()
                weakref.finalize(self, self._cache.close)  # at the latest when nothing needs it
            return action(self._cache)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise self._fault(verb, error) from error
            raise CacheError(f"{self._path}: the cache is damaged ({one_line(error)}); delete the folder") from error
        except (sqlite3.Error, OSError, diskcache.Timeout, AttributeError, TypeError, ValueError) as error:
            raise self._fault(verb, error) from error

    def _fault(self, verb: str, error: Exception) -> CacheError:
        return CacheError(
            f"{self._path}: the cache cannot be {verb}: {one_line(error)}; "
            "free the disk, name another folder in ers_cache_path, or set ers_use_cache: false"
        )

    def _open(self) -> diskcache.Cache:
        assert self._path is not None
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.mkdir(mode=0o700, exist_ok=True)
        bounds = {"eviction_policy": "none", "cull_limit": 0, "size_limit": 2**62, "sqlite_cache_size": _PAGES}
        return diskcache.Cache(self._path, disk=JsonBlobDisk, **bounds)


def entry_fault(key: str, entry: KeptEntry) -> str:
    """Why an entry is not what was kept under a key; empty where it is."""
    if not entry.fault and entry.key is not None and entry.key != _sum(key):
        return "it is of another key"
    return entry.fault


def _unpacked(store: SharedStore, key: str) -> Any:
    """The value of an entry of a server; None where there is none, or another program's."""
    (blob,) = store.get([_bytes(key)])
    if blob is None:
        return None
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(blob, _LONGEST)
        if not unpacking.eof:
            raise zlib.error(f"it is cut, or has more than {_LONGEST >> 20} MiB")
        return msgspec.json.decode(text)
    except (zlib.error, *JSON_ERRORS) as error:
        LOGGER.warning("%s: an entry is damaged (%s) and made again: %s", store, one_line(error), key[:80])
        return None


def _sum(key: str) -> int:
    return zlib.crc32(_bytes(key))


def _bytes(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")


def _key(parts: tuple[Any, ...]) -> str:
    return msgspec.json.encode([FORMAT, *parts], order="sorted").decode()
