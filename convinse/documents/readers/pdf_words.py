"""Reads the words and the ruled lines of a page of a PDF file with PDFium."""

from __future__ import annotations

import ctypes
import math
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ...support.errors import DataError
from ..model import LOCKED
from .pdf_lines import PageWord, is_leftward
from .pdf_ruled import Rule

MOST_SIGNS = 50_000  # of a page; a page of a newspaper has some 30,000
MOST_RULES = 3_000  # ruled lines of a page; with more it is a drawing, whose lines part no cells
PDFIUM_LOCK = threading.Lock()  # PDFium works in one thread only
# ligatures, which models do not know
_WRITTEN = {
    ord(letters): unicodedata.normalize("NFKC", letters) for letters in "\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06"
} | {0x02: "-", 0xFFFE: "-", 0xAD: "-"}  # as PDFium gives hyphens at the end of a line
_BOLD = re.compile(r"bold|black|(?:cm|sf)bx", re.IGNORECASE)  # cmbx and sfbx are of TeX


def open_pdf(data: bytes) -> Any:
    """Open a file with PDFium, whose lock the caller has. Raises `DataError` for one that needs a password."""
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD:
            raise DataError(LOCKED) from None
        raise


def _turned(x: float, y: float, turn: int) -> tuple[float, float]:
    """Return a place of a page that is turned by quarters, so that its text goes to the right."""
    return ((x, y), (y, -x), (-x, -y), (-y, x))[turn]


class _Sign(NamedTuple):
    text: str
    turn: int
    box: tuple[float, float, float, float]
    place: int


def page_words(text_page: Any) -> tuple[list[PageWord], list[str], int]:
    """Return the words of a page, texts in other directions, and the quarter turns of most signs."""
    import pypdfium2.raw as pdfium

    signs = [_sign(pdfium, text_page, place) for place in range(text_page.count_chars())]
    turns = Counter(sign.turn for sign in signs if sign.text.strip())
    turn = max(turns, key=lambda turn: turns[turn], default=0)
    words: list[PageWord] = []
    aside = ""
    word: list[_Sign] = []
    for sign in [*signs, None]:
        if sign is not None and sign.turn != turn and sign.text.strip():
            aside += sign.text
            continue
        if sign is None or not sign.text.strip() or (word and _is_apart(word[-1].box, sign.box)):
            unnamed = sum(sign.text in "□\ufffd" for sign in word)
            if word and (len(word) == 1 or 2 * unnamed < len(word)):  # of a font that does not name its letters
                words.append(_word(pdfium, text_page, word))
            elif aside and not aside.endswith("\n"):
                aside += "\n" if sign is None or sign.text in "\r\n" else " "
            word = []
        if sign is not None and sign.text.strip():
            word.append(sign)
    return words, [" ".join(line.split()) for line in aside.splitlines() if any(map(str.isalnum, line))], turn


def _sign(pdfium: Any, text_page: Any, place: int) -> _Sign:
    code = pdfium.FPDFText_GetUnicode(text_page, place)
    text = _WRITTEN.get(code) or ("\ufffd" if 0xD800 <= code < 0xE000 or code > 0x10FFFF else chr(code))
    if text.isspace():
        return _Sign(text, 0, (0.0, 0.0, 0.0, 0.0), place)
    if unicodedata.category(text[0]) in ("Cc", "Cn"):
        text = "□"  # a sign that the file does not name, such as a box to tick
    turn = round(-pdfium.FPDFText_GetCharAngle(text_page, place) / (math.pi / 2)) % 4  # it is measured clockwise
    box = pdfium.FS_RECTF()  # as wide as the sign moves the next one, and as high as its font
    if not (pdfium.FPDFText_GetLooseCharBox(text_page, place, box) and box.top > box.bottom and box.right >= box.left):
        left, right, bottom, top = (ctypes.c_double() for _ in range(4))
        pdfium.FPDFText_GetCharBox(text_page, place, left, right, bottom, top)
        box.left, box.right, box.bottom, box.top = left.value, right.value, bottom.value, top.value
    corners = _turned(box.left, box.bottom, turn), _turned(box.right, box.top, turn)
    (left_, right_), (bottom_, top_) = (sorted(values) for values in zip(*corners, strict=True))
    return _Sign(text, turn, (left_, right_, bottom_, top_), place)


def _is_apart(before: tuple[float, float, float, float], box: tuple[float, float, float, float]) -> bool:
    size = max(before[3] - before[2], box[3] - box[2])
    if abs((before[2] + before[3]) - (box[2] + box[3])) > size:
        return True
    return max(box[0] - before[1], before[0] - box[1]) > 0.3 * size


def _word(pdfium: Any, text_page: Any, signs: Sequence[_Sign]) -> PageWord:
    name = ctypes.create_string_buffer(80)
    pdfium.FPDFText_GetFontInfo(text_page, signs[0].place, name, 80, None)
    is_bold = _BOLD.search(name.value.decode("latin-1")) is not None
    if is_leftward(signs[0].text):  # some files have these as they are drawn, from the left
        signs = sorted(signs, key=lambda sign: -sign.box[1])
    boxes = [sign.box for sign in signs]
    lefts, rights, bottoms, tops = zip(*boxes, strict=True)
    return PageWord("".join(sign.text for sign in signs), min(lefts), max(rights), min(bottoms), max(tops), is_bold)


def page_rules(page: Any, turn: int) -> Iterator[Rule]:
    """Yield the straight lines and the sides of rectangles that are drawn on a page."""
    import pypdfium2.raw as pdfium

    for drawn in islice(page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_PATH], max_depth=4), 10 * MOST_RULES):
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
            across, up = matrix.on_point(x.value, y.value)
            place = _turned(across, up, turn)
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
