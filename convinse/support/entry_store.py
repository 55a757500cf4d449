"""The entries of the cache: a diskcache in a folder, whose values are packed JSON and of which nothing is ever unpickled."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import diskcache
import msgspec

from .jsonlines import JSON_ERRORS

PLAIN = 1  # diskcache's mode of a value that stands in its row as bytes; 4 is a pickle
DAMAGE = (zlib.error, TypeError, *JSON_ERRORS)
# a page of 8192 bytes holds most entries; the size of SQLite's own cache is in pages
_SETTINGS = {"sqlite_cache_size": 256, "sqlite_mmap_size": 1 << 28}


class DamagedEntryError(ValueError):
    """A row of the cache is not as it was written."""


class _PackedJson(diskcache.Disk):  # type: ignore[misc]  # the library has no types
    """Keeps keys as text and values as packed JSON in their rows: no pickles, no files beside the database."""

    def put(self, key: Any) -> tuple[Any, bool]:
        """Return the key as it is stored, and that it is plain."""
        if not isinstance(key, str):
            raise TypeError(f"a key of the cache is text, not {type(key).__name__}")
        return key, True

    def get(self, key: Any, raw: bool) -> str:
        """Return a stored key. Raises `DamagedEntryError` for any other, such as a pickle."""
        if not raw or not isinstance(key, str):
            raise DamagedEntryError("a key is not text")
        return key

    def store(self, value: Any, read: bool, key: Any = None) -> tuple[int, int, None, bytes]:
        """Return size, mode, file and bytes of a value; bytes are packed already."""
        packed = value if isinstance(value, bytes) else zlib.compress(msgspec.json.encode(value), 3)
        return 0, PLAIN, None, packed

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        """Return the JSON value of a row. Raises `DamagedEntryError` for any other, such as a pickle or a file."""
        if mode != PLAIN or filename is not None:
            raise DamagedEntryError(f"an entry has the mode {mode}")
        try:
            return msgspec.json.decode(zlib.decompress(value))
        except DAMAGE:
            raise DamagedEntryError("an entry is not packed JSON") from None


class EntryStore:
    """Values by their keys, which processes and threads share.

    Args:
        folder: made if it is missing.
        most_bytes: the size of the file beyond which the oldest values make place.

    Raises:
        sqlite3.Error: the file cannot be used.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        try:
            self._store = diskcache.Cache(
                str(folder),
                disk=_PackedJson,
                timeout=60,
                size_limit=most_bytes,
                eviction_policy="least-recently-stored",
                **_SETTINGS,
            )
        except diskcache.Timeout as error:
            raise sqlite3.OperationalError("it is locked") from error

    def get(self, key: str) -> Any:
        """Return the value of a key, or None. Raises `DamagedEntryError`."""
        return self._store.get(key)

    def put(self, key: str, value: Any) -> None:
        """Keep a value, in a transaction of its own."""
        try:
            self._store.set(key, value)
        except diskcache.Timeout as error:
            raise sqlite3.OperationalError("it is locked") from error

    def take(self, rows: Iterable[tuple[str, bytes]]) -> None:
        """Keep packed values of an older file, in one transaction."""
        with self._store.transact(retry=True):
            for key, packed in rows:
                self._store.add(key, packed)

    def keys(self) -> list[str]:
        """Return all keys. Raises `DamagedEntryError`."""
        return list(self._store.iterkeys())

    def clear(self) -> None:
        """Forget everything."""
        self._store.clear(retry=True)

    def close(self) -> None:
        """Close the connection of this thread."""
        self._store.close()
