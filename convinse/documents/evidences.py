"""Turns the blocks of a document into evidences: passages below headings, rows of tables, pairs of names and values."""

from __future__ import annotations

import hashlib
import itertools
import logging
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from ..language.language import english
from ..language.text import fold
from ..records.evidence import Citation, Entity, Evidence, Mention, Row
from ..records.literals import FIRST_DOCUMENT_ITEM
from ..records.written_values import day_in
from ..support.limits import MOST_PAGE_TEXT
from ..wikipedia.page import Page, name_in, page_evidences, sentence_places
from ..wikipedia.snippets import Link, Part, Snippet
from ..wikipedia.tables import row_snippets
from .model import Block, Heading, PairsBlock, ReadDocument, TableBlock, TextBlock
from .tables import data_rows, grid_of, named_values, parts_of, with_full_names
from .topics import topics

LOGGER = logging.getLogger(__name__)
FORMAT = 14  # raised when the same file gives other evidences
_LONGEST = 400  # characters of an evidence
_PASSAGE = 300  # characters of a passage; the rest of a paragraph is in the next one
_SEPARATOR = re.compile(r"_|-(?!\d)|(?<!\d)-")  # of words in the name of a file: "minutes_2026-03-14"
_LONGEST_LEAD = 120  # characters of a title and a heading before an evidence
_LONGEST_NAME = 60  # characters of the subject of a row
_LONGEST_PATH = 100  # characters of the headings before an evidence; the nearest one is always there


# an item with its names in a document: the document, a section, or the subject of a row
NamedThing = tuple[Entity, tuple[str, ...]]
_Placed = tuple[Snippet, Citation]
_TICKED = re.compile(r"(?:\[[xX✓]\]|[☒☑])\s*(\S[^\[\]☐☒☑]*\b)")
_BLANK = re.compile(r"(?:_|\.{2}|…|\s)*")  # to be filled in
_VERSION = re.compile(r"\[?(v?\d+(?:\.\d+)+[\w.+-]*)\]?\W+(?=\w)")  # in front of its day: "[2.1.0] - 2024-03-04"


def item_id(*path: str) -> str:
    """Return the id of a document, a section of it or a name in it, by its path."""
    digest = hashlib.blake2b("\0".join(path).encode("utf-8", "surrogatepass"), digest_size=5).digest()
    return f"F{int.from_bytes(digest, 'big') + FIRST_DOCUMENT_ITEM}"


def title_of(name: str, document: ReadDocument) -> str:
    """Return the title of a document: from its metadata, its first heading or the name of its file."""
    stem = PurePosixPath(name).stem
    heading = document.heading
    title = document.title or (heading.text if heading is not None and heading.level == 1 else "")
    return " ".join(title.split())[:_LONGEST_LEAD] or _SEPARATOR.sub(" ", stem).strip() or name


def document_evidences(name: str, document: ReadDocument) -> tuple[list[Evidence], list[NamedThing]]:
    """Return the evidences of a document, and the things that it names, itself first; citations have the `name` of its file."""
    cutting = _Cutting(name, title_of(name, document))
    pieces: list[_Placed] = []
    size = 0
    for snippet, citation in cutting.walk(document.blocks):
        size += len(snippet.text)
        if size > MOST_PAGE_TEXT:
            LOGGER.warning("%.100s: gives more than %d characters; the rest is left out", name, MOST_PAGE_TEXT)
            break
        pieces.append((snippet, citation))
    item: Entity = {"id": item_id(name), "label": cutting.title}
    path = PurePosixPath(name)
    things: dict[str, NamedThing] = {item["id"]: (item, (cutting.title, path.stem, path.name))}
    targets = (link.target for snippet, _ in pieces for link in snippet.links)
    # a name is one item of the whole collection, whose files speak of the same
    subjects = {target: Entity(id=item_id("", fold(target)), label=target) for target in targets}
    evidences = page_evidences(Page(cutting.title, tuple(snippet for snippet, _ in pieces)), item, subjects)
    for evidence, (_, citation) in zip(evidences, pieces, strict=True):
        _place(evidence, citation, things)
    for entity in subjects.values():
        things.setdefault(entity["id"], (entity, (entity["label"],)))
    return evidences, list(things.values())


def _place(evidence: Evidence, citation: Citation, things: dict[str, NamedThing]) -> None:
    """Add the citation to an evidence, and the mention of its section at its beginning."""
    evidence["citation"] = citation
    start = evidence["mentions"][0]["end"] + 2 if evidence["mentions"] else 0
    headings = citation["headings"]
    for depth, heading in enumerate(headings, 1):
        version = _VERSION.match(heading)
        is_dated = version is not None and day_in(heading[version.end() :]) is not None
        label = version[1] if version is not None and is_dated else heading
        section: Entity = {"id": item_id(citation["file"], *headings[:depth]), "label": label}
        things.setdefault(section["id"], (section, tuple(dict.fromkeys((label, heading)))))
        if not evidence["evidence_text"].startswith(heading, start):  # no room in the text
            continue
        end = start + len(heading)
        before = [mention for mention in evidence["mentions"] if mention["end"] <= start]
        behind = [mention for mention in evidence["mentions"] if mention["start"] >= end]
        evidence["mentions"] = [*before, Mention(start=start, end=end, id=section["id"]), *behind]
        evidence["wikidata_entities"].insert(len(before), section)
        evidence["disambiguations"].insert(len(before), [heading, section["id"]])
        start = end + 2


class _Cutting:
    """Cuts a document into snippets that begin with its title and the headings above them."""

    def __init__(self, name: str, title: str) -> None:
        self._name, self.title = name, name_in(title)  # of the file, of the document
        self._headings: list[tuple[int, str]] = []  # level and text
        self._is_bare = False  # nothing stands below the last heading yet
        self._place_of_heading = 0, 0  # its line and page
        self._table_numbers = itertools.count()

    def walk(self, blocks: Iterable[Block]) -> Iterator[_Placed]:
        """Yield the snippets of blocks."""
        for block in blocks:
            match block:
                case Heading():
                    yield from self._heading(block)
                    continue
                case TableBlock():
                    yield from self._tables_of(block)
                case PairsBlock():
                    yield from self._pairs(block)
                case TextBlock():
                    yield from self._paragraph(block)
            self._is_bare = False
        if self._headings and self._is_bare:
            yield self._bare_heading()

    def _heading(self, block: Heading) -> Iterator[_Placed]:
        """Go below a heading; yield the heading before it if nothing stands below that."""
        heading = " ".join(block.text.split())[:_LONGEST_LEAD]
        if self._headings and self._is_bare and self._headings[-1][0] >= block.level:
            yield self._bare_heading()
        self._headings = [above for above in self._headings if above[0] < block.level]
        if heading and heading != self.title:
            self._headings.append((block.level, heading))
            self._is_bare, self._place_of_heading = True, (block.line, block.page)

    def _bare_heading(self) -> _Placed:
        """Return the last heading as a passage: nothing stands below it, so it says something by itself."""
        return self._placed(Snippet(self._lead.removesuffix(", ")[:_LONGEST], (), "text"), *self._place_of_heading)

    @property
    def _above(self) -> tuple[str, ...]:
        """The headings above, the nearest last, as many as have room."""
        chosen: list[str] = []
        for _, heading in reversed(self._headings):
            if chosen and sum(map(len, chosen)) + len(heading) > _LONGEST_PATH:
                break
            chosen.insert(0, heading)
        return tuple(chosen)

    @property
    def _lead(self) -> str:
        return ", ".join(dict.fromkeys(part for part in (self.title, *self._above) if part)) + ", "

    def _placed(self, snippet: Snippet, line: int, page: int) -> _Placed:
        citation: Citation = {"file": self._name, "headings": [heading for _, heading in self._headings]}
        if line:
            citation["line"] = line
        if page:
            citation["page"] = page
        return snippet, citation

    def _paragraph(self, block: TextBlock) -> Iterator[_Placed]:
        """Yield the sentences of a paragraph, joined into passages, and the addresses that it links to."""
        text, lead, passage = " ".join(block.text.split()), self._lead, ""
        most = _LONGEST - len(lead)
        for start, end in sentence_places(text):
            for piece in _pieces(text[start:end], most):
                if passage and len(passage) + len(piece) + 1 > min(_PASSAGE, most):
                    yield self._placed(self._passage(lead, passage), block.line, block.page)
                    passage = ""
                passage = f"{passage} {piece}".strip()
        if any(map(str.isalnum, passage)):
            yield self._placed(self._passage(lead, passage), block.line, block.page)
        yield from self._addresses(block.links, block.line, block.page)

    def _addresses(self, links: Iterable[tuple[str, str]], line: int, page: int) -> Iterator[_Placed]:
        pairs = [(words, address) for words, address in links if address.removeprefix("mailto:") != words]
        yield from self._pairs(PairsBlock([(f"{words}, address", address) for words, address in pairs], line, page))

    @staticmethod
    def _passage(lead: str, passage: str) -> Snippet:
        """Return a passage with links on the names that its sentences are about."""
        names = (name for start, end in sentence_places(passage) for name in topics(passage, start, end, english()))
        links = (Link(len(lead) + start, len(lead) + end, passage[start:end]) for start, end in names)
        return Snippet(lead + passage, tuple(links), "text")

    def _tables_of(self, block: TableBlock) -> Iterator[_Placed]:
        tables, notes = parts_of(block)
        for table in tables:
            if pairs := named_values(table):
                for name, value, line in pairs:
                    yield from self._pairs(PairsBlock([(name, value)], line, block.page))
            else:
                yield from self._table(table)
        for text, line in notes:
            yield from self._paragraph(TextBlock(text, line, block.page, "note"))
        yield from self._addresses(block.links, 0, block.page)

    def _table(self, block: TableBlock) -> Iterator[_Placed]:
        section = self._headings[-1][1] if self._headings else ""
        about = Row(
            caption=block.caption, section=section, page="", table=next(self._table_numbers), number=0, cells=[]
        )
        block = with_full_names(block, english().operations)
        table, headed = grid_of(block)
        lines = [block.lines[number] for number in data_rows(table, headed)] if block.lines else []
        title = ", ".join(dict.fromkeys(part for part in (self.title, *self._above[:-1]) if part))
        for snippet in row_snippets(table, headed, title, about, _LONGEST):
            links: tuple[Link, ...] = ()  # on the subject of the row: the cell below "Name", or the first cell of words
            for part in sorted(snippet.parts, key=lambda part: fold(part.header) not in english().operations.naming):
                text = snippet.text[part.start : part.end]
                if any(map(str.isalpha, text)) and len(text) <= _LONGEST_NAME:
                    links = (Link(part.start, part.end, text),)
                    break
            number = snippet.row["number"] if snippet.row is not None else len(lines)
            line = lines[number] if number < len(lines) else 0
            yield self._placed(snippet._replace(links=links), line, block.page)

    def _pairs(self, block: PairsBlock) -> Iterator[_Placed]:
        for name, value in block.pairs:
            value = ", ".join(_TICKED.findall(value)) or value  # of the options of a form
            if _BLANK.fullmatch(value):
                continue
            lead = f"{self._lead}{name}, " if name else self._lead
            for piece in _pieces(" ".join(value.split()), max(_PASSAGE - len(name), 80)):
                part = Part(len(lead), len(lead) + len(piece))
                yield self._placed(Snippet(lead + piece, (), "info", (part,), path=(name,)), block.line, block.page)


def _pieces(text: str, most: int) -> Iterator[str]:
    """Return a text in pieces of at most `most` characters, cut at blanks if possible."""
    while len(text) > most:
        cut = text.rfind(" ", most // 2, most)
        cut = cut if cut > 0 else most
        yield text[:cut].strip()
        text = text[cut:].strip()
    if text:
        yield text
