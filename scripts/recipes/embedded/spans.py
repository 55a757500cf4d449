"""Texts joined, cut and searched, with the places of answers in them."""

import random
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator

Move = Callable[[int, int], tuple[int, int]]
MOST_CHARACTERS = 3000
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


def cut(text: str, start: int, end: int, chance: random.Random, most: int = MOST_CHARACTERS) -> tuple[str, int]:
    """Whole sentences around a span, of at most so many characters, and where they begin in the text."""
    if len(text) <= most:
        return text, 0
    borders = list(sentence_borders(text))
    first, last = max(0, bisect_right(borders, start) - 1), bisect_left(borders, end)
    if borders[last] - borders[first] > most:  # sentences too long: they are cut, too
        begin = max(borders[first], start - chance.randint(0, max(0, most - (end - start))))
        stop = max(end, min(borders[last], begin + most))
    else:
        share = chance.random()
        while True:
            before = first > 0 and borders[last] - borders[first - 1] <= most
            behind = last + 1 < len(borders) and borders[last + 1] - borders[first] <= most
            if before and (not behind or chance.random() < share):
                first -= 1
            elif behind:
                last += 1
            else:
                break
        begin, stop = borders[first], borders[last]
    found = text[begin:stop].rstrip()
    return found.lstrip(), begin + len(found) - len(found.lstrip())


def sentence_borders(text: str) -> Iterator[int]:
    """Where sentences begin, and the end of the text."""
    import sentencex

    place = 0
    for sentence in sentencex.segment("en", text):
        yield place + len(sentence) - len(sentence.lstrip())
        place += len(sentence)
    yield len(text)


def standing(answer: str, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where an answer stands in a part of a text, in any case, as whole words."""
    if answer:
        for match in re.finditer(rf"(?<!\w){re.escape(answer)}(?!\w)", text[start:end], re.IGNORECASE):
            yield start + match.start(), start + match.end()
