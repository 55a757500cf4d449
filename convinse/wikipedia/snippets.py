"""Pieces of a page's text with their links."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from typing import NamedTuple

from ..language.language import english

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


class TableRow(NamedTuple):
    """The row of a snippet: its `table` and `number`, both from 0; `part` is the title above a part of the table."""

    caption: str
    section: str
    part: str
    table: int
    number: int


class Snippet(NamedTuple):
    """Text with its links; `source` is `text`, `table` or `info`.

    The text of a row or an attribute has `parts`, which do not overlap; `row` identifies the row, `path` the attribute.
    """

    text: str
    links: tuple[Link, ...]
    source: str
    parts: tuple[Part, ...] = ()
    row: TableRow | None = None
    path: tuple[str, ...] = ()

    def part(self, start: int, end: int) -> Snippet:
        """Return the snippet of `text[start:end]`, with the links in it."""
        links = [
            Link(link.start - start, link.end - start, link.target)
            for link in self.links
            if start <= link.start and link.end <= end
        ]
        return Snippet(self.text[start:end], tuple(links), self.source)

    def after(self, lead: str) -> Snippet:
        """Return the snippet behind other text."""
        return self.moved(len(lead))._replace(text=lead + self.text)

    def moved(self, size: int) -> Snippet:
        """Return the snippet with its places shifted by `size`; the text stays."""
        links = [Link(link.start + size, link.end + size, link.target) for link in self.links]
        parts = [Part(part.start + size, part.end + size, part.header, part.column) for part in self.parts]
        return self._replace(links=tuple(links), parts=tuple(parts))

    def cleaned(self) -> Snippet:
        """Return the snippet without footnote marks such as `[1]` and their links."""
        if not _MARK_SIGNS.search(self.text):
            return self
        marks = [match.span() for match in english().pages.marks.finditer(self.text)]
        if not marks:
            return self
        borders = [(0, 0), *marks, (len(self.text), len(self.text))]
        text = "".join(self.text[left:right] for (_, left), (right, _) in itertools.pairwise(borders))
        begin = len(text) - len(text.lstrip(" ,"))
        text = text.strip().lstrip(" ,")
        starts = [start for start, _ in marks]
        removed = list(
            itertools.accumulate((end - start for start, end in marks), initial=0)
        )  # characters before a mark

        def place(position: int) -> int:
            number = bisect_left(starts, position)
            beyond = max(0, marks[number - 1][1] - position) if number else 0  # of a mark around the position
            return position - (removed[number] - beyond) - begin

        def moved(start: int, end: int) -> tuple[int, int]:
            start, end = max(0, place(start)), min(len(text), place(end))
            return skip_blank(text, start, end), end

        links = []
        for link in self.links:
            start, end = moved(link.start, link.end)
            if start < end:
                links.append(Link(start, end, link.target))
        parts = []
        for part in self.parts:
            start, end = moved(part.start, part.end)
            end = start + len(text[start:end].rstrip(" ,"))
            if start < end:
                parts.append(part._replace(start=start, end=end))
        return self._replace(text=text, links=tuple(links), parts=tuple(parts))


def skip_blank(text: str, start: int, end: int) -> int:
    """Return the place of the first character of `text[start:end]` besides blanks and commas; `end` without any."""
    return end - len(text[start:end].lstrip(" ,"))


def clean(text: str) -> str:
    """Return a cell or sentence without footnote marks such as `[1]` or `[a]`."""
    return english().pages.marks.sub("", text).strip()
