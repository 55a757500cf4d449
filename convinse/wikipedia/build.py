"""Builds a Wikipedia dump from saved HTML pages (JSON lines): streamed, in parallel over the cores, in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from ..support.blocks import Block, Faults, cores, in_order, read_blocks
from ..support.errors import DataError, one_line
from ..support.jsonlines import JSON_ERRORS, raw_lines
from ..support.progress import progress
from .dump import check_replaceable, write_packed
from .page import Page, parse_page
from .stored_pages import Embedding, PackedPage, pack
from .titles import Titles

T = TypeVar("T")

ITEM = re.compile(r"Q[1-9][0-9]*")
_BLOCK_BYTES = 1 << 20  # of lines that a process parses at once
_FEW = 16  # pages for one process more


class Changed(NamedTuple):
    """The counts of a build or a change of a dump, of pages."""

    added: int = 0
    replaced: int = 0
    removed: int = 0
    linked: int = 0  # other pages with links that lead to other items now
    skipped: int = 0  # without an item, or of an import without evidences: CONVINSE also stored failed requests so
    bad: int = 0  # lines that are not pages, or of an import evidences
    repeated: int = 0  # second pages of an item


def build(
    pages: Path,
    output: Path,
    titles: Path | None = None,
    *,
    embedding: Embedding | None = None,
    processes: int | None = None,
    quiet: bool = True,
) -> Changed:
    """Build the dump of a file of pages; an older one at `output` is replaced when the new one is complete.

    Args:
        pages: JSON lines with `title`, `html` and `qid` (or null: then found by title), plain or packed (gz, bz2).
        output: the dump. Its content does not depend on `processes`.
        titles: lines of title, tab and item, plain or packed, in addition to the titles and items of the pages.
        embedding: makes vectors of evidences; None: the evidences are found by their words only.
        processes: to parse with; all cores by default.
        quiet: show no progress.

    Raises:
        DataError: a file cannot be read, has too many bad lines, or no page has an item.
        OutputError: `output` cannot be written, or is something else than a dump.
    """
    check_replaceable(output)
    items, number = _read_titles(pages, titles)
    lines = PageLines(pages, number, quiet)

    def packed() -> Generator[PackedPage, None, None]:
        with closing(lines.read(partial(_packed, items), processes or cores())) as made:
            for page in made:
                if page is not None:
                    lines.usable += 1
                    yield page
        lines.check_usable()

    with closing(packed()) as packed_pages:
        added = write_packed(output, packed_pages, embedding, items.write)["pages"]
    return Changed(added=added, skipped=lines.skipped, bad=lines.bad, repeated=lines.usable - added)


class PageLines:
    """The lines of a file of pages, and the counts of a reading: `usable` pages have an item, see their reader."""

    def __init__(self, path: Path, number: int, quiet: bool) -> None:
        self._path, self._number, self._quiet = path, number, quiet
        self._faults = Faults(path, "lines", "each must be an object with 'title', 'qid' and 'html'")
        self.usable = 0

    @property
    def bad(self) -> int:
        """The number of lines that are not pages."""
        return self._faults.bad

    @property
    def skipped(self) -> int:
        """The number of pages without an item."""
        return self._faults.seen - self.bad - self.usable

    def read(self, make: Callable[[bytes], T], processes: int) -> Generator[T, None, None]:
        """Yield the results of a function for the lines, in their order; bad lines are reported and left out."""
        workers, blocks = min(processes, self._number // _FEW + 1), read_blocks(self._path, _BLOCK_BYTES)
        with (
            progress(f"reading {self._path.name}", self._number, "pages", self._quiet) as advance,
            closing(in_order(self._path, blocks, partial, (_make_block, make), workers, "try again")) as parts,
        ):
            for made, bad in parts:
                self._faults.count(len(made) + len(bad), bad)
                yield from made
                advance(len(made) + len(bad))
        self._faults.report()

    def check_usable(self) -> None:
        """Raise `DataError` if no page is usable."""
        if not self.usable:
            remedy = (
                "give the items of titles by --titles" if self.skipped else "each line is JSON: title, url, qid, html"
            )
            counts = f"{self.skipped} without an item, {self.bad} bad"
            raise DataError(f"{self._path}: none of its {self._faults.seen} pages can be used ({counts}); {remedy}")


def _read_titles(pages: Path, titles: Path | None) -> tuple[Titles, int]:
    """The items of the titles in both files, and the number of pages."""
    items, lines, unnamed = Titles(), 0, []

    def add_page(title: str, item_id: str) -> None:
        if not items.has_page(item_id):
            items.add_page(title, item_id)
        elif items.item_id(title) != item_id:  # of a second page of the item
            items.add(title, item_id)

    for _, line in raw_lines(pages):
        lines += 1
        try:
            saved = _SAVED.decode(line)
        except JSON_ERRORS:  # reported when the page is read
            continue
        if saved.title and saved.qid is None:
            unnamed.append(saved.title)
        elif saved.title and saved.qid and _is_item(saved.qid):
            add_page(saved.title, saved.qid)
    if titles is not None:
        for title, item_id in _title_lines(titles):
            items.add(title, item_id)
    for title in unnamed:
        if of_title := items.item_id(title):
            add_page(title, of_title)
    return items, lines


def _title_lines(path: Path) -> Iterator[tuple[str, str]]:
    faults = Faults(path, "lines", "each must be a title and an item such as Q42 with a tab between them")
    for number, line in raw_lines(path):
        title, _, item_id = line.decode("utf-8", "replace").partition("\t")
        if title.strip() and _is_item(item_id):
            faults.count(1)
            yield title, item_id.strip()
        elif number > 1:  # the first may be a header
            faults.count(1, [(f"line {number}", "is not a title and item")])
    if not faults.seen > faults.bad:
        raise DataError(f"{path}: no line is a title and an item such as Q42 with a tab between them")
    faults.report()


def _is_item(text: str) -> bool:
    return ITEM.fullmatch(text.strip()) is not None


class _SavedPage(msgspec.Struct):
    title: str
    html: str
    qid: str | None = None


_SAVED = msgspec.json.Decoder(_SavedPage)


def _make_block(make: Callable[[bytes], T], block: Block) -> tuple[list[T], list[tuple[str, str]]]:
    made, bad = [], []
    for number, line in block.lines():
        try:
            made.append(make(line))
        except Exception as error:  # also of the parser: a bad page never stops a build
            bad.append((f"line {number}", f"is not a page ({type(error).__name__}: {one_line(error)})"))
    return made, bad


def _packed(titles: Titles, line: bytes) -> PackedPage | None:
    item_id, page = parsed(line)
    item_id = item_id or titles.item_id(page.title)
    return pack(item_id, titles.evidences(page, item_id), page) if item_id else None


def parsed(line: bytes) -> tuple[str | None, Page]:
    """Return the item of a line, if it has one, and its page. Raises one of `JSON_ERRORS` if it is not a page."""
    saved = _SAVED.decode(line)
    title = saved.title.replace("_", " ").strip()
    if not title:
        raise msgspec.DecodeError("the title is empty")
    if saved.qid and not _is_item(saved.qid):
        raise msgspec.DecodeError(f"'{saved.qid}' is not an item")
    return saved.qid, parse_page(title, saved.html)
