"""Adds pages to a dump and removes them: in place, in one transaction, with the result of a new build."""

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
    file_label,
    linking_pages,
    names_of,
    page_in,
    page_titles,
    read_titles,
    remove_title,
)
from .titles import label_of, linked_evidences, normal

_ITEM = re.compile(r"Q[1-9][0-9]*")


class Changed(NamedTuple):
    """The counts of a change of a dump.

    Attributes:
        added, replaced, removed: pages.
        linked: other pages with links that lead to other items now.
        skipped: pages without an item.
        bad: lines that are not pages.
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
    """Add saved pages to a dump; a page replaces the page of the same item.

    Args:
        path: a dump that `build` wrote.
        pages: see `build`; they are held in memory.
        embedding: the model of the dump's vectors, if it has vectors.
        quiet: show no progress.

    Raises:
        DataError: `pages` cannot be read, has too many bad lines or no usable page; or `embedding` is another model.
        IndexFileError: the dump is missing, damaged or of another format.
        OutputError: it cannot be written, or another process is changing it.
    """
    with closing(WikipediaDump(path)) as dump:
        if not dump.has_titles:
            raise DataError(f"{path}: has no titles to resolve links by, as 'wikipedia build' did not write it; "
                            "build it from pages")  # fmt: skip
        if dump.vectors_of != ("" if embedding is None else embedding.model):
            means = f"by vectors of the model {dump.vectors_of}" if dump.vectors_of else "by words only"
            raise DataError(f"{path}: its evidences are found {means}; give the same with --vectors")
    lines = sum(1 for _ in raw_lines(pages))
    with closing(read_pages(pages, parsed, lines, 1, quiet)) as parts:
        made = list(parts)
    read, bad = [page for part in made for page in part.pages], sum(len(part.bad) for part in made)
    with changing(path, path) as connection:
        titles = read_titles(connection, (page.title for item_id, page in read if not item_id))
        for item_id, page in read:
            if item_id:
                titles.add_page(page.title, item_id)
        first: dict[str, Page] = {}
        skipped = 0
        for item_id, page in read:
            if item_id := item_id or titles.item_id(page.title):
                first.setdefault(item_id, page)
            else:
                skipped += 1
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
        skipped=skipped,
        bad=bad,
        repeated=len(read) - skipped - len(first),
    )


def remove_pages(path: Path, names: Sequence[str]) -> Changed:
    """Remove pages from a dump.

    Args:
        path: the dump.
        names: items or titles of pages.

    Raises:
        DataError: the dump does not have a page, or has no other pages.
        IndexFileError: the dump is missing, damaged or of another format.
        OutputError: it cannot be written, or another process is changing it.
    """
    WikipediaDump(path).close()
    with changing(path, path) as connection:
        change = _DumpChange(connection)
        items: set[str] = set()
        for name in names:
            if _ITEM.fullmatch(name):
                named = {item_id for (item_id,) in connection.execute("SELECT id FROM page WHERE id = ?", (name,))}
            else:
                named = {f"Q{number}" for title, number in page_titles(connection) if title == normal(name)}
            if not named:
                raise DataError(f"{path}: has no page of '{name}'; give its title or its item, such as Q42")
            items |= named
        for item_id in items:
            change.remove(item_id)
        if not change.counts["pages"]:
            raise DataError(f"{path}: has no other page; remove the file")
        linked = change.finish()
    return Changed(removed=len(items), linked=linked)


class _DumpChange:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        meta: dict[str, str] = dict(connection.execute("SELECT key, value FROM meta"))
        self._total, self._model, self._has_titles = int(meta["sum"], 16), meta["embeddings"], "titles" in meta
        self.counts = Counter(msgspec.json.decode(meta["counts"], type=dict[str, int]))
        self._removed: dict[str, PackedPage] = {}
        self._added: dict[str, str] = {}  # titles by item

    def remove(self, item_id: str) -> bool:
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
        for item_id, page in pages.items():  # all titles before any link
            self._added[item_id] = page.title
            add_title(self._connection, pack(item_id, [], page))
        rows = {item_id: page.row for item_id, page in self._removed.items()}  # a replaced page keeps its place
        packed = [self._packed(item_id, page)._replace(row=rows.get(item_id, 0)) for item_id, page in pages.items()]
        put_pages(self._connection, packed, embedding)
        for packed_page in packed:
            self._total += packed_page.digest
            self.counts.update(packed_page.counts)

    def finish(self) -> int:
        """Resolve the links of other pages again, and write the metadata; return the number of changed pages."""
        linked = 0
        names = self._changed_names() if self._has_titles else ()
        for item_id in linking_pages(self._connection, names) - self._added.keys():
            page = stored_page(self._connection, item_id)
            assert page is not None  # its links are stored
            again = self._packed(item_id, page_in(page))
            if again.digest != page.digest:
                linked += 1
                self._total += again.digest - page.digest
                self._connection.execute("UPDATE page SET evidences = ? WHERE id = ?", (again.blob, item_id))
        write_meta(self._connection, self._total, self._model, self.counts)
        return linked

    def _packed(self, item_id: str, page: Page) -> PackedPage:
        titles = read_titles(self._connection, page.targets)
        for added, title in self._added.items():
            titles.add_page(title, added)
        return pack(item_id, linked_evidences(page, item_id, titles), page)

    def _changed_names(self) -> set[str]:
        """The titles that lead to another item now, or to an item with another label."""
        names: set[str] = set()
        for item_id in self._removed.keys() | self._added.keys():
            removed = self._removed.get(item_id)
            titles = [None if removed is None else removed.title, self._added.get(item_id)]
            of_item = {normal(title) for title in titles if title is not None}
            label = file_label(self._connection, of_item, item_id)
            before, after = (label if title is None else label_of(title) for title in titles)
            names |= of_item if before == after else {*of_item, *names_of(self._connection, item_id)}
        return names
