"""The titles and links in a dump, by which the links of its pages are resolved again after changes.

The table `title` has the titles of pages and the titles of the file that was built with them, `link` the pages that link to a
title.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Iterable, Iterator

import msgspec

from .page import Page, snippet_of
from .snippets import Link
from .stored_pages import PackedPage, evidences_in
from .stored_vectors import text_key
from .titles import Titles, label_of, normal

# a label of NULL is the label of the name
_SCHEMA = """
CREATE TABLE title (
    name TEXT NOT NULL, is_page INTEGER NOT NULL, item INTEGER NOT NULL, label TEXT, PRIMARY KEY (name, is_page, item)
) WITHOUT ROWID;
CREATE TABLE link (target INTEGER NOT NULL, page INTEGER NOT NULL, PRIMARY KEY (target, page)) WITHOUT ROWID;
CREATE TEMP TABLE unsorted (target INTEGER, page INTEGER)
"""
_LINKS = msgspec.json.Decoder(list[tuple[Link, ...]])


def write_titles(connection: sqlite3.Connection, titles: Titles) -> None:
    """Write the titles and links of a dump whose pages are written."""
    for statement in _SCHEMA.split(";"):  # a script would end the transaction
        connection.execute(statement)
    for item_id, title, links in connection.execute("SELECT id, title, links FROM page"):
        item = number_of(item_id)
        connection.execute("INSERT INTO title VALUES (?, 1, ?, NULL)", (normal(title), item))
        connection.executemany("INSERT INTO unsorted VALUES (?, ?)", ((target, item) for target in targets_of(links)))
    connection.execute("INSERT INTO link SELECT target, page FROM unsorted ORDER BY target, page")
    connection.execute("DROP TABLE unsorted")
    stored = {name for (name,) in connection.execute("SELECT name FROM title")}
    of_bad_pages = ((name, item_id, label_of(name)) for name, item_id in titles.page_titles() if name not in stored)
    rows = (
        (name, number_of(item_id), None if label == label_of(name) else label)
        for name, item_id, label in (*titles.file_titles(), *of_bad_pages)
    )
    connection.executemany("INSERT OR IGNORE INTO title VALUES (?, 0, ?, ?)", rows)
    connection.execute("INSERT INTO meta VALUES ('titles', ?)", (file_digest(connection),))


def add_title(connection: sqlite3.Connection, page: PackedPage) -> None:
    """Write the title and links of a page."""
    item = number_of(page.item_id)
    connection.execute("INSERT INTO title VALUES (?, 1, ?, NULL)", (normal(page.title), item))
    connection.executemany("INSERT INTO link VALUES (?, ?)", ((target, item) for target in targets_of(page.links)))


def remove_title(connection: sqlite3.Connection, page: PackedPage) -> None:
    """Remove the title and links of a page."""
    item = number_of(page.item_id)
    connection.execute("DELETE FROM title WHERE name = ? AND is_page AND item = ?", (normal(page.title), item))
    connection.executemany(
        "DELETE FROM link WHERE target = ? AND page = ?", ((target, item) for target in targets_of(page.links))
    )


def read_titles(connection: sqlite3.Connection, targets: Iterable[str]) -> Titles:
    """Return the items and labels of some titles, as far as a dump has them."""
    titles = Titles()
    for name in sorted({normal(target) for target in targets}):
        rows = connection.execute(
            "SELECT is_page, item, label, title FROM title LEFT JOIN page ON id = 'Q' || item WHERE name = ?", (name,)
        )
        for is_page, item, label, title in rows.fetchall():
            if title:  # of a page that is already written
                titles.name_page(title, f"Q{item}")
            if not is_page:
                titles.add(name, f"Q{item}", label)
            elif title:
                titles.add_page(title, f"Q{item}")
    return titles


def file_label(connection: sqlite3.Connection, names: Iterable[str], item_id: str) -> str | None:
    """Return the label that the file of titles has for an item; None if it has none of the names for it."""
    statement = "SELECT label FROM title WHERE name = ? AND NOT is_page AND item = ?"
    for name in names:
        for (label,) in connection.execute(statement, (name, number_of(item_id))):
            return label or label_of(name)
    return None


def names_of(connection: sqlite3.Connection, item_id: str) -> list[str]:
    """Return all titles of an item; reads all titles."""
    return [name for (name,) in connection.execute("SELECT name FROM title WHERE item = ?", (number_of(item_id),))]


def linking_pages(connection: sqlite3.Connection, names: Iterable[str]) -> set[str]:
    """Return the items of the pages that link to titles."""
    statement = "SELECT page FROM link WHERE target = ?"
    return {f"Q{item}" for name in names for (item,) in connection.execute(statement, (text_key(name),))}


def page_in(packed: PackedPage) -> Page:
    """Return the parsed page that a packed page was made from."""
    links = _LINKS.decode(zlib.decompress(packed.links))
    return Page(packed.title, tuple(map(snippet_of, evidences_in(packed.blob), links)))


def page_titles(connection: sqlite3.Connection) -> Iterator[tuple[str, int]]:
    """Yield the titles of all pages with a title, and the numbers of their items."""
    for title, item_id in connection.execute("SELECT title, id FROM page WHERE title != ''"):
        yield normal(title), number_of(item_id)


def targets_of(links: bytes) -> list[int]:
    """Return the hashed titles that a page links to, by its `PackedPage.links`; empty without links."""
    snippets = _LINKS.decode(zlib.decompress(links)) if links else ()
    return sorted({text_key(normal(link.target)) for of_snippet in snippets for link in of_snippet})


def file_digest(connection: sqlite3.Connection) -> str:
    """Return the digest of the titles from the file of titles, which never change."""
    digest = hashlib.sha256()
    for row in connection.execute("SELECT name, item, label FROM title WHERE NOT is_page ORDER BY name, item"):
        digest.update(msgspec.json.encode(row))
    return digest.hexdigest()


def number_of(item_id: str) -> int:
    """Return the number of an item."""
    return int(item_id[1:])
