"""The cache of what was computed or fetched: one SQLite file in a folder, with JSON values, and vectors as bytes.

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

import msgspec

from .errors import one_line
from .jsonlines import JSON_ERRORS

T = TypeVar("T")

LOGGER = logging.getLogger(__name__)
FILE = "cache.db"
_FOLDER = "v4"  # another one when the meaning of what is kept changes
# with pages of 4096 bytes a batch of vectors takes a third longer, and half as long again if the file is not mapped
_SETTINGS = (
    "PRAGMA page_size=8192",
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA cache_size=256",
    f"PRAGMA mmap_size={1 << 40}",
)
_TABLES = (
    "CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, value BLOB NOT NULL)",
)
_AT_ONCE = 1000  # vectors of a query
_DAMAGE = (zlib.error, TypeError, *JSON_ERRORS)


class Cache:
    """A store that processes and threads share, in a folder (`ers_cache_path`); without a path nothing is kept and no disk is touched.

    The key of an entry is its kind, the build id of the data it comes from, its parameters and what it answers; a changed parameter
    is another key. Each `put` is one transaction. Nothing is evicted.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = None if path is None else Path(path).expanduser() / _FOLDER
        self._connection: sqlite3.Connection | None = None
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
        query = "SELECT value FROM entries WHERE key = ?"
        row = self._tried("read", lambda connection: connection.execute(query, (name,)).fetchone())
        if row is None:
            return None
        try:
            return msgspec.json.decode(zlib.decompress(row[0]))
        except _DAMAGE:
            LOGGER.warning("%s: a damaged entry is made again: %s", self._path, name[:80])
            return None

    def put(self, *key: Any, value: Any) -> None:
        """Keep a JSON value; after the call a kill loses nothing. Raises `ValueError` for None: a failure is not an empty result."""
        if value is None:
            raise ValueError("None cannot be cached")
        self._write("entries", [(_name(key), zlib.compress(msgspec.json.encode(value), 3))])

    def get_vectors(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return what is kept under some 64-bit numbers; what is longer than these begins with its key."""

        def read(connection: sqlite3.Connection) -> list[tuple[int, bytes]]:
            rows: list[tuple[int, bytes]] = []
            ordered = sorted(ids)
            for start in range(0, len(ordered), _AT_ONCE):
                part = ",".join(map(str, ordered[start : start + _AT_ONCE]))
                rows += connection.execute(f"SELECT id, value FROM vectors WHERE id IN ({part})")
            return rows

        return {number: value for number, value in self._tried("read", read) or [] if isinstance(value, bytes)}

    def put_vectors(self, values: Iterable[tuple[int, bytes]]) -> None:
        """Keep bytes under 64-bit numbers, in one transaction."""
        self._write("vectors", sorted(values))

    def clear(self) -> None:
        """Forget everything."""
        self._tried("written", lambda connection: connection.executescript("DELETE FROM entries; DELETE FROM vectors"))

    def keys(self) -> list[str]:
        """Return the keys of the entries, as text."""
        return [key for (key,) in self._tried("read", lambda file: [*file.execute("SELECT key FROM entries")]) or []]

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        self.close()

    def _write(self, table: str, rows: list[tuple[Any, bytes]]) -> None:
        def write(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", rows)

        self._tried("written", write)

    def _tried(self, verb: str, action: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return what an action gives; None if the cache cannot be used, which is warned of once."""
        if self._path is None or verb in self._off:
            return None
        try:
            with self._lock:
                if self._connection is None or self._process != os.getpid():  # SQLite does not bear a fork
                    self._connection, self._process = _open(self._path), os.getpid()
                return action(self._connection)
        except (sqlite3.Error, OSError, ValueError) as error:
            if not self._off:
                LOGGER.warning(
                    "%s: the cache cannot be %s (%s); going on without it: free the disk, delete the folder, or name another one in "
                    "ers_cache_path", self._path, verb, one_line(error),
                )  # fmt: skip
            # a full disk can still be read
            self._off |= {verb} if self._connection is not None and verb == "written" else {"read", "written"}
            return None


def _open(folder: Path) -> sqlite3.Connection:
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        flock(lock, LOCK_EX)  # SQLite does not wait for others while a database is made
        connection = sqlite3.connect(folder / FILE, timeout=60, check_same_thread=False)
        for setting in (*_SETTINGS, *_TABLES):
            connection.execute(setting)
        return connection
    finally:
        os.close(lock)


def _name(key: tuple[Any, ...]) -> str:
    try:
        return msgspec.json.encode(key, order="sorted").decode()
    except UnicodeEncodeError:  # half a character, as of an argument in another encoding
        return ascii(key)


def cache_fault(file: Path) -> str:
    """Return what is wrong with the file of a cache, read whole and not changed; empty if nothing is."""
    damaged = 0
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            for (fault,) in connection.execute("PRAGMA integrity_check(1)"):
                if fault != "ok":
                    return one_line(sqlite3.DatabaseError(fault))
            for (value,) in connection.execute("SELECT value FROM entries"):
                try:
                    zlib.decompress(value)
                except _DAMAGE:
                    damaged += 1
    except (sqlite3.Error, UnicodeError) as error:
        return one_line(error)
    return f"{damaged} entries are damaged; they are made again when they are needed" if damaged else ""
