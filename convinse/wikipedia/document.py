"""A Wikipedia page as MediaWiki renders it, cut into snippets: pieces of text with the links that stand in them."""

from __future__ import annotations

import itertools
import logging
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..language.language import PageWords, english
from ..support.limits import DEEPEST_ELEMENT

LOGGER = logging.getLogger(__name__)

# What is no prose: marks, boxes, notes, navigation, media, struck and hidden text.
_NOISE = ", ".join(
    "style script noscript template math figure audio video map s del strike sup.reference sup.noprint .mw-editsection .editsection .reference "
    ".noprint .hatnote .dablink .rellink .navbox .navbox-inner .navbox-styles .vertical-navbox .sidebar .navbar .reflist .refbegin "
    ".mw-references-wrap ol.references .metadata .persondata .ambox .toc #toc .toccolours.toc .thumb .gallery .gallerybox "
    ".mw-gallery-traditional .infobox-image .infobox-caption .shortdescription #coordinates "
    ".mwe-math-element "
    ".mwe-math-fallback-image-inline .tex .mw-empty-elt .sortkey .succession-box .s-start .portalbox .portal .portal-bar .sistersitebox "
    ".side-box .catlinks .printfooter a.external.autonumber .mw-cite-backlink .IPA .ext-phonos .rt-commentedText "
    ".authority-control .stub .Z3988 .error .mw-collapsible-toggle .NavToggle .Inline-Template .visualhide .sr-only [hidden]".split()
)
# what nests: no element without an end, nor one that the next of its kind ends
_NESTING = re.compile(
    "<(/?)(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li|d[dt]|t[dhr]|tbody|thead|tfoot)[ \t\n/>])[a-z]",
    re.IGNORECASE,
)
_COORDINATES = ".coordinates, .geo-default, .geo-nondefault, .geo-multi-punct"
# elements whose style may hide, strike or set them apart from the words beside them
_STYLED = ", ".join(f'[style*="{word}" i]' for word in ("display", "visibility", "line-through"))
_DECLARATION = re.compile(r"([a-z-]+)\s*:\s*([^;!]*[^;!\s])")
_FLAG_WIDTH = 60  # pixels; larger pictures are no values
_FILE_NAME = re.compile(r"\.(?:jpe?g|png|svg|gif|tiff?|webp)$", re.IGNORECASE)
_BLOCKS = frozenset(
    "address article aside blockquote caption center dd details dialog dir div dl dt fieldset figcaption footer form h1 h2 h3 h4 h5 "
    "h6 header hgroup hr legend li main menu nav ol optgroup option p pre section summary table tbody td tfoot th thead tr ul".split()
)
_BESIDE = ("inline", "none", "contents", "ruby")  # values of `display` that begin so leave words beside others
_EXPONENT = re.compile(r"[-+−–]?[0-9]+|[nkx]|[0-9nkx]+[-+−–][0-9nkx]+")
_UNITS = frozenset(  # that are squared or cubed, or divided by
    "m km cm mm dm hm nm μm µm fm in inch ft foot feet yd yard yards mi mile miles nmi ly pc kpc au s sec".split()
)
_CHARGED = re.compile(r"[A-Z][a-z]?[0-9]*[+−-]")  # an ion
_FOOTNOTE = re.compile(r"[\d\s*†‡§¶#^?,;.()\[\]]*|[a-dfgjlpquvwyz]|[a-z](?:,\s?[a-z])+|(?:[Nn]ote|nb|fn)\s?\d+")
_DATA_CLASSES = frozenset("wikitable sortable tracklist prettytable".split())
_INVISIBLE = str.maketrans("⁄", "/", "\u200b\u200c\u200e\u200f\u2060\ufeff\u00ad")
_MIXED = re.compile(r"(?<=[0-9])\+(?=[0-9]+⁄)")  # 11+1⁄4
_TAG = re.compile(r"<(?:/?(?:ref|br|nowiki|small|b|i|u|s|sup|sub|div|span|center|font|p|li|td|tr)\b[^<>]*>|!--)")
_LESS = re.compile(r"< ?(?=[0-9$£€.](?![0-9]{3}))")  # not before a year: "< 2012" leads to the season before
_MARK_SIGNS = re.compile(r"[\[^]")
_APART = ", "  # between the lines of an infobox cell


def _words() -> PageWords:
    return english().pages


class Link(NamedTuple):
    """A link in a snippet: `text[start:end]` is its anchor, `target` the title of the page it leads to."""

    start: int
    end: int
    target: str


class Part(NamedTuple):
    """A cell of a row or a value of an attribute: `text[start:end]` of its snippet; `column` counts from 0."""

    start: int
    end: int
    header: str = ""
    column: int = 0


class TableRow(NamedTuple):
    """Which row a snippet is: of the `table` and with the `number` there, both from 0; `part` is the title over its part."""

    caption: str
    section: str
    part: str
    table: int
    number: int


class Snippet(NamedTuple):
    """Text with its links; `source` is `text`, `table` or `info`.

    The text of a row or an attribute is made of `parts`, which do not overlap; `row` says which row it is, `path` leads
    to the attribute.
    """

    text: str
    links: tuple[Link, ...]
    source: str
    parts: tuple[Part, ...] = ()
    row: TableRow | None = None
    path: tuple[str, ...] = ()

    def part(self, start: int, end: int) -> Snippet:
        """The snippet of `text[start:end]`, with the links that lie in it."""
        links = [
            Link(link.start - start, link.end - start, link.target)
            for link in self.links
            if start <= link.start and link.end <= end
        ]
        return Snippet(self.text[start:end], tuple(links), self.source)

    def after(self, lead: str) -> Snippet:
        """The snippet behind other text."""
        return self.moved(len(lead))._replace(text=lead + self.text)

    def moved(self, size: int) -> Snippet:
        """The snippet with the places that it has behind so many characters, which are not there."""
        links = [Link(link.start + size, link.end + size, link.target) for link in self.links]
        parts = [Part(part.start + size, part.end + size, part.header, part.column) for part in self.parts]
        return self._replace(links=tuple(links), parts=tuple(parts))

    def cleaned(self) -> Snippet:
        """The snippet without footnote marks such as `[1]`, and without the links that stood on them."""
        if not _MARK_SIGNS.search(self.text):
            return self
        marks = [match.span() for match in _words().marks.finditer(self.text)]
        if not marks:
            return self
        kept = [(0, 0), *marks, (len(self.text), len(self.text))]
        text = "".join(self.text[left:right] for (_, left), (right, _) in itertools.pairwise(kept))
        begin = len(text) - len(text.lstrip(" ,"))

        starts = [start for start, _ in marks]
        before = list(
            itertools.accumulate((end - start for start, end in marks), initial=0)
        )  # in the marks before each

        def place(position: int) -> int:
            number = bisect_left(starts, position)
            beyond = max(0, marks[number - 1][1] - position) if number else 0  # of a mark around the position
            return position - (before[number] - beyond) - begin

        text = text.strip().lstrip(" ,")

        def kept_place(start: int, end: int) -> tuple[int, int]:
            start, end = max(0, place(start)), min(len(text), place(end))
            return _skip_blank(text, start, end), end

        links = []
        for link in self.links:
            start, end = kept_place(link.start, link.end)
            if start < end:
                links.append(Link(start, end, link.target))
        parts = []
        for part in self.parts:
            start, end = kept_place(part.start, part.end)
            end = start + len(text[start:end].rstrip(" ,"))
            if start < end:
                parts.append(part._replace(start=start, end=end))
        return self._replace(text=text, links=tuple(links), parts=tuple(parts))


class PageElement(NamedTuple):
    """A piece of the page in reading order: `kind` is `p`, `li`, `table` or `infobox`; `section` its heading."""

    kind: str
    node: LexborNode
    section: str


def parse_html(html: str) -> LexborNode:
    """The content element of a page, without what is no prose."""
    tree = LexborHTMLParser(_cut_deep(html))
    root = tree.css_first(".mw-parser-output") or tree.body or tree.root  # a page of frames has no body
    assert root is not None  # every text is parsed to an element
    for image in root.css("td[colspan] img"):
        # an infobox cell that holds a picture holds its caption, too; a flag beside a value is no picture
        cell = table = _around(image, "td") if _width(image) > _FLAG_WIDTH else None
        while table is not None and not _is_infobox(table):
            table = _around(table, "table")
        if cell is not None and table is not None:
            cell.inner_html = ""
    for node in root.css(_COORDINATES):
        table = _around(node, "table")
        # no prose; a data table keeps its cells as they are, an infobox what is shown of it
        if table is None or (_is_infobox(table) and {"geo-nondefault", "geo-multi-punct"} & _classes(node)):
            node.decompose()
    for node in root.css(".frac, .sfrac"):
        numbers = re.findall(r"[^\s+/⁄]+", node.text(separator=" "))
        if 2 <= len(numbers) <= 3:
            before = node.prev.text() if node.prev is not None else ""
            lead = " " if before[-1:].isdigit() else ""
            node.replace_with(f"{lead}{' '.join(numbers[:-1])}/{numbers[-1]}")
    for node in root.css(_STYLED):
        _apply_style(node)
    for node in root.css(_NOISE):
        _remove(node)
    _name_pictures(root)
    return root


def _apply_style(node: LexborNode) -> None:
    """Remove an element that its style hides or strikes, and keep the words beside a block apart."""
    style = dict(_DECLARATION.findall((node.attributes.get("style") or "").lower()))
    display = style.get("display", "inline")
    decoration = style.get("text-decoration", "") + style.get("text-decoration-line", "")
    if display == "none":
        node.decompose()
    elif style.get("visibility") in ("hidden", "collapse") or "line-through" in decoration:
        _remove(node)
    elif not display.startswith(_BESIDE) and node.tag not in _BLOCKS:
        node.insert_before(" ")
        node.insert_after(" ")


def _remove(node: LexborNode) -> None:
    """Remove an element; the cell of a table is emptied, since those behind it keep their columns."""
    if node.tag in ("td", "th"):
        node.inner_html = ""
    else:
        node.decompose()


def _name_pictures(root: LexborNode) -> None:
    """Small pictures that stand alone in a cell become the text that describes them: flags, ticks, marks of quality."""
    alone: dict[int, bool] = {}
    for image in root.css("td img[alt], th img[alt]"):
        cell = _around(image, "td", "th")
        if cell is not None and alone.setdefault(cell.mem_id, not cell.text(strip=True)):
            alt = image.attributes["alt"] or ""
            if not _FILE_NAME.search(alt) and _width(image) <= _FLAG_WIDTH:
                image.replace_with(f" {alt} ")


def _width(image: LexborNode) -> int:
    width = image.attributes.get("width") or ""
    return int(width) if width.isdecimal() else 0


def _cut_deep(html: str) -> str:
    """A page up to where elements are nested too deep: the parser, and whatever walks through it, would need that depth at each step."""
    depth = 0
    for match in _NESTING.finditer(html):
        depth = max(0, depth - 1) if match[1] else depth + 1
        if depth > DEEPEST_ELEMENT:
            LOGGER.warning("elements are more than %d deep in one another; the rest is left out", DEEPEST_ELEMENT)
            return html[: match.start()]
    return html


def _around(node: LexborNode, *tags: str) -> LexborNode | None:
    parent = node.parent
    while parent is not None and parent.tag not in tags:
        parent = parent.parent
    return parent


def blocks(root: LexborNode) -> Iterator[PageElement]:
    """Paragraphs, list items, tables and infoboxes in reading order; the closing sections are left out."""
    section = ""
    closed = 0  # the level of the closing heading that we are below

    def walk(node: LexborNode) -> Iterator[PageElement]:
        nonlocal section, closed
        for child in node.iter():
            tag = child.tag
            if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
                level = int(tag[1])
                heading = flatten(child, "text").text
                if not closed or level <= closed:
                    closed = level if heading.lower() in _words().closing_sections else 0
                section = heading if level > 1 else section
            elif closed and tag not in ("section", "div"):
                if tag == "table" and section.lower() == _words().works:
                    yield from _data_tables(child, section)
            elif tag == "table":
                if _is_infobox(child):
                    yield PageElement("infobox", child, section)
                elif _is_data(child):
                    yield from _data_tables(child, section)
                else:
                    yield from _inner(child, walk)
            elif tag in ("li", "dd"):
                yield PageElement("li", child, section)
                yield from _inner(child, walk)
            elif tag == "p" or (tag == "blockquote" and child.css_first("p, ul, ol, dl, div") is None):
                yield PageElement("p", child, section)
            elif tag in ("ul", "ol", "dl", "div", "section", "center", "body", "blockquote", "td"):
                yield from walk(child)

    yield from walk(root)


def _inner(node: LexborNode, walk: Callable[[LexborNode], Iterator[PageElement]]) -> Iterator[PageElement]:
    if node.tag == "table":
        for row in table_rows(node):
            for cell in row_cells(row):
                yield from walk(cell)
    elif node.css_first("ul, ol, dl, table") is not None:
        yield from walk(node)


def _data_tables(table: LexborNode, section: str) -> Iterator[PageElement]:
    if _is_data(table):
        yield PageElement("table", table, section)
    for nested in table.css("table"):
        if nested.mem_id != table.mem_id and _is_data(nested):
            yield PageElement("table", nested, section)


def _classes(table: LexborNode) -> set[str]:
    return set((table.attributes.get("class") or "").lower().split())


def _is_infobox(table: LexborNode) -> bool:
    classes = _classes(table)
    if any(name.startswith("infobox") for name in classes):
        return True
    return bool({"vcard", "biota", "biography", "taxobox"} & classes) or {"vevent", "haudio"} <= classes


def _is_data(table: LexborNode) -> bool:
    classes = _classes(table)
    if table.attributes.get("role") == "presentation" or _is_infobox(table):
        return False
    if classes & _DATA_CLASSES:
        return True
    if "multicol" in classes or "vevent" in classes or "collapsible" in classes and "wikitable" not in classes:
        return False
    return any(cell.tag == "th" for row in table_rows(table) for cell in row_cells(row))


def table_rows(table: LexborNode) -> Iterator[LexborNode]:
    """The rows of a table, not those of tables in it."""
    for child in table.iter():
        if child.tag == "tr":
            yield child
        elif child.tag in ("tbody", "thead", "tfoot"):
            yield from table_rows(child)


def row_cells(row: LexborNode) -> Iterator[LexborNode]:
    """The cells of a row."""
    return (child for child in row.iter() if child.tag in ("td", "th"))


def flatten(node: LexborNode, source: str, skip_nested: bool = False) -> Snippet:
    """The text below a node, blanks collapsed, and its links with their exact places.

    Lines, list items and rows in infobox cells are set apart by commas, and are the parts of the snippet; with
    `skip_nested`, tables in the node and lists in running text are left out, being blocks of their own.
    """
    apart = {"info": ("br", "hr", "li", "dd", "tr", "p"), "table": ()}.get(source, ())
    pieces: list[str] = []
    links: list[Link] = []
    starts = [0]  # of lines
    length = 0
    pending = ""  # a blank or comma that waits for the next word

    def add(text: str) -> None:
        nonlocal length, pending
        words = " ".join(text.split())
        if not words or text[0].isspace():
            pending = pending or " "
            if not words:
                return
        if pending and length:
            pieces.append(pending)
            length += len(pending)
            if pending == _APART:
                starts.append(length)
        pieces.append(words)
        length += len(words)
        pending = " " if text[-1].isspace() else ""

    def raise_text(sup: LexborNode) -> None:
        nonlocal pending
        if _is_numerator(sup):
            pending = " " if length and pieces[-1][-1].isdigit() else pending
            walk(sup)
            return
        exponent = sup.text().strip()
        behind = sup.next.text() if pending and sup.next is not None else ""
        base = "" if behind[:1].isalpha() or not length else pieces[-1]  # of an isotope the number comes first
        if base and _is_power(base, exponent, source):
            pending = ""
            add(f"^{exponent}")
        elif not base or not _FOOTNOTE.fullmatch(exponent) or _CHARGED.fullmatch(base.rpartition(" ")[2] + exponent):
            walk(sup)

    def walk(current: LexborNode) -> None:
        nonlocal pending
        for child in current.iter(include_text=True):
            tag = child.tag
            if tag == "-text":
                content = child.text_content or ""
                if "+" in content:
                    content = _MIXED.sub(" ", content)
                if not content.isascii():
                    content = content.translate(_INVISIBLE)
                if "<" in content:
                    content = _LESS.sub(f"{_words().less_than} ", _TAG.sub("", content)).replace("<", "")
                if content:
                    add(content)
            elif tag in apart:
                pending = _APART if length and pieces[-1][-1] not in ",:;(" else pending or " "
                walk(child)
            elif tag == "br":
                pending = pending or " "
            elif tag == "sup":
                raise_text(child)
            elif tag == "a":
                before = length + (len(pending) if length else 0)
                walk(child)
                target = _target(child.attributes)
                if target and length > before:
                    links.append(Link(before, length, target))
            elif skip_nested and (tag == "table" or (source == "text" and tag in ("ul", "ol", "dl"))):
                pending = pending or " "
            else:
                if tag in _BLOCKS:
                    pending = pending or " "
                walk(child)
                if tag in _BLOCKS:
                    pending = pending or " "

    walk(node)
    text = "".join(pieces)
    if source != "text":
        text = text.rstrip(",; ")
    kept = [link._replace(start=_skip_blank(text, link.start, link.end)) for link in links if link.end <= len(text)]
    if source != "info" or not text:
        return Snippet(text, tuple(kept), source)
    ends = (*(start - len(_APART) for start in starts[1:]), length)
    lines = (Part(start, min(end, len(text))) for start, end in zip(starts, ends, strict=True) if start < len(text))
    return Snippet(text, tuple(kept), source, tuple(lines))


def _is_numerator(sup: LexborNode) -> bool:
    """Whether a raised number is that of a fraction: `<sup>1</sup>⁄<sub>4</sub>`."""
    bar = sup.next
    return (
        bar is not None
        and bar.tag == "-text"
        and (bar.text_content or "").strip() in ("⁄", "/")
        and (bar.next is not None and bar.next.tag == "sub")
    )


def _is_power(base: str, exponent: str, source: str) -> bool:
    """Whether raised text behind a word or number is its power, in place of a footnote."""
    if not _EXPONENT.fullmatch(exponent):
        return False
    digits = re.search(r"[0-9.,]*[0-9]$", base)
    if digits is not None:
        # of other numbers than 10 a power is told from a footnote by its sign, or by standing in a sentence
        in_text = source == "text" and (len(digits[0]) == 1 or not exponent.isdigit())
        return digits[0] == "10" or exponent[0] in "-−–" or in_text
    word = re.findall(r"[^\W\d_]*", base)[-2]
    if word in _UNITS and exponent != "1":
        return True
    in_text = source == "text" and (len(word) == 1 or re.search(r"=\s?\w{1,3}$", base) is not None)
    return bool(word) and (exponent[0] in "-−–" or in_text)


def _skip_blank(text: str, start: int, end: int) -> int:
    return end - len(text[start:end].lstrip(" ,"))


def _target(attributes: dict[str, str | None]) -> str:
    """The article title that a link leads to, or an empty string; `#section` and red links are resolved or dropped."""
    href = attributes.get("href") or ""
    if "redlink=1" in href or "new" in (attributes.get("class") or "").split():
        return ""
    return _title(href)


@lru_cache(maxsize=1 << 16)
def _title(href: str) -> str:
    match = re.match(r"^(?:(?:https?:)?//[a-z-]+\.(?:m\.)?wikipedia\.org)?(?:/wiki/|\./)([^?#]+)", href)
    if match is None:
        return ""
    title = unquote(match[1]).replace("_", " ").strip()
    return "" if not title or _words().not_articles.match(title) else title[0].upper() + title[1:]


def clean(text: str) -> str:
    """A cell or sentence without footnote marks such as `[1]` or `[a]`."""
    return _words().marks.sub("", text).strip()
