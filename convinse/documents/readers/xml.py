"""Reads XML of any kind: elements of one name in a row are records, others are names with values, headings and text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from ...support.errors import DataError, one_line
from ...support.limits import DEEPEST_ELEMENT
from ..model import Block, Heading, PairsBlock, ReadDocument, TextBlock
from .code_pages import decoded
from .html import read_html
from .office import element_name
from .records import TITLES, blocks_of, words_of_name

_DECLARATION = re.compile(r"^\s*<\?xml\b[^>]*\?>")  # of an encoding, which the text has no more
_LONG_VALUE = 200  # characters; a longer value is prose
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>")  # of HTML in a text, as feeds have it
_PROSE = ("p", "para")  # an element that has paragraphs is a part of a document
_WORDS = ("title", "desc", "text")  # elements of a drawing that have words


def read_xml(data: bytes) -> ReadDocument:
    """Return the records, values and texts of an XML file, without its entities. Raises `DataError`."""
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(_DECLARATION.sub("", decoded(data), count=1).encode(), parser)
    except etree.XMLSyntaxError as error:
        raise DataError(f"is not XML ({one_line(error)[:200]})") from None
    etree.strip_elements(root, etree.Entity, with_tail=False)
    name = element_name(root)
    if name == "html":
        return read_html(data)
    depth = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > DEEPEST_ELEMENT:
            raise DataError(f"has more than {DEEPEST_ELEMENT} elements within one another")
    if name == "svg":
        words = ((node.sourceline, _words(node)) for node in root.iter() if element_name(node) in _WORDS)
        return ReadDocument("", [TextBlock(text, line or 0) for line, text in words if text])
    return ReadDocument("", list(_blocks(root, 2)))


def _words(node: Any) -> str:
    """Return all text below an element in one line; of text that is HTML its words."""
    text = "".join(node.itertext())
    if _MARKUP.search(text):
        body = LexborHTMLParser(text).body
        text = "" if body is None else body.text(separator=" ")
    return " ".join(text.split())


def _parts(node: Any) -> list[Any]:
    """Return the elements in an element, none if words are between them."""
    parts = [child for child in node if element_name(child)]
    is_prose = (node.text or "").strip() or any((child.tail or "").strip() for child in node)
    return [] if is_prose else parts


def _attributes(node: Any) -> list[tuple[str, str]]:
    return [(words_of_name(name.rpartition("}")[2]), value) for name, value in node.attrib.items() if value]


def _blocks(node: Any, level: int, heading: str = "") -> Iterator[Block]:
    pairs, line = _attributes(node), node.sourceline or 0
    parts = _parts(node)
    if parts and heading:
        parts = [part for part in parts if element_name(part) not in TITLES or _words(part) != heading]
    elif not parts and (text := _words(node)):
        yield TextBlock(text, line)
    for name, group in groupby(parts, element_name):
        nodes, words = list(group), words_of_name(name)
        if len(nodes) > 1 and all(map(_is_record, nodes)):
            if pairs:
                yield PairsBlock(pairs, line)
            pairs = []
            lines = [record.sourceline or 0 for record in nodes]
            blocks = list(blocks_of([_value(record) for record in nodes], lines))
            if len(nodes) < len(parts) and not isinstance(blocks[0], Heading):
                yield Heading(words, min(level, 6), lines[0])
            yield from (
                block._replace(level=min(level, 6)) if isinstance(block, Heading) else block for block in blocks
            )
            continue
        for part in nodes:
            inner, attributes, text = _parts(part), _attributes(part), _words(part)
            if not inner and len(text) <= _LONG_VALUE and _is_value(part):
                pairs += [(words, text)] if text else []
                pairs += [(f"{words} {key}", value) for key, value in attributes]
                continue
            if pairs:
                yield PairsBlock(pairs, line)
            pairs, line = [], part.sourceline or 0
            if inner:
                title = next((_words(child) for child in inner if element_name(child) in TITLES), "")
                title = title if 0 < len(title) <= _LONG_VALUE else words
                yield Heading(title, min(level, 6), line)
                yield from _blocks(part, level + 1, title)
            elif text:
                yield TextBlock(text, line)
    if pairs:
        yield PairsBlock(pairs, line)


def _is_value(node: Any) -> bool:
    """Return True unless an element is a paragraph: it has marks in its words, or others of its name are beside it."""
    beside = [other for other in (node.getprevious(), node.getnext()) if other is not None]
    return not len(node) and not any(other.tag == node.tag for other in beside)


def _is_record(node: Any) -> bool:
    if any(element_name(part) in _PROSE or len(part) and not _parts(part) for part in node.iterdescendants()):
        return False
    return bool(_parts(node)) or bool(node.attrib) and not len(node) and len(_words(node)) <= _LONG_VALUE


def _value(node: Any) -> Any:
    """Return an element as JSON would have it."""
    parts, attributes = _parts(node), _attributes(node)
    text = "" if parts else _words(node)
    if not parts and not attributes:
        return text
    values: dict[str, list[Any]] = {name: [words] for name, words in dict(attributes).items()}
    for part in parts:
        values.setdefault(element_name(part), []).append(_value(part))
    value = {name: several if len(several) > 1 else several[0] for name, several in values.items()}
    return {**value, "": text} if text else value
