"""The Wikipedia dump: an SQLite file of evidences by item, with an index of words and vectors; it is read by key, not loaded."""

from __future__ import annotations

import logging
import sqlite3
import weakref
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property, lru_cache
from itertools import zip_longest
from pathlib import Path

import msgspec
import numpy as np

from ..records.evidence import Evidence, Row
from ..support.errors import IndexFileError, OutputError, one_line, remedy_of
from ..support.files import open_consistently, replacing, state_of
from ..support.jsonlines import JSON_ERRORS
from .page import whole_rows
from .pages import EvidencePlace, Pages
from .stored_pages import (
    LAYOUT,
    SCHEMA,
    WAIT,
    Embedding,
    PackedPage,
    evidences_in,
    meta_of,
    pack,
    put_pages,
    stored_page,
    write_meta,
    write_words,
)
from .stored_vectors import ROWS_PER_PAGE, StoredVectors
from .titles import has_titles_of, number_of, targets_of

LOGGER = logging.getLogger(__name__)
_SQLITE = b"SQLite format 3\x00"
_TOGETHER = 1 << 12  # evidences that are written and embedded together
_TABLES = 64  # tables in memory, since several turns ask about the tables of a page


class WikipediaDump(Pages):
    """The evidences of Wikipedia pages by item; any number of processes and threads may read a file.

    Raises:
        IndexFileError: the file is missing, damaged or of another format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows = lru_cache(_TABLES)(lambda page, table: whole_rows(self.get(page) or (), table))
        open_consistently(path, self._open)

    def _open(self) -> None:
        path = self.path
        with _readable(path):
            if path.is_dir():
                raise IndexFileError(f"{path}: is a folder; name an index of documents in ers_documents")
            if not path.is_file():
                raise IndexFileError(
                    f"{path}: no such Wikipedia dump; build one with wikipedia build, or check ers_wikipedia_dump"
                )
            path.open("rb").close()  # SQLite's error does not name a missing permission
            if path.with_name(f"{path.name}-journal").exists():  # an interrupted change: SQLite undoes it
                with closing(sqlite3.connect(path, timeout=WAIT)) as connection:
                    connection.execute("SELECT count(*) FROM sqlite_master")
            state = state_of(path)
            address = f"{path.resolve().as_uri()}?mode=ro"
            self._connection = sqlite3.connect(address, uri=True, timeout=WAIT, check_same_thread=False)
            weakref.finalize(self, self._connection.close)
            execute = self._connection.execute
            execute("PRAGMA query_only=1")
            (pages,), (size,) = execute("PRAGMA page_count").fetchone(), execute("PRAGMA page_size").fetchone()
            if path.stat().st_size < pages * size:
                raise IndexFileError(f"{path}: cut off; build it again")
            meta = dict(execute("SELECT key, value FROM meta"))
            written = meta.get("format")
            if written != LAYOUT:
                raise IndexFileError(f"{path}: format {written}, this version reads format {LAYOUT}; build it again")
            self.build_id: str = meta["build_id"]  # the same for the same pages in any order
            model, _, dimension = meta.get("embeddings", "").partition(" ")
            self.vectors_of: str = model  # id of the weights of the model of the vectors; empty without vectors
            self.dimension = int(dimension or 0)
            self.counts = msgspec.json.decode(meta["counts"], type=dict[str, int])  # `pages`, and evidences by source
            self.has_titles = "titles" in meta  # so that the links of changed pages can be resolved
            self._file, self._version = state and state[:2], self._data_version()

    def get(self, item_id: str) -> list[Evidence] | None:
        """Return the evidences of an item's page; None if the dump does not have it."""
        with _readable(self.path, f"damaged at {item_id}"):
            row = self._connection.execute("SELECT evidences FROM page WHERE id = ?", (item_id,)).fetchone()
            return None if row is None else evidences_in(row[0])

    def sizes(self) -> dict[str, int]:
        """See the base class."""
        return {"pages": self.counts["pages"]}

    def verify(self) -> None:
        """Read the whole dump and check its indexes and sums. Raises `IndexFileError` if anything is damaged."""
        with _readable(self.path):
            fault = _fault_of(self.path)
        if fault:
            raise IndexFileError(f"{self.path}: damaged ({fault}); build it again")

    @property
    def has_changed(self) -> bool:
        """True if the file was changed or replaced since it was opened."""
        state = state_of(self.path)
        return (state is not None and state[:2] != self._file) or self._data_version() != self._version

    def _data_version(self) -> int:
        with _readable(self.path):
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def search(self, words: Iterable[str], limit: int) -> list[EvidencePlace]:
        """Return the evidences with some words (see `search_words`), best first by BM25."""
        phrases = [f'"{word}"' for word in dict.fromkeys(words)]
        if not phrases:
            return []
        statement = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank, rowid LIMIT ?"
        with _readable(self.path):
            rows = [row[0] for row in self._connection.execute(statement, (" OR ".join(phrases), limit))]
        return [self._found(*divmod(row, ROWS_PER_PAGE)) for row in rows]

    def nearest(self, question: np.ndarray, limit: int) -> list[EvidencePlace]:
        """Return the evidences with the vectors nearest to that of a question, nearest first; empty without vectors.

        `question` is [dimension] float32, by the model `vectors_of`.
        """
        rows = self.stored_vectors.nearest(question, limit) if self.vectors_of else ()
        return [self._found(*divmod(int(row), ROWS_PER_PAGE)) for row in rows]

    def vectors(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the stored vectors of texts, [n, dimension] float32 (zeros for an unknown text), and whether each is stored, bool [n]."""
        return self.stored_vectors.of_texts(texts)

    @cached_property
    def stored_vectors(self) -> StoredVectors:
        """The vectors of all evidences."""
        with _readable(self.path):
            pages = self._connection.execute("SELECT page, numbers FROM vectors ORDER BY page")
            return StoredVectors(pages, self.dimension)

    def _found(self, page: int, place: int) -> EvidencePlace:
        with _readable(self.path):
            (item,) = self._connection.execute("SELECT id FROM page WHERE rowid = ?", (page,)).fetchone()
        return item, place

    def table(self, page: str, table: int) -> list[Row]:
        """Return the whole rows of a table on an item's page, in their order; see `whole_rows`. Tables count from 0.

        The tables read last stay in memory, so the rows are shared and must not be changed.
        """
        return self._rows(page, table)

    def __len__(self) -> int:
        with _readable(self.path):
            return int(self._connection.execute("SELECT count(*) FROM page").fetchone()[0])

    def items(self) -> list[str]:
        """Return the ids of all items with a page."""
        with _readable(self.path):
            return [row[0] for row in self._connection.execute("SELECT id FROM page ORDER BY id")]

    def close(self) -> None:
        """Close the file."""
        self.__dict__.pop("stored_vectors", None)
        self._rows.cache_clear()
        self._connection.close()


def write_dump(path: Path, pages: Iterable[tuple[str, list[Evidence]]], embedding: Embedding | None = None) -> int:
    """Write (item id, evidences) pairs into a new dump, put in place when it is complete; return the number of pages."""
    return write_packed(path, (pack(item_id, evidences) for item_id, evidences in pages), embedding)["pages"]


def write_packed(
    path: Path,
    pages: Iterable[PackedPage],
    embedding: Embedding | None = None,
    finish: Callable[[sqlite3.Connection], None] | None = None,
) -> dict[str, int]:
    """Write packed pages into a new dump, put in place when it is complete; return its counts.

    Later pages of the same item are skipped. `finish` writes more into the dump after all pages.

    Raises:
        OutputError: `path` cannot be written, or is not a dump.
    """
    check_replaceable(path)
    with replacing(path) as temporary:
        try:
            with closing(sqlite3.connect(temporary)) as connection:
                connection.executescript(
                    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + SCHEMA
                )  # lost if it fails
                with connection:
                    counts = _write_pages(path, connection, pages, embedding)
                    if finish is not None:
                        finish(connection)
        except (sqlite3.DatabaseError, zlib.error, msgspec.DecodeError) as error:
            raise OutputError(f"{path}: cannot be written: {one_line(error)}") from None
    return dict(counts)


def _write_pages(
    path: Path, connection: sqlite3.Connection, pages: Iterable[PackedPage], embedding: Embedding | None
) -> Counter[str]:
    total, size, counts = 0, 0, Counter(pages=0)
    waiting: dict[str, PackedPage] = {}
    for page in pages:
        stored = connection.execute("SELECT 1 FROM page WHERE id = ?", (page.item_id,)).fetchone()
        if stored or page.item_id in waiting:
            LOGGER.warning("%s: a second page of %s is skipped", path, page.item_id)
            continue
        waiting[page.item_id] = page
        total += page.digest
        counts.update(page.counts)
        size += len(page.words)
        if size >= _TOGETHER:
            put_pages(connection, waiting.values(), embedding)
            waiting.clear()
            size = 0
    put_pages(connection, waiting.values(), embedding)
    write_meta(connection, total, "" if embedding is None else embedding.name, counts)
    return counts


def check_replaceable(path: Path) -> None:
    """Raise `OutputError` if there is a folder or a file other than a dump or an empty file at `path`."""
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; name a file")
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(len(_SQLITE))
        if start not in (b"", _SQLITE):
            raise OutputError(f"{path}: exists and is not a Wikipedia dump; choose another file, or remove it")


@contextmanager
def _readable(path: Path, damage: str = "not a Wikipedia dump") -> Iterator[None]:
    try:
        yield
    except sqlite3.ProgrammingError:  # the dump is closed, not damaged: an error of the caller
        raise
    except PermissionError as error:
        raise IndexFileError(f"{path}: cannot be read: {one_line(error)}; {remedy_of(error, '')}") from None
    except (sqlite3.Error, OSError, KeyError, TypeError, zlib.error, *JSON_ERRORS) as error:
        fault = "cannot be opened" if "unable to open" in str(error) else damage
        raise IndexFileError(f"{path}: {fault} ({one_line(error)}); build it again") from None


# the content of the full-text index: the words with their places, the lengths of evidences, and the totals
_WORD_TABLES = (
    "SELECT term, doc, offset FROM temp.word_places",
    "SELECT id, sz FROM words_docsize ORDER BY id",
    "SELECT block FROM words_data WHERE id = 1",
)


def _fault_of(path: Path) -> str:
    # the damaged part of a dump, empty for a sound dump: sums and indexes are compared with a copy made from the pages; the copy
    # is in memory, or on disk if it is too large
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as stored, closing(sqlite3.connect("")) as copy:  # fmt: skip
        (report,) = stored.execute("PRAGMA integrity_check").fetchone()
        if report != "ok":
            return str(report).splitlines()[0]
        copy.executescript(SCHEMA)
        total, counts, targets = 0, Counter(pages=0), []
        for (item_id,) in stored.execute("SELECT id FROM page ORDER BY rowid"):
            page = stored_page(stored, item_id)
            if page is None:
                return "its index of items"
            total += page.digest
            counts.update(page.counts)
            targets += [(target, number_of(item_id)) for target in targets_of(page.links)]
            write_words(copy, page)
        meta = dict(stored.execute("SELECT key, value FROM meta"))
        if not meta.items() >= meta_of(total, meta["embeddings"], counts).items():
            return "its pages are not those that it was made of"
        for (numbers,) in stored.execute("SELECT numbers FROM vectors"):
            zlib.decompress(numbers)
        for database in (stored, copy):
            database.execute("CREATE VIRTUAL TABLE temp.word_places USING fts5vocab (main, words, instance)")
        for statement in _WORD_TABLES:
            if any(row != copied for row, copied in zip_longest(stored.execute(statement), copy.execute(statement))):
                return "its index of words"
        return "" if "titles" not in meta or has_titles_of(stored, targets, meta["titles"]) else "its titles"
