"""Words of English text as retrieval sees them: normalised strings, content words and their stems."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WORD = re.compile(r"\w+(?:['’]\w+)*", re.UNICODE)
_INITIALS = re.compile(r"\b[^\W\d](?: [^\W\d]\b)+")

STOP_WORDS = frozenset(
    "a an the of in on at to for from by with and or but not no nor is are was were be been being am do does did done has have "
    "had having will would can could shall should may might must i you he she it we they me him her us them my your his its "
    "our their mine yours hers ours theirs this that these those there here who whom whose which what when where why how as "
    "than then so such s t d ll m re ve about into over after before again once also too very just only own same other any "
    "some all both each few more most if because while during tell give name please know called ok okay oh hey well one ones".split()
)
PRONOUNS = {
    "person": frozenset("he she him her his hers himself herself".split()),
    "thing": frozenset("it its itself this that".split()),
    "group": frozenset("they them their theirs these those".split()),
    "place": frozenset(["there"]),
}


def fold(text: str) -> str:
    """Lower case without accents, punctuation, possessives or repeated blanks: the form in which names are compared.

    Single letters in a row are joined, so that `J. R. R. Tolkien` and `JRR Tolkien` are the same name.
    """
    decomposed = unicodedata.normalize("NFKD", text.replace("’", "'"))
    plain = "".join(char for char in decomposed if not unicodedata.combining(char)).casefold()
    plain = re.sub(r"'s\b|'", "", plain).replace("&", " and ")
    return _INITIALS.sub(lambda match: match[0].replace(" ", ""), " ".join(re.findall(r"\w+", plain)))


def words(text: str) -> list[str]:
    """The words of a text as they stand."""
    return _WORD.findall(text)


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The Snowball (English) stem of a lower-case word."""
    return _stemmer().stemWord(word)


@lru_cache(maxsize=1)
def _stemmer():  # noqa: ANN202 - a C type without stubs
    import Stemmer

    return Stemmer.Stemmer("english")


def stems(text: str, keep_stop_words: bool = False) -> list[str]:
    """The stems of the content words of a text, in order, accents removed."""
    tokens = re.findall(r"\w+", fold(text))
    return [stem(token) for token in tokens if keep_stop_words or token not in STOP_WORDS]
