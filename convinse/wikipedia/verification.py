"""Whether a dump is as it was written: its content is compared with what follows from its pages."""

from __future__ import annotations

import itertools
import sqlite3
import zlib
from collections import Counter
from contextlib import closing
from pathlib import Path

from .stored_pages import make_words, meta_of, stored_page, write_words
from .stored_titles import given_digest, number_of, page_titles, targets_of

# what the full-text index has: each word at each of its places, the sizes of evidences, and the sums over all
_WORD_TABLES = (
    "SELECT term, doc, offset FROM temp.own_words",
    "SELECT id, sz FROM words_docsize ORDER BY id",
    "SELECT block FROM words_data WHERE id = 1",
)


def fault_of(path: Path) -> str:
    """Return what is damaged in a dump; empty for a sound one. Raises what reading a damaged file raises."""
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        (state,) = connection.execute("PRAGMA integrity_check").fetchone()
        if state != "ok":
            return str(state).splitlines()[0]
        with closing(sqlite3.connect("")) as anew:  # on disk, where it is too large for memory
            return _content_fault(connection, anew)


def _content_fault(connection: sqlite3.Connection, anew: sqlite3.Connection) -> str:
    has_words = _has(connection, "words") and make_words(anew)
    total, counts, targets = 0, Counter(pages=0), []
    for (item_id,) in connection.execute("SELECT id FROM page ORDER BY rowid"):
        page = stored_page(connection, item_id)
        if page is None:
            return "its index of items"
        total += page.digest
        counts.update(page.counts)
        targets += [(target, number_of(item_id)) for target in targets_of(page.links)]
        if has_words:
            write_words(anew, page)
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    if not meta.items() >= meta_of(total, meta["embeddings"], counts).items():
        return "its pages are not those that it was made of"
    for (numbers,) in connection.execute("SELECT numbers FROM vectors"):
        zlib.decompress(numbers)
    if has_words and not _same_words(connection, anew):
        return "its index of words"
    if _has(connection, "title"):
        is_same = (
            sorted(targets) == connection.execute("SELECT target, page FROM link ORDER BY target, page").fetchall()
            and sorted(page_titles(connection))
            == connection.execute("SELECT name, item FROM title WHERE is_page ORDER BY name, item").fetchall()
            and given_digest(connection) == meta["titles"]
        )
        return "" if is_same else "its titles"
    return ""


def _has(connection: sqlite3.Connection, table: str) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is not None


def _same_words(connection: sqlite3.Connection, anew: sqlite3.Connection) -> bool:
    for own in (connection, anew):
        own.execute("CREATE VIRTUAL TABLE temp.own_words USING fts5vocab (main, words, instance)")
    return all(
        stored == written
        for statement in _WORD_TABLES
        for stored, written in itertools.zip_longest(*(own.execute(statement) for own in (connection, anew)))
    )
