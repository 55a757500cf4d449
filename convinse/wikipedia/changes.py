"""Pages into a dump that is there, and out of it: in place, in one transaction, with the result of a fresh build."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..support.errors import DataError
from ..support.jsonlines import raw_lines
from .build import none_usable, parsed, read_pages
from .dump import WikipediaDump
from .page import Page
from .stored_pages import Embedding, PackedPage, changing, pack, put_pages, remove_page, stored_page, write_meta
from .stored_titles import (
    add_title,
    given_label,
    known_titles,
    linking_pages,
    names_of,
    page_in,
    page_titles,
    remove_title,
)
from .titles import label_of, linked_evidences, normal

_ITEM = re.compile(r"Q[1-9][0-9]*")


class Changed(NamedTuple):
    """What a change of a dump did.

    Attributes:
        added, replaced, removed: pages.
        linked: other pages of which links lead to other items now.
        skipped: pages without an item.
        bad: lines that are no pages.
        repeated: second pages of an item.
    """

    added: int = 0
    replaced: int = 0
    removed: int = 0
    linked: int = 0
    skipped: int = 0
    bad: int = 0
    repeated: int = 0


def add_pages(path: Path, pages: Path, embedding: Embedding | None = None, quiet: bool = True) -> Changed:
    """Add saved pages to a dump; a page takes the place of an older one of its item.

    Args:
        path: a dump that `build` wrote.
        pages: as `build` takes them; they are held in memory.
        embedding: the one that the dump was built with, if it has vectors.
        quiet: show no progress.

    Raises:
        DataError: `pages` cannot be read, has too many bad lines or none that can be used; or `embedding` is another one.
        IndexFileError: the dump is missing, damaged or of another format.
        OutputError: it cannot be written, or another process is changing it.
    """
    _require_vectors(path, embedding)
    lines = sum(1 for _ in raw_lines(pages))
    with closing(read_pages(pages, parsed, lines, 1, quiet)) as parts:
        made = list(parts)
    read, bad = [page for part in made for page in part.pages], sum(len(part.bad) for part in made)
    with changing(path, path) as connection:
        having_items = _with_items(connection, read)
        first: dict[str, Page] = {}
        for item_id, page in having_items:
            first.setdefault(item_id, page)
        if not first:
            raise none_usable(pages, len(read) + bad, len(read), bad)
        change = _DumpChange(connection)
        replaced = sum(change.remove(item_id) for item_id in first)
        change.add(first, embedding)
        linked = change.finish()
    return Changed(
        added=len(first) - replaced,
        replaced=replaced,
        linked=linked,
        skipped=len(read) - len(having_items),
        bad=bad,
        repeated=len(having_items) - len(first),
    )


def remove_pages(path: Path, names: Sequence[str]) -> Changed:
    """Remove pages from a dump.

    Args:
        path: the dump.
        names: items or titles of pages.

    Raises:
        DataError: there is no such page, or no other one.
        IndexFileError: the dump is missing, damaged or of another format.
        OutputError: it cannot be written, or another process is changing it.
    """
    WikipediaDump(path).close()
    with changing(path, path) as connection:
        change = _DumpChange(connection)
        items = {item_id for name in names for item_id in _items_named(path, connection, name)}
        for item_id in items:
            change.remove(item_id)
        if not change.counts["pages"]:
            raise DataError(f"{path}: has no other page; remove the file")
        linked = change.finish()
    return Changed(removed=len(items), linked=linked)


def _require_vectors(path: Path, embedding: Embedding | None) -> None:
    """Raise `DataError` unless pages can be added that are found as those of the dump are."""
    with closing(WikipediaDump(path)) as dump:
        if not dump.has_titles:
            raise DataError(f"{path}: has no titles to resolve links by, as 'wikipedia build' did not write it; "
                            "build it from pages")  # fmt: skip
        model = "" if embedding is None else embedding.model
        if dump.vectors_of != model:
            means = f"by vectors of the model {dump.vectors_of}" if dump.vectors_of else "by words only"
            raise DataError(f"{path}: its evidences are found {means}; give the same with --vectors")


def _items_named(path: Path, connection: sqlite3.Connection, name: str) -> list[str]:
    if _ITEM.fullmatch(name):
        items = [item_id for (item_id,) in connection.execute("SELECT id FROM page WHERE id = ?", (name,))]
    else:
        items = [f"Q{number}" for title, number in page_titles(connection) if title == normal(name)]
    if not items:
        raise DataError(f"{path}: has no page of '{name}'; give its title or its item, such as Q42")
    return items


def _with_items(connection: sqlite3.Connection, pages: Sequence[tuple[str | None, Page]]) -> list[tuple[str, Page]]:
    """The pages that have an item, given or known from the title."""
    known = known_titles(connection, (page.title for item_id, page in pages if not item_id))
    for item_id, page in pages:
        if item_id:
            known.add_page(page.title, item_id)
    having_items = ((item_id or known.item_id(page.title), page) for item_id, page in pages)
    return [(item_id, page) for item_id, page in having_items if item_id]


class _DumpChange:
    """A change of a dump, in the transaction of a connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        meta: dict[str, str] = dict(connection.execute("SELECT key, value FROM meta"))
        self._total, self._model, self._has_titles = int(meta["sum"], 16), meta["embeddings"], "titles" in meta
        self.counts = Counter(msgspec.json.decode(meta["counts"], type=dict[str, int]))
        self._removed: dict[str, PackedPage] = {}
        self._added: dict[str, str] = {}  # titles by item

    def remove(self, item_id: str) -> bool:
        """Remove the page of an item; False if there is none."""
        page = remove_page(self._connection, item_id)
        if page is None:
            return False
        self._total -= page.digest
        self.counts.subtract(page.counts)
        self._removed[item_id] = page
        if self._has_titles:
            remove_title(self._connection, page)
        return True

    def add(self, pages: Mapping[str, Page], embedding: Embedding | None) -> None:
        """Add the pages of items, which have none."""
        for item_id, page in pages.items():  # all titles before any link
            self._added[item_id] = page.title
            add_title(self._connection, pack(item_id, [], page))
        rows = {item_id: page.row for item_id, page in self._removed.items()}  # what is replaced keeps its place
        packed = [self._packed(item_id, page)._replace(row=rows.get(item_id, 0)) for item_id, page in pages.items()]
        put_pages(self._connection, packed, embedding)
        for own in packed:
            self._total += own.digest
            self.counts.update(own.counts)

    def finish(self) -> int:
        """Resolve the links of other pages again, and say what the dump holds now; returns how many pages changed so."""
        linked = 0
        names = self._changed_names() if self._has_titles else ()
        for item_id in linking_pages(self._connection, names) - self._added.keys():
            page = stored_page(self._connection, item_id)
            assert page is not None  # as its links are
            again = self._packed(item_id, page_in(page))
            if again.digest != page.digest:
                linked += 1
                self._total += again.digest - page.digest
                self._connection.execute("UPDATE page SET evidences = ? WHERE id = ?", (again.blob, item_id))
        write_meta(self._connection, self._total, self._model, self.counts)
        return linked

    def _packed(self, item_id: str, page: Page) -> PackedPage:
        known = known_titles(self._connection, page.targets)
        for added, title in self._added.items():
            known.add_page(title, added)
        return pack(item_id, linked_evidences(page, item_id, known), page)

    def _changed_names(self) -> set[str]:
        """The titles that mean another item now, or one of another label."""
        names: set[str] = set()
        for item_id in self._removed.keys() | self._added.keys():
            removed = self._removed.get(item_id)
            titles = [None if removed is None else removed.title, self._added.get(item_id)]
            own = {normal(title) for title in titles if title is not None}
            given = given_label(self._connection, own, item_id)
            before, after = (given if title is None else label_of(title) for title in titles)
            names |= own if before == after else {*own, *names_of(self._connection, item_id)}
        return names
