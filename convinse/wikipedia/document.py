"""A Wikipedia page as MediaWiki renders it, cut into snippets: pieces of text with the links that stand in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

# What is no prose: marks, boxes, notes, navigation, media, hidden text.
_NOISE = ", ".join(
    "style script noscript math figure audio video img map sup.reference sup.noprint .mw-editsection .reference .noprint .hatnote .navbox "
    ".navbox-styles .vertical-navbox .sidebar .reflist .refbegin .mw-references-wrap ol.references .metadata .ambox .toc #toc "
    ".thumb .gallery .mw-file-description a.image .infobox-image .infobox-caption .shortdescription #coordinates .geo-nondefault "
    ".mwe-math-element .mw-empty-elt .sortkey .succession-box .portalbox .portal-bar .sistersitebox .catlinks .printfooter "
    "a.external.autonumber .mw-cite-backlink .IPA .ext-phonos .rt-commentedText .authority-control .stub".split()
)
_HIDDEN = '[style*="display:none"], [style*="display: none"]'
_CLOSING = frozenset(
    "references, external links, see also, notes, further reading, bibliography and references, footnotes, citations, sources, "
    "notes and references, works cited".split(", ")
)
_BLOCKS = frozenset(
    "p div li ul ol dl dd dt tr td th table section blockquote h1 h2 h3 h4 h5 h6 caption center".split()
)
_NOT_ARTICLES = re.compile(
    r"^(?:File|Image|Category|Help|Template|Wikipedia|Portal|Special|Talk|User|Module|Draft|MediaWiki):", re.I
)


class Link(NamedTuple):
    """A link in a snippet: `text[start:end]` is its anchor, `target` the title of the page it leads to."""

    start: int
    end: int
    target: str


class Snippet(NamedTuple):
    """Text with its links; `source` is `text`, `table` or `info`."""

    text: str
    links: tuple[Link, ...]
    source: str

    def part(self, start: int, end: int) -> Snippet:
        """The snippet of `text[start:end]`, with the links that lie in it."""
        links = [
            Link(link.start - start, link.end - start, link.target)
            for link in self.links
            if start <= link.start and link.end <= end
        ]
        return Snippet(self.text[start:end], tuple(links), self.source)


class Block(NamedTuple):
    """A piece of the page in reading order: `kind` is `p`, `li`, `table` or `infobox`; `section` its heading."""

    kind: str
    node: LexborNode
    section: str


def parse_html(html: str) -> LexborNode:
    """The content element of a page, without what is no prose."""
    tree = LexborHTMLParser(html)
    root = tree.css_first(".mw-parser-output") or tree.body
    for node in root.css(f"{_NOISE}, {_HIDDEN}"):
        node.decompose()
    return root


def blocks(root: LexborNode) -> Iterator[Block]:
    """Paragraphs, list items, tables and infoboxes in reading order; the closing sections are left out."""
    section = ""
    closed = 0  # the level of the closing heading that we are below

    def walk(node: LexborNode) -> Iterator[Block]:
        nonlocal section, closed
        child = node.child
        while child is not None:
            following = child.next
            tag = child.tag
            if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
                level = int(tag[1])
                heading = flatten(child, "text").text
                if not closed or level <= closed:
                    closed = level if heading.lower() in _CLOSING else 0
                section = heading if level > 1 else section
            elif closed and tag not in ("section", "div"):
                pass
            elif tag == "table":
                yield from _table_blocks(child, section)
            elif tag in ("p", "blockquote", "li", "dd"):
                yield Block("li" if tag in ("li", "dd") else "p", child, section)
            elif tag in ("ul", "ol", "dl", "div", "section", "center", "body"):
                yield from walk(child)
            child = following

    yield from walk(root)


def _table_blocks(table: LexborNode, section: str) -> Iterator[Block]:
    classes = (table.attributes.get("class") or "").lower().split()
    if any(name.startswith("infobox") for name in classes) or {"vcard", "vevent", "biography"} & set(classes):
        yield Block("infobox", table, section)
    elif table.attributes.get("role") != "presentation" and table.css_first("th") is not None:
        yield Block("table", table, section)


def flatten(node: LexborNode, source: str, skip_nested: bool = False) -> Snippet:
    """The text below a node, blanks collapsed, and its links with their exact places.

    `<br>` and list items in table and infobox cells are set apart by commas.
    """
    pieces: list[str] = []
    links: list[Link] = []
    length = 0
    pending = ""  # a blank or comma that waits for the next word

    def add(text: str) -> None:
        nonlocal length, pending
        for part in re.findall(r"\s+|[^\s]+", text):
            if part.isspace():
                pending = pending or " "
                continue
            if pending and length:
                pieces.append(pending)
                length += len(pending)
            pending = ""
            pieces.append(part)
            length += len(part)

    def walk(current: LexborNode) -> None:
        nonlocal pending
        child = current.child
        while child is not None:
            tag = child.tag
            if tag == "-text":
                add((child.text_content or "").replace("​", "").replace("⁠", ""))
            elif tag == "br" or (tag in ("li", "dd") and source != "text"):
                pending = ", " if source != "text" and length and pieces[-1][-1] not in ",:;(" else pending or " "
                walk(child)
            elif tag == "a":
                before = length + (len(pending or "") if length else 0)
                walk(child)
                target = _target(child.attributes)
                if target and length > before:
                    links.append(Link(before, length, target))
            elif tag == "table" and skip_nested:
                pass
            else:
                if tag in _BLOCKS:
                    pending = pending or " "
                walk(child)
                if tag in _BLOCKS:
                    pending = pending or " "
            child = child.next

    walk(node)
    text = "".join(pieces)
    if source != "text":
        text = text.rstrip(",; ")
    return Snippet(
        text, tuple(link._replace(start=_skip_blank(text, link)) for link in links if link.end <= len(text)), source
    )


def _skip_blank(text: str, link: Link) -> int:
    """Where the anchor begins when blanks inside the link tag stood before its first word."""
    start = link.start
    while start < link.end and text[start] in " ,":
        start += 1
    return start


def _target(attributes: dict[str, str | None]) -> str:
    """The article title that a link leads to, or an empty string; `#section` and red links are resolved or dropped."""
    href = attributes.get("href") or ""
    if "redlink=1" in href or "new" in (attributes.get("class") or "").split():
        return ""
    match = re.match(r"^(?:(?:https?:)?//[a-z-]+\.(?:m\.)?wikipedia\.org)?(?:/wiki/|\./)([^?#]+)", href)
    if match is None:
        return ""
    title = unquote(match[1]).replace("_", " ").strip()
    return "" if not title or _NOT_ARTICLES.match(title) else title[0].upper() + title[1:]


def clean(text: str) -> str:
    """A cell or sentence without footnote marks such as `[1]` or `[a]`."""
    return re.sub(r"\s*\[(?:\d+|[a-z]|note \d+|citation needed)\]", "", text).strip()
