"""Saved HTML pages (JSON lines) into a Wikipedia dump: streamed, in parallel over the cores, in bounded memory."""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..records.evidence import Entity
from ..support.blocks import Block, Faults, cores, in_order, read_blocks
from ..support.errors import DataError, one_line
from ..support.jsonlines import JSON_ERRORS, raw_lines
from ..support.progress import progress
from .dump import Embedding, PackedPage, check_replaceable, pack, write_packed
from .page import page_evidences, parse_page

_ITEM = re.compile(r"Q[1-9][0-9]*")
_BLOCK_BYTES = 1 << 20  # of lines that a process parses at once
_FEW = 16  # pages that are not worth another process


class BuiltDump(NamedTuple):
    """What went into a dump: `counts` are the pages and the evidences of each source."""

    counts: dict[str, int]
    skipped: int  # pages without an item
    bad: int
    repeated: int  # second pages of an item
    seconds: float


class Titles:
    """Titles of pages -> items."""

    def __init__(self) -> None:
        self._items: dict[str, str] = {}
        self._labels: dict[str, str] = {}  # an item's first title without its bracket: one label, however it is linked

    def add(self, title: str, item_id: str) -> None:
        """The first item of a title stays."""
        self._items.setdefault(_normal(title), item_id)
        self._labels.setdefault(item_id, label_of(title))

    def item_id(self, title: str) -> str | None:
        """The item of a title as a link gives it."""
        return self._items.get(_normal(title))

    def entity(self, title: str) -> Entity | None:
        """The item of a title with its label."""
        item_id = self.item_id(title)
        return None if item_id is None else {"id": item_id, "label": self._labels[item_id]}


def _normal(title: str) -> str:
    title = title.replace("_", " ").strip()
    return title[:1].upper() + title[1:]


def label_of(title: str) -> str:
    """A title without its bracket: `Titanic (1997 film)` -> `Titanic`."""
    title = title.replace("_", " ").strip()
    return re.sub(r"(?<=\S)\s*\([^()]*\)$", "", title)


def build(
    pages: Path,
    output: Path,
    titles: Path | None = None,
    *,
    embedding: Embedding | None = None,
    processes: int | None = None,
    quiet: bool = True,
) -> BuiltDump:
    """Build the dump of a file of pages; an older one at `output` is replaced when the new one is whole.

    Args:
        pages: JSON lines with `title`, `html` and `qid` (or null: then found by title), plain or packed (gz, bz2).
        output: the dump. Its content does not depend on `processes`.
        titles: a TSV of title and item (in either order, with or without a header line), plain or packed; the pages'
            own titles and items are known besides.
        embedding: makes the vectors by which evidences are found; None: they are found by their words only.
        processes: to parse with; all cores by default.
        quiet: show no progress.

    Raises:
        DataError: a file cannot be read, has too many bad lines, or no page has an item.
        OutputError: `output` cannot be written, or is something else than a dump.
    """
    start = time.monotonic()
    check_replaceable(output)
    known, lines = _known_titles(pages, titles)
    workers = processes or cores()
    if isinstance(workers, int):
        workers = min(workers, lines // _FEW + 1)
    faults = Faults(pages, "lines", "each must be an object with 'title', 'qid' and 'html'")
    skipped = usable = 0

    def packed() -> Generator[PackedPage, None, None]:
        nonlocal skipped, usable
        blocks = read_blocks(pages, _BLOCK_BYTES)
        with (
            progress(f"reading {pages.name}", lines, "pages", quiet) as advance,
            closing(in_order(pages, blocks, partial, (_parse_block, known), workers, "try again")) as parts,
        ):
            for part in parts:
                faults.count(part.lines, [(f"line {number}", reason) for number, reason in part.bad])
                skipped += part.skipped
                usable += len(part.pages)
                yield from part.pages
                advance(part.lines)
        if not usable:
            raise DataError(f"{pages}: none of its {faults.seen} pages could be used ({skipped} without an item, "
                            f"{faults.bad} bad); the items of titles can be given with --titles")  # fmt: skip
        faults.report()

    with closing(packed()) as packed_pages:
        counts = write_packed(output, packed_pages, embedding)
    return BuiltDump(counts, skipped, faults.bad, usable - counts["pages"], time.monotonic() - start)


def _known_titles(pages: Path, titles: Path | None) -> tuple[Titles, int]:
    known, lines = Titles(), 0
    for _, line in raw_lines(pages):
        lines += 1
        try:
            head = _HEAD.decode(line)
        except JSON_ERRORS:  # reported when the page is read
            continue
        if head.title and head.qid and _ITEM.fullmatch(head.qid):
            known.add(head.title, head.qid)
    if titles is not None:
        for title, item_id in _read_titles(titles):
            known.add(title, item_id)
    return known, lines


def _read_titles(path: Path) -> Iterator[tuple[str, str]]:
    faults = Faults(path, "lines", "each must be a title and an item such as Q42 with a tab between them")
    item_first: bool | None = None
    for block in read_blocks(path, _BLOCK_BYTES):
        if item_first is None:  # by most lines: a title may look like an item
            rows = [line.decode("utf-8", "replace").split("\t") for _, line in block.lines()]
            item_first = sum(_is_item(row[0]) for row in rows) > sum(_is_item(row[-1]) for row in rows)
        for number, line in block.lines():
            row = line.decode("utf-8", "replace").split("\t")
            item_id, title = (row[0], row[-1]) if item_first else (row[-1], row[0])
            if len(row) == 2 and title.strip() and _is_item(item_id):
                faults.count(1)
                yield title, item_id.strip()
            elif number > 1:  # the first is the header
                faults.count(1, [(f"line {number}", "is no title and item")])
    if not faults.seen > faults.bad:
        raise DataError(f"{path}: no line is a title and an item such as Q42 with a tab between them")
    faults.report()


def _is_item(text: str) -> bool:
    return _ITEM.fullmatch(text.strip()) is not None


class _PageName(msgspec.Struct):
    title: str = ""
    qid: str | None = None


class _SavedPage(msgspec.Struct):
    title: str
    html: str
    qid: str | None = None


_HEAD, _SAVED = msgspec.json.Decoder(_PageName), msgspec.json.Decoder(_SavedPage)


@dataclass
class ParsedPages:
    """The pages of a block of lines."""

    lines: int = 0
    pages: list[PackedPage] = field(default_factory=list)
    skipped: int = 0
    bad: list[tuple[int, str]] = field(default_factory=list)


def _parse_block(known: Titles, block: Block) -> ParsedPages:
    part = ParsedPages()
    for number, line in block.lines():
        part.lines += 1
        try:
            page = _packed(line, known)
        except JSON_ERRORS as error:
            part.bad.append((number, f"is no page ({one_line(error)})"))
        except Exception as error:  # whatever a parser makes of a page: one page never stops a build
            part.bad.append((number, f"cannot be parsed ({type(error).__name__}: {one_line(error)})"))
        else:
            if page is None:
                part.skipped += 1
            else:
                part.pages.append(page)
    return part


def _packed(line: bytes, known: Titles) -> PackedPage | None:
    saved = _SAVED.decode(line)
    title = saved.title.replace("_", " ").strip()
    if not title:
        raise msgspec.DecodeError("the title is empty")
    item_id = saved.qid or known.item_id(title)
    if item_id is None:
        return None
    if not _is_item(item_id):
        raise msgspec.DecodeError(f"'{item_id}' is no item")
    page = parse_page(title, saved.html)
    items = {target: entity for target in sorted(page.targets) if (entity := known.entity(target)) is not None}
    return pack(item_id, page_evidences(page, {"id": item_id, "label": label_of(title)}, items))
