"""Reads OpenDocument files into blocks: texts, sheets and slides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from itertools import islice, product
from typing import Any

from ...support.errors import DataError
from ..model import Block, Heading, ReadDocument, TableBlock, TextBlock
from .html import raised_words
from .office import ADDRESSES, element_name, unpacked, xml_root

_MOST_COLUMNS, _MOST_EMPTY = 1000, 100  # of a table of OpenDocument; repeated empty cells that may be between others
_MOST_ALIKE = 1000  # rows that are alike
_MOST_MERGED = 100_000  # places of merged cells of such a table


def read_open_text(data: bytes) -> ReadDocument:
    """Return the text of an OpenDocument file, as it reads with all changes accepted: a text, a sheet or slides."""
    root = xml_root(unpacked(data).read("content.xml"))
    return ReadDocument("", list(_OpenFile(root).blocks(root)))


class _OpenFile:
    def __init__(self, root: Any) -> None:
        self._left_out: set[str] = set()  # names of styles whose words are struck or hidden, and of hidden tables
        self._raised: set[str] = set()
        for style in root.iter():
            if element_name(style) != "style":
                continue
            name = _attributes(style).get("name", "")
            looks = {key: value for part in style for key, value in _attributes(part).items()}
            struck = looks.get("text-line-through-style", looks.get("text-line-through-type", "none"))
            if struck != "none" or looks.get("display") in ("none", "false"):
                self._left_out.add(name)
            if looks.get("text-position", "").startswith("super"):
                self._raised.add(name)

    def blocks(self, parent: Any, is_item: bool = False) -> Iterator[Block]:
        """Yield the blocks below an element."""
        for node in parent:
            name, attributes = element_name(node), _attributes(node)
            if name in ("h", "p"):
                words = _OpenWords(self._left_out, self._raised)
                words.walk(node)
                text, level = words.text, attributes.get("outline-level", "1")
                if text and name == "h":
                    yield Heading(text, min(int(level), 5) + 1)
                elif text:
                    yield TextBlock(text, kind="item" if is_item else "text", links=words.links)
                yield from self._notes(words.notes)
                for box in words.boxes:
                    yield from self.blocks(box)
            elif name == "table":
                if attributes.get("style-name") not in self._left_out:
                    table = list(self._table(node))
                    if table and element_name(parent) == "spreadsheet" and attributes.get("name"):
                        yield Heading(attributes["name"], 2)
                    yield from table
            elif name not in ("tracked-changes", "annotation", "note", "forms", "automatic-styles", "font-face-decls"):
                yield from self.blocks(node, is_item or name == "list")

    def _notes(self, notes: Iterable[Any]) -> Iterator[Block]:
        for note in notes:
            author = next(("".join(part.itertext()) for part in note if element_name(part) == "creator"), "")
            for block in self.blocks([part for part in note.iter() if element_name(part) == "p"]):
                if isinstance(block, TextBlock):
                    text = f"{author}: {block.text}" if author else block.text
                    yield block._replace(text=text, kind="note")

    def _table(self, node: Any) -> Iterator[Block]:
        """Yield a table of OpenDocument, its merged cells in each of their places, and its notes. Raises `DataError` for too many."""
        rows: list[list[str]] = []
        merged: dict[tuple[int, int], tuple[int, int]] = {}
        notes: list[Any] = []
        links: list[tuple[str, str]] = []
        for row in (found for found in node.iter() if element_name(found) == "table-row"):
            attributes = _attributes(row)
            if attributes.get("visibility", "visible") != "visible":
                continue
            texts: list[str] = []
            for cell in row:
                sizes = _attributes(cell)
                words = _OpenWords(self._left_out, self._raised)
                words.walk(cell)
                text = words.text or (sizes.get("value", "") if sizes.get("value-type") == "float" else "")
                notes += words.notes
                links += words.links
                height, width = (int(sizes.get(f"number-{axis}-spanned", 1)) for axis in ("rows", "columns"))
                if text and len(merged) + height * width > _MOST_MERGED:
                    raise DataError(f"has more than {_MOST_MERGED:,} places of merged cells")
                if text:
                    places = product(range(len(rows), len(rows) + height), range(len(texts), len(texts) + width))
                    merged |= dict.fromkeys(islice(places, 1, None), (len(rows), len(texts)))
                # empty cells are repeated to the end of the sheet
                repeated = int(sizes.get("number-columns-repeated", 1))
                texts += [text] * min(repeated, _MOST_COLUMNS if text else _MOST_EMPTY)
            while texts and not texts[-1]:
                texts.pop()
            if texts:  # rows that are alike are written once
                rows += [texts[:_MOST_COLUMNS]] * min(int(attributes.get("number-rows-repeated", 1)), _MOST_ALIKE)
            elif rows and rows[-1] or any((len(rows), column) in merged for column in range(_MOST_EMPTY)):
                rows.append(texts)  # one empty row stands for several
        if rows and not rows[-1] and not any(row == len(rows) - 1 for row, _ in merged):
            rows.pop()
        merged = {place: first for place, first in merged.items() if place[0] < len(rows) and place[1] < _MOST_COLUMNS}
        width = max([*map(len, rows), *(column + 1 for _, column in merged)], default=0)
        cells = [[*row, *[""] * (width - len(row))] for row in rows]
        for (down, right), (first_row, first_column) in merged.items():
            cells[down][right] = cells[first_row][first_column]
        if cells:
            yield TableBlock(cells, merged, links=links)
        yield from self._notes(notes)


class _OpenWords:
    """The words of a paragraph or a cell without deleted, struck and hidden ones; its links, notes and text boxes."""

    def __init__(self, left_out: Set[str], raised: Set[str]) -> None:
        self._left_out, self._raised = left_out, raised
        self._text = ""
        self.links: list[tuple[str, str]] = []
        self.notes: list[Any] = []
        self.boxes: list[Any] = []

    @property
    def text(self) -> str:
        return " ".join(self._text.split())

    def walk(self, node: Any, is_raised: bool = False) -> None:
        """Add the words of an element."""
        self._add(node.text, is_raised)
        for child in node:
            name, attributes = element_name(child), _attributes(child)
            style, start = attributes.get("style-name", ""), len(self._text)
            if name in ("annotation", "note"):
                self.notes.append(child)
            elif name == "text-box":
                self.boxes.append(child)
            elif name and name not in ("annotation-end", "title", "desc") and style not in self._left_out:
                self._text += " " if name in ("s", "tab", "line-break", "p", "list-item") else ""
                self.walk(child, is_raised or (name == "span" and style in self._raised))
                words, address = " ".join(self._text[start:].split()), attributes.get("href", "")
                if name == "a" and words and address.startswith(ADDRESSES):
                    self.links.append((words, address))
            self._add(child.tail, is_raised)

    def _add(self, words: str | None, is_raised: bool) -> None:
        if words:
            self._text += (raised_words(self._text, words.strip(), False) if is_raised else None) or words


def _attributes(node: Any) -> dict[str, str]:
    return {key.rpartition("}")[2]: value for key, value in node.attrib.items()}
