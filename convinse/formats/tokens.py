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

from ..language.text import marks

TITLE_MARK, DOCUMENT_MARK, PARAGRAPH_MARK = "[TLE]", "[DOC]", "[PAR]"

Token = tuple[str, int]

_MARKS = r"\[(?:TLE|DOC|PAR)\]"
_ASCII = re.compile(rf"{_MARKS}|\w+(?:(?<=\d)[.,]\d\w*)*|[^\w\s]")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
NO_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation))


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text in order, with the offsets of their first characters; between them is white space."""
    pattern = _ASCII if text.isascii() else _unicode()
    return [(match[0], match.start()) for match in pattern.finditer(text)]


def spacy_tokenizer() -> Callable[[str], list[Token]] | None:
    """Return spaCy's tokenizer for English, which made the tokens of the MRQA task, without white space.

    None if the extra `spacy` is not installed. The marks of MRQA contexts are tokens.
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
    mark = marks()  # combining marks stay with the letter before, which `\\w` alone does not see
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
    """Return the form in which SQuAD and MRQA compare answers: no case, ASCII punctuation, English articles, extra blanks."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(NO_PUNCTUATION)).split())


def _occurrences(answer: str, text: str) -> Iterator[int]:
    # overlaps included
    at = text.find(answer) if answer else -1
    while at >= 0:
        yield at
        at = text.find(answer, at + 1)


class TokenizedText:
    """A text, its tokens (made by `tokenize` if they are None), and look-ups between characters and tokens."""

    def __init__(self, text: str, tokens: list[Token] | None = None) -> None:
        self.text = text
        self.tokens = tokenize(text) if tokens is None else tokens
        self.starts = [start for _, start in self.tokens]
        self.ends = [start + len(token) - 1 for token, start in self.tokens]  # of last characters

    def token_span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the first and the last token that share a character with `start` to `end` (inclusive), or None."""
        first = bisect_left(self.ends, start)
        last = bisect_right(self.starts, end) - 1
        return (first, last) if first <= last else None

    @cached_property
    def _borders(self) -> tuple[set[int], set[int]]:
        return set(self.starts), set(self.ends)

    def find(self, answer: str) -> list[tuple[int, int]]:
        """Find all places (inclusive) of an answer on token borders: spelled as it is, or else equal after `normalize`.

        Places may overlap (`ha ha` is twice in `ha ha ha`). A place of the normal form has no articles and punctuation at
        its ends: `The "Beatles"` is found in `by the Beatles.` as `Beatles`.
        """
        starts, ends = self._borders
        exact = answer.strip()
        places = [(at, at + len(exact) - 1) for at in _occurrences(exact, self.text)]
        if whole := [place for place in places if place[0] in starts and place[1] in ends]:
            return whole
        normal = normalize(answer)
        if not normal or normal not in self._normal_text:
            return []
        text, offsets = self._offsets
        places = [(offsets[at], offsets[at + len(normal) - 1]) for at in _occurrences(normal, text)]
        return [
            (start, end)
            for start, end in places
            if start in starts and end in ends and normalize(self.text[start : end + 1]) == normal
        ]

    @cached_property
    def _normal_text(self) -> str:
        return normalize(self.text)

    @cached_property
    def _offsets(self) -> tuple[str, list[int]]:
        # the normal form, and the offset in the text of each of its characters
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
        places = [i for i, char in enumerate(plain) if char != " " or (i and plain[i - 1] != " ")]
        return "".join(plain[i] for i in places), [offsets[i] for i in places]
