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
    is before it, or if a verb such as "is" or "has" is behind it and texts do not write it in lower case.
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
    articles, is_common = language.words.articles, language.words.is_written_small
    words = text[at:to].split()
    if words[-1][:1].isdigit():  # an amount: "Depth 3.5 m"
        words.pop()
        to = at + len(" ".join(words))
    before = fold(text[start:at])
    if at == start and len(words) > 1 and (fold(words[0]) in articles or is_common(fold(words[0]))):  # "When Orla came"
        before = fold(words.pop(0))
        at = to - len(" ".join(words))
    if not words or len(words) > _MOST_WORDS or text[start:end].rstrip(" .:!?") == text[at:to].rstrip("."):
        return
    if len(words) == 1:
        behind = fold(text[to:end]).partition(" ")[0]
        is_subject = not is_common(fold(words[0])) and behind in language.answer_types.existential
        is_first = before in articles or (is_subject and (not before or is_common(before)))
        if len(words[0]) < _SHORTEST or not is_first:
            return
    name = text[at:to].rstrip(".'’")
    yield at, at + len(name.removesuffix("'s").removesuffix("’s"))
