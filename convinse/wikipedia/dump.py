"""The Wikipedia dump: one SQLite file, item id -> evidences, opened without loading."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import weakref
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..language.text import fold
from ..records.evidence import Evidence, Row
from ..support.checksums import read_sha256, sha256
from ..support.errors import IndexFileError, OutputError, one_line, remedy_of
from ..support.files import replacing, steadily
from ..support.jsonlines import JSON_ERRORS
from .page import FORMAT, whole_rows

LOGGER = logging.getLogger(__name__)
_SQLITE = b"SQLite format 3\x00"
# behind the last page of SQLite, which reads no further: the SHA-256 of all before, on a page of its own
_SEAL = b"convinse sha256 "
_PAGE = 4096
_SUMS = 1 << 256
_TABLES = 64  # that stay in memory: several turns ask for those of one page
# rows behind an index: a WITHOUT ROWID table would keep the blobs in its inner nodes, four to a page
_SCHEMA = """
PRAGMA journal_mode=OFF;
PRAGMA synchronous=OFF;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE page (id TEXT NOT NULL UNIQUE, evidences BLOB NOT NULL);
"""
# the words of pages in the full-text index of SQLite, without a copy of the text: phrases and BM25 in the file that is there anyway, at half of
# the size of the text; a row of `words` is that of `page`
_WORDS = "CREATE VIRTUAL TABLE words USING fts5 (text, content='', tokenize='unicode61')"


class WikipediaDump:
    """Evidences by item, read by key; any number of processes and threads may read one file.

    Raises:
        IndexFileError: the file is missing, damaged or of another format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tables: dict[tuple[str, int], list[Row]] = {}
        steadily(path, self._open)

    def _open(self) -> None:
        path = self.path
        with _readable(path):
            if not path.is_file():
                raise IndexFileError(f"{path}: no such Wikipedia dump; check ers_wikipedia_dump")
            self._require_sound(sha256)
            address = f"{path.resolve().as_uri()}?mode=ro"
            self._connection = sqlite3.connect(address, uri=True, check_same_thread=False)
            weakref.finalize(self, self._connection.close)  # at the latest when nothing needs it
            self._connection.execute("PRAGMA query_only=1")
            meta = dict(self._connection.execute("SELECT key, value FROM meta"))
            written = meta.get("format")
            if written != str(FORMAT):
                raise IndexFileError(f"{path}: format {written}, this version reads format {FORMAT}; build it again")
            self._connection.execute("SELECT id, evidences FROM page LIMIT 0")
            try:  # whether the pages can be searched
                self._connection.execute("SELECT rowid FROM words LIMIT 0")
                self.has_words = True
            except sqlite3.OperationalError:  # an earlier version wrote it, or this SQLite has no full-text search
                self.has_words = False
            self.build_id: str = meta["build_id"]  # the same for the same pages, in whatever order they came
            self.counts = msgspec.json.decode(meta["counts"], type=dict[str, int])  # `pages`, and evidences by source

    def get(self, item_id: str) -> list[Evidence] | None:
        """The evidences of an item's page, or None when the dump has no such page."""
        try:
            row = self._connection.execute("SELECT evidences FROM page WHERE id = ?", (item_id,)).fetchone()
            if row is None:
                return None
            evidences: list[Evidence] = msgspec.json.decode(zlib.decompress(row[0]))
            return evidences
        except sqlite3.ProgrammingError:  # closed: a fault of the caller
            raise
        except (sqlite3.Error, zlib.error, *JSON_ERRORS, TypeError) as error:
            raise IndexFileError(f"{self.path}: damaged at {item_id} ({one_line(error)}); build it again") from None

    def verify(self) -> None:
        """Read every byte. Raises `IndexFileError`: something is damaged."""
        with _readable(self.path):
            self._require_sound(read_sha256)

    def _require_sound(self, digest_of: Callable[[Path, int], str]) -> None:
        size = self.path.stat().st_size - _PAGE
        with self.path.open("rb") as file:
            if file.read(len(_SQLITE)) != _SQLITE:
                raise IndexFileError(f"{self.path}: not a Wikipedia dump; build it again")
            file.seek(max(0, size))
            seal = file.read()
        if not seal.startswith(_SEAL):
            raise IndexFileError(f"{self.path}: cut off, or of an earlier version; build it again")
        if seal != _seal(digest_of(self.path, size)):
            raise IndexFileError(f"{self.path}: altered since it was built; build it again")

    def search(self, names: Sequence[str], words: Sequence[str] = (), limit: int = 10) -> list[str]:
        """The items whose pages have all of some names, best first; empty where the dump has no words.

        Args:
            names: each one word or more in a row; in any case, accents aside.
            words: pages with more of these are better; without names pages have one of them at least.
            limit: of items.
        """
        phrases = [f'"{form}"' for form in map(fold, names) if form]
        single = [f'"{form}"' for form in map(fold, words) if form]
        parts = [*phrases, *([f"({' OR '.join([*phrases, *single])})"] if single else [])]
        if not self.has_words or not parts:
            return []
        statement = (
            "SELECT id FROM words JOIN page ON page.rowid = words.rowid WHERE words MATCH ? ORDER BY rank, id LIMIT ?"
        )
        with _readable(self.path):
            return [row[0] for row in self._connection.execute(statement, (" AND ".join(parts), limit))]

    def tells_of(self, item_id: str, name: str) -> bool:
        """Whether an item's page has a name; see `search`."""
        form = fold(name)
        if not self.has_words or not form:
            return False
        statement = "SELECT 1 FROM words WHERE words MATCH ? AND rowid = (SELECT rowid FROM page WHERE id = ?)"
        with _readable(self.path):
            return self._connection.execute(statement, (f'"{form}"', item_id)).fetchone() is not None

    def table(self, page: str, table: int) -> list[Row]:
        """The whole rows of a table on an item's page, in their order; see `whole_rows`. Tables count from 0.

        The tables read last stay in memory: the rows belong to all who ask, and are not to be changed.
        """
        rows = self._tables.get((page, table))
        if rows is None:
            rows = whole_rows(self.get(page) or (), table)
            if len(self._tables) >= _TABLES:
                self._tables.clear()
            self._tables[page, table] = rows
        return rows

    def __len__(self) -> int:
        with _readable(self.path):
            return int(self._connection.execute("SELECT count(*) FROM page").fetchone()[0])

    def items(self) -> list[str]:
        """The ids of all items that have a page."""
        with _readable(self.path):
            return [row[0] for row in self._connection.execute("SELECT id FROM page ORDER BY id")]

    def close(self) -> None:
        """Close the file."""
        self._tables.clear()
        self._connection.close()


class PackedPage(NamedTuple):
    """A page as it is stored; `words` are those that it is found by, `digest` is the share of its content in the build id."""

    item_id: str
    blob: bytes
    words: str
    digest: int
    counts: dict[str, int]


def pack(item_id: str, evidences: list[Evidence]) -> PackedPage:
    """The stored form of a page's evidences."""
    data = msgspec.json.encode(evidences)
    digest = hashlib.sha256(item_id.encode() + b"\n" + data).digest()
    counts = Counter(evidence["source"] for evidence in evidences)
    words = " ".join(fold(evidence["evidence_text"]) for evidence in evidences)
    return PackedPage(item_id, zlib.compress(data, 6), words, int.from_bytes(digest, "big"), {"pages": 1, **counts})


def write_dump(path: Path, pages: Iterable[tuple[str, list[Evidence]]]) -> int:
    """Write (item id, evidences) pairs into a new dump, put in place when it is whole; returns their number."""
    return write_packed(path, (pack(item_id, evidences) for item_id, evidences in pages))["pages"]


def write_packed(path: Path, pages: Iterable[PackedPage]) -> dict[str, int]:
    """Like `write_dump` with packed pages; returns the counts of the dump. The first page of an item counts.

    Raises:
        OutputError: `path` cannot be written, or is something else than a dump.
    """
    check_replaceable(path)
    with replacing(path) as temporary:
        try:
            with closing(sqlite3.connect(temporary)) as connection:
                counts = _write_pages(path, connection, pages)
        except (sqlite3.DatabaseError, zlib.error, msgspec.DecodeError) as error:
            raise OutputError(f"{path}: cannot be written: {one_line(error)}") from None
        digest = read_sha256(temporary)
        with temporary.open("ab") as file:
            file.write(_seal(digest))
    return dict(counts)


def _seal(digest: str) -> bytes:
    return (_SEAL + digest.encode()).ljust(_PAGE, b"\0")


def _write_pages(path: Path, connection: sqlite3.Connection, pages: Iterable[PackedPage]) -> Counter[str]:
    total, counts = 0, Counter(pages=0)
    connection.executescript(_SCHEMA)
    has_words = _has_full_text(connection)
    with connection:
        for page in pages:
            cursor = connection.execute("INSERT OR IGNORE INTO page VALUES (?, ?)", (page.item_id, page.blob))
            if cursor.rowcount:
                if has_words:
                    row = (cursor.lastrowid, page.words)
                    connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", row)
                total += page.digest
                counts.update(page.counts)
            else:
                LOGGER.warning("%s: a second page of %s is skipped", path, page.item_id)
        text = f"{total % _SUMS:064x}"  # a sum of digests, which follows from the content in any order
        meta = {
            "format": str(FORMAT),
            "build_id": hashlib.sha256(f"format {FORMAT} {text}".encode()).hexdigest()[:16],
            "counts": msgspec.json.encode({key: counts[key] for key in sorted(counts)}).decode(),
        }
        connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    return counts


def _has_full_text(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute(_WORDS)
    except sqlite3.OperationalError as error:
        if "no such module" not in str(error):  # such as a full disk
            raise
        LOGGER.warning("this SQLite has no full-text search (FTS5): names are not looked for in the pages of this dump")
        return False
    return True


def check_replaceable(path: Path) -> None:
    """Raise `OutputError` when `path` is something else than a dump."""
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; name a file")
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(len(_SQLITE))
        if start not in (b"", _SQLITE):
            raise OutputError(f"{path}: exists and is no Wikipedia dump; choose another file, or remove it")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except PermissionError as error:
        raise IndexFileError(f"{path}: cannot be read: {one_line(error)}; {remedy_of(error, '')}") from None
    except (sqlite3.Error, OSError, KeyError, *JSON_ERRORS) as error:
        raise IndexFileError(f"{path}: not a Wikipedia dump ({one_line(error)}); build it again") from None
