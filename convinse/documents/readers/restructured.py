"""Reads reStructuredText into blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..model import Block, CellGrid, Heading, Kind, PairsBlock, ReadDocument, TextBlock
from .code_pages import decoded
from .html import raised_words

_ROLE = re.compile(r":(?!su[bp])[a-z][\w:+.-]*:`([^`]*?)(?:\s*<[^`<>]*>)?`")
_WARNING = 2  # level of messages of docutils about what it reads all the same
_OPTION = re.compile(r"\s*(?:\.\. |:[\w-]+:)")
_SETTINGS = {"raw_enabled": False, "file_insertion_enabled": False, "report_level": 5, "halt_level": 5}


def read_restructured(data: bytes) -> ReadDocument:
    """Return the content of reStructuredText; roles and directives of Sphinx count with their words."""
    from docutils.core import publish_doctree

    text = _ROLE.sub(r"``\1``", decoded(data))  # docutils does not know the roles of Sphinx
    tree = publish_doctree(text, settings_overrides=_SETTINGS)
    return ReadDocument(str(tree.get("title", "")), list(_NodeWalk().blocks(tree, 1)))


class _NodeWalk:
    def __init__(self) -> None:
        self._line = 0

    def blocks(self, node: Any, level: int, kind: Kind = "text") -> Iterator[Block]:
        """Yield the blocks below a node of a document; `level` is that of its headings."""
        for child in node.children:
            name = type(child).__name__
            stated = child.get("line") if name == "system_message" else None
            self._line = stated or child.line or self._line
            if name in ("title", "subtitle", "rubric"):
                yield Heading(" ".join(child.astext().split()), min(level, 6), self._line)
            elif name == "section":
                yield from self.blocks(child, level + 1)
            elif name in ("paragraph", "line", "caption", "attribution", "term") or type(child).__name__ == "Text":
                yield from self._paragraph(child, kind)
            elif name in ("literal_block", "doctest_block", "math_block"):
                yield TextBlock(child.astext(), self._line, kind="code")
            elif name in ("list_item", "block_quote"):
                yield from self.blocks(child, level, "item" if name == "list_item" else "quotation")
            elif name == "table":
                yield from self._table(child)
            elif name in ("field_list", "option_list", "docinfo"):
                yield from self._fields(child)
            elif name == "definition_list":
                yield from self._definitions(child, level)
            elif name == "footnote":
                yield TextBlock(" ".join(child.astext().split()), self._line, kind="note")
            elif name == "system_message":
                yield from self._unknown(child)
            elif name in ("sidebar", "topic"):
                yield from self.blocks(child, level + 1)
            elif name not in ("comment", "substitution_definition", "target", "raw", "image", "pending"):
                yield from self.blocks(child, level, kind)

    def _paragraph(self, node: Any, kind: Kind) -> Iterator[Block]:
        text = _words(node)
        references = [found for found in node.findall() if type(found).__name__ == "reference"]
        links = [(" ".join(found.astext().split()), str(found.get("refuri", ""))) for found in references]
        outside = tuple(link for link in links if link[1].startswith(("http://", "https://", "mailto:")))
        if text:
            yield TextBlock(text, self._line, kind=kind, links=outside)

    def _fields(self, node: Any) -> Iterator[Block]:
        pairs = []
        for field in node.children:
            if len(field.children) > 1:
                name, body = (" ".join(part.astext().split()) for part in field.children[:2])
                pairs.append((name, body))
            else:  # `author`, `date` and other fields of a document
                pairs.append((type(field).__name__, " ".join(field.astext().split())))
        if pairs := [pair for pair in pairs if pair[1]]:
            yield PairsBlock(pairs, self._line)

    def _definitions(self, node: Any, level: int) -> Iterator[Block]:
        for entry in node.children:
            parts = {type(part).__name__: part for part in entry.children}
            term, body = parts.get("term"), parts.get("definition")
            if term is None or body is None:
                continue
            if all(type(part).__name__ == "paragraph" for part in body.children):
                yield PairsBlock([(" ".join(term.astext().split()), " ".join(body.astext().split()))], self._line)
            else:
                yield from self._paragraph(term, "text")
                yield from self.blocks(body, level)

    def _table(self, node: Any) -> Iterator[Block]:
        rows, heads, caption, grid = 0, 0, "", CellGrid()
        for part in node.findall():
            name = type(part).__name__
            if name == "title":
                caption = part.astext()
            elif name == "row":
                heads += type(part.parent).__name__ == "thead"
                for entry in part.children:
                    text = _words(entry)
                    down, right = entry.get("morerows", 0) + 1, entry.get("morecols", 0) + 1
                    grid.put(rows, grid.free(rows), text, down, right)
                rows += 1
        if grid.texts:
            yield grid.table(rows, heads, caption, [self._line] * rows)

    def _unknown(self, node: Any) -> Iterator[Block]:
        """Yield the words of a directive that docutils does not know."""
        for block in node.findall():
            if type(block).__name__ == "literal_block":
                first, *lines = block.astext().splitlines() or [""]
                if node.get("level", 0) == _WARNING and not first.lstrip().startswith(".."):
                    continue  # a title whose line is too short has been read
                argument = first.partition("::")[2].strip()
                words = [argument, *(line.strip() for line in lines if not _OPTION.match(line))]
                if argument.isidentifier() and not any(words[1:]):  # `.. unknown:: x` names something and says nothing
                    continue
                if text := " ".join(filter(None, words)):
                    yield TextBlock(text, self._line)


def _words(node: Any) -> str:
    """Return the words below a node in one line, powers with their sign."""
    text = ""
    for part in node.findall():
        if type(part).__name__ == "Text":
            raised = raised_words(text, part.astext(), False) if type(part.parent).__name__ == "superscript" else None
            text += raised or part.astext()
        elif type(part).__name__ == "paragraph" and text:
            text += "\n"
    return " ".join(text.split())
