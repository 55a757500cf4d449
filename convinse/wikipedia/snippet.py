"""Snippets: pieces of a page's text with the links that stand in them."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

_MARK_SIGNS = re.compile(r"[\[^]")
_MARK = re.compile(
    r"\s*\[ ?(?:\d+|[a-z]{1,2}|(?:note|nb|n|N|A|B|fn) ?\d+|[Nn]otes? \d+|citation needed|edit|which\?|who\?|when\?) ?\]|\s*\^"
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

    def after(self, lead: str) -> Snippet:
        """The snippet behind other text."""
        size = len(lead)
        links = tuple(Link(link.start + size, link.end + size, link.target) for link in self.links)
        return Snippet(lead + self.text, links, self.source)

    def cleaned(self) -> Snippet:
        """The snippet without footnote marks such as `[1]`, and without the links that stood on them."""
        if not _MARK_SIGNS.search(self.text):
            return self
        marks = [match.span() for match in _MARK.finditer(self.text)]
        if not marks:
            return self
        kept = [(0, 0), *marks, (len(self.text), len(self.text))]
        text = "".join(self.text[left:right] for (_, left), (right, _) in itertools.pairwise(kept))
        begin = len(text) - len(text.lstrip(" ,"))

        def place(position: int) -> int:
            return position - sum(min(end, position) - start for start, end in marks if start < position) - begin

        text = text.strip().lstrip(" ,")
        links = []
        for link in self.links:
            start, end = max(0, place(link.start)), min(len(text), place(link.end))
            while start < end and text[start] in " ,":
                start += 1
            if start < end:
                links.append(Link(start, end, link.target))
        return Snippet(text, tuple(links), self.source)


def clean(text: str) -> str:
    """A cell or sentence without footnote marks such as `[1]` or `[a]`."""
    return _MARK.sub("", text).strip()
