"""Pieces of a page's text with their links."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from ..language.language import english
from ..records.evidence import Row

_MARK_SIGNS = re.compile(r"[\[^]")


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


class Snippet(NamedTuple):
    """Text with its links; `source` is `text`, `table` or `info`.

    The text of a row or an attribute has `parts`, which do not overlap; `row` is the row, its cells and page aside, `path` is that
    of the attribute.
    """

    text: str
    links: tuple[Link, ...]
    source: str
    parts: tuple[Part, ...] = ()
    row: Row | None = None
    path: tuple[str, ...] = ()

    def part(self, start: int, end: int) -> Snippet:
        """Return the snippet of `text[start:end]`, with the links in it."""
        links = [link for link in self.links if start <= link.start and link.end <= end]
        moved = (Link(link.start - start, link.end - start, link.target) for link in links)
        return Snippet(self.text[start:end], tuple(moved), self.source)

    def after(self, lead: str) -> Snippet:
        """Return the snippet behind other text."""
        size = len(lead)
        links = [Link(start + size, end + size, target) for start, end, target in self.links]
        parts = [Part(start + size, end + size, header, column) for start, end, header, column in self.parts]
        return self._replace(text=lead + self.text, links=tuple(links), parts=tuple(parts))

    def plus(self, lead: str, other: Snippet) -> Snippet:
        """Return the snippet with another one behind it, and `lead` between them."""
        moved = other.after(self.text + lead)
        return self._replace(text=moved.text, links=self.links + moved.links, parts=self.parts + moved.parts)

    def cleaned(self) -> Snippet:
        """Return the snippet without footnote marks such as `[1]` and their links."""
        if not _MARK_SIGNS.search(self.text):
            return self
        marks = [match.span() for match in english().pages.marks.finditer(self.text)]
        if not marks:
            return self
        stays = [True] * len(self.text)
        for start, end in marks:
            stays[start:end] = [False] * (end - start)
        text = "".join(itertools.compress(self.text, stays))
        begin = len(text) - len(text.lstrip(" ,"))
        text = text.strip().lstrip(" ,")
        places = [0, *itertools.accumulate(stays)]  # characters that stay before each place

        def moved(start: int, end: int) -> tuple[int, int]:
            start, end = max(0, places[start] - begin), places[end] - begin
            words = text[start:end].rstrip(" ,")
            return skip_blank(text, start, start + len(words)), start + len(words)

        links = [Link(*moved(start, end), target) for start, end, target in self.links]
        parts = [Part(*moved(start, end), header, column) for start, end, header, column in self.parts]
        return self._replace(
            text=text,
            links=tuple(link for link in links if link.start < link.end),
            parts=tuple(part for part in parts if part.start < part.end),
        )


def skip_blank(text: str, start: int, end: int) -> int:
    """Return the place of the first character of `text[start:end]` besides blanks and commas; `end` without any."""
    return end - len(text[start:end].lstrip(" ,"))


def clean(text: str) -> str:
    """Return a cell or sentence without footnote marks such as `[1]` or `[a]`."""
    return english().pages.marks.sub("", text).strip()
