"""The Wikipedia dump: one SQLite file, item id -> evidences, opened without loading."""

from __future__ import annotations

import hashlib
import logging
import os
import sqlite3
import time
import weakref
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..records.evidence import Evidence
from ..support.errors import IndexFileError, OutputError, one_line
from ..support.files import replacing
from .page import FORMAT

LOGGER = logging.getLogger(__name__)
_MAGIC = b"SQLite format 3\x00"
_WAIT = 30.0  # seconds for another process that writes
_SUMS = 1 << 256
# rows behind an index: a WITHOUT ROWID table would keep the blobs in its inner nodes, four to a page
_SCHEMA = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE page (id TEXT NOT NULL UNIQUE, evidences BLOB NOT NULL)",
)


class WikipediaDump:
    """Evidences by item, read by key; any number of processes may read one file, also while another appends.

    Raises:
        IndexFileError: the file is missing, damaged or of another format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise IndexFileError(f"{path}: no such Wikipedia dump; check ers_wikipedia_dump")
        with _readable(path):
            _check_size(path)
            self._connection = _connect_to_read(path)
            weakref.finalize(self, self._connection.close)  # at the latest when nothing needs it
            try:
                _check_format(path, self._meta())
                self._connection.execute("SELECT id, evidences FROM page LIMIT 0")
                self._build_id = self._meta()["build_id"]
            except BaseException:
                self._connection.close()
                raise

    @property
    def build_id(self) -> str:
        """What the content is: changes with every page that is added or replaced."""
        try:
            with _readable(self.path):
                self._build_id = self._meta()["build_id"]
        except sqlite3.ProgrammingError:  # closed
            pass
        return self._build_id

    @property
    def counts(self) -> dict[str, int]:
        """The number of `pages`, and that of the evidences of each source."""
        with _readable(self.path):
            return msgspec.json.decode(self._meta()["counts"], type=dict[str, int])

    def get(self, item_id: str) -> list[Evidence] | None:
        """The evidences of an item's page, or None when the dump has no such page."""
        try:
            row = _patiently(self._connection, "SELECT evidences FROM page WHERE id = ?", (item_id,)).fetchone()
            return None if row is None else msgspec.json.decode(zlib.decompress(row[0]))
        except sqlite3.ProgrammingError:  # closed: a fault of the caller
            raise
        except (sqlite3.Error, zlib.error, msgspec.DecodeError, TypeError) as error:
            raise IndexFileError(f"{self.path}: damaged at {item_id} ({one_line(error)}); build it again") from None

    def __len__(self) -> int:
        with _readable(self.path):
            return int(self._connection.execute("SELECT count(*) FROM page").fetchone()[0])

    def items(self) -> list[str]:
        """The ids of all items that have a page."""
        with _readable(self.path):
            return [row[0] for row in self._connection.execute("SELECT id FROM page ORDER BY id")]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _meta(self) -> dict[str, str]:
        return dict(_patiently(self._connection, "SELECT key, value FROM meta").fetchall())


class DumpWriter:
    """Adds pages to a dump, which is made where there is none; others read it meanwhile.

    Every `put` is a transaction: it is on disk when it returns, and a killed process leaves the file whole. Several
    writers wait for each other. The file and its readers must be on one machine (a write-ahead log is shared memory).

    Raises:
        IndexFileError: the file is something else than a dump of this version.
        OutputError: the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists() and not path.is_file():
                raise OutputError(f"{path}: is no file")
            if path.is_file() and path.stat().st_size:
                _check_size(path)
            self._connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise OutputError(f"{path}: cannot be written: {one_line(error)}") from None
        try:
            with _readable(path):
                is_new = self._is_empty()  # also after a writer that was killed while it made the file
                if not is_new:
                    meta = dict(_patiently(self._connection, "SELECT key, value FROM meta"))
                    _check_format(path, meta)
                    if "sum" not in meta:
                        raise IndexFileError(f"{path}: made by an older version, cannot be added to; build it again")
            with _writable(path):
                # a reader is never kept waiting by a write-ahead log, and needs no repair after a kill
                _patiently(self._connection, "PRAGMA journal_mode=WAL")
                self._connection.execute("PRAGMA synchronous=NORMAL")
                if is_new:
                    with self._transaction():
                        if self._is_empty():
                            _create(self._connection)
                            _put_meta(self._connection, 0, Counter(pages=0))
        except BaseException:
            self._connection.close()
            raise

    def _is_empty(self) -> bool:
        return _patiently(self._connection, "SELECT 1 FROM sqlite_master").fetchone() is None

    def put(self, item_id: str, evidences: list[Evidence]) -> None:
        """Add the evidences of an item's page; those that it had are replaced."""
        page = pack(item_id, evidences)
        with _writable(self.path), self._transaction():
            meta = dict(self._connection.execute("SELECT key, value FROM meta"))
            total, counts = int(meta["sum"], 16), Counter(msgspec.json.decode(meta["counts"], type=dict[str, int]))
            row = self._connection.execute("SELECT evidences FROM page WHERE id = ?", (item_id,)).fetchone()
            if row is not None:
                older = pack(item_id, msgspec.json.decode(zlib.decompress(row[0])))
                total -= older.digest
                counts.subtract(older.counts)
            self._connection.execute(
                "INSERT INTO page VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET evidences = excluded.evidences",
                (page.item_id, page.blob),
            )
            counts.update(page.counts)
            _put_meta(self._connection, total + page.digest, counts)

    def close(self) -> None:
        """Close the file; the last one to do so leaves a single file that needs no log beside it."""
        try:
            self._connection.execute("PRAGMA busy_timeout = 0")
            self._connection.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.Error:  # others have it open: the log stays, and is read with the file
            pass
        self._connection.close()

    def __enter__(self) -> DumpWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        _patiently(self._connection, "BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")


class PackedPage(NamedTuple):
    """A page as it is stored; `digest` is the share of its content in the build id."""

    item_id: str
    blob: bytes
    digest: int
    counts: dict[str, int]


def pack(item_id: str, evidences: list[Evidence]) -> PackedPage:
    """The stored form of a page's evidences."""
    data = msgspec.json.encode(evidences)
    digest = hashlib.sha256(item_id.encode() + b"\n" + data).digest()
    counts = Counter(evidence["source"] for evidence in evidences)
    return PackedPage(item_id, zlib.compress(data, 6), int.from_bytes(digest, "big"), {"pages": 1, **counts})


def write_dump(path: Path, pages: Iterable[tuple[str, list[Evidence]]]) -> int:
    """Write (item id, evidences) pairs into a new dump, put in place when it is whole; returns their number."""
    return write_packed(path, (pack(item_id, evidences) for item_id, evidences in pages))["pages"]


def write_packed(path: Path, pages: Iterable[PackedPage]) -> dict[str, int]:
    """Like `write_dump` with packed pages; returns the counts of the dump. The first page of an item counts.

    Raises:
        OutputError: `path` cannot be written, or is something else than a dump.
    """
    check_replaceable(path)
    total, counts = 0, Counter(pages=0)
    with replacing(path) as temporary, _writable(path):
        connection = sqlite3.connect(temporary)
        try:
            connection.execute("PRAGMA journal_mode=OFF")
            connection.execute("PRAGMA synchronous=OFF")
            _create(connection)
            with connection:
                for page in pages:
                    row = (page.item_id, page.blob)
                    if connection.execute("INSERT OR IGNORE INTO page VALUES (?, ?)", row).rowcount:
                        total += page.digest
                        counts.update(page.counts)
                    else:
                        LOGGER.warning("%s: a second page of %s is skipped", path, page.item_id)
                _put_meta(connection, total, counts)
        finally:
            connection.close()
        for suffix in ("-wal", "-shm"):  # those of the older dump would be read with the new one
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    return dict(counts)


def _patiently(connection: sqlite3.Connection, statement: str, values: tuple[str, ...] = ()) -> sqlite3.Cursor:
    """Execute; SQLite's own patience does not cover the moments when the first writer comes or the last one goes."""
    end = time.monotonic() + _WAIT
    while True:
        try:
            return connection.execute(statement, values)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
        time.sleep(0.005)


def _create(connection: sqlite3.Connection) -> None:
    for statement in _SCHEMA:
        connection.execute(statement)


def _put_meta(connection: sqlite3.Connection, total: int, counts: Counter[str]) -> None:
    """A sum of digests: the build id follows from the content alone, in whatever order it came, without reading it."""
    text = f"{total % _SUMS:064x}"
    meta = {
        "format": str(FORMAT),
        "build_id": hashlib.sha256(f"format {FORMAT} {text}".encode()).hexdigest()[:16],
        "sum": text,
        "counts": msgspec.json.encode({key: counts[key] for key in sorted(counts)}).decode(),
    }
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta.items())


def check_replaceable(path: Path) -> None:
    """Raise `OutputError` when `path` is something else than a dump."""
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; name a file")
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
        if start not in (b"", _MAGIC):
            raise OutputError(f"{path}: exists and is no Wikipedia dump; choose another file, or remove it")


def _check_size(path: Path) -> None:
    """A file cut within its last page reads as zeros there, which SQLite does not notice."""
    with path.open("rb") as file:
        head = file.read(100)
    size = int.from_bytes(head[16:18], "big")
    if head[: len(_MAGIC)] != _MAGIC or len(head) < 100:
        raise IndexFileError(f"{path}: not a Wikipedia dump; build it again")
    if path.stat().st_size % (65536 if size == 1 else max(size, 512)):
        raise IndexFileError(f"{path}: not a whole Wikipedia dump, its end is cut off; build it again")


def _check_format(path: Path, meta: dict[str, Any]) -> None:
    if meta.get("format") != str(FORMAT):
        raise IndexFileError(f"{path}: format {meta.get('format')}, this version reads format {FORMAT}; build it again")


def _connect_to_read(path: Path) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?mode=ro"
    log = path.resolve().with_name(path.resolve().name + "-wal")
    if not os.access(path.resolve().parent, os.W_OK) and not log.exists():
        uri += "&immutable=1"  # a log cannot even be opened in a folder that is read-only
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False, timeout=_WAIT)
    connection.execute("PRAGMA query_only=1")
    return connection


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except (sqlite3.Error, OSError, KeyError, msgspec.DecodeError) as error:
        raise IndexFileError(f"{path}: not a Wikipedia dump ({one_line(error)}); build it again") from None


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.DatabaseError, zlib.error, msgspec.DecodeError) as error:
        raise OutputError(f"{path}: cannot be written: {one_line(error)}") from None
