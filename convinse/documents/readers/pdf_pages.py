"""Draws pages of PDF files, and finds the boxes of quoted words on them.

Boxes are searched in the file when they are needed: an index has the words and the page of an evidence, not the places of letters.
"""

from __future__ import annotations

import bisect
import ctypes
import struct
import time
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from ...support.errors import DataError
from .pdf_layout import reading_order
from .pdf_lines import PageLine, PageWord
from .pdf_words import MOST_SIGNS, PDFIUM_LOCK, open_pdf, page_words

MOST_PIXELS = 4_000_000  # of a drawn page; A4 has half of them
LONGEST_DRAWING = 10  # seconds
_SCALE = 2.0  # pixels a point: letters of 8 points can be read
_LEAST_FOUND = 0.5  # of the letters of a quote, else it has no boxes
_ENOUGH = 0.9  # of them: no further page is searched
_FURTHER = 10  # pages behind the first one that are searched; a table may go on so far
_LEAST_PART = 12  # letters of a part of a quote that is found by itself
_MARGIN = 0.05  # of the height of letters, around them


# left, top, right and bottom of a rectangle of a page as it is seen, in parts of its width and height, from its upper left corner
PageBox = tuple[float, float, float, float]


def find_on_page(data: bytes, page: int, pieces: Sequence[str]) -> tuple[int, list[PageBox]]:
    """Return the page of words that were read from a page of a file, or from there on, and a box for each line of them.

    There are no boxes if the words are not found.

    Args:
        data: the content of the file.
        page: from 1.
        pieces: the words of a passage, or of each cell of a row.

    Raises:
        DataError: the page is not in the file, or the file cannot be opened.
    """
    letters = sum(len(_letters(piece)) for piece in pieces)
    found_on, boxes, most = page, list[PageBox](), _LEAST_FOUND * letters
    with PDFIUM_LOCK, open_pdf(data) as document:
        _check_page(document, page)
        for number in range(page, min(page + _FURTHER, len(document)) + 1):
            if not letters:
                break
            shown = document[number - 1]
            words, turn = _words(shown)
            chosen = _find_passage(words, pieces[0]) if len(pieces) == 1 else _find_row(words, pieces)
            found = sum(len(_letters(word.text)) for word in chosen)
            if found >= most:
                found_on, boxes, most = number, [*_boxes(shown, chosen, turn)], found + 1
            shown.close()
            if found >= _ENOUGH * letters:
                break
    return found_on, boxes


def draw_page(data: bytes, page: int) -> bytes:
    """Return a page of a file, from 1, as PNG.

    Raises:
        DataError: the page is not in the file, the file cannot be opened, or the page takes too long to draw.
    """
    import pypdfium2

    with PDFIUM_LOCK, open_pdf(data) as document:
        _check_page(document, page)
        drawn = document[page - 1]
        width, height = drawn.get_size()
        scale = min(_SCALE, (MOST_PIXELS / max(1.0, width * height)) ** 0.5)
        size = [min(MOST_PIXELS, max(1, int(length * scale))) for length in (width, height)]
        if size[0] * size[1] > MOST_PIXELS:
            raise DataError(f"page {page} is {width:.0f} by {height:.0f} points, which is not drawn")
        bitmap = pypdfium2.PdfBitmap.new_native(*size, pypdfium2.raw.FPDFBitmap_BGR, rev_byteorder=True)
        bitmap.fill_rect((255, 255, 255, 255), 0, 0, *size)
        _draw(drawn, bitmap, size)
        return _png(bitmap.to_numpy())


def page_count(data: bytes) -> int:
    """Return the number of pages of a file. Raises `DataError`."""
    with PDFIUM_LOCK, open_pdf(data) as document:
        return len(document)


def _check_page(document: Any, page: int) -> None:
    if not 1 <= page <= len(document):
        raise DataError(f"has {len(document)} pages, and no page {page}")


def _draw(page: Any, bitmap: Any, size: Sequence[int]) -> None:
    import pypdfium2.raw as pdfium

    end = time.monotonic() + LONGEST_DRAWING
    pause = pdfium.IFSDK_PAUSE(version=1)
    pause.NeedToPauseNow = type(pause.NeedToPauseNow)(lambda _: time.monotonic() > end)
    flags = pdfium.FPDF_ANNOT | pdfium.FPDF_REVERSE_BYTE_ORDER
    state = pdfium.FPDF_RenderPageBitmap_Start(bitmap, page, 0, 0, *size, 0, flags, pause)
    pdfium.FPDF_RenderPage_Close(page)
    if state != pdfium.FPDF_RENDER_DONE:
        raise DataError(f"a page takes more than {LONGEST_DRAWING} seconds to draw, and is not shown")


def _png(pixels: np.ndarray) -> bytes:
    """Encode red, green and blue values, or grey ones if all three are equal, as PNG."""
    is_grey = bool((pixels[..., :1] == pixels).all())
    values = pixels[..., 0] if is_grey else pixels
    height, width = values.shape[:2]
    lines = np.zeros((height, 1 + values[0].size), np.uint8)  # each begins with its filter, which is 0
    lines[:, 1:] = values.reshape(height, -1)
    head = struct.pack(">2I5B", width, height, 8, 0 if is_grey else 2, 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 4)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in parts
    )


# -- the words of a page -----------------------------------------------------------------------------------------------


def _words(page: Any) -> tuple[list[PageWord], int]:
    """Return the words of a page in the order of the file, and the quarter turns of its text."""
    text_page = page.get_textpage()
    words, _, turn = page_words(text_page) if text_page.count_chars() <= MOST_SIGNS else ([], (), 0)
    text_page.close()
    return words, turn


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


class _Stream:
    """Words in an order, and where letters stand in them."""

    def __init__(self, words: Sequence[PageWord]) -> None:
        self.words = words
        texts = [_letters(word.text) for word in words]
        self._text = "".join(texts)
        self._starts = [0]
        for text in texts:
            self._starts.append(self._starts[-1] + len(text))
        self._edges = set(self._starts)

    def find(self, text: str) -> Iterator[list[PageWord]]:
        """Yield the runs of whole words that have these letters."""
        place = self._text.find(text) if text else -1
        while place >= 0:
            if place in self._edges and place + len(text) in self._edges:
                first = bisect.bisect_right(self._starts, place) - 1
                yield [*self.words[first : bisect.bisect_left(self._starts, place + len(text))]]
            place = self._text.find(text, place + 1)


def _streams(words: Sequence[PageWord]) -> Iterator[_Stream]:
    """Yield words in the order of the file, then in that in which people read them."""
    yield _Stream(words)
    lines: list[PageLine] = [line for column in reading_order(words, ()) for line in column]
    order: dict[int, tuple[int, float, float]] = {}
    for number, line in enumerate(lines):
        for word in words:
            if _is_in(line, word):
                order.setdefault(id(word), (number, -word.middle if line.table else 0.0, word.left))
    behind = (len(lines), 0.0, 0.0)
    yield _Stream(sorted(words, key=lambda word: order.get(id(word), behind)))


def _is_in(line: PageLine, word: PageWord) -> bool:
    is_between = line.left - 1 <= word.left and word.right <= line.right + 1
    return is_between and line.bottom - 1 <= word.middle <= line.top + 1


def _find_passage(words: Sequence[PageWord], piece: str) -> list[PageWord]:
    """Return the words of a passage; of one that stands in parts, these parts."""
    best: list[PageWord] = []
    for stream in _streams(words):
        if whole := next(stream.find(_letters(piece)), None):
            return whole
        parts = [*_parts(stream, piece.split())]
        if len(parts) > len(best):
            best = parts
    return best


def _parts(stream: _Stream, tokens: Sequence[str]) -> Iterator[PageWord]:
    texts = [_letters(token) for token in tokens]
    start = 0
    while start < len(texts):
        run: list[PageWord] = []
        end = start
        while end < len(texts) and (longer := next(stream.find("".join(texts[start : end + 1])), None)):
            run, end = longer, end + 1
        if sum(map(len, texts[start:end])) >= _LEAST_PART:
            yield from run
            start = end
        else:
            start += 1


def _find_row(words: Sequence[PageWord], cells: Sequence[str]) -> list[PageWord]:
    """Return the words of the cells of a row: of several places of a cell the one at the height of the others."""
    stream = _Stream(words)
    places = []
    for cell in cells:
        runs = [*stream.find(_letters(cell))]
        if runs:
            places.append([(run, sum(word.middle for word in run) / len(run)) for run in runs])
    if not places:
        return []
    heights = [height for _, height in min(places, key=len)]  # of the rarest
    middle = min(heights, key=lambda at: sum(min(abs(height - at) for _, height in place) for place in places))
    chosen: dict[int, PageWord] = {}
    for place in places:
        # equal cells are next to one another
        away = [(round(abs(height - middle) / run[0].size), id(run[0]) in chosen) for run, height in place]
        chosen.update((id(word), word) for word in place[away.index(min(away))][0])
    return [*chosen.values()]


def _boxes(page: Any, words: Sequence[PageWord], turn: int) -> Iterator[PageBox]:
    """Yield a box for each line of words."""
    for line in _lines(words):
        margin = _MARGIN * max(word.size for word in line)
        left, right = min(word.left for word in line) - margin, max(word.right for word in line) + margin
        bottom, top = min(word.bottom for word in line) - margin, max(word.top for word in line) + margin
        corners = [_on_screen(page, *_unturned(x, y, turn)) for x, y in ((left, bottom), (right, top))]
        (left, right), (top, bottom) = (sorted(values) for values in zip(*corners, strict=True))
        left, top, right, bottom = (round(min(1.0, max(0.0, value)), 4) for value in (left, top, right, bottom))
        yield left, top, right, bottom


def _lines(words: Sequence[PageWord]) -> Iterator[list[PageWord]]:
    """Yield words that follow one another at one height."""
    number = 0

    def line_of(pair: tuple[PageWord | None, PageWord]) -> int:
        nonlocal number
        before, word = pair
        number += before is not None and (abs(before.middle - word.middle) > 0.5 * word.size or word.left < before.left)
        return number

    for _, pairs in groupby(zip([None, *words], words, strict=False), key=line_of):
        yield [word for _, word in pairs]


def _unturned(x: float, y: float, turn: int) -> tuple[float, float]:
    """Return the place on its page of one in text that is turned by quarters; see `pdf.page_words`."""
    return ((x, y), (-y, x), (-x, -y), (y, -x))[turn]


def _on_screen(page: Any, x: float, y: float) -> tuple[float, float]:
    """Return a place of a page as it is seen, in parts of its width and height."""
    import pypdfium2.raw as pdfium

    across, down = ctypes.c_int(), ctypes.c_int()
    size = 100_000
    pdfium.FPDF_PageToDevice(page, 0, 0, size, size, 0, x, y, across, down)
    return across.value / size, down.value / size
