"""The Wikipedia dump: one SQLite file, item id -> evidences, opened without loading."""

from __future__ import annotations

import hashlib
import logging
import re
import sqlite3
import weakref
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from ..language.language import english
from ..records.evidence import Evidence, Row
from ..records.ranked_rows import RowForm, as_read
from ..support.checksums import read_sha256, sha256
from ..support.errors import IndexFileError, OutputError, one_line, remedy_of
from ..support.files import replacing, steadily
from ..support.jsonlines import JSON_ERRORS
from .page import FORMAT, whole_rows, with_ranked_rows
from .stored_vectors import PLACES, StoredVectors, packed

LOGGER = logging.getLogger(__name__)
_SQLITE = b"SQLite format 3\x00"
# behind the last page of SQLite, which reads no further: the SHA-256 of all before, on a page of its own
_SEAL = b"convinse sha256 "
_PAGE = 4096
_SUMS = 1 << 256
_TABLES = 64  # that stay in memory: several turns ask for those of one page
# rows behind an index: a WITHOUT ROWID table would keep the blobs in its inner nodes, four to a page
_UNSAFE = "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"  # what is written fails as a whole
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE page (id TEXT NOT NULL UNIQUE, evidences BLOB NOT NULL);
CREATE TABLE vectors (page INTEGER PRIMARY KEY, numbers BLOB NOT NULL);
"""
# the words of evidences in the full-text index of SQLite, without a copy of the text: BM25 in the file that is there anyway
_WORDS = "CREATE VIRTUAL TABLE words USING fts5 (text, content='', detail=none, tokenize='unicode61')"
_PIECE = re.compile(r"[^\W_]+")


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
            model, _, dimension = meta.get("embeddings", "").partition(" ")
            self.vectors_of: str = model  # id of the weights of a model, or empty
            self.dimension = int(dimension or 0)
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

    def search(self, words: Iterable[str], limit: int) -> list[FoundEvidence]:
        """The evidences with some words, best first by BM25; empty if the dump has no words.

        Args:
            words: as `pack` was told to make them of texts.
            limit: of evidences.
        """
        # the index has no places: a word that it cuts, such as "set_up", would be a phrase, which it cannot look for
        pieces = (piece for word in words for piece in _PIECE.findall(word))
        phrases = [f'"{piece}"' for piece in dict.fromkeys(pieces)]
        if not self.has_words or not phrases:
            return []
        statement = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank, rowid LIMIT ?"
        with _readable(self.path):
            rows = [row[0] for row in self._connection.execute(statement, (" OR ".join(phrases), limit))]
        return [self._found(*divmod(row, PLACES)) for row in rows]

    def nearest(self, question: np.ndarray, limit: int) -> list[FoundEvidence]:
        """The evidences whose vectors are nearest to that of a question, nearest first; empty if the dump has no vectors.

        Args:
            question: [dimension] float32, of the model that `vectors_of` names.
            limit: of evidences.
        """
        rows = self.stored_vectors.nearest(question, limit) if self.vectors_of else ()
        return [self._found(*divmod(int(row), PLACES)) for row in rows]

    def vectors(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The stored vectors of texts, [n, dimension] float32, zeros for an unknown one; and which are known, bool [n]."""
        return self.stored_vectors.of_texts(texts)

    @cached_property
    def stored_vectors(self) -> StoredVectors:
        """The vectors of all evidences."""
        with _readable(self.path):
            pages = self._connection.execute("SELECT page, numbers FROM vectors ORDER BY page")
            return StoredVectors.of(pages, self.dimension)

    def _found(self, page: int, place: int) -> FoundEvidence:
        return FoundEvidence(self._item_of(page), place)

    def _item_of(self, page: int) -> str:
        with _readable(self.path):
            item: str = self._connection.execute("SELECT id FROM page WHERE rowid = ?", (page,)).fetchone()[0]
        return item

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
        self.__dict__.pop("stored_vectors", None)
        self._tables.clear()
        self._connection.close()


class FoundEvidence(NamedTuple):
    """The evidence at a place of an item's page."""

    item_id: str
    place: int


class PackedPage(NamedTuple):
    """A page as it is stored.

    Attributes:
        item_id: of the page.
        blob: its evidences.
        words: those that each evidence is found by.
        digest: the share of its content in the build id.
        counts: its evidences by source.
    """

    item_id: str
    blob: bytes
    words: list[str]
    digest: int
    counts: dict[str, int]


class Embedding(NamedTuple):
    """What makes vectors of evidences.

    Attributes:
        model: the id of its weights.
        dimension: of a vector.
        row_form: the form in which it reads rows of tables.
        embed: gives [n, dimension] float32 of texts, each row of length 1.
    """

    model: str
    dimension: int
    row_form: RowForm
    embed: Callable[[Sequence[str]], np.ndarray]

    def packed(self, pages: Sequence[Sequence[Evidence]]) -> list[bytes]:
        """The vectors of the evidences of pages, each with the key of what the model read, its scale and numbers of 8 bits."""
        texts = [as_read(own, self.row_form) for evidences in pages for own in with_ranked_rows(evidences)]
        if not texts:
            return [b""] * len(pages)
        vectors = packed(texts, self.embed(texts))
        ends = np.cumsum([len(evidences) for evidences in pages])[:-1]
        return [own.tobytes() for own in np.split(vectors, ends)]


def search_words(text: str) -> list[str]:
    """The words that an evidence is found by."""
    return english().words.stems(text)


def pack(item_id: str, evidences: list[Evidence]) -> PackedPage:
    """The stored form of a page's evidences."""
    data = msgspec.json.encode(evidences)
    digest = hashlib.sha256(item_id.encode() + b"\n" + data).digest()
    counts = Counter(evidence["source"] for evidence in evidences)
    words = [" ".join(search_words(evidence["evidence_text"])) for evidence in evidences]
    counted = {"pages": 1, **counts}
    return PackedPage(item_id, zlib.compress(data, 6), words, int.from_bytes(digest, "big"), counted)


def write_dump(path: Path, pages: Iterable[tuple[str, list[Evidence]]], embedding: Embedding | None = None) -> int:
    """Write (item id, evidences) pairs into a new dump, put in place when it is whole; returns their number."""
    return write_packed(path, (pack(item_id, evidences) for item_id, evidences in pages), embedding)["pages"]


def write_packed(path: Path, pages: Iterable[PackedPage], embedding: Embedding | None = None) -> dict[str, int]:
    """Like `write_dump` with packed pages; returns the counts of the dump. The first page of an item counts.

    Args:
        path: the dump.
        pages: in any order.
        embedding: makes the vectors by which evidences are found; None: they are found by their words only.

    Raises:
        OutputError: `path` cannot be written, or is something else than a dump.
    """
    check_replaceable(path)
    with replacing(path) as temporary:
        try:
            with closing(sqlite3.connect(temporary)) as connection:
                counts = _write_pages(path, connection, pages, embedding)
        except (sqlite3.DatabaseError, zlib.error, msgspec.DecodeError) as error:
            raise OutputError(f"{path}: cannot be written: {one_line(error)}") from None
        digest = read_sha256(temporary)
        with temporary.open("ab") as file:
            file.write(_seal(digest))
    return dict(counts)


def _seal(digest: str) -> bytes:
    return (_SEAL + digest.encode()).ljust(_PAGE, b"\0")


def _write_pages(
    path: Path, connection: sqlite3.Connection, pages: Iterable[PackedPage], embedding: Embedding | None
) -> Counter[str]:
    total, counts = 0, Counter(pages=0)
    connection.executescript(_UNSAFE + SCHEMA)
    has_words = make_words(connection)
    with connection:
        for page in pages:
            cursor = connection.execute("INSERT OR IGNORE INTO page VALUES (?, ?)", (page.item_id, page.blob))
            if cursor.rowcount:
                row = cursor.lastrowid or 0
                if has_words:
                    add_words(connection, row, page.words)
                if embedding is not None and page.words:
                    evidences = msgspec.json.decode(zlib.decompress(page.blob))
                    connection.execute("INSERT INTO vectors VALUES (?, ?)", (row, *embedding.packed([evidences])))
                total += page.digest
                counts.update(page.counts)
            else:
                LOGGER.warning("%s: a second page of %s is skipped", path, page.item_id)
        write_meta(connection, total, embedding, counts)
    return counts


def add_words(connection: sqlite3.Connection, row: int, words: Iterable[str], statement: str = "") -> None:
    """Let the evidences of a page, which has a row, be found by their words; `statement` does something else with them."""
    places = ((row * PLACES + place, text) for place, text in enumerate(words))
    connection.executemany(statement or "INSERT INTO words (rowid, text) VALUES (?, ?)", places)


def write_meta(
    connection: sqlite3.Connection, total: int, embedding: Embedding | None, counts: Mapping[str, int]
) -> None:
    """Say what a dump holds; `total` is the sum of the digests of its pages, which follows from the content in any order."""
    text, model = f"{total % _SUMS:064x}", "" if embedding is None else f"{embedding.model} {embedding.dimension}"
    meta = {
        "format": str(FORMAT),
        "embeddings": model,
        "build_id": hashlib.sha256(f"format {FORMAT} {text} {model}".encode()).hexdigest()[:16],
        "counts": msgspec.json.encode({key: counts[key] for key in sorted(counts)}).decode(),
    }
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta.items())


def make_words(connection: sqlite3.Connection) -> bool:
    """Make the table of words; False: this SQLite has no full-text search."""
    try:
        connection.execute(_WORDS)
    except sqlite3.OperationalError as error:
        if "no such module" not in str(error):  # such as a full disk
            raise
        LOGGER.warning(
            "this SQLite has no full-text search (FTS5): the evidences of this dump are not found by their words"
        )
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
