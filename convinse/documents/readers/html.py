"""Reads HTML and books of HTML into blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ...support.errors import DataError
from ...wikipedia.document import apply_styles, cut_deep, describe_pictures, is_infobox, parse_html
from ...wikipedia.flatten import BLOCKS, is_numerator
from ...wikipedia.infobox import attributes
from ...wikipedia.snippets import Snippet
from ...wikipedia.tables import grid, header_rows
from ..model import Block, Heading, PairsBlock, ReadDocument, TableBlock, TextBlock
from .code_pages import decoded
from .formulas import markup_words
from .office import unpacked
from .records import words_of_name
from .texts import parted_by_lines

# no words of the document: programs, navigation, buttons, and struck or hidden text
_LEFT_OUT = (
    "head script style template noscript svg:not([aria-label]) iframe nav button del s strike [hidden] "
    ".headerlink .sr-only [aria-hidden=true] .row-header .row-headers-background .column-headers-background .freezebar-cell"
).split()
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = ", ".join(sorted(BLOCKS))
_POWER = re.compile(r"[-+−–]?[0-9]+")
_UNIT = re.compile(r"(?:^|[\s0-9])(?:[kcmdµn]?m|ft|in|yd|mi|s|h)$")  # a unit that may have a power: m², km², s⁻¹
_INVISIBLE = str.maketrans("", "", "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad")
_ADDRESS = re.compile(r"(?:https?://|mailto:|tel:)\S+")


def read_html(data: bytes) -> ReadDocument:
    """Return the content of a page; of a page of a wiki its article."""
    return html_document(decoded(data))


def html_document(text: str) -> ReadDocument:
    """Return the content of a page; see `read_html`."""
    text = cut_deep(text)
    tree = LexborHTMLParser(text)
    title = tree.css_first("h1") or tree.css_first("title")
    name = "" if title is None else " ".join(title.text().split())
    is_article = tree.css_first(".mw-parser-output") is not None
    root = parse_html(text) if is_article else tree.body or tree.root
    if root is None:
        return ReadDocument(name, [])
    if not is_article:
        for formula in root.css("math"):
            formula.replace_with(f" {markup_words(formula)} ")
        for node in root.css(", ".join(_LEFT_OUT)):
            node.decompose()
        apply_styles(root)
        describe_pictures(root)
        labels = {label.attributes.get("for") for label in root.css("label[for]")}
        for label in root.css("label ~ label"):  # each names another field
            label.insert_before(LexborHTMLParser("<br>").css("br")[0])
        for field in root.css("input, select, textarea"):
            value, field_name = _filled_in(field), words_of_name(field.attributes.get("name") or "")
            parent = field.parent
            is_labelled = field.attributes.get("id") in labels or (parent is not None and parent.tag == "label")
            lead = ": " if is_labelled else f"; {field_name}: " if field_name else " "
            field.replace_with(f"{lead}{value} " if value else " ")
    return ReadDocument(name, list(html_blocks(root)))


def html_blocks(node: LexborNode) -> Iterator[Block]:
    """Yield the blocks below a node, in reading order; words beside blocks are paragraphs."""
    beside = _InlineWords()
    for child in node.iter(include_text=True):
        tag = str(child.tag)
        if tag == "-text" or not (tag in BLOCKS or child.css_first(_BLOCKS)):
            beside.add(child)
            continue
        yield from beside.paragraph()
        beside = _InlineWords()
        if tag in _HEADINGS:
            if heading := words_of(child):
                yield Heading(heading, int(tag[1]))
        elif tag == "table":
            yield from _table(child)
        elif tag == "dl":
            yield from _definitions(child)
        elif tag == "pre":
            yield TextBlock(child.text().strip("\n"), kind="code")
        elif tag in ("p", "li", "blockquote") and not child.css_first(_BLOCKS):
            inner = _InlineWords()
            inner.walk(child)
            yield from inner.lines("item" if tag == "li" else "text")
        else:
            yield from html_blocks(child)
    yield from beside.lines("text")


def words_of(node: LexborNode) -> str:
    """Return the words below a node in one line."""
    words = _InlineWords()
    words.walk(node)
    return words.text


def _filled_in(field: LexborNode) -> str:
    """Return what a field of a form shows: its value, the selected option; empty for one that is hidden or secret."""
    attributes = field.attributes
    if field.tag == "textarea":
        return field.text().strip()
    if field.tag == "select":
        chosen = field.css_first("option[selected]") or field.css_first("option")
        return "" if chosen is None else chosen.text().strip()
    kind = (attributes.get("type") or "text").lower()
    if kind in ("checkbox", "radio"):
        return "yes" if "checked" in attributes else ""
    is_shown = kind not in ("hidden", "password", "submit", "button", "reset", "image", "file")
    return (attributes.get("value") or "").strip() if is_shown else ""


def raised_words(before: str, raised: str, is_above: bool) -> str | None:
    """Return raised words as text: above the bar of a fraction, a power or an ending; None for a mark that stands apart."""
    is_behind_digit = before[-1:].isdigit()
    if is_above:
        return f" {raised}" if is_behind_digit else raised
    if _POWER.fullmatch(raised) and (is_behind_digit or _UNIT.search(before)):
        return f"^{raised}"  # 10^6, m^2
    return raised if raised.isalpha() else None  # 1st, Mme


class _InlineWords:
    """The words of inline elements, blanks as a browser shows them, and the addresses that they link to."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.links: list[tuple[str, str]] = []

    @property
    def text(self) -> str:
        return " ".join("".join(self._pieces).split())

    def add(self, node: LexborNode) -> None:
        tag = node.tag
        if tag == "-text":
            self._pieces.append((node.text_content or "").translate(_INVISIBLE))
        elif tag in ("br", "hr", "wbr"):
            self._pieces.append("" if tag == "wbr" else "\n")
        elif tag == "sup":
            raised, before = " ".join(node.text().split()), "".join(self._pieces[-2:]).rstrip("\n")
            if node.css_first("a") or (piece := raised_words(before, raised, is_numerator(node))) is None:
                self._pieces.append(" ")
                self.walk(node)
            else:
                self._pieces.append(piece)
        elif tag in BLOCKS:
            self._pieces.append(" ")
            self.walk(node)
            self._pieces.append(" ")
        else:
            start = len(self._pieces)
            self.walk(node)
            address = (node.attributes.get("href") or "").strip() if tag == "a" else ""
            words = " ".join("".join(self._pieces[start:]).split())
            if words and _ADDRESS.fullmatch(address):
                self.links.append((words, address))

    def walk(self, node: LexborNode) -> None:
        for child in node.iter(include_text=True):
            self.add(child)

    def lines(self, kind: str) -> Iterator[Block]:
        """Yield names with their values, if line breaks part such lines, and the rest; else one paragraph."""
        lines = (" ".join(line.split()) for line in "".join(self._pieces).split("\n"))
        yield from parted_by_lines([*filter(None, lines)]) or self.paragraph(kind)

    def paragraph(self, kind: str = "text") -> Iterator[TextBlock]:
        if text := self.text:
            yield TextBlock(text, kind="item" if kind == "item" else "text", links=tuple(self.links))


def _definitions(node: LexborNode) -> Iterator[Block]:
    term, pairs = "", list[tuple[str, str]]()
    for child in node.css("dt, dd"):
        words = words_of(child)
        if child.tag == "dt":
            term = words.rstrip(": ")
        elif words:
            pairs.append((term, words))
    if pairs:
        yield PairsBlock(pairs)


def _table(node: LexborNode) -> Iterator[Block]:
    if is_infobox(node):
        found = list(attributes(node, ""))
        if found:
            values = (", ".join(one.text[part.start : part.end] for part in one.parts) for one in found)
            yield PairsBlock([(" ".join(one.path), value) for one, value in zip(found, values, strict=True)])
        return
    if (
        node.css_first("table table") is not None
        or len(node.css("table")) > 1
        or node.attributes.get("role") == "presentation"
    ):
        for child in node.css("caption, td, th"):
            if child.parent is not None and _table_of(child) == node.mem_id:
                yield from html_blocks(child)
        return
    links: list[tuple[str, str]] = []

    def cell_text(cell: LexborNode) -> Snippet:
        words = _InlineWords()
        words.walk(cell)
        links.extend(words.links)
        return Snippet(words.text, (), "table")

    rows = grid(node, cell_text)
    if not any(cell is not None and cell.snippet.text for row in rows for cell in row):
        return
    headed = header_rows(rows, node)
    texts = [["" if cell is None else cell.snippet.text for cell in row] for row in rows]
    named = [row for row in rows if row and row[0] is not None and row[0].header]
    if not headed and len(named) == len(rows) and all(len(row) == 2 for row in rows):
        yield PairsBlock([(name.rstrip(": "), value) for name, value in texts if value])
        return
    merged = {
        (number, column): cell.origin
        for number, row in enumerate(rows)
        for column, cell in enumerate(row)
        if cell is not None and cell.origin != (number, column)
    }
    caption = node.css_first("caption")
    heads = 0
    while heads in headed:
        heads += 1
    title = words_of(caption) if caption is not None else ""
    yield TableBlock(texts, merged, heads or None, title, links=links)


def _table_of(node: LexborNode) -> int:
    parent = node.parent
    while parent is not None and parent.tag != "table":
        parent = parent.parent
    return 0 if parent is None else parent.mem_id


def read_book(data: bytes) -> ReadDocument:
    """Return the content of an EPUB: its chapters in reading order."""
    packed = unpacked(data)
    container = LexborHTMLParser(packed.read("META-INF/container.xml")).css_first("rootfile")
    place = PurePosixPath((container.attributes["full-path"] or "") if container is not None else "")
    content = LexborHTMLParser(packed.read(str(place)))
    files = {item.attributes["id"]: item.attributes["href"] or "" for item in content.css("item")}
    chapters = [files.get(item.attributes["idref"]) for item in content.css("itemref")]
    title = next((node.text().strip() for node in content.css("*") if node.tag == "dc:title"), "")
    return ReadDocument(
        title, list(_chapters(packed.read(str(place.parent / chapter)) for chapter in chapters if chapter))
    )


def _chapters(texts: Iterable[bytes]) -> Iterator[Block]:
    found = False
    for text in texts:
        for block in html_document(decoded(text)).blocks:
            found = True
            yield block
    if not found:
        raise DataError("has no text")
