"""Reads Word documents into blocks."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ..model import Block, Heading, Kind, ReadDocument, TableBlock, TextBlock
from .formulas import formula_words
from .html import raised_words
from .office import ADDRESSES, chart_table, element_name, plain_package, plain_title, xml_root
from .texts import parted_by_lines, with_fields

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
HEADING_STYLE = re.compile(r"(?:heading|überschrift|titre|título|nagłówek|kop|rubrik|titolo)\s*([1-9])", re.IGNORECASE)
_TARGET = re.compile(r'HYPERLINK\s+"([^"]+)"')
_MOST_STYLES = 20  # styles that a style may be derived from; a circle ends here


def read_word(data: bytes) -> ReadDocument:
    """Return the content of a DOCX as it reads with all changes accepted."""
    from docx import Document

    document = Document(io.BytesIO(plain_package(data)))
    blocks = with_fields(_WordFile(document).blocks(document.element.body))
    return ReadDocument(plain_title(document.core_properties.title), list(blocks))


class _WordFile:
    """A walk over the elements of a Word document, whose prefixes python-docx leaves out in part."""

    def __init__(self, document: Any) -> None:
        self._styles = {style.style_id: style for style in document.styles}
        self._targets = {
            key: relation.target_ref for key, relation in document.part.rels.items() if relation.is_external
        }
        self._parts = document.part.related_parts
        self._notes: dict[str, Any] = {}
        for relation in document.part.rels.values():
            kind = relation.reltype.rpartition("/")[2]
            if kind in ("footnotes", "endnotes", "comments") and not relation.is_external:
                for note in xml_root(relation.target_part.blob):
                    self._notes[f"{kind[:-1]} {note.get(f'{_W}id')}"] = note

    def blocks(self, parent: Any, kind: Kind | None = None) -> Iterator[Block]:
        """Yield the blocks below an element."""
        for child in parent:
            name = element_name(child)
            if name == "p":
                yield from self._paragraph(child, kind)
            elif name == "tbl":
                yield from self._table(child)
            elif name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"):
                yield from self.blocks(child, kind)

    def _paragraph(self, node: Any, kind: Kind | None) -> Iterator[Block]:
        words = _WordRuns(self._targets)
        words.walk(node)
        text = words.text
        level = 0 if kind else self._level(node)
        if text and level:
            yield Heading(text, level)
        elif text:
            is_item = node.find(f"{_W}pPr/{_W}numPr") is not None or self._style_name(node).startswith("List")
            whole = TextBlock(text, kind=kind or ("item" if is_item else "text"), links=tuple(words.links))
            yield from parted_by_lines(words.lines) or [whole]
        for note in words.notes:
            if note in self._notes:
                content = self._notes.pop(note)
                author = content.get(f"{_W}author", "")  # of a comment
                for block in self.blocks(content, "note"):
                    if author and isinstance(block, TextBlock):
                        block = block._replace(text=f"{author}: {block.text}")
                    yield block
        for box in words.boxes:
            yield from self.blocks(box)
        for chart in words.charts:
            yield from self._chart(chart)

    def _chart(self, key: str) -> Iterator[Block]:
        from pptx.chart.chart import Chart
        from pptx.oxml import parse_xml

        with suppress(NotImplementedError, KeyError, ValueError):  # kinds of charts that the library does not know
            chart: Any = Chart(parse_xml(self._parts[key].blob), None)  # type: ignore[no-untyped-call]
            yield from chart_table(chart, 0)

    def _style_name(self, node: Any) -> str:
        style = node.find(f"{_W}pPr/{_W}pStyle")
        found = None if style is None else self._styles.get(style.get(f"{_W}val"))
        return (found.name if found is not None else "") or ""

    def _level(self, node: Any) -> int:
        """Return the level of a heading, from its style, one that this is derived from, or its outline; else 0."""
        outline = node.find(f"{_W}pPr/{_W}outlineLvl")
        reference = node.find(f"{_W}pPr/{_W}pStyle")
        style = None if reference is None else self._styles.get(reference.get(f"{_W}val"))
        for _ in range(_MOST_STYLES):
            if style is None:
                break
            if style.name == "Title" or style.style_id == "Title":
                return 1
            match = HEADING_STYLE.fullmatch(style.name or "") or HEADING_STYLE.fullmatch(style.style_id or "")
            if match:
                return min(int(match[1]), 5) + 1
            outline = outline if outline is not None else style.element.find(f"{_W}pPr/{_W}outlineLvl")
            style = getattr(style, "base_style", None)
        level = 9 if outline is None else int(outline.get(f"{_W}val", 9))
        return min(level, 4) + 2 if level < 9 else 0

    def _table(self, node: Any) -> Iterator[Block]:
        rows: list[list[str]] = []
        merged: dict[tuple[int, int], tuple[int, int]] = {}
        inner: list[Any] = []
        links: list[tuple[str, str]] = []
        heads = 0
        for row in node.findall(f"{_W}tr"):
            if row.find(f"{_W}trPr/{_W}del") is not None:
                continue
            heads += row.find(f"{_W}trPr/{_W}tblHeader") is not None and heads == len(rows)
            cells: list[str] = []
            for cell in _cells(row):
                text = self._cell_text(cell, inner, links)
                span = cell.find(f"{_W}tcPr/{_W}gridSpan")
                down = cell.find(f"{_W}tcPr/{_W}vMerge")
                first = len(rows), len(cells)
                goes_on = down is not None and down.get(f"{_W}val", "continue") == "continue" and rows
                if goes_on and len(cells) < len(rows[-1]):
                    text = rows[-1][len(cells)]
                    first = merged.get((len(rows) - 1, len(cells)), (len(rows) - 1, len(cells)))
                for _ in range(min(int(span.get(f"{_W}val", 1)) if span is not None else 1, 100)):
                    if (len(rows), len(cells)) != first:
                        merged[len(rows), len(cells)] = first
                    cells.append(text)
            rows.append(cells)
        width = max(map(len, rows), default=0)
        if width:
            yield TableBlock([[*row, *[""] * (width - len(row))] for row in rows], merged, heads or None, links=links)
        for nested in inner:
            yield from self._table(nested)

    def _cell_text(self, cell: Any, inner: list[Any], links: list[tuple[str, str]]) -> str:
        texts = []
        for node in cell.iter(f"{_W}p", f"{_W}tbl"):
            if next(node.iterancestors(f"{_W}tc")) is not cell:
                continue  # of a table in the cell
            if element_name(node) == "tbl":
                inner.append(node)
                continue
            words = _WordRuns(self._targets)
            words.walk(node)
            texts.append(words.text)
            links += words.links
        return " ".join(filter(None, texts))


def _cells(row: Any) -> Iterator[Any]:
    for child in row:
        if element_name(child) == "tc":
            yield child
        elif element_name(child) in ("sdt", "sdtContent", "customXml"):
            yield from _cells(child)


class _WordRuns:
    """The words of a paragraph without deleted, struck and hidden ones; its links, notes and text boxes."""

    def __init__(self, targets: dict[str, str]) -> None:
        self._targets = targets
        self._pieces: list[str] = []
        self._address, self._linked = "", 0  # of a field, and where its words begin
        self.links: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self.boxes: list[Any] = []
        self.charts: list[str] = []

    @property
    def text(self) -> str:
        return " ".join("".join(self._pieces).split())

    @property
    def lines(self) -> list[str]:
        lines = (" ".join(line.split()) for line in "".join(self._pieces).split("\n"))
        return [line for line in lines if line]

    def walk(self, node: Any, raised: bool = False) -> None:
        for child in node:
            name = element_name(child)
            if name == "r":
                marks = child.find(f"{_W}rPr")
                if not _is_on(marks, "strike", "dstrike", "vanish"):
                    align = None if marks is None else marks.find(f"{_W}vertAlign")
                    self.walk(child, align is not None and align.get(f"{_W}val") == "superscript")
            elif name == "t":
                text = child.text or ""
                piece = raised_words("".join(self._pieces), text.strip(), False) if raised else None
                self._pieces.append(piece or text)
            elif name in ("tab", "ptab"):
                self._pieces.append(" ")
            elif name in ("br", "cr"):
                self._pieces.append("\n")
            elif name == "noBreakHyphen":
                self._pieces.append("-")
            elif name == "oMath":
                self._pieces.append(formula_words(child))
            elif name == "chart" and child.get(f"{_R}id"):
                self.charts.append(child.get(f"{_R}id"))
            elif name == "instrText" and (target := _TARGET.search(child.text or "")):
                self._address = target[1]
            elif name == "fldChar":
                if child.get(f"{_W}fldCharType") == "separate":
                    self._linked = len(self._pieces)
                elif child.get(f"{_W}fldCharType") == "end" and self._address:
                    self._link(self._linked, self._address)
                    self._address = ""
            elif name in ("footnoteReference", "endnoteReference", "commentReference"):
                self.notes.append(f"{name.removesuffix('Reference')} {child.get(f'{_W}id')}")
            elif name == "txbxContent":
                self.boxes.append(child)
            elif name == "hyperlink":
                start = len(self._pieces)
                self.walk(child, raised)
                self._link(start, self._targets.get(child.get(f"{_R}id"), ""))
            elif name not in ("del", "moveFrom", "pPr", "rPr", "instrText", "delText", "Fallback", "sectPr"):
                self.walk(child, raised)

    def _link(self, start: int, address: str) -> None:
        words = " ".join("".join(self._pieces[start:]).split())
        if words and address.startswith(ADDRESSES):
            self.links.append((words, address))


def _is_on(marks: Any, *names: str) -> bool:
    found = [] if marks is None else [marks.find(f"{_W}{name}") for name in names]
    return any(mark is not None and mark.get(f"{_W}val", "true") not in ("false", "0", "off") for mark in found)
