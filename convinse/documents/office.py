"""Reads Word documents and slides into blocks."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ..support.errors import DataError
from ..support.limits import LARGEST_UNPACKED
from .model import LOCKED, Block, Heading, Kind, ReadDocument, TableBlock, TextBlock
from .texts import with_fields

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_ADDRESS = ("http://", "https://", "mailto:")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # a file of Office before 2007, and one with a password
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
# templates and files with macros are told apart from plain ones by the kind of their main part
_MAIN_KIND = re.compile(
    rb"application/vnd\.(?:ms-(?:word|powerpoint)\.\w+\.macroEnabled\w*|"
    rb"openxmlformats-officedocument\.(?:word|presentation)\w*\.(?:template|slideshow))\.main\+xml"
)
HEADING_STYLE = re.compile(r"(?:heading|überschrift|titre|título|nagłówek|kop|rubrik|titolo)\s*([1-9])", re.IGNORECASE)
_MOST_STYLES = 20  # styles that a style may be derived from; a circle ends here


def unpacked(data: bytes) -> zipfile.ZipFile:
    """Open a zip file. Raises `DataError` if it needs a password, or its unpacked content is too large."""
    if data.startswith(OLE):
        is_locked = "EncryptedPackage".encode("utf-16-le") in data
        raise DataError(LOCKED if is_locked else "is a file of Office before 2007; save it in the new format")
    packed = zipfile.ZipFile(io.BytesIO(data))
    if sum(part.file_size for part in packed.infolist()) > LARGEST_UNPACKED:
        raise DataError(f"unpacks to more than {LARGEST_UNPACKED // 10**6} MB")
    if any(part.flag_bits & 1 for part in packed.infolist()):
        raise DataError(LOCKED)
    return packed


def plain_package(data: bytes) -> bytes:
    """Return an Office file as libraries expect it: with the namespaces of most files, not as a template or with macros."""
    packed = unpacked(data)
    kinds = packed.read("[Content_Types].xml")
    if not (_MAIN_KIND.search(kinds) or _STRICT.search(packed.read("_rels/.rels"))):
        return data
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name in packed.namelist():
            content = packed.read(name)
            if name == "[Content_Types].xml":
                content = _MAIN_KIND.sub(_plain_kind, content)
            elif name.endswith((".xml", ".rels")):
                content = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", content)
            file.writestr(name, content)
    return plain.getvalue()


def _plain_kind(match: re.Match[bytes]) -> bytes:
    kind = b"wordprocessingml.document" if b"word" in match[0] else b"presentationml.presentation"
    return b"application/vnd.openxmlformats-officedocument." + kind + b".main+xml"


_NO_TITLES = ("Word Document", "PowerPoint Presentation")  # that programs give to what has none


def read_word(data: bytes) -> ReadDocument:
    """Return the content of a DOCX as it reads with all changes accepted."""
    from docx import Document

    document = Document(io.BytesIO(plain_package(data)))
    blocks = with_fields(_WordFile(document).blocks(document.element.body))
    return ReadDocument(_title(document.core_properties.title), list(blocks))


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
                from lxml import etree  # type: ignore[import-untyped]

                parser = etree.XMLParser(resolve_entities=False, no_network=True)
                for note in etree.fromstring(relation.target_part.blob, parser):
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
            yield TextBlock(text, kind=kind or ("item" if is_item else "text"), links=tuple(words.links))
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
            yield from _chart(chart, 0)

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
        heads = 0
        for row in (child for child in node if element_name(child) == "tr"):
            heads += row.find(f"{_W}trPr/{_W}tblHeader") is not None and heads == len(rows)
            cells: list[str] = []
            for cell in _cells(row):
                text = self._cell_text(cell, inner)
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
            yield TableBlock([[*row, *[""] * (width - len(row))] for row in rows], merged, heads or None)
        for nested in inner:
            yield from self._table(nested)

    def _cell_text(self, cell: Any, inner: list[Any]) -> str:
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
        return " ".join(filter(None, texts))


def _cells(row: Any) -> Iterator[Any]:
    for child in row:
        if element_name(child) == "tc":
            yield child
        elif element_name(child) in ("sdt", "sdtContent", "customXml"):
            yield from _cells(child)


def element_name(node: Any) -> str:
    """Return the name of an element without its namespace; an empty text for comments and entities."""
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


class _WordRuns:
    """The words of a paragraph without deleted, struck and hidden ones; its links, notes and text boxes."""

    def __init__(self, targets: dict[str, str]) -> None:
        self._targets = targets
        self._pieces: list[str] = []
        self.links: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self.boxes: list[Any] = []
        self.charts: list[str] = []

    @property
    def text(self) -> str:
        return " ".join("".join(self._pieces).split())

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
                is_power = raised and re.fullmatch(r"[-+−]?\d+", text.strip()) and "".join(self._pieces)[-1:].isdigit()
                self._pieces.append(f"^{text.strip()}" if is_power else text)
            elif name in ("tab", "br", "cr", "ptab"):
                self._pieces.append(" ")
            elif name == "noBreakHyphen":
                self._pieces.append("-")
            elif name == "oMath":
                self._pieces.append(formula_words(child))
            elif name == "chart" and child.get(f"{_R}id"):
                self.charts.append(child.get(f"{_R}id"))
            elif name in ("footnoteReference", "endnoteReference", "commentReference"):
                self.notes.append(f"{name.removesuffix('Reference')} {child.get(f'{_W}id')}")
            elif name == "txbxContent":
                self.boxes.append(child)
            elif name == "hyperlink":
                start = len(self._pieces)
                self.walk(child, raised)
                words, address = (
                    " ".join("".join(self._pieces[start:]).split()),
                    self._targets.get(child.get(f"{_R}id"), ""),
                )
                if words and address.startswith(_ADDRESS):
                    self.links.append((words, address))
            elif name not in ("del", "moveFrom", "pPr", "rPr", "instrText", "delText", "Fallback", "sectPr"):
                self.walk(child, raised)


def _is_on(marks: Any, *names: str) -> bool:
    found = [] if marks is None else [marks.find(f"{_W}{name}") for name in names]
    return any(mark is not None and mark.get(f"{_W}val", "true") not in ("false", "0", "off") for mark in found)


# -- formulas ----------------------------------------------------------------------------------------------------------

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"


def formula_words(node: Any) -> str:
    """Return a formula as one writes it in a line: a fraction as a/b, a root as √(a), raised and lowered parts by ^ and _."""
    name = element_name(node)
    if name == "t":
        return node.text or ""
    parts = [child for child in node if element_name(child) and not element_name(child).endswith("Pr")]
    words = [formula_words(part) for part in parts]
    texts = dict(zip(map(element_name, parts), words, strict=True))
    power = _attached("_", texts.get("sub", "")) + _attached("^", texts.get("sup", ""))
    if name == "f":
        return f"{_bracketed(texts.get('num', ''))}/{_bracketed(texts.get('den', ''))}"
    if name == "rad":
        return f"{texts.get('deg', '')}√{_bracketed(texts.get('e', ''))}"
    if name in ("sSup", "sSub", "sSubSup"):
        return texts.get("e", "") + power
    if name == "nary":
        return f"{_sign(node, 'nary', 'chr', '∫')}{power} {texts.get('e', '')}"
    if name in ("limLow", "limUpp"):
        return texts.get("e", "") + _attached("_" if name == "limLow" else "^", texts.get("lim", ""))
    if name == "d":
        inner = _sign(node, "d", "sepChr", "|").join(words)
        return f"{_sign(node, 'd', 'begChr', '(')}{inner}{_sign(node, 'd', 'endChr', ')')}"
    return {"func": " ", "eqArr": "; ", "m": "; ", "mr": ", "}.get(name, "").join(words)


def _sign(node: Any, kind: str, name: str, usual: str) -> str:
    mark = node.find(f"{_M}{kind}Pr/{_M}{name}")
    return usual if mark is None else mark.get(f"{_M}val", "")


def _bracketed(text: str) -> str:
    return text if re.fullmatch(r"[\w.]*", text) else f"({text})"


def _attached(sign: str, text: str) -> str:
    return f"{sign}{text if re.fullmatch(r'[-+−]?[0-9]+', text) else _bracketed(text)}" if text else ""


# -- slides ------------------------------------------------------------------------------------------------------------


def _title(text: str | None) -> str:
    return "" if text in _NO_TITLES else text or ""


def read_slides(data: bytes) -> ReadDocument:
    """Return the text, tables, charts and notes of slides."""
    from pptx import Presentation

    presentation = Presentation(io.BytesIO(plain_package(data)))
    blocks: list[Block] = []
    hidden = 0
    for number, slide in enumerate(presentation.slides, 1):
        if slide.element.get("show") == "0":
            hidden += 1
            continue
        title = slide.shapes.title
        if title is not None and title.text_frame.text.strip():
            blocks.append(Heading(" ".join(title.text_frame.text.split()), 2, page=number))
        else:  # what it shows is not below the title of the slide before
            blocks.append(Heading(f"Slide {number}", 2, page=number))
        for shape in slide.shapes:
            if title is None or shape.shape_id != title.shape_id:
                blocks += _shape(shape, number)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = " ".join(slide.notes_slide.notes_text_frame.text.split())
            blocks += [TextBlock(notes, page=number, kind="note")] if notes else []
        blocks += [TextBlock(comment, page=number, kind="note") for comment in _comments(slide)]
    left_out = [f"{hidden} hidden slides"] if hidden else []
    return ReadDocument(_title(presentation.core_properties.title), blocks, left_out)


def _comments(slide: Any) -> Iterator[str]:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    for relation in slide.part.rels.values():
        if relation.reltype.endswith("/comments") and not relation.is_external:
            for node in etree.fromstring(relation.target_part.blob, parser).iter():
                if element_name(node) in ("text", "txBody") and (words := " ".join("".join(node.itertext()).split())):
                    yield words


def _shape(shape: Any, page: int) -> Iterator[Block]:
    if hasattr(shape, "shapes"):  # a group
        for part in shape.shapes:
            yield from _shape(part, page)
    elif getattr(shape, "has_table", False):
        table = shape.table
        rows = [[" ".join(cell.text.split()) for cell in row.cells] for row in table.rows]
        merged = {}
        for number, row in enumerate(table.rows):
            for column, cell in enumerate(row.cells):
                if cell.is_merge_origin:
                    for down in range(cell.span_height):
                        for right in range(cell.span_width):
                            if down or right:
                                merged[number + down, column + right] = number, column
                                rows[number + down][column + right] = rows[number][column]
        yield TableBlock(rows, merged, 1 if table.first_row else None, page=page)
    elif getattr(shape, "has_chart", False):
        with suppress(NotImplementedError, KeyError, ValueError):  # kinds of charts that the library does not know
            yield from _chart(shape.chart, page)
    elif shape.has_text_frame:
        for paragraph in shape.text_frame.paragraphs:
            text = " ".join("".join(run.text for run in paragraph.runs).split()) or " ".join(paragraph.text.split())
            links = [(" ".join(run.text.split()), run.hyperlink.address or "") for run in paragraph.runs]
            if text:
                yield TextBlock(text, page=page, links=tuple(link for link in links if link[1].startswith(_ADDRESS)))


def _chart(chart: Any, page: int) -> Iterator[Block]:
    if not len(chart.plots):
        return
    categories = [str(category) for category in chart.plots[0].categories]
    series = [(one.name or "", list(one.values)) for plot in chart.plots for one in plot.series]
    rows = [["", *(name for name, _ in series)]]
    for place, category in enumerate(categories):
        values = [values[place] if place < len(values) else None for _, values in series]
        rows.append([category, *("" if value is None else f"{value:g}" for value in values)])
    title = chart.chart_title.text_frame.text if chart.has_title and chart.chart_title.has_text_frame else ""
    if len(rows) > 1:
        yield TableBlock(rows, heads=1, caption=title, page=page)
