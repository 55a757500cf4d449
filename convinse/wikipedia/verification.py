"""Verifies a dump: its indexes and sums are computed again from its pages."""

from __future__ import annotations

import itertools
import sqlite3
import zlib
from collections import Counter
from contextlib import closing
from pathlib import Path

from .stored_pages import make_words, meta_of, stored_page, write_words
from .stored_titles import file_digest, number_of, page_titles, targets_of

# the content of the full-text index: the words with their places, the sizes of evidences, and the sums
_WORD_TABLES = (
    "SELECT term, doc, offset FROM temp.word_places",
    "SELECT id, sz FROM words_docsize ORDER BY id",
    "SELECT block FROM words_data WHERE id = 1",
)


def fault_of(path: Path) -> str:
    """Return the damaged part of a dump; empty for a sound dump. Raises the errors of SQLite and zlib."""
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        (state,) = connection.execute("PRAGMA integrity_check").fetchone()
        if state != "ok":
            return str(state).splitlines()[0]
        with closing(sqlite3.connect("")) as rebuilt:  # in memory, or on disk if it is too large
            return _content_fault(connection, rebuilt)


def _content_fault(connection: sqlite3.Connection, rebuilt: sqlite3.Connection) -> str:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    has_words = "words" in tables and make_words(rebuilt)
    total, counts, targets = 0, Counter(pages=0), []
    for (item_id,) in connection.execute("SELECT id FROM page ORDER BY rowid"):
        page = stored_page(connection, item_id)
        if page is None:
            return "its index of items"
        total += page.digest
        counts.update(page.counts)
        targets += [(target, number_of(item_id)) for target in targets_of(page.links)]
        if has_words:
            write_words(rebuilt, page)
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    if not meta.items() >= meta_of(total, meta["embeddings"], counts).items():
        return "its pages are not those that it was made of"
    for (numbers,) in connection.execute("SELECT numbers FROM vectors"):
        zlib.decompress(numbers)
    if has_words:
        for database in (connection, rebuilt):
            database.execute("CREATE VIRTUAL TABLE temp.word_places USING fts5vocab (main, words, instance)")
        for statement in _WORD_TABLES:
            pairs = itertools.zip_longest(connection.execute(statement), rebuilt.execute(statement))
            if any(stored != written for stored, written in pairs):
                return "its index of words"
    if "title" in tables:
        is_same = (
            sorted(targets) == connection.execute("SELECT target, page FROM link ORDER BY target, page").fetchall()
            and sorted(page_titles(connection))
            == connection.execute("SELECT name, item FROM title WHERE is_page ORDER BY name, item").fetchall()
            and file_digest(connection) == meta["titles"]
        )
        return "" if is_same else "its titles"
    return ""
