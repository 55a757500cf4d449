"""Reads PDF files: paragraphs, headings, lists and tables, in the order in which people read them."""

from __future__ import annotations

import ctypes
import math
import re
import threading
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..support.errors import DataError
from .model import Block, Heading, ReadDocument, TableBlock, TextBlock
from .pdf_layout import MARKER, Line, Rule, Word, joined, reading_order

MOST_PAGES = 5_000  # of a file
MOST_SIGNS = 100_000  # of a page; a page of a newspaper has some 30,000
MOST_RULES = 3_000  # ruled lines of a page; with more it is a drawing, whose lines part no cells
LONGEST_READING = 120  # seconds for a file: five thousand pages of a book take 60
_ONE_AT_A_TIME = threading.Lock()  # PDFium works in one thread only
# ligatures, which models do not know
_WRITTEN = {
    ord(letters): unicodedata.normalize("NFKC", letters) for letters in "\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06"
} | {0x02: "-", 0xFFFE: "-", 0xAD: "-"}  # as PDFium gives hyphens at the end of a line
_REPEATED = 3  # pages with the same line at an edge, which is then none of the text
_EDGE = 2  # lines at the top and at the bottom of a page that may be of its frame
_SENTENCE_END = re.compile(r"[.!?:;…。][\"'”’)\]]*$")
_CAPTION = re.compile(r"Tab\w*\.?\s+[A-Z]?\d[\w.-]*", re.IGNORECASE)  # of languages from English to Swedish
_LONGEST_CAPTION = 150  # characters; the text of a longer one is a paragraph, too
_LARGER = 1.12  # times the usual size of letters that headings have
_LONGEST_HEADING = 120
_BOLD = re.compile(r"bold|black|heavy|semibold|cmbx|sfbx", re.IGNORECASE)


class _Page(NamedTuple):
    columns: list[list[Line]]
    aside: list[str]  # texts in other directions than the rest


def read_pdf(data: bytes) -> ReadDocument:
    """Return the content of a PDF file."""
    import pypdfium2

    with _ONE_AT_A_TIME:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            if error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD:
                raise DataError("needs a password") from None
            raise
        with document:
            pages, left_out = _pages(document)
            title = document.get_metadata_value("Title").strip()
    _leave_out_frames(pages)
    blocks = _blocks(pages)
    if not blocks:
        raise DataError("has no text; is it a scan?")
    if empty := sum(not page.columns and not page.aside for page in pages):
        left_out.append(f"{empty} pages without text")
    return ReadDocument("" if title.lower() == "untitled" else title, blocks, left_out)


def _pages(document: Any) -> tuple[list[_Page], list[str]]:
    """Return the pages of a document, and what of them is left out."""
    pages: list[_Page] = []
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
            words, aside, turn = _words(text_page)
            rules = list(_rules(page, turn))
            pages.append(_Page(reading_order(words, rules if len(rules) <= MOST_RULES else ()), aside))
        text_page.close()
        page.close()
    if crowded:
        left_out.append(f"{crowded} pages with more than {MOST_SIGNS} characters")
    return pages, left_out


def _turned(x: float, y: float, turn: int) -> tuple[float, float]:
    """Return a place of a page that is turned by quarters, so that its text goes to the right."""
    return ((x, y), (y, -x), (-x, -y), (-y, x))[turn]


class _Sign(NamedTuple):
    text: str
    turn: int
    box: tuple[float, float, float, float]
    place: int


def _words(text_page: Any) -> tuple[list[Word], list[str], int]:
    """Return the words of a page, texts in other directions, and the quarter turns of most signs."""
    import pypdfium2.raw as pdfium

    signs = [_sign(pdfium, text_page, place) for place in range(text_page.count_chars())]
    turns = Counter(sign.turn for sign in signs if sign and sign.text.strip())
    turn = max(turns, key=lambda turn: turns[turn], default=0)
    words: list[Word] = []
    aside = ""
    word: list[_Sign] = []
    for sign in [*signs, None]:
        if sign is not None and sign.turn != turn and sign.text.strip():
            aside += sign.text
            continue
        if sign is None or not sign.text.strip() or (word and _is_apart(word[-1].box, sign.box)):
            if word:
                words.append(_word(pdfium, text_page, word))
            elif aside and not aside.endswith("\n"):
                aside += "\n" if sign is None or sign.text in "\r\n" else " "
            word = []
        if sign is not None and sign.text.strip():
            word.append(sign)
    return words, [" ".join(line.split()) for line in aside.splitlines() if any(map(str.isalnum, line))], turn


def _sign(pdfium: Any, text_page: Any, place: int) -> _Sign | None:
    code = pdfium.FPDFText_GetUnicode(text_page, place)
    text = _WRITTEN.get(code) or ("\ufffd" if 0xD800 <= code < 0xE000 or code > 0x10FFFF else chr(code))
    if text.isspace():
        return _Sign(text, 0, (0.0, 0.0, 0.0, 0.0), place)
    if unicodedata.category(text[0]) in ("Cc", "Cn"):
        text = "□"  # a sign that the file does not name, such as a box to tick
    turn = round(-pdfium.FPDFText_GetCharAngle(text_page, place) / (math.pi / 2)) % 4  # it is measured clockwise
    box = pdfium.FS_RECTF()
    if turn == 0 and pdfium.FPDFText_GetLooseCharBox(text_page, place, box) and box.top > box.bottom:
        return _Sign(text, turn, (box.left, box.right, box.bottom, box.top), place)
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    pdfium.FPDFText_GetCharBox(text_page, place, left, right, bottom, top)
    corners = _turned(left.value, bottom.value, turn), _turned(right.value, top.value, turn)
    (left_, right_), (bottom_, top_) = (sorted(values) for values in zip(*corners, strict=True))
    size = pdfium.FPDFText_GetFontSize(text_page, place)
    return _Sign(text, turn, (left_, right_, bottom_, max(top_, bottom_ + 0.5 * size)), place)


def _is_apart(before: tuple[float, float, float, float], box: tuple[float, float, float, float]) -> bool:
    size = max(before[3] - before[2], box[3] - box[2])
    if abs((before[2] + before[3]) - (box[2] + box[3])) > size:
        return True
    return min(abs(box[0] - before[1]), abs(before[0] - box[1])) > 0.3 * size


def _word(pdfium: Any, text_page: Any, signs: Sequence[_Sign]) -> Word:
    name = ctypes.create_string_buffer(80)
    pdfium.FPDFText_GetFontInfo(text_page, signs[0].place, name, 80, None)
    is_bold = _BOLD.search(name.value.decode("latin-1")) is not None
    boxes = [sign.box for sign in signs]
    lefts, rights, bottoms, tops = zip(*boxes, strict=True)
    return Word("".join(sign.text for sign in signs), min(lefts), max(rights), min(bottoms), max(tops), is_bold)


def _rules(page: Any, turn: int) -> Iterator[Rule]:
    """Yield the straight lines and the sides of rectangles that are drawn on a page."""
    import pypdfium2.raw as pdfium

    for drawn in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_PATH], max_depth=4):
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDFPath_GetDrawMode(drawn, fill, stroke)
        if not fill.value and not stroke.value:
            continue
        matrix = drawn.get_matrix()
        container = drawn.container
        while container is not None:
            matrix = matrix.multiply(container.get_matrix())
            container = container.container
        before = first = (0.0, 0.0)
        corners: list[tuple[tuple[float, float], tuple[float, float]]] = []
        for number in range(min(pdfium.FPDFPath_CountSegments(drawn), MOST_RULES + 1)):
            segment = pdfium.FPDFPath_GetPathSegment(drawn, number)
            x, y = ctypes.c_float(), ctypes.c_float()
            pdfium.FPDFPathSegment_GetPoint(segment, x, y)
            place = _turned(*matrix.on_point(x.value, y.value), turn)
            kind = pdfium.FPDFPathSegment_GetType(segment)
            if kind == pdfium.FPDF_SEGMENT_MOVETO:
                first = place
            elif kind == pdfium.FPDF_SEGMENT_LINETO:
                corners.append((before, place))
            if pdfium.FPDFPathSegment_GetClose(segment):
                corners.append((place, first))
            before = place
        for (x0, y0), (x1, y1) in corners:
            if abs(y1 - y0) < 1 and abs(x1 - x0) > 4:
                yield Rule((y0 + y1) / 2, min(x0, x1), max(x0, x1), False)
            elif abs(x1 - x0) < 1 and abs(y1 - y0) > 4:
                yield Rule((x0 + x1) / 2, min(y0, y1), max(y0, y1), True)


def _leave_out_frames(pages: Sequence[_Page]) -> None:
    """Remove the lines that pages have at their edges again and again, and the numbers of pages."""
    edges = [_edges(page) for page in pages]
    counts = Counter(text for lines in edges for text in {_edge(line) for line in lines})
    least = min(_REPEATED, max(2, len(pages)))
    for page, lines in zip(pages, edges, strict=True):
        frame = [line for line in lines if counts[_edge(line)] >= least or re.fullmatch(r"[-–— ]*\d{1,4}[-–— ]*", line.text)]
        for column in page.columns:
            column[:] = [line for line in column if line not in frame]
        page.columns[:] = [column for column in page.columns if column]


def _edge(line: Line) -> str:
    return re.sub(r"\d+", "#", line.text)


def _edges(page: _Page) -> list[Line]:
    """Return the lines at the top and at the bottom of a page that are set off from the rest."""
    lines = sorted((line for column in page.columns for line in column), key=lambda line: -line.top)
    edges: list[Line] = []
    for ordered in (lines, lines[::-1]):
        for number, (line, following) in enumerate(zip(ordered[:_EDGE], ordered[1:], strict=False), 1):
            if line.table:
                break
            if abs(line.middle - following.middle) > 1.6 * line.size or following.table:
                edges += ordered[:number]
    return edges


def _blocks(pages: Sequence[_Page]) -> list[Block]:
    lines = [line for page in pages for column in page.columns for line in column if not line.table]
    usual = _usual_size(lines)
    sizes = sorted({round(line.size) for line in lines if line.size > _LARGER * usual}, reverse=True)
    levels = {size: min(level, 5) for level, size in enumerate(sizes, 1)}
    blocks: list[Block] = []
    for number, page in enumerate(pages, 1):
        for column in page.columns:
            for block in _column_blocks(column, number, usual, levels):
                _add(blocks, block)
        for text in page.aside:
            blocks.append(TextBlock(text, page=number))
    return blocks


def _usual_size(lines: Sequence[Line]) -> float:
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    return max(sizes, key=lambda size: sizes[size], default=10.0)


def _add(blocks: list[Block], block: Block) -> None:
    """Add a block, or join it with the last one if it goes on from there over the end of a column or a page."""
    last = blocks[-1] if blocks else None
    if isinstance(last, TextBlock) and isinstance(block, TextBlock) and block.line and block.kind == "text":
        # `line` is set for the first paragraph of a column
        is_cut = not _SENTENCE_END.search(last.text) and (block.text[:1].islower() or len(last.text) > 40)
        if is_cut and not _CAPTION.match(block.text) and not _CAPTION.match(last.text):
            blocks[-1] = last._replace(text=joined(last.text, block.text))
            return
    if isinstance(block, TextBlock):
        block = block._replace(line=0)
    if isinstance(block, TableBlock):
        if isinstance(last, TableBlock) and last.page < block.page and list(last.rows[0]) == list(block.rows[0]):
            same = 0  # rows of its head, which stands on each page
            while same < min(len(last.rows), len(block.rows)) and list(last.rows[same]) == list(block.rows[same]):
                same += 1
            moved = len(last.rows) - same
            merged = {
                (row + moved, column): (place[0] + moved, place[1])
                for (row, column), place in block.merged.items()
                if row >= same and place[0] >= same
            }
            blocks[-1] = last._replace(rows=[*last.rows, *block.rows[same:]], merged={**last.merged, **merged})
            return
        if isinstance(last, TextBlock) and last.page == block.page and _CAPTION.match(last.text):
            block = block._replace(caption=last.text[:_LONGEST_CAPTION])
            if len(last.text) <= _LONGEST_CAPTION:
                blocks.pop()
    blocks.append(block)


def _column_blocks(lines: Sequence[Line], page: int, usual: float, levels: dict[int, int]) -> Iterator[Block]:
    """Yield the paragraphs, items, headings and tables of a column."""
    plain = [line for line in lines if not line.table]
    left, right = min((line.left for line in plain), default=0.0), max((line.right for line in plain), default=0.0)
    gaps = sorted(above.middle - below.middle for above, below in zip(lines, lines[1:], strict=False) if not above.table and not below.table)
    pitch = max(min(gaps[len(gaps) // 3] if gaps else usual, 1.6 * usual), usual)
    part: list[Line] = []
    is_first = 1
    for number, line in enumerate(lines):
        if line.table or (part and _begins(part, line, left, right, pitch, levels, usual)):
            if part:
                yield _block(part, page, usual, levels, is_first)
                is_first = 0
            part = []
        if line.table:
            yield line.table._replace(page=page)
            is_first = 0
        else:
            part.append(line)
    if part:
        yield _block(part, page, usual, levels, is_first)


def _level(line: Line, usual: float, levels: dict[int, int]) -> int:
    """Return the level of a heading; 0: the line is none."""
    if not any(map(str.isalpha, line.text)) or len(line.text) > _LONGEST_HEADING:
        return 0
    if line.size > _LARGER * usual:
        return levels.get(round(line.size), 0)
    is_short = line.is_bold and not line.text.endswith((".", ":", ",")) and not MARKER.match(line.text.split(" ")[0])
    return min(len(levels) + 1, 6) if is_short and line.size > 0.9 * usual else 0


def _begins(part: Sequence[Line], line: Line, left: float, right: float, pitch: float, levels: dict[int, int], usual: float) -> bool:
    """Return True if a line is the first of a block."""
    before, size = part[-1], line.size
    gap = before.middle - line.middle
    if _level(before, usual, levels) != _level(line, usual, levels):
        return True
    if gap < 0 or gap > 1.3 * max(pitch, 1.05 * size):
        return True
    if _level(line, usual, levels):
        return False
    words = line.text.split()
    if len(words) > 1 and MARKER.fullmatch(words[0]) and (len(words[0]) > 1 or not words[0].isalnum()):
        return _SENTENCE_END.search(before.text) is not None or _is_item(part) or before.right < right - 4 * size or words[0] in "•◦▪■○●‣∙□"
    is_ended = _SENTENCE_END.search(before.text) is not None
    if _is_item(part):
        return line.left <= part[0].left + 1 and is_ended
    is_indented = line.left > before.left + 0.8 * size and before.left < left + 2 * size
    return is_ended and (is_indented or (before.right < right - 0.3 * (right - left) and not line.text[:1].islower()))


def _is_item(part: Sequence[Line]) -> bool:
    words = part[0].text.split()
    return len(words) > 1 and MARKER.fullmatch(words[0]) is not None


def _block(part: Sequence[Line], page: int, usual: float, levels: dict[int, int], is_first: int) -> Block:
    text = ""
    for line in part:
        text = joined(text, line.text)
    if (level := _level(part[0], usual, levels)) and len(text) <= _LONGEST_HEADING:
        return Heading(text, level, page=page)
    return TextBlock(text, is_first, page, "item" if _is_item(part) else "text")
