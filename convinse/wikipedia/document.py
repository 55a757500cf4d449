"""The elements of a Wikipedia page, as MediaWiki renders it, in reading order and without noise."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..language.language import english
from ..support.limits import DEEPEST_ELEMENT
from .flatten import BLOCKS, flatten

LOGGER = logging.getLogger(__name__)

# marks, boxes, notes, navigation, media, struck and hidden text
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
# tags of elements that can be nested in their own kind; void elements and elements with optional end tags cannot
_NESTING = re.compile(
    "<(/?)(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr|p|li|d[dt]|t[dhr]|tbody|thead|tfoot)[ \t\n/>])[a-z]",
    re.IGNORECASE,
)
_COORDINATES = ".coordinates, .geo-default, .geo-nondefault, .geo-multi-punct"
# elements whose style may hide, strike or raise their words, or separate them from the words beside them
_STYLED = ", ".join(f'[style*="{word}" i]' for word in ("display", "visibility", "line-through", "super"))
_DECLARATION = re.compile(r"([a-z-]+)\s*:\s*([^;!]*[^;!\s])")
# a picture of pictures comes first: the five stars of a rating
_PICTURES = ", ".join(
    f"{cell} {picture}"
    for picture in ('[role="img"][aria-label]', "img[alt]")
    for cell in ("td", "th", "li", "dd", "p")
)
_FLAG_WIDTH = 60  # pixels; larger pictures are not values
_FILE_NAME = re.compile(r"\.(?:jpe?g|png|svg|gif|tiff?|webp)$", re.IGNORECASE)
_BESIDE = ("inline", "none", "contents", "ruby")  # beginnings of values of `display` that do not separate words
_DATA_CLASSES = frozenset("wikitable sortable tracklist prettytable".split())


# a piece of the page in reading order: its kind (`p`, `li`, `table` or `infobox`), its node, and the heading above
PageElement = tuple[str, LexborNode, str]


def parse_html(html: str) -> LexborNode:
    """Return the content element of a page, without noise."""
    tree = LexborHTMLParser(cut_deep(html))
    # in a page that a browser saved, marks beside the title are parsed content, too
    article = tree.css_first("#mw-content-text .mw-parser-output") or tree.css_first(".mw-parser-output")
    root = article or tree.body or tree.root  # a page of frames has no body
    assert root is not None  # every text is parsed to an element
    for image in root.css("td[colspan] img"):
        # the picture of an infobox goes with its caption in the same cell; a flag beside a value is no picture
        cell = table = _enclosing(image, "td") if _width(image) > _FLAG_WIDTH else None
        while table is not None and not is_infobox(table):
            table = _enclosing(table, "table")
        if cell is not None and table is not None:
            cell.inner_html = ""
    for node in root.css(_COORDINATES):
        table = _enclosing(node, "table")
        # a data table keeps its coordinates, an infobox their visible form
        if table is None or (is_infobox(table) and {"geo-nondefault", "geo-multi-punct"} & _classes(node)):
            node.decompose()
    for node in root.css(".frac, .sfrac"):
        numbers = re.findall(r"[^\s+/⁄]+", node.text(separator=" "))
        if 2 <= len(numbers) <= 3:
            before = node.prev.text() if node.prev is not None else ""
            lead = " " if before[-1:].isdigit() else ""
            node.replace_with(f"{lead}{' '.join(numbers[:-1])}/{numbers[-1]}")
    apply_styles(root)
    for node in root.css(_NOISE):
        _remove(node)
    describe_pictures(root)
    return root


def apply_styles(root: LexborNode) -> None:
    """Remove what the style of an element hides or strikes, and part or raise what it shows so."""
    for node in root.css(_STYLED):
        style = dict(_DECLARATION.findall((node.attributes.get("style") or "").lower()))
        display = style.get("display", "inline")
        decoration = style.get("text-decoration", "") + style.get("text-decoration-line", "")
        if display == "none":
            node.decompose()
        elif style.get("visibility") in ("hidden", "collapse") or "line-through" in decoration:
            _remove(node)
        elif not display.startswith(_BESIDE) and node.tag not in BLOCKS:  # blocks separate words anyway
            node.insert_before(" ")
            node.insert_after(" ")
        if style.get("vertical-align") == "super" and node.tag != "sup":
            node.inner_html = f"<sup>{node.inner_html}</sup>"


def describe_pictures(root: LexborNode) -> None:
    """Put the words that describe small pictures in their place, in cells without text and behind a colon: flags, stars."""
    is_alone: dict[int, bool] = {}
    for image in root.css(_PICTURES):
        cell = _enclosing(image, "td", "th")
        place = cell or _enclosing(image, "li", "dd", "p")
        text = "" if place is None else place.text(strip=True)
        if place is not None and is_alone.setdefault(place.mem_id, text.endswith(":") or not (text or cell is None)):
            words = image.attributes["alt" if image.tag == "img" else "aria-label"] or ""
            if not _FILE_NAME.search(words) and _width(image) <= _FLAG_WIDTH:
                image.replace_with(f" {words} ")


def _remove(node: LexborNode) -> None:
    if node.tag in ("td", "th"):  # an empty cell stays, so that the cells behind it keep their columns
        node.inner_html = ""
    else:
        node.decompose()


def _width(image: LexborNode) -> int:
    width = image.attributes.get("width") or ""
    return int(width) if width.isdecimal() else 0


def cut_deep(html: str) -> str:
    """Return the beginning of a page in which elements are not nested too deeply for recursive functions."""
    depth = 0
    for match in _NESTING.finditer(html):
        depth = max(0, depth - 1) if match[1] else depth + 1
        if depth > DEEPEST_ELEMENT:
            LOGGER.warning("elements are more than %d deep in one another; the rest is left out", DEEPEST_ELEMENT)
            return html[: match.start()]
    return html


def _enclosing(node: LexborNode, *tags: str) -> LexborNode | None:
    parent = node.parent
    while parent is not None and parent.tag not in tags:
        parent = parent.parent
    return parent


def blocks(root: LexborNode) -> Iterator[PageElement]:
    """Yield paragraphs, list items, tables and infoboxes in reading order, without the closing sections."""
    section = ""
    closed = 0  # the level of the closing section (references, links) that an element is in, or 0

    def walk(node: LexborNode) -> Iterator[PageElement]:
        nonlocal section, closed
        for child in node.iter():
            tag = child.tag
            if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
                level = int(tag[1])
                heading = flatten(child, "text").text
                if not closed or level <= closed:
                    closed = level if heading.lower() in english().pages.closing_sections else 0
                section = heading if level > 1 else section
            elif closed and tag not in ("section", "div"):
                if tag == "table" and section.lower() == english().pages.works:
                    yield from _data_tables(child, section)
            elif tag == "table":
                if is_infobox(child):
                    yield "infobox", child, section
                elif _is_data(child):
                    yield from _data_tables(child, section)
                else:
                    yield from _inner(child, walk)
            elif tag in ("li", "dd"):
                yield "li", child, section
                yield from _inner(child, walk)
            elif tag == "p" or (tag == "blockquote" and child.css_first("p, ul, ol, dl, div") is None):
                yield "p", child, section
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
        yield "table", table, section
    for nested in table.css("table"):
        if nested.mem_id != table.mem_id and _is_data(nested):
            yield "table", nested, section


def _classes(node: LexborNode) -> set[str]:
    return set((node.attributes.get("class") or "").lower().split())


def is_infobox(table: LexborNode) -> bool:
    """Return True if a table is an infobox, by its classes."""
    classes = _classes(table)
    if any(name.startswith("infobox") for name in classes):
        return True
    return bool({"vcard", "biota", "biography", "taxobox"} & classes) or {"vevent", "haudio"} <= classes


def _is_data(table: LexborNode) -> bool:
    classes = _classes(table)
    if table.attributes.get("role") == "presentation" or is_infobox(table):
        return False
    if classes & _DATA_CLASSES:
        return True
    if "multicol" in classes or "vevent" in classes or "collapsible" in classes and "wikitable" not in classes:
        return False
    return any(cell.tag == "th" for row in table_rows(table) for cell in row_cells(row))


def table_rows(table: LexborNode) -> Iterator[LexborNode]:
    """Yield the rows of a table without the rows of nested tables."""
    for child in table.iter():
        if child.tag == "tr":
            yield child
        elif child.tag in ("tbody", "thead", "tfoot"):
            yield from table_rows(child)


def row_cells(row: LexborNode) -> Iterator[LexborNode]:
    """Return the cells of a row, without the cells of nested tables."""
    return (child for child in row.iter() if child.tag in ("td", "th"))
