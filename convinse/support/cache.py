"""The cache of what was computed or fetched: one SQLite file in a folder, values as bytes with a checksum, never a pickle.

diskcache stores the entries. Its own `Disk` would unpickle what a folder holds (CVE-2025-69872); `_RawDisk` has bytes under text keys and
takes anything else for damage. Vectors lie in a table beside its own, so that one query finds a batch of them (see `vectors`).

A cache saves time and changes no result: a damaged entry is made again, and a cache that cannot be read or written is warned of once and done without.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any, TypeVar

import diskcache
import msgspec
from diskcache.core import MODE_RAW, Disk

from .errors import one_line
from .jsonlines import JSON_ERRORS

T = TypeVar("T")

LOGGER = logging.getLogger(__name__)
FILE = "cache.db"  # diskcache's name
_FOLDER = "v3"  # another one when the meaning of what is kept changes
_SUM = 4  # bytes of a checksum
_SOUND = 0x2144DF1C  # the CRC-32 of any bytes that their own CRC-32 follows
# with pages of 4096 bytes a batch of vectors takes a third longer, and half as long again if the file is not mapped; few pages are kept in
# memory: diskcache's own number of them fills for thousands of turns
_SETTINGS = ("page_size=8192", "journal_mode=WAL", "synchronous=NORMAL", "cache_size=256", f"mmap_size={1 << 40}")
_BOUNDS = {"eviction_policy": "none", "cull_limit": 0, "size_limit": 2**62, "sqlite_cache_size": 256}
_AT_ONCE = 1000  # vectors of a query
_VECTORS = "CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, value BLOB NOT NULL)"


class _RawDisk(Disk):  # type: ignore[misc]
    def put(self, key: object) -> tuple[str, bool]:
        if not isinstance(key, str):
            raise TypeError(f"a cache key must be text, not {type(key).__name__}")
        return key, True

    def get(self, key: object, raw: bool) -> str:
        return key if raw and isinstance(key, str) else ""

    def store(self, value: bytes, read: bool, key: object = None) -> tuple[int, int, None, sqlite3.Binary]:
        return len(value), MODE_RAW, None, sqlite3.Binary(value)

    def fetch(self, mode: int, filename: str | None, value: object, read: bool) -> bytes:
        return value if mode == MODE_RAW and filename is None and isinstance(value, bytes) else b""

    def remove(self, file_path: str) -> None:
        """Entries have no files; a foreign one does not get to name one for deletion."""


class Cache:
    """A store that processes and threads share.

    The key of an entry is its kind, the build id of the data it comes from, its parameters and what it answers; a changed parameter
    is another key. Each `put` is one transaction. Nothing is evicted. With `path=None` nothing is kept and no disk is touched.

    Args:
        path: the folder (`ers_cache_path`).
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = None if path is None else Path(path).expanduser() / _FOLDER
        self._files: tuple[diskcache.Cache, sqlite3.Connection] | None = None
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._off: set[str] = set()  # "read", "written"

    @property
    def enabled(self) -> bool:
        """Whether anything is kept; False from the moment on at which the cache cannot be read."""
        return self._path is not None and "read" not in self._off

    def get(self, *key: Any) -> Any:
        """Return the JSON value under `key`, or None; a kept value is never None."""
        name = _name(key)
        blob = self._tried("read", lambda entries, _: entries.get(name))
        if blob is None:
            return None
        try:
            if _is_sound(blob, name):
                return msgspec.json.decode(zlib.decompress(blob[:-_SUM]))
        except (zlib.error, *JSON_ERRORS):
            pass  # a foreign entry
        LOGGER.warning("%s: a damaged entry is made again: %s", self._path, name[:80])
        return None

    def put(self, *key: Any, value: Any) -> None:
        """Keep a JSON value; it is on disk when the call returns.

        Raises:
            ValueError: for None, as a failure is not an empty result.
        """
        if value is None:
            raise ValueError("None cannot be cached")
        name = _name(key)
        blob = _with_sum(zlib.compress(msgspec.json.encode(value), 3), name)
        self._tried("written", lambda entries, _: entries.set(name, blob))

    def get_vectors(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return what is kept under some 64-bit numbers; what is longer than these begins with its key."""

        def read(_: diskcache.Cache, connection: sqlite3.Connection) -> list[tuple[int, bytes]]:
            rows: list[tuple[int, bytes]] = []
            ordered = sorted(ids)
            for start in range(0, len(ordered), _AT_ONCE):
                part = ",".join(map(str, ordered[start : start + _AT_ONCE]))
                rows += connection.execute(f"SELECT id, value FROM vectors WHERE id IN ({part})")
            return rows

        rows = self._tried("read", read) or []
        crc32 = zlib.crc32  # not `_is_sound`: a turn looks up some thousands
        return {number: value[:-_SUM] for number, value in rows if isinstance(value, bytes) and crc32(value) == _SOUND}

    def put_vectors(self, values: Iterable[tuple[int, bytes]]) -> None:
        """Keep bytes under 64-bit numbers, in one transaction."""
        rows = sorted((number, _with_sum(content)) for number, content in values)

        def write(_: diskcache.Cache, connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

        self._tried("written", write)

    def clear(self) -> None:
        """Forget everything."""

        def empty(entries: diskcache.Cache, connection: sqlite3.Connection) -> None:
            entries.clear()
            with connection:
                connection.execute("DELETE FROM vectors")

        self._tried("written", empty)

    def keys(self) -> list[str]:
        """Return the keys of the entries, as text."""
        return self._tried("read", lambda entries, _: list(entries)) or []

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            for file in self._files or ():
                file.close()
            self._files = None

    def __del__(self) -> None:
        self.close()

    def _tried(self, verb: str, action: Callable[[diskcache.Cache, sqlite3.Connection], T]) -> T | None:
        """Return what an action gives; None if the cache cannot be used, which is warned of once."""
        if self._path is None or verb in self._off:
            return None
        try:
            with self._lock:
                if self._files is None or self._process != os.getpid():  # SQLite does not bear a fork
                    self._files, self._process = _open(self._path), os.getpid()
                return action(*self._files)
        except (sqlite3.Error, OSError, diskcache.Timeout, ValueError, TypeError, AttributeError) as error:
            if not self._off:
                LOGGER.warning(
                    "%s: the cache cannot be %s (%s); going on without it: free the disk, delete the folder, or name another one in "
                    "ers_cache_path", self._path, verb, one_line(error),
                )  # fmt: skip
            # a full disk can still be read
            self._off |= {verb} if self._files is not None and verb == "written" else {"read", "written"}
            return None


def _open(folder: Path) -> tuple[diskcache.Cache, sqlite3.Connection]:
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        flock(lock, LOCK_EX)  # SQLite does not wait for others while a database is made
        connection = sqlite3.connect(folder / FILE, timeout=60, check_same_thread=False)
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
        with connection:
            connection.execute(_VECTORS)
        return diskcache.Cache(folder, disk=_RawDisk, **_BOUNDS), connection
    finally:
        os.close(lock)


def _with_sum(content: bytes, key: str = "") -> bytes:
    return content + zlib.crc32(content, zlib.crc32(key.encode())).to_bytes(_SUM, "little")


def _is_sound(blob: object, key: str = "") -> bool:
    """Return False for a damaged entry, one of another key, and anything that `_with_sum` has not made."""
    return isinstance(blob, bytes) and zlib.crc32(blob, zlib.crc32(key.encode()) if key else 0) == _SOUND


def _name(key: tuple[Any, ...]) -> str:
    try:
        return msgspec.json.encode(key, order="sorted").decode()
    except UnicodeEncodeError:  # half a character, as of an argument in another encoding
        return ascii(key)


def cache_fault(file: Path) -> str:
    """Return what is wrong with the file of a cache, read whole and not changed; empty if nothing is."""
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            for (fault,) in connection.execute("PRAGMA integrity_check(1)"):
                if fault != "ok":
                    return one_line(sqlite3.DatabaseError(fault))
            rows = [
                *connection.execute("SELECT value, key FROM Cache"),
                *connection.execute("SELECT value, '' FROM vectors"),
            ]
            damaged = sum(not _is_sound(value, str(key)) for value, key in rows)
    except (sqlite3.Error, UnicodeError) as error:
        return one_line(error)
    return f"{damaged} entries are damaged; they are made again when they are needed" if damaged else ""
