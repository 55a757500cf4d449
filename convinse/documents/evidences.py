"""Turns a document's HTML into evidences: passages below headings, rows of tables, pairs of names and values."""

from __future__ import annotations

import hashlib
import itertools
import logging
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..records.evidence import Citation, Entity, Evidence, Mention
from ..records.literals import FIRST_DOCUMENT_ITEM
from ..support.limits import MOST_PAGE_TEXT
from ..wikipedia.document import PageElement, cut_deep, is_infobox, parse_html
from ..wikipedia.flatten import BLOCKS, flatten
from ..wikipedia.infobox import attributes
from ..wikipedia.page import Page, name_in, page_evidences, sentence_places
from ..wikipedia.snippets import Link, Part, Snippet
from ..wikipedia.tables import rows
from .readers import ReadDocument

LOGGER = logging.getLogger(__name__)
FORMAT = 1  # raised when the same file gives other evidences
_LONGEST = 400  # characters of an evidence
_PASSAGE = 300  # characters of a passage; the rest of a paragraph is in the next one
_LONGEST_LEAD = 120  # characters of a title and a heading before an evidence
_LONGEST_NAME = 60  # characters of the subject of a row
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = ", ".join(sorted(BLOCKS))
_LEFT_OUT = frozenset("nav head form select".split())


class NamedThing(NamedTuple):
    """An item with names in a document: the document, a section, or the subject of a row."""

    entity: Entity
    names: tuple[str, ...]


class DocumentEvidences(NamedTuple):
    """The evidences of a document, and the things that it names, itself first."""

    evidences: list[Evidence]
    named: list[NamedThing]


def item_id(*path: str) -> str:
    """Return the id of a document, a section of it or a name in it, by its path."""
    digest = hashlib.blake2b("\0".join(path).encode("utf-8", "surrogatepass"), digest_size=5).digest()
    return f"Q{int.from_bytes(digest, 'big') + FIRST_DOCUMENT_ITEM}"


def title_of(name: str, document: ReadDocument) -> str:
    """Return the title of a document: from its metadata, its first heading or the name of its file."""
    stem = PurePosixPath(name).stem
    first = None if document.title else LexborHTMLParser(document.html).css_first("h1, h2, h3, p, li, td")
    title = first.text() if first is not None and first.tag == "h1" else document.title
    return " ".join(title.split())[:_LONGEST_LEAD] or stem.replace("_", " ").replace("-", " ").strip() or name


def document_evidences(name: str, document: ReadDocument) -> DocumentEvidences:
    """Return the evidences of a document; citations have the `name` of its file."""
    document = document._replace(html=cut_deep(document.html))
    cutting = _Cutting(title_of(name, document))
    size = 0
    for placed in cutting.walk(parse_html(document.html)):
        size += len(placed.snippet.text)
        if size > MOST_PAGE_TEXT:
            LOGGER.warning("%.100s: gives more than %d characters; the rest is left out", name, MOST_PAGE_TEXT)
            break
        cutting.pieces.append(placed)
    item: Entity = {"id": item_id(name), "label": cutting.title}
    path = PurePosixPath(name)
    things = {item["id"]: NamedThing(item, (cutting.title, path.stem, path.name))}
    targets = (link.target for placed in cutting.pieces for link in placed.snippet.links)
    subjects = {target: Entity(id=item_id(name, "row", target), label=target) for target in targets}
    snippets = tuple(placed.snippet for placed in cutting.pieces)
    evidences = page_evidences(Page(cutting.title, snippets), item, subjects)
    for evidence, placed in zip(evidences, cutting.pieces, strict=True):
        _place(evidence, name, placed, things)
    for entity in subjects.values():
        things.setdefault(entity["id"], NamedThing(entity, (entity["label"],)))
    return DocumentEvidences(evidences, list(things.values()))


class _Placed(NamedTuple):
    snippet: Snippet
    headings: tuple[str, ...]
    line: int
    page: int


def _place(evidence: Evidence, name: str, placed: _Placed, things: dict[str, NamedThing]) -> None:
    """Add the citation to an evidence, and the mention of its section at its beginning."""
    place: Citation = {"file": name, "headings": list(placed.headings)}
    if placed.line:
        place["line"] = placed.line
    if placed.page:
        place["page"] = placed.page
    evidence["citation"] = place
    if not placed.headings:
        return
    heading = placed.headings[-1]
    section: Entity = {"id": item_id(name, *placed.headings), "label": heading}
    things.setdefault(section["id"], NamedThing(section, (heading,)))
    start = evidence["mentions"][0]["end"] + 2 if evidence["mentions"] else 0
    if evidence["evidence_text"].startswith(heading, start):
        behind = [mention for mention in evidence["mentions"][1:] if mention["start"] >= start + len(heading)]
        named = Mention(start=start, end=start + len(heading), id=section["id"])
        evidence["mentions"] = [evidence["mentions"][0], named, *behind]
        evidence["wikidata_entities"].insert(1, section)
        evidence["disambiguations"].insert(1, [heading, section["id"]])


class _Cutting:
    """Cuts a document into snippets that begin with the title and the heading above."""

    def __init__(self, title: str) -> None:
        self.title = name_in(title)
        self.pieces: list[_Placed] = []
        self._headings: list[tuple[int, str]] = []  # level and text
        self._line = self._page = 0
        self._tables = itertools.count()

    @property
    def _lead(self) -> str:
        heading = self._headings[-1][1] if self._headings else ""
        return ", ".join(dict.fromkeys(part for part in (self.title, heading) if part)) + ", "

    def walk(self, node: LexborNode) -> Iterator[_Placed]:
        """Return the snippets below a node, in reading order; words beside blocks are paragraphs."""
        beside: list[str] = []
        for child in node.iter(include_text=True):
            tag = str(child.tag)
            if tag == "-text" or not (tag in BLOCKS or child.css_first(_BLOCKS)):
                beside.append((child.text_content if tag == "-text" else child.text()) or "")
                continue
            yield from self._paragraph(" ".join("".join(beside).split()))
            beside.clear()
            placed = child.css_first("[data-line]") if tag == "pre" else child
            self._line = int((placed is not None and placed.attributes.get("data-line")) or self._line)
            self._page = int(child.attributes.get("data-page") or self._page)
            if tag in _HEADINGS:
                level, heading = int(tag[1]), flatten(child, "text").text[:_LONGEST_LEAD]
                self._headings = [above for above in self._headings if above[0] < level]
                if heading and heading != self.title:
                    self._headings.append((level, heading))
            elif tag == "table":
                yield from self._table(child)
            elif tag == "dl":
                yield from self._definitions(child)
            elif tag in ("p", "pre"):
                yield from self._paragraph(flatten(child, "text").cleaned().text)
            elif tag not in _LEFT_OUT:
                yield from self.walk(child)
        yield from self._paragraph(" ".join("".join(beside).split()))

    def _placed(self, snippet: Snippet) -> _Placed:
        return _Placed(snippet, tuple(heading for _, heading in self._headings), self._line, self._page)

    def _paragraph(self, text: str) -> Iterator[_Placed]:
        """Return the sentences of a paragraph, joined into passages."""
        lead, passage = self._lead, ""
        most = _LONGEST - len(lead)
        for start, end in sentence_places(text):
            for piece in _pieces(text[start:end], most):
                if passage and len(passage) + len(piece) + 1 > min(_PASSAGE, most):
                    yield self._placed(Snippet(lead + passage, (), "text"))
                    passage = ""
                passage = f"{passage} {piece}".strip()
        if any(map(str.isalnum, passage)):
            yield self._placed(Snippet(lead + passage, (), "text"))

    def _table(self, node: LexborNode) -> Iterator[_Placed]:
        section = self._headings[-1][1] if self._headings else ""
        if is_infobox(node):
            yield from map(self._placed, attributes(PageElement("infobox", node, section), self.title))
        elif len(node.css("table")) > 1 or node.attributes.get("role") == "presentation":
            yield from self.walk(node)
        else:
            snippets = list(rows(PageElement("table", node, section), self.title, _LONGEST, next(self._tables)))
            lines = [int(row.attributes.get("data-line") or 0) for row in node.css("tr") if row.css_first("td")]
            number = max((snippet.row.number for snippet in snippets if snippet.row is not None), default=-1) + 1
            headers = len(lines) - number  # before the rows of data
            for snippet in snippets:
                line = lines[headers + snippet.row.number] if snippet.row is not None and headers >= 0 else 0
                links: tuple[Link, ...] = ()  # on the subject of the row: its first cell of words
                for part in snippet.parts:
                    text = snippet.text[part.start : part.end]
                    if any(map(str.isalpha, text)) and len(text) <= _LONGEST_NAME:
                        links = (Link(part.start, part.end, text),)
                        break
                yield self._placed(snippet._replace(links=links))._replace(line=line or self._line)

    def _definitions(self, node: LexborNode) -> Iterator[_Placed]:
        term = ""
        for child in node.css("dt, dd"):
            value = flatten(child, "text").cleaned().text
            if child.tag == "dt":
                term = value.rstrip(": ")
            elif value:
                lead = f"{self._lead}{term}, " if term else self._lead
                for piece in _pieces(value, max(_PASSAGE - len(term), 80)):
                    part = Part(len(lead), len(lead) + len(piece))
                    yield self._placed(Snippet(lead + piece, (), "info", (part,), path=(term,)))


def _pieces(text: str, most: int) -> Iterator[str]:
    """Return a text in pieces of at most `most` characters, cut at blanks if possible."""
    while len(text) > most:
        cut = text.rfind(" ", most // 2, most)
        cut = cut if cut > 0 else most
        yield text[:cut].strip()
        text = text[cut:].strip()
    if text:
        yield text
