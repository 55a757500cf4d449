"""Titles and the items of links to them, and the tables of a dump by which links are resolved again after changes.

The table `title` has the titles of pages and the titles of the file that was built with them, `link` the pages that link to a
title.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator

import msgspec

from ..records.evidence import Entity, Evidence
from .page import Page, page_evidences, snippet_of
from .snippets import Link
from .stored_pages import PackedPage, evidences_in
from .stored_vectors import text_key

# a label of NULL is the label of the name
_SCHEMA = """
CREATE TABLE title (
    name TEXT NOT NULL, is_page INTEGER NOT NULL, item INTEGER NOT NULL, label TEXT, PRIMARY KEY (name, is_page, item)
) WITHOUT ROWID;
CREATE TABLE link (target INTEGER NOT NULL, page INTEGER NOT NULL, PRIMARY KEY (target, page)) WITHOUT ROWID
"""
_LINKS = msgspec.json.Decoder(list[tuple[Link, ...]])


class Titles:
    """Titles -> items. Titles of pages come before titles of a file, and the label of an item is from its page."""

    def __init__(self) -> None:
        self._pages: dict[str, str] = {}
        self._page_labels: dict[str, str] = {}
        self._file: dict[str, str] = {}
        self._file_labels: dict[str, str] = {}

    def add_page(self, title: str, item_id: str) -> None:
        """Add the title of an item's page. Of several items with the same title the smallest number counts."""
        name = normal(title)
        self._pages[name] = min(self._pages.get(name, item_id), item_id, key=number_of)
        self.name_page(title, item_id)

    def name_page(self, title: str, item_id: str) -> None:
        """Add the title of an item's page for its label only."""
        self._page_labels[item_id] = label_of(title)

    def add(self, title: str, item_id: str, label: str | None = None) -> None:
        """Add another title; the first item of a title and the first label of an item stay."""
        self._file.setdefault(normal(title), item_id)
        self._file_labels.setdefault(item_id, label or label_of(title))

    def has_page(self, item_id: str) -> bool:
        """Return True if the title of an item's page is there."""
        return item_id in self._page_labels

    def item_id(self, title: str) -> str | None:
        """Return the item of a linked title."""
        name = normal(title)
        return self._pages.get(name) or self._file.get(name)

    def evidences(self, page: Page, item_id: str) -> list[Evidence]:
        """Return the evidences of an item's page, with the items of its links."""
        items: dict[str, Entity] = {}
        for target in page.targets:
            if item := self.item_id(target):
                items[target] = {"id": item, "label": self._page_labels.get(item) or self._file_labels[item]}
        return page_evidences(page, {"id": item_id, "label": label_of(page.title)}, items)

    def write(self, connection: sqlite3.Connection) -> None:
        """Write the titles and links of a dump whose pages are written."""
        for statement in _SCHEMA.split(";"):  # a script would end the transaction
            connection.execute(statement)
        for page in connection.execute("SELECT id, title, links FROM page"):
            add_title(connection, *page)
        stored = {name for (name,) in connection.execute("SELECT name FROM title")}
        of_bad_pages = ((name, item_id) for name, item_id in self._pages.items() if name not in stored)
        for name, item_id in (*self._file.items(), *of_bad_pages):
            label = self._file_labels.get(item_id)
            row = name, number_of(item_id), None if label == label_of(name) else label
            connection.execute("INSERT OR IGNORE INTO title VALUES (?, 0, ?, ?)", row)
        connection.execute("INSERT INTO meta VALUES ('titles', ?)", (_file_digest(connection),))


def normal(title: str) -> str:
    """Return the form of a title by which links are compared."""
    title = title.replace("_", " ").strip()
    return title[:1].upper() + title[1:]


def label_of(title: str) -> str:
    """Return a title without its bracket: `Titanic (1997 film)` -> `Titanic`."""
    title = title.replace("_", " ").strip()
    return re.sub(r"(?<=\S)\s*\([^()]*\)$", "", title)


def number_of(item_id: str) -> int:
    """Return the number of an item."""
    return int(item_id[1:])


def targets_of(links: bytes) -> list[int]:
    """Return the hashed titles that a page links to, by its `PackedPage.links`; empty without links."""
    snippets = _LINKS.decode(zlib.decompress(links)) if links else ()
    return sorted({text_key(normal(link.target)) for of_snippet in snippets for link in of_snippet})


def page_in(packed: PackedPage) -> Page:
    """Return the parsed page that a packed page was made from."""
    links = _LINKS.decode(zlib.decompress(packed.links))
    return Page(packed.title, tuple(map(snippet_of, evidences_in(packed.blob), links)))


def add_title(connection: sqlite3.Connection, item_id: str, title: str, links: bytes) -> None:
    """Write the title and links of an item's page."""
    item = number_of(item_id)
    connection.execute("INSERT INTO title VALUES (?, 1, ?, NULL)", (normal(title), item))
    connection.executemany("INSERT INTO link VALUES (?, ?)", ((target, item) for target in targets_of(links)))


def remove_title(connection: sqlite3.Connection, item_id: str, title: str, links: bytes) -> None:
    """Remove the title and links of an item's page."""
    item = number_of(item_id)
    connection.execute("DELETE FROM title WHERE name = ? AND is_page AND item = ?", (normal(title), item))
    rows = ((target, item) for target in targets_of(links))
    connection.executemany("DELETE FROM link WHERE target = ? AND page = ?", rows)


def read_titles(connection: sqlite3.Connection, targets: Iterable[str]) -> Titles:
    """Return the items and labels of some titles, as far as a dump has them."""
    titles = Titles()
    statement = "SELECT is_page, item, label, title FROM title LEFT JOIN page ON id = 'Q' || item WHERE name = ?"
    for name in {normal(target) for target in targets}:
        for is_page, item, label, title in connection.execute(statement, (name,)):
            if is_page:
                titles.add_page(title, f"Q{item}")
                continue
            titles.add(name, f"Q{item}", label)
            if title:
                titles.name_page(title, f"Q{item}")
    return titles


def names_of(connection: sqlite3.Connection, items: Iterable[str]) -> set[str]:
    """Return all titles of items; reads all titles."""
    numbers = set(map(number_of, items))
    return {name for name, item in connection.execute("SELECT name, item FROM title") if item in numbers}


def linking_pages(connection: sqlite3.Connection, names: Iterable[str]) -> set[str]:
    """Return the items of the pages that link to titles."""
    statement = "SELECT page FROM link WHERE target = ?"
    return {f"Q{item}" for name in names for (item,) in connection.execute(statement, (text_key(name),))}


def page_titles(connection: sqlite3.Connection) -> Iterator[tuple[str, int]]:
    """Yield the titles of all pages with a title, and the numbers of their items."""
    for title, item_id in connection.execute("SELECT title, id FROM page WHERE title != ''"):
        yield normal(title), number_of(item_id)


def has_titles_of(connection: sqlite3.Connection, links: list[tuple[int, int]], digest: str) -> bool:
    """Return True if the titles and links of a dump are those of its pages, and of its file of titles by their digest."""
    return (
        sorted(links) == connection.execute("SELECT target, page FROM link ORDER BY target, page").fetchall()
        and sorted(page_titles(connection))
        == connection.execute("SELECT name, item FROM title WHERE is_page ORDER BY name, item").fetchall()
        and _file_digest(connection) == digest
    )


def _file_digest(connection: sqlite3.Connection) -> str:
    digest = hashlib.sha256()
    for row in connection.execute("SELECT name, item, label FROM title WHERE NOT is_page ORDER BY name, item"):
        digest.update(msgspec.json.encode(row))
    return digest.hexdigest()
