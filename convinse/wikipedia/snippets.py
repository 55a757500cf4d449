"""Pieces of a page's text with the links that stand in them."""

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
        marks = [match.span() for match in english().pages.marks.finditer(self.text)]
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
            return skip_blank(text, start, end), end

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


def skip_blank(text: str, start: int, end: int) -> int:
    """Return the place of the first character of `text[start:end]` that is no blank or comma; `end` if none is."""
    return end - len(text[start:end].lstrip(" ,"))


def clean(text: str) -> str:
    """A cell or sentence without footnote marks such as `[1]` or `[a]`."""
    return english().pages.marks.sub("", text).strip()
