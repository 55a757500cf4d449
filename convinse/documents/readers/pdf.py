"""Reads PDF files: paragraphs, headings, lists and tables, in the order in which people read them."""

from __future__ import annotations

import re
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ...support.errors import DataError
from ..model import NO_TEXT, Block, Heading, ReadDocument, TableBlock, TextBlock
from .pdf_layout import reading_order
from .pdf_lines import MARKER, PageLine, joined, starts_item
from .pdf_words import MOST_RULES, MOST_SIGNS, PDFIUM_LOCK, open_pdf, page_rules, page_words

MOST_PAGES = 5_000  # of a file
MOST_UNPACKED = 50_000_000  # bytes of a stream; twelve seconds and 800 MB of text
LONGEST_READING = 120  # seconds for a file: five thousand pages of a book take 60
_REPEATED = 3  # pages with the same line at an edge, which is then none of the text
_EDGE = 2  # lines at the top and at the bottom of a page that may be of its frame
_SENTENCE_END = re.compile(r"[.!?:;…。][\"'”’)\]]*$")
_CAPTION = re.compile(r"Tab\w*\.?\s+[A-Z]?\d[\w.-]*", re.IGNORECASE)  # of languages from English to Swedish
_LONGEST_CAPTION = 150  # characters; the text of a longer one is a paragraph, too
_LONG = 80  # characters of a paragraph, from which on it ends in a full stop
_LARGER = 1.19  # times the usual size of letters that headings have
_LONGEST_HEADING = 120  # characters; a longer line is a paragraph, however large its letters
_BULLET = re.compile(r"^[^\w(]+ ")  # numbers of items say something, other signs do not
_BULLETS = "•◦▪■○●‣∙□"  # a dash may begin a line of prose, too
_ENTRY = " … "  # of a table of contents


class _PdfPage(NamedTuple):
    sizes: Counter[float]  # of letters, and how many of them have each
    columns: list[list[PageLine]]
    aside: list[str]  # texts in other directions than the rest


def read_pdf(data: bytes) -> ReadDocument:
    """Return the content of a PDF file."""
    _refuse_packed(data)
    with PDFIUM_LOCK, open_pdf(data) as document:
        pages, left_out = _pages(document)
        title = document.get_metadata_value("Title").strip()
    _leave_out_frames(pages)
    blocks = _blocks(pages)
    if not blocks:
        raise DataError(f"can be read in no part: {left_out[0]}" if left_out else NO_TEXT)
    if empty := sum(not page.columns and not page.aside for page in pages):
        left_out.append(f"{empty} pages without text")
    return ReadDocument("" if title.lower() == "untitled" else title, blocks, left_out)


def _refuse_packed(data: bytes) -> None:
    """Raise an error for a file with a stream that unpacks to too much, of which PDFium makes 15 times as much."""
    for found in re.finditer(rb"(?<!end)stream\r?\n", data):
        if b"/Image" in data[max(0, found.start() - 300) : found.start()]:
            continue  # no picture is looked at
        packed = data[found.end() : data.find(b"endstream", found.end())]
        try:
            unpacked = zlib.decompressobj().decompress(packed, MOST_UNPACKED + 1)
        except zlib.error:
            continue
        if len(unpacked) > MOST_UNPACKED:
            raise DataError(f"unpacks to more than {MOST_UNPACKED // 1_000_000} MB")


def _pages(document: Any) -> tuple[list[_PdfPage], list[str]]:
    """Return the pages of a document, and what of them is left out."""
    pages: list[_PdfPage] = []
    left_out: list[str] = []
    crowded = 0
    start = time.monotonic()
    for number in range(len(document)):
        if number >= MOST_PAGES or (number and time.monotonic() - start > LONGEST_READING):
            left_out.append(f"pages from {number + 1} on")
            break
        page = document[number]
        text_page = page.get_textpage()
        if text_page.count_chars() > MOST_SIGNS:
            crowded += 1
        else:
            words, aside, turn = page_words(text_page)
            rules = list(islice(page_rules(page, turn), MOST_RULES + 1))
            columns = reading_order(words, rules if len(rules) <= MOST_RULES else ())
            sizes: Counter[float] = Counter()
            for word in words:
                sizes[round(word.size, 1)] += len(word.text)
            pages.append(_PdfPage(sizes, columns, aside))
        text_page.close()
        page.close()
    if crowded:
        left_out.append(f"{crowded} pages with more than {MOST_SIGNS:,} characters")
    return pages, left_out


def _leave_out_frames(pages: Sequence[_PdfPage]) -> None:
    """Remove the lines that pages have at their edges again and again, and the numbers of pages."""
    edges = [_edges(page) for page in pages]
    counts = Counter(text for lines in edges for text in {_edge(line) for line in lines})
    least = min(_REPEATED, max(2, len(pages)))
    for page, lines in zip(pages, edges, strict=True):
        frame = [
            line for line in lines if counts[_edge(line)] >= least or re.fullmatch(r"[-–— ]*\d{1,4}[-–— ]*", line.text)
        ]
        for column in page.columns:
            column[:] = [line for line in column if line not in frame]
        page.columns[:] = [column for column in page.columns if column]


def _edge(line: PageLine) -> str:
    return re.sub(r"\d+", "#", line.text)


def _edges(page: _PdfPage) -> list[PageLine]:
    """Return the lines at the top and at the bottom of a page that are set off from the rest."""
    lines = sorted((line for column in page.columns for line in column), key=lambda line: -line.top)
    edges: list[PageLine] = []
    for ordered in (lines, lines[::-1]):
        for number, (line, following) in enumerate(zip(ordered[:_EDGE], ordered[1:], strict=False), 1):
            if line.table:
                break
            if abs(line.middle - following.middle) > 1.6 * line.size or following.table:
                edges += ordered[:number]
    return edges


class _Paragraph(NamedTuple):
    block: Block
    is_first: bool  # of its column
    is_full: bool  # its last line goes to the end of its column


def _blocks(pages: Sequence[_PdfPage]) -> list[Block]:
    style = _Style(pages)
    paragraphs: list[_Paragraph] = []
    for number, page in enumerate(pages, 1):
        for column in page.columns:
            for paragraph in _paragraphs(column, number, style):
                _add(paragraphs, paragraph)
        paragraphs += (_Paragraph(TextBlock(text, page=number), False, False) for text in page.aside)
    return [paragraph.block for paragraph in paragraphs]


def _add(paragraphs: list[_Paragraph], new: _Paragraph) -> None:
    """Add a paragraph, or join it with the last one if it goes on from there over the end of a column or a page."""
    last = paragraphs[-1] if paragraphs else new
    match last.block, new.block:
        case (TextBlock(above), TextBlock(text, kind=kind)) if last is not new and new.is_first:
            is_cut = text[:1].islower() or len(above) > _LONG or (last.is_full and text[:1].isalnum())
            is_apart = kind == "item" or _SENTENCE_END.search(above) or _CAPTION.match(text)
            if is_cut and not is_apart:
                block = last.block._replace(text=joined(above, text))
                paragraphs[-1] = _Paragraph(block, last.is_first, new.is_full)
                return
        case (TableBlock() as above, TableBlock() as table) if last is not new and new.is_first:
            if whole := _whole(above, table):
                paragraphs[-1] = last._replace(block=whole)
                return
        case (TextBlock(title, page=page), TableBlock(page=same) as table) if page == same and _CAPTION.match(title):
            new = new._replace(block=table._replace(caption=title[:_LONGEST_CAPTION]))
            if len(title) <= _LONGEST_CAPTION:
                paragraphs.pop()
    paragraphs.append(new)


def _whole(first: TableBlock, second: TableBlock) -> TableBlock | None:
    """Return two parts of a table on two pages as one; None if the head of the first does not stand on the second, too."""
    same = 0
    for above, below in zip(first.rows, second.rows, strict=False):
        if list(above) != list(below):
            break
        same += 1
    if not same:
        return None
    moved = len(first.rows) - same
    merged = {(row + moved, column): (place[0] + moved, place[1])
              for (row, column), place in second.merged.items() if place[0] >= same}  # fmt: skip
    return first._replace(rows=[*first.rows, *second.rows[same:]], merged={**first.merged, **merged})


class _Style:
    """The usual size of the letters of a document, and the levels of its headings by theirs."""

    def __init__(self, pages: Sequence[_PdfPage]) -> None:
        lines = [line for page in pages for column in page.columns for line in column if not line.table]
        sizes = sum((page.sizes for page in pages), Counter[float]())
        self.usual = max(sizes, key=lambda size: sizes[size], default=10.0)
        larger = sorted({round(line.size) for line in lines if line.size > _LARGER * self.usual}, reverse=True)
        self._levels = {size: min(level, 5) for level, size in enumerate(larger, 1)}

    def size_of(self, line: PageLine) -> int:
        """The size of larger letters; 0 for the usual ones."""
        return round(line.size) if line.size > _LARGER * self.usual else 0

    def level_of(self, lines: Sequence[PageLine], text: str) -> int:
        """The level of lines as a heading; 0 for other lines."""
        marker = text.split(" ")[0]
        is_bullet = MARKER.fullmatch(marker) is not None and not marker[-1:].isalnum() and marker[-1:] != "."
        is_entry = _CAPTION.match(text) or _ENTRY in text
        if is_bullet or is_entry or len(text) > _LONGEST_HEADING or not any(map(str.isalpha, text)):
            return 0
        if size := self.size_of(lines[0]):
            return self._levels[size]
        is_bold = lines[0].is_bold and len(lines) < 3 and not text.endswith((".", ":", ",", ";", "?"))
        return min(len(self._levels) + 1, 6) if is_bold and lines[0].size > 0.9 * self.usual else 0


def _paragraphs(lines: Sequence[PageLine], page: int, style: _Style) -> Iterator[_Paragraph]:
    """Yield the paragraphs, items, headings and tables of a column."""
    plain = [line for line in lines if not line.table]
    left, right = min((line.left for line in plain), default=0.0), max((line.right for line in plain), default=0.0)
    gaps = sorted(above.middle - below.middle for above, below in zip(lines, lines[1:], strict=False)
                  if not above.table and not below.table)  # fmt: skip
    # single lines of lists and headings are far from one another, too; twice the size is the distance of paragraphs
    pitch = min(max(gaps[len(gaps) // 3] if gaps else 0.0, style.usual), 1.6 * style.usual)
    part: list[PageLine] = []
    is_first = True
    for line in [*lines, None]:
        if part and (line is None or line.table or _begins(part, line, left, right, pitch, style)):
            text = ""
            for each in part:
                text = joined(text, each.text)
            level = style.level_of(part, text)
            block: Block = TextBlock(text, page=page)
            if level:
                block = Heading(text, level, page=page)
            elif starts_item(part[0]):
                block = TextBlock(_BULLET.sub("", text), page=page, kind="item")
            yield _Paragraph(block, is_first, part[-1].right > right - 0.15 * (right - left))
            part, is_first = [], False
        if line is not None and line.table:
            yield _Paragraph(line.table._replace(page=page), is_first, False)
            is_first = False
        elif line is not None:
            part.append(line)


def _begins(part: Sequence[PageLine], line: PageLine, left: float, right: float, pitch: float, style: _Style) -> bool:
    """Return True if a line is the first of a block."""
    before, size = part[-1], line.size
    gap = before.middle - line.middle
    is_far = gap < 0 or gap > 1.3 * max(pitch, 1.05 * size)
    if is_far or style.size_of(before) != style.size_of(line) or _ENTRY in before.text:
        return True
    is_ended = _SENTENCE_END.search(before.text) is not None
    is_short = before.right < right - 0.15 * (right - left)
    if before.is_bold != line.is_bold:
        return is_short or is_ended or gap > 1.1 * pitch
    if starts_item(line):
        return is_ended or starts_item(part[0]) or before.text.endswith(":") or line.text[0] in _BULLETS
    if style.size_of(line):
        return False
    if starts_item(part[0]):
        return line.left <= part[0].left + 1 and is_ended
    is_indented = line.left > before.left + 0.8 * size and before.left < left + 2 * size
    return is_ended and (is_indented or (before.right < right - 0.3 * (right - left) and not line.text[:1].islower()))
