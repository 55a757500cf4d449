"""Texts joined, cut and searched, with the places of answers in them."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

from convinse.wikipedia.page import sentence_places

Move = Callable[[int, int], tuple[int, int]]
_NO_BLANK_BEFORE = re.compile(r"(?:[,.;:!?%)\]}°-]|/|\.\.\.|''|'(?:s|ll|m|d|ve|re)|n't)", re.I)
_NO_BLANK_BEHIND = re.compile(r"[(\[{$£€₹#/-]|``")
_QUOTES = {"``": '"', "''": '"'}  # of the Penn Treebank


def untokenised(text: str) -> tuple[str, Move]:
    """A text without the blanks of its tokenisation, and a function that moves spans (start, end) of the old one."""
    pieces: list[str] = []
    places: list[tuple[int, int]] = []  # of each token in the new text: start and length
    starts: list[int] = []  # in the old one
    size = 0
    joined = True
    for match in re.finditer(r"\S+", text):
        token = match[0]
        if not joined and not _NO_BLANK_BEFORE.fullmatch(token):
            pieces.append(" ")
            size += 1
        joined = _NO_BLANK_BEHIND.fullmatch(token) is not None
        token = _QUOTES.get(token, token)
        starts.append(match.start())
        places.append((size, len(token)))
        pieces.append(token)
        size += len(token)

    def move(start: int, end: int) -> tuple[int, int]:
        first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
        (begin, length), (stop, last_length) = places[first], places[last]
        return begin + min(start - starts[first], length), stop + min(end - starts[last], last_length)

    return "".join(pieces), move


def beginning(text: str, most: int) -> str:
    """Return the whole sentences at the beginning of a text that have at most so many characters together."""
    if len(text) <= most:
        return text
    last = max((start for start, _ in sentence_places(text) if start <= most), default=0)
    return text[: last or most].strip()


def standing(answer: str, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where an answer stands in a part of a text, in any case, as whole words."""
    if answer:
        for match in re.finditer(rf"(?<!\w){re.escape(answer)}(?!\w)", text[start:end], re.IGNORECASE):
            yield start + match.start(), start + match.end()
