"""Words of English text as retrieval sees them: normalised strings, content words and their stems."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_WORD = re.compile(r"\w+(?:['’]\w+)*", re.UNICODE)
_INITIALS = re.compile(r" [^\W\d](?: +[^\W\d](?= ))+")  # in words with blanks around
_POSSESSIVE = re.compile(rb"'(?:[sS](?![\w\x80-\xff]))?")  # in UTF-8 without marks beyond ASCII
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
END = "\0"  # of a text, among words
_LOWER_OR_BLANK = bytes(
    byte if byte >= 128 or chr(byte) in f"_{END}" else ord(chr(byte).lower()) if chr(byte).isalnum() else ord(" ")
    for byte in range(256)
)


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
    return " ".join(folded_words([text])[:-1])


def folded_words(texts: Sequence[str]) -> list[str]:
    """The words of `fold(text)` of all texts in one list, with `END` after each text.

    Thousands of texts a turn are folded at once, as one string, so that each step is a single call in C.
    """
    plain = [text if text.isascii() else _NOT_ASCII.sub(_to_plain, text) for text in texts]
    if any(END in text for text in plain):
        plain = [text.replace(END, " ") for text in plain]
    joined = f" {END} ".join([*plain, ""]).encode()
    joined = _POSSESSIVE.sub(b"", joined).replace(b"&", b" and ").translate(_LOWER_OR_BLANK)
    return _INITIALS.sub(_join_letters, f" {joined.decode()}").split()


def _join_letters(match: re.Match[str]) -> str:
    return " " + match[0].replace(" ", "")


def _to_plain(match: re.Match[str]) -> str:
    return _plain(match[0])


@lru_cache(maxsize=10_000)
def _plain(characters: str) -> str:
    """Characters beyond ASCII without accents, in lower case; what belongs to no word becomes a blank."""
    decomposed = unicodedata.normalize("NFKD", characters.replace("’", "'"))
    plain = "".join(char for char in decomposed if not unicodedata.combining(char)).casefold()
    return "".join(char if char.isascii() or char.isalnum() else " " for char in plain)


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
    return [stem(word) for word in folded_words([text])[:-1] if keep_stop_words or word not in STOP_WORDS]
