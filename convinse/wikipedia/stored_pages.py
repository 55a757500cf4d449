"""The pages of a dump in SQLite: packing, writing and removing them."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from ..language.language import english
from ..records.evidence import Evidence
from ..records.ranked_rows import RowForm, as_read
from ..support.errors import OutputError, one_line
from .page import FORMAT, Page, with_ranked_rows
from .stored_vectors import ROWS_PER_PAGE, packed

LAYOUT = f"{FORMAT}.3"  # its second part is raised when the file stores the same evidences in another way
_SUMS = 1 << 256  # digests of pages are added, so that their order does not count; the sum has as many bits as one
WAIT = 30.0  # seconds for another process to finish its change
# Rows of pages are behind an index: a WITHOUT ROWID table would keep the blobs in its inner nodes, four to a page. The
# full-text index has no copy of the text, but the places of words: without either BM25 scores every evidence 0.
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE page (id TEXT NOT NULL UNIQUE, evidences BLOB NOT NULL, title TEXT NOT NULL, links BLOB NOT NULL);
CREATE TABLE vectors (page INTEGER PRIMARY KEY, numbers BLOB NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (text, content='', detail=full, tokenize='unicode61');
"""
_WRITE_WORDS = "INSERT INTO words (rowid, text) VALUES (?, ?)"
_FORGET_WORDS = "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)"


class PackedPage(NamedTuple):
    """A page as it is stored; `title` and `links` are empty unless its links can be resolved again, see `changes`."""

    item_id: str
    blob: bytes  # its evidences
    words: list[str]  # of each evidence, for the full-text index
    digest: int  # of its content; the sum of all digests is in the build id
    counts: dict[str, int]  # `pages`, and its evidences by source
    title: str = ""
    links: bytes = b""
    row: int = 0  # its place among the pages; 0 for a new page


class Embedding(NamedTuple):
    """A model that makes vectors of evidences."""

    model: str  # the id of its weights
    dimension: int
    row_form: RowForm  # in which it reads rows of tables
    embed: Callable[[Sequence[str]], np.ndarray]  # [n, dimension] float32, rows of length 1

    @property
    def name(self) -> str:
        """The model and its dimension, as stored in a dump."""
        return f"{self.model} {self.dimension}"

    def packed(self, pages: Sequence[Sequence[Evidence]]) -> list[bytes]:
        """Return the vectors of pages, packed by `stored_vectors.packed` in a frame with a checksum; empty without evidences."""
        texts = [as_read(evidence, self.row_form) for page in pages for evidence in with_ranked_rows(page)]
        if not texts:
            return [b""] * len(pages)
        vectors = packed(texts, self.embed(texts))
        ends = np.cumsum([len(evidences) for evidences in pages])[:-1]
        return [zlib.compress(part.tobytes(), 0) if len(part) else b"" for part in np.split(vectors, ends)]


def search_words(text: str) -> list[str]:
    """Return the words of an evidence for the full-text index."""
    return english().words.stems(text)


def pack(item_id: str, evidences: list[Evidence], page: Page | None = None) -> PackedPage:
    """Return the stored form of an item's evidences; with their `page` its links can be resolved again."""
    data = msgspec.json.encode(evidences)
    digest = hashlib.sha256(item_id.encode() + b"\n" + data).digest()
    counts = Counter(evidence["source"] for evidence in evidences)
    words = [" ".join(search_words(evidence["evidence_text"])) for evidence in evidences]
    result = PackedPage(item_id, zlib.compress(data, 6), words, int.from_bytes(digest, "big"), {"pages": 1, **counts})
    if page is None:
        return result
    links = msgspec.json.encode([snippet.links for snippet in page.snippets])
    return result._replace(title=page.title, links=zlib.compress(links, 6))


def put_pages(connection: sqlite3.Connection, pages: Iterable[PackedPage], embedding: Embedding | None) -> None:
    """Write pages of items without a stored page, embedded together; pages without a row come last."""
    pages = sorted(pages, key=lambda page: (not page.row, page.row))  # the fastest order for the full-text index
    vectors = [b""] * len(pages) if embedding is None else embedding.packed([evidences_in(page.blob) for page in pages])
    for page, numbers in zip(pages, vectors, strict=True):
        row = connection.execute(
            "INSERT INTO page (rowid, id, evidences, title, links) VALUES (?, ?, ?, ?, ?)",
            (page.row or None, page.item_id, page.blob, page.title, page.links),
        ).lastrowid
        assert row is not None
        write_words(connection, page._replace(row=row))
        if numbers:
            connection.execute("INSERT INTO vectors VALUES (?, ?)", (row, numbers))


def remove_page(connection: sqlite3.Connection, item_id: str) -> PackedPage | None:
    """Remove and return the page of an item; None if the item has no page."""
    page = stored_page(connection, item_id)
    if page is not None:
        write_words(connection, page, _FORGET_WORDS)
        for statement in ("DELETE FROM page WHERE rowid = ?", "DELETE FROM vectors WHERE page = ?"):
            connection.execute(statement, (page.row,))
    return page


def stored_page(connection: sqlite3.Connection, item_id: str) -> PackedPage | None:
    """Return the packed page of an item; None if the item has no page."""
    statement = "SELECT rowid, evidences, title, links FROM page WHERE id = ?"
    for row, blob, title, links in connection.execute(statement, (item_id,)):
        return pack(item_id, evidences_in(blob))._replace(title=title, links=links, row=row)
    return None


def evidences_in(blob: bytes) -> list[Evidence]:
    """Return the evidences of a packed page."""
    evidences: list[Evidence] = msgspec.json.decode(zlib.decompress(blob))
    return evidences


def write_words(connection: sqlite3.Connection, page: PackedPage, statement: str = _WRITE_WORDS) -> None:
    """Add the words of a page's evidences to the full-text index; or run another `statement` for them."""
    places = ((page.row * ROWS_PER_PAGE + place, text) for place, text in enumerate(page.words))
    connection.executemany(statement, places)


def write_meta(connection: sqlite3.Connection, total: int, model: str, counts: Mapping[str, int]) -> None:
    """Write `meta_of` into a dump."""
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta_of(total, model, counts).items())


def meta_of(total: int, model: str, counts: Mapping[str, int]) -> dict[str, str]:
    """Return the metadata of a dump by the sum of the digests of its pages, the name of its embedding (or empty) and its counts."""
    text = f"{total % _SUMS:064x}"
    return {
        "format": LAYOUT,
        "sum": text,
        "embeddings": model,
        "build_id": hashlib.sha256(f"format {FORMAT} {text} {model}".encode()).hexdigest()[:16],
        "counts": msgspec.json.encode({key: counts[key] for key in sorted(counts) if counts[key]}).decode(),
    }


@contextmanager
def changing(path: Path, shown: Path) -> Iterator[sqlite3.Connection]:
    """Change a dump, `shown` by a name, in one transaction: readers see the old state or the new one.

    Raises:
        OutputError: it cannot be written, or another process is changing it.
    """
    is_new = not path.exists()
    try:
        with closing(sqlite3.connect(path, timeout=WAIT, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:  # SQLite has not undone it by itself
                    connection.execute("ROLLBACK")
                if is_new:
                    path.unlink()
                raise
            connection.execute("COMMIT")
    except (sqlite3.Error, OSError) as error:
        why = "another process is changing it; wait for it" if "locked" in str(error) else one_line(error)
        raise OutputError(f"{shown}: cannot be written: {why}") from None
