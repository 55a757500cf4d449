"""The cache of what was computed or fetched: in a folder, JSON values in a diskcache, and vectors as bytes in an SQLite file.

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
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from .errors import one_line

if TYPE_CHECKING:
    from .entry_store import EntryStore

T = TypeVar("T")

LOGGER = logging.getLogger(__name__)
FILE = "cache.db"  # of vectors; diskcache gives that of entries the same name
_FOLDER = "v4"  # another one when the meaning of what is kept changes
_ENTRIES = "entries"  # a folder in it, and the table that version 0.2 had in place of it
_GB = 1_000_000_000
# with pages of 4096 bytes a batch of vectors takes a third longer, and half as long again if the file is not mapped
_SETTINGS = (
    "PRAGMA page_size=8192",
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA cache_size=256",
    f"PRAGMA mmap_size={1 << 40}",
)
_TABLE = "CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, value BLOB NOT NULL)"
_AT_ONCE = 1000  # vectors of a query


class Cache:
    """A store that processes and threads share, in a folder (`ers_cache_path`); without a path nothing is kept and no disk is touched.

    The key of an entry is its kind, the build id of the data it comes from, its parameters and what it answers; a changed parameter
    is another key. Each `put` is one transaction.

    Args:
        path: the folder.
        most: gigabytes of the entries, and of the vectors (`ers_cache_size`); beyond, the oldest entries make place, and all vectors do.
    """

    def __init__(self, path: str | os.PathLike[str] | None, most: float = 50.0) -> None:
        self._path = None if path is None else Path(path).expanduser() / _FOLDER
        self._most_bytes = int(most * _GB)
        self._opened: tuple[EntryStore, sqlite3.Connection] | None = None
        self._process = os.getpid()
        self._lock = threading.RLock()
        self._off: set[str] = set()  # "read", "written"

    @property
    def enabled(self) -> bool:
        """Whether anything is kept; False from the moment on at which the cache cannot be read."""
        return self._path is not None and "read" not in self._off

    def get(self, *key: Any) -> Any:
        """Return the JSON value under `key`, or None; a kept value is never None."""
        from .entry_store import DamagedEntryError

        name = _name(key)

        def read(entries: EntryStore, _: sqlite3.Connection) -> Any:
            try:
                return entries.get(name)
            except DamagedEntryError:
                LOGGER.warning("%s: a damaged entry is made again: %s", self._path, name[:80])
                return None

        return self._tried("read", read)

    def put(self, *key: Any, value: Any) -> None:
        """Keep a JSON value; after the call a kill loses nothing.

        Raises `ValueError` for None: a failure is not an empty result.
        """
        if value is None:
            raise ValueError("None cannot be cached")
        self._tried("written", lambda entries, _: entries.put(_name(key), value))

    def get_vectors(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return what is kept under some 64-bit numbers; what is longer than these begins with its key."""

        def read(_: EntryStore, vectors: sqlite3.Connection) -> list[tuple[int, bytes]]:
            rows: list[tuple[int, bytes]] = []
            ordered = sorted(ids)
            for start in range(0, len(ordered), _AT_ONCE):
                part = ",".join(map(str, ordered[start : start + _AT_ONCE]))
                rows += vectors.execute(f"SELECT id, value FROM vectors WHERE id IN ({part})")
            return rows

        return {number: value for number, value in self._tried("read", read) or [] if isinstance(value, bytes)}

    def put_vectors(self, values: Iterable[tuple[int, bytes]]) -> None:
        """Keep bytes under 64-bit numbers, in one transaction."""

        def is_full(_: EntryStore, vectors: sqlite3.Connection) -> bool:
            pages = [
                vectors.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            ]
            return bool((pages[0] - pages[1]) * pages[2] >= self._most_bytes)

        if self._tried("written", is_full):
            self._tried("written", _forget_vectors)

        def write(_: EntryStore, vectors: sqlite3.Connection) -> None:
            with vectors:
                vectors.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", sorted(values))

        self._tried("written", write)

    def clear(self) -> None:
        """Forget everything."""
        self._tried("written", lambda entries, _: entries.clear())
        self._tried("written", _forget_vectors)

    def keys(self) -> list[str]:
        """Return the keys of the entries, as text."""
        return self._tried("read", lambda entries, _: entries.keys()) or []

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            for store in self._opened or ():
                store.close()
            self._opened = None

    def __del__(self) -> None:
        self.close()

    def _tried(self, verb: str, action: Callable[[EntryStore, sqlite3.Connection], T]) -> T | None:
        """Return what an action gives; None if the cache cannot be used, which is warned of once."""
        if self._path is None or verb in self._off:
            return None
        try:
            with self._lock:
                if self._opened is None or self._process != os.getpid():  # SQLite does not bear a fork
                    self._opened, self._process = _open(self._path, self._most_bytes), os.getpid()
                return action(*self._opened)
        except (sqlite3.Error, OSError, ValueError) as error:
            if not self._off:
                LOGGER.warning(
                    "%s: the cache cannot be %s (%s); going on without it: free the disk, delete the folder, or name another one in "
                    "ers_cache_path", self._path, verb, one_line(error),
                )  # fmt: skip
            # a full disk can still be read
            self._off |= {verb} if self._opened is not None and verb == "written" else {"read", "written"}
            return None


def _open(folder: Path, most_bytes: int) -> tuple[EntryStore, sqlite3.Connection]:
    from .entry_store import EntryStore

    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        flock(lock, LOCK_EX)  # SQLite does not wait for others while a database is made
        vectors = sqlite3.connect(folder / FILE, timeout=60, check_same_thread=False)
        for setting in (*_SETTINGS, _TABLE):
            vectors.execute(setting)
        entries = EntryStore(folder / _ENTRIES, most_bytes)
        _take_older_entries(vectors, entries)
        return entries, vectors
    finally:
        os.close(lock)


def _take_older_entries(vectors: sqlite3.Connection, entries: EntryStore) -> None:
    # version 0.2 has the entries, packed in the same way, in a table beside the vectors; a kill in between does no harm
    tables = "SELECT 1 FROM sqlite_master WHERE name = ?"
    if vectors.execute(tables, (_ENTRIES,)).fetchone() is None:
        return
    rows = vectors.execute(f"SELECT key, value FROM {_ENTRIES}")
    entries.take((key, value) for key, value in rows if isinstance(value, bytes))
    vectors.execute(f"DROP TABLE {_ENTRIES}")
    vectors.commit()


def _forget_vectors(_: EntryStore, vectors: sqlite3.Connection) -> None:
    with vectors:
        vectors.execute("DELETE FROM vectors")


def _name(key: tuple[Any, ...]) -> str:
    try:
        return msgspec.json.encode(key, order="sorted").decode()
    except UnicodeEncodeError:  # half a character, as of an argument in another encoding
        return ascii(key)


def cache_fault(file: Path) -> str:
    """Return what is wrong with a file of a cache, read whole and not changed; empty if nothing is."""
    from .entry_store import DAMAGE, PLAIN

    damaged = 0
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            for (fault,) in connection.execute("PRAGMA integrity_check(1)"):
                if fault != "ok":
                    return one_line(sqlite3.DatabaseError(fault))
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'Cache'").fetchone() is None:
                return ""  # vectors, which begin with their key
            for key, raw, mode, name, value in connection.execute("SELECT key, raw, mode, filename, value FROM Cache"):
                try:
                    zlib.decompress(value)
                except DAMAGE:
                    damaged += 1
                else:
                    damaged += not (isinstance(key, str) and raw and mode == PLAIN and name is None)
    except (sqlite3.Error, UnicodeError) as error:
        return one_line(error)
    return f"{damaged} entries are damaged; they are made again when they are needed" if damaged else ""
