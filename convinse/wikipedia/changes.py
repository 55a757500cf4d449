"""Adds pages to a dump and removes them: in place, in one transaction, with the result of a new build."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from ..support.errors import DataError
from ..support.jsonlines import raw_lines
from .build import ITEM, Changed, PageLines, parsed
from .dump import WikipediaDump
from .page import Page
from .stored_pages import Embedding, PackedPage, changing, pack, put_pages, remove_page, stored_page, write_meta
from .titles import add_title, linking_pages, names_of, normal, page_in, page_titles, read_titles, remove_title


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
            raise DataError(f"{path}: has no titles to resolve links by; build it from pages by 'wikipedia build'")
        if dump.vectors_of != ("" if embedding is None else embedding.model):
            means = f"by vectors of the model {dump.vectors_of}" if dump.vectors_of else "by words only"
            raise DataError(f"{path}: its evidences are found {means}; give the same with --vectors")
    lines = PageLines(pages, sum(1 for _ in raw_lines(pages)), quiet)
    read = list(lines.read(parsed, processes=1))
    with changing(path, path) as connection:
        titles = read_titles(connection, (page.title for item_id, page in read if not item_id))
        for item_id, page in read:
            if item_id:
                titles.add_page(page.title, item_id)
        first: dict[str, Page] = {}
        for item_id, page in read:
            if item_id := item_id or titles.item_id(page.title):
                lines.usable += 1
                first.setdefault(item_id, page)
        lines.check_usable()
        change = _DumpChange(connection)
        replaced = sum(change.remove(item_id) for item_id in first)
        change.add(first, embedding)
        linked = change.finish()
    return Changed(
        added=len(first) - replaced,
        replaced=replaced,
        linked=linked,
        skipped=lines.skipped,
        bad=lines.bad,
        repeated=lines.usable - len(first),
    )


def remove_pages(path: Path, names: Sequence[str]) -> Changed:
    """Remove pages from a dump, by their items or titles.

    Raises:
        DataError: the dump does not have a page, or has no other pages.
        IndexFileError: the dump is missing, damaged or of another format.
        OutputError: it cannot be written, or another process is changing it.
    """
    WikipediaDump(path).close()
    with changing(path, path) as connection:
        change = _DumpChange(connection)
        removed = 0
        for name in dict.fromkeys(names):
            items = [name]
            if not ITEM.fullmatch(name):
                items = [f"Q{number}" for title, number in page_titles(connection) if title == normal(name)]
            done = [change.remove(item_id) for item_id in items]
            if not any(done):
                raise DataError(f"{path}: has no page of '{name}'; give its title or its item, such as Q42")
            removed += len(items)
        if not change.counts["pages"]:
            raise DataError(f"{path}: has no other page; remove the file")
        linked = change.finish()
    return Changed(removed=removed, linked=linked)


class _DumpChange:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        meta: dict[str, str] = dict(connection.execute("SELECT key, value FROM meta"))
        self._total, self._model, self._has_titles = int(meta["sum"], 16), meta["embeddings"], "titles" in meta
        self.counts = Counter(msgspec.json.decode(meta["counts"], type=dict[str, int]))
        self._removed: dict[str, PackedPage] = {}
        self._added: dict[str, PackedPage] = {}

    def remove(self, item_id: str) -> bool:
        page = remove_page(self._connection, item_id)
        if page is None:
            return False
        self._total -= page.digest
        self.counts.subtract(page.counts)
        self._removed[item_id] = page
        if self._has_titles:
            remove_title(self._connection, item_id, page.title, page.links)
        return True

    def add(self, pages: Mapping[str, Page], embedding: Embedding | None) -> None:
        titles = read_titles(self._connection, (target for page in pages.values() for target in page.targets))
        for item_id, page in pages.items():  # all titles before any link
            titles.add_page(page.title, item_id)
        for item_id, page in pages.items():
            packed = pack(item_id, titles.evidences(page, item_id), page)
            if item_id in self._removed:  # a replaced page stays in its place
                packed = packed._replace(row=self._removed[item_id].row)
            self._added[item_id] = packed
            self._total += packed.digest
            self.counts.update(packed.counts)
            add_title(self._connection, item_id, packed.title, packed.links)
        put_pages(self._connection, self._added.values(), embedding)

    def finish(self) -> int:
        """Resolve the links of other pages again, and write the metadata; return the number of changed pages."""
        linked = 0
        names = self._changed_names() if self._has_titles else ()
        for item_id in linking_pages(self._connection, names) - self._added.keys():
            page = stored_page(self._connection, item_id)
            assert page is not None  # its links are stored
            parsed_page = page_in(page)
            titles = read_titles(self._connection, parsed_page.targets)
            again = pack(item_id, titles.evidences(parsed_page, item_id))
            if again.digest != page.digest:
                linked += 1
                self._total += again.digest - page.digest
                self._connection.execute("UPDATE page SET evidences = ? WHERE id = ?", (again.blob, item_id))
        write_meta(self._connection, self._total, self._model, self.counts)
        return linked

    def _changed_names(self) -> set[str]:
        """The titles of the items with a page that came, went or has another title now."""
        before = {item_id: page.title for item_id, page in self._removed.items()}
        after = {item_id: page.title for item_id, page in self._added.items()}
        changed = {item_id for item_id in before.keys() | after.keys() if before.get(item_id) != after.get(item_id)}
        names = {normal(titles[item_id]) for titles in (before, after) for item_id in changed & titles.keys()}
        return names | names_of(self._connection, changed)
