"""Tokens with character offsets, and the places of an answer in a text.

A token is a run of letters, digits and the marks that belong to them, or one other visible character: words and
punctuation are apart, numbers such as `35,000` and `3.5` are whole. Han characters and Japanese syllables are a token
each, as no blanks part their words. An emoji keeps its modifiers, and the two halves of a flag are together. The marks
of MRQA contexts, `[TLE]`, `[DOC]` and `[PAR]`, are tokens of their own. Offsets count characters (code points).
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from importlib import import_module
from typing import NamedTuple

from ..language.text import marks

TITLE_MARK, DOCUMENT_MARK, PARAGRAPH_MARK = "[TLE]", "[DOC]", "[PAR]"

Token = tuple[str, int]

_MARKS = r"\[(?:TLE|DOC|PAR)\]"
_ASCII = re.compile(rf"{_MARKS}|\w+(?:(?<=\d)[.,]\d\w*)*|[^\w\s]")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
NO_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation))


class Place(NamedTuple):
    """A place in a text: characters `start` to `end` and tokens `first` to `last`, all of them inclusive."""

    start: int
    end: int
    first: int
    last: int


def tokenize(text: str) -> list[Token]:
    """The tokens of a text in order, each with the offset of its first character; only white space lies between."""
    pattern = _ASCII if text.isascii() else _unicode()
    return [(match[0], match.start()) for match in pattern.finditer(text)]


def spacy_tokenizer() -> Callable[[str], list[Token]] | None:
    """spaCy's rules for English, which made the tokens of the MRQA task; None if the extra `spacy` is not installed.

    The marks of MRQA contexts are tokens, white space is none.
    """
    try:
        tokenizer = import_module("spacy").blank("en").tokenizer
    except ImportError:
        return None
    for mark in (TITLE_MARK, DOCUMENT_MARK, PARAGRAPH_MARK):
        tokenizer.add_special_case(mark, [{"ORTH": mark}])

    def tokens(text: str) -> list[Token]:
        return [(token.text, token.idx) for token in tokenizer(text) if not token.text.isspace()]

    return tokens


@lru_cache(maxsize=1)
def _unicode() -> re.Pattern[str]:
    """The pattern for any text: combining marks stay with what they combine with, which `\\w` alone does not see."""
    mark = marks()
    joined = rf"[{mark}\U0001F3FB-\U0001F3FF\U000E0020-\U000E007F]"  # marks, skin tones, the tags of a flag
    han = r"\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    return re.compile(
        rf"{_MARKS}"
        rf"|[{han}](?<=\w)[{mark}]*"
        rf"|(?![{han}])\w(?:(?![{han}])[\w{mark}])*(?:(?<=\d)[.,]\d(?:(?![{han}])[\w{mark}])*)*"
        r"|[\U0001F1E6-\U0001F1FF]{2}"
        rf"|[^\w\s]{joined}*(?:\u200d[^\w\s]{joined}*)*"
    )


def normalize(text: str) -> str:
    """The form in which SQuAD and MRQA compare answers: no case, ASCII punctuation, English articles, extra blanks."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(NO_PUNCTUATION)).split())


def _occurrences(wanted: str, text: str) -> Iterator[int]:
    """Where a string begins in a text, overlaps included; an empty one nowhere."""
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


class TokenizedText:
    """A text, its tokens, and look-ups between characters and tokens.

    Args:
        text: the text.
        tokens: its tokens where they are known (another tokenizer's, in order); else they are made.
    """

    def __init__(self, text: str, tokens: list[Token] | None = None) -> None:
        self.text = text
        self.tokens = tokenize(text) if tokens is None else tokens

    @cached_property
    def starts(self) -> list[int]:
        """The offsets of the tokens' first characters."""
        return [start for _, start in self.tokens]

    @cached_property
    def ends(self) -> list[int]:
        """The offsets of the tokens' last characters."""
        return [start + len(token) - 1 for token, start in self.tokens]

    def token_span(self, start: int, end: int) -> tuple[int, int] | None:
        """The first and the last token that share a character with `start` to `end` (inclusive), or None."""
        first = bisect_left(self.ends, start)
        last = bisect_right(self.starts, end) - 1
        return (first, last) if first <= last else None

    def on_borders(self, start: int, end: int) -> Place | None:
        """The place of the characters `start` to `end` (inclusive) if they are whole tokens."""
        first = bisect_left(self.starts, start)
        if first == len(self.starts) or self.starts[first] != start:
            return None
        last = bisect_left(self.ends, end, first)
        if last == len(self.ends) or self.ends[last] != end:
            return None
        return Place(start, end, first, last)

    def find(self, answer: str) -> list[Place]:
        """All places of an answer on token borders, in order: as it stands, or else compared with `normalize`.

        Places may overlap (`ha ha` is twice in `ha ha ha`). A place found by its normal form begins and ends with
        what the form keeps: `The "Beatles"` is found in `by the Beatles.` as `Beatles`.
        """
        return self._exact(answer.strip()) or self._normal(answer)

    def _exact(self, answer: str) -> list[Place]:
        places = (self.on_borders(at, at + len(answer) - 1) for at in _occurrences(answer, self.text))
        return [place for place in places if place is not None]

    def _normal(self, answer: str) -> list[Place]:
        wanted = normalize(answer)
        if not wanted or wanted not in self._normal_text:
            return []
        text, offsets = self._offsets
        places = (self.on_borders(offsets[at], offsets[at + len(wanted) - 1]) for at in _occurrences(wanted, text))
        return [
            place
            for place in places
            if place is not None and normalize(self.text[place.start : place.end + 1]) == wanted
        ]

    @cached_property
    def _normal_text(self) -> str:
        return normalize(self.text)

    @cached_property
    def _offsets(self) -> tuple[str, list[int]]:
        """The text as `normalize` leaves it, and the offset that each of its characters comes from."""
        letters: list[str] = []
        offsets: list[int] = []
        for offset, char in enumerate(self.text.lower() if len(self.text.lower()) == len(self.text) else self.text):
            if ord(char) in NO_PUNCTUATION:
                continue
            for letter in char.lower():  # a few letters become two
                letters.append(" " if letter.isspace() else letter)
                offsets.append(offset)
        plain = "".join(letters)
        plain = _ARTICLES.sub(lambda match: " " * len(match[0]), plain)
        kept = [i for i, char in enumerate(plain) if char != " " or (i and plain[i - 1] != " ")]
        return "".join(plain[i] for i in kept), [offsets[i] for i in kept]
