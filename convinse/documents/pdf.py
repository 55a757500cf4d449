"""Reads the text of PDF files into paragraphs."""

from __future__ import annotations

import io
import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..support.errors import DataError
from .model import ReadDocument, TextBlock

# ligatures, which models do not know
_LIGATURES = {
    ord(letters): unicodedata.normalize("NFKC", letters) for letters in "\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06"
}
_LEAST_LINES = 6  # of a page that is looked at for columns
_GUTTER = 12.0  # points between two columns, at least
_MOST_PIECES = 20_000  # of a page; one with more is read in the order of the file
_REPEATED = 3  # pages with the same line at an edge, which is then none of the text
_EDGE = 2  # lines at the top and at the bottom of a page that may be of its frame
_SENTENCE_END = re.compile(r"[.!?:;…][\"'”’)\]]*$")


class _PageLine(NamedTuple):
    text: str
    left: float
    right: float
    top: float
    size: float


def read_pdf(data: bytes) -> ReadDocument:
    """Return the paragraphs of a PDF file, column by column."""
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # problems of damaged files are raised, too
    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise DataError("needs a password")
    pages = [_lines(page) for page in reader.pages]
    edges = Counter(
        edge for lines in pages for edge in {_edge(line.text) for line in (*lines[:_EDGE], *lines[-_EDGE:])}
    )
    least = min(_REPEATED, max(2, len(pages)))
    blocks: list[TextBlock] = []
    empty = 0
    for number, lines in enumerate(pages, 1):
        middle = range(_EDGE, len(lines) - _EDGE)
        lines_within = [line for place, line in enumerate(lines) if place in middle or not _is_edge(line, edges, least)]
        empty += not lines_within
        for text in _paragraphs(lines_within):
            last = blocks[-1] if blocks else None
            is_cut = (
                last is not None and not _SENTENCE_END.search(last.text) and (text[:1].islower() or len(last.text) > 80)
            )
            if last is not None and last.page < number and is_cut:
                blocks[-1] = last._replace(text=_joined(last.text, text))  # it goes on over the page
            else:
                blocks.append(TextBlock(text, page=number))
    if not blocks:
        raise DataError("has no text; is it a scan?")
    title = (reader.metadata.title if reader.metadata else None) or ""
    return ReadDocument(
        "" if title.lower() == "untitled" else title, blocks, [f"{empty} pages without text"] if empty else []
    )


def _edge(text: str) -> str:
    return re.sub(r"\d+", "#", text.strip())


def _is_edge(line: _PageLine, edges: Counter[str], least: int) -> bool:
    return edges[_edge(line.text)] >= least or re.fullmatch(r"[-–— ]*\d{1,4}[-–— ]*", line.text.strip()) is not None


def _lines(page: Any) -> list[_PageLine]:
    """Return the lines of a page in reading order: of two columns the left one first."""
    pieces: list[_PageLine] = []

    def visit(text: str, matrix: Any, position: Any, _: Any, size: Any) -> None:
        if text.strip():
            left = position[4] * matrix[0] + position[5] * matrix[2] + matrix[4]
            top = position[4] * matrix[1] + position[5] * matrix[3] + matrix[5]
            height = abs(float(size or 0) * (position[3] or 1.0)) or 10.0
            pieces.append(_PageLine(text.strip("\n"), left, left + 0.5 * height * len(text.strip()), top, height))

    text = _written(page.extract_text(visitor_text=visit))
    plain = text.splitlines()
    columns = _columns(pieces) if _LEAST_LINES <= len(pieces) <= _MOST_PIECES else None
    if columns is None:
        return [_PageLine(line, 0.0, float(len(line)), -float(place), 1.0) for place, line in enumerate(plain)]
    return [line for column in columns for line in column]


def _written(text: str) -> str:
    # fonts without a table of their signs give halves of pairs
    return text.translate(_LIGATURES).encode("utf-8", "replace").decode()


def _columns(pieces: Sequence[_PageLine]) -> list[list[_PageLine]] | None:
    """Return the lines of two columns if a gutter parts the page; else None."""
    lefts = Counter(round(piece.left) for piece in pieces)
    starts = [left for left, count in lefts.most_common(2) if count >= 3]
    if len(starts) < 2:
        return None
    first, second = sorted(starts)
    before = [piece for piece in pieces if piece.left < second - _GUTTER / 2]
    behind = [piece for piece in pieces if piece.left >= second - _GUTTER / 2]
    # both columns have lines at the same heights, and no line of the left one reaches into the right one
    shared = {round(piece.top) for piece in before} & {round(piece.top) for piece in behind}
    if second - first < 120 or len(shared) < 3:
        return None
    return [_as_lines(before), _as_lines(behind)]


def _as_lines(pieces: Sequence[_PageLine]) -> list[_PageLine]:
    lines: list[_PageLine] = []
    for piece in sorted(pieces, key=lambda piece: (-round(piece.top), piece.left)):
        text = _written(piece.text)
        if lines and abs(lines[-1].top - piece.top) < 0.5 * piece.size:
            lines[-1] = lines[-1]._replace(text=f"{lines[-1].text} {text}", right=piece.right)
        else:
            lines.append(piece._replace(text=text))
    return lines


def _paragraphs(lines: Sequence[_PageLine]) -> Iterator[str]:
    """Yield the texts of lines that stand together."""
    gaps = sorted(above.top - below.top for above, below in zip(lines, lines[1:], strict=False))
    usual = gaps[len(gaps) // 2] if gaps else 0.0
    text = ""
    for place, line in enumerate(lines):
        words = " ".join(line.text.split())
        gap = lines[place - 1].top - line.top if place else 0.0
        is_apart = not words or (line.size > 1 and (gap > 1.5 * usual or gap < -usual))
        if text and is_apart:
            yield text
            text = ""
        text = _joined(text, words) if text else words
    if text:
        yield text


def _joined(first: str, second: str) -> str:
    """Return two lines as one; a word that is cut at the end of the first is whole again."""
    if re.search(r"[^\W\d_]{2,}-$", first) and second[:1].islower():
        return first[:-1] + second
    return f"{first} {second}".strip()
