"""The words of a page of a PDF file, and the lines that they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..model import TableBlock

# chosen on tests/cases/pdf.yml and half of the real files; sizes are in heights of the letters, lengths in points
GUTTER = 0.8  # between columns, at least: the blanks of justified prose are narrower over three lines
_MOST_TOGETHER = 2_000  # words at one height; a page with more is not read
MARKER = re.compile(r"[•◦▪■○●‣∙·□*–—-]|\(?(?:\d{1,3}|[a-zA-Z])[.)]")  # of an item of a list
LEADER = re.compile(r" ?(?:\.[ .]*){4,}")  # points from a title to the number of its page
_CUT = re.compile(r"[^\W\d_]{2,}-$")


class PageWord(NamedTuple):
    """A word with its box, or a table, which has its place among the words."""

    text: str
    left: float
    right: float
    bottom: float
    top: float
    is_bold: bool = False
    table: TableBlock | None = None

    @property
    def size(self) -> float:
        """The height of its letters."""
        return self.top - self.bottom

    @property
    def middle(self) -> float:
        """Where it is between the bottom and the top of the page."""
        return (self.top + self.bottom) / 2


PageLine = PageWord  # a line has the words of all of it as its text


def joined(first: str, second: str) -> str:
    """Return two lines as one; a word that is cut at the end of the first is whole again."""
    if _CUT.search(first) and second[:1].islower():
        return first[:-1] + second
    return f"{first} {second}".strip()


def is_leftward(text: str) -> bool:
    """Return True for Hebrew, Arabic and the scripts like these."""
    return "\u0590" <= text[:1] <= "\u08ff"


def starts_item(line: PageLine) -> bool:
    """Return True if a line begins with the sign or the number of an item of a list."""
    marker, _, text = line.text.partition(" ")
    return text != "" and MARKER.fullmatch(marker) is not None


def lines_of(words: Sequence[PageWord]) -> list[PageLine]:
    """Return the lines of words of one column, from the top."""
    return [line for band in bands_of(words) for line in lines_within(band)]


def lines_within(band: Sequence[PageWord]) -> Iterator[PageLine]:
    """Yield the lines of words at one height: one, if none of them is a table and none stands below another."""
    rest = list(band)
    while rest:
        if len(rest) > _MOST_TOGETHER:
            yield from rest
            return
        anchor = max(rest, key=lambda word: (word.table is None, len(word.text)))
        chosen = [anchor] if anchor.table else [word for word in rest if not word.table and (
            abs(word.middle - anchor.middle) < 0.6 * max(word.size, anchor.size))]  # fmt: skip
        taken = {id(word) for word in chosen}
        rest = [word for word in rest if id(word) not in taken]
        is_leftwards = 2 * sum(is_leftward(word.text) for word in chosen) > len(chosen)
        chosen.sort(key=lambda word: -word.right if is_leftwards else word.left)
        yield PageLine(
            LEADER.sub(" … ", " ".join(word.text for word in chosen)), min(word.left for word in chosen), max(word.right for word in chosen),
            anchor.bottom, anchor.top, all(word.is_bold for word in chosen), anchor.table,
        )  # fmt: skip


def text_of(words: Sequence[PageWord]) -> str:
    """Return the text of words of one column."""
    text = ""
    for line in lines_of(words):
        text = joined(text, line.text)
    return text


def bands_of(words: Sequence[PageWord]) -> list[list[PageWord]]:
    """Return words by height: those of a band overlap, and no word is in two of them."""
    bands: list[list[PageWord]] = []
    floor = 0.0
    for word in sorted(words, key=lambda word: -word.middle):
        half = (0.5 if word.table else 0.3) * word.size  # letters of close lines overlap, their middles do not
        if bands and word.middle + half > floor:
            bands[-1].append(word)
            floor = min(floor, word.middle - half)
        else:
            bands.append([word])
            floor = word.middle - half
    return bands
