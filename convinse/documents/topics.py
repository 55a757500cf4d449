"""Finds the names that the sentences of a passage are about."""

from __future__ import annotations

from collections.abc import Iterator

from ..language.language import Language
from ..language.text import fold

_MOST_WORDS = 5  # of a name
_SHORTEST = 3  # letters of a name of one word


def topics(text: str, start: int, end: int, language: Language) -> Iterator[tuple[int, int]]:
    """Yield the places of the names in a sentence of a text: that at its beginning, and those of several words.

    "The Orla ferry was built by Mina Voss in 1976." has Orla and Mina Voss. A single word at the beginning is a name if an article
    is before it, or if texts do not write it in lower case.
    """
    if text[start:end].isupper():
        return
    for written in language.names.written.finditer(text, start, end):
        at = written.start()
        for part in language.names.parted(written[0]):
            at = text.index(part, at)
            yield from _name(text, at, at + len(part), start, end, language)
            at += len(part)


def _name(text: str, at: int, to: int, start: int, end: int, language: Language) -> Iterator[tuple[int, int]]:
    words = text[at:to].split()
    if words[-1][:1].isdigit():  # an amount: "Depth 3.5 m"
        to = at + len(" ".join(words[:-1]))
        words.pop()
    before = fold(text[start:at])
    has_article = before in language.words.articles
    if at == start and (
        fold(words[0]) in language.words.articles or (len(words) > 1 and language.common.has(fold(words[0])))
    ):
        has_article = fold(words[0]) in language.words.articles
        at += len(words[0]) + 1
        words = words[1:]
    is_first = not before or has_article
    if not words or len(words) > _MOST_WORDS or text[start:end].rstrip(" .:!?") == text[at:to].rstrip("."):
        return
    is_single = len(words) == 1 and (
        len(words[0]) < _SHORTEST or not is_first or (not has_article and language.common.has(fold(words[0])))
    )
    if not is_single:
        name = text[at:to].rstrip(".'’")
        yield at, at + len(name.removesuffix("'s").removesuffix("’s"))
