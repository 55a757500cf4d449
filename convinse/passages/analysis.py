"""From a text to the terms that are indexed: words in lower case, folded, without stop words, stemmed.

What a language does not say is left out: without a stemmer words stay as they are, without a list of stop words all count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from ..language.language import stop_words
from ..support.errors import DataError, nearest

VERSION = 1  # raised when the same text gives other terms
NEUTRAL = "mul"  # no stemming, no stop words
_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
_BIGRAMS = ("ja", "ko", "zh")  # no stemmer, but a name of their own
LANGUAGES = tuple(sorted([*_STEMMERS, *_BIGRAMS, NEUTRAL]))
# Letters that are letters of their own, and not another letter with an accent: folding leaves them, stemmers know them.
_OWN_LETTERS = {
    "pl": "ąćęłńóśźż",
    "de": "äöüß",
    "fr": "àâçèéêëîïôùûü",
    "es": "áéíóúüñ",
    "it": "àèéìíòóùú",
    "en": "",
    NEUTRAL: "",
}
_WORD = re.compile(r"\w+")
# Scripts that write without blanks, or glue endings to words: pairs of neighbouring characters are their terms.
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff]{2,}")
_STROKES = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i"})


class Analyzer:
    """The terms of texts in one language.

    1. The text is composed (NFC), put into lower case and cut into words (letters, digits, underscores).
    2. Runs of two or more Hangul, Han or Kana become their overlapping pairs of characters: Korean glues its particles
       to words, Chinese and Japanese write without blanks.
    3. Stop words are left out.
    4. Latin letters lose accents unless they are letters of the language (Polish ł, ą, ó stay, é becomes e); fullwidth
       forms become usual letters. Letters of other scripts stay.
    5. The Snowball stemmer of the language, where there is one.

    Args:
        language: a code of `LANGUAGES`; `mul` stems nothing and has no stop words.

    Raises:
        DataError: an unknown language.
    """

    def __init__(self, language: str = NEUTRAL) -> None:
        if language not in LANGUAGES:
            raise DataError(f"language '{language}' is not known; {nearest(language, list(LANGUAGES))}")
        self.language = language
        self._stop_words = stop_words(language)
        self._own = _OWN_LETTERS.get(language)
        self._stem = None
        if language in _STEMMERS:
            import Stemmer

            stemmer = Stemmer.Stemmer(_STEMMERS[language])
            stemmer.maxCacheSize = 0  # who calls keeps what it has seen
            self._stem = stemmer.stemWord

    def words(self, text: str) -> list[str]:
        """The words of a text (steps 1 and 2), stop words included: all that depends on their neighbours."""
        if not text.isascii():
            text = unicodedata.normalize("NFC", text)
            text = _UNSPACED.sub(_pairs, text)
        return _WORD.findall(text.lower())

    def term(self, word: str) -> str | None:
        """What a word of `words` is indexed as (steps 3 to 5); None for a stop word."""
        if word in self._stop_words:
            return None
        if not word.isascii():
            word = "".join(
                char
                if char.isascii() or (self._own is not None and char in self._own)
                else _plain(char, self._own is None)
                for char in word
            )
            if word in self._stop_words:
                return None
        return self._stem(word) if self._stem is not None else word

    def terms(self, texts: Iterable[str]) -> list[str]:
        """The terms of texts, in order."""
        terms = (self.term(word) for text in texts for word in self.words(text))
        return [term for term in terms if term is not None]


def _pairs(match: re.Match[str]) -> str:
    return f" {' '.join(first + second for first, second in pairwise(match[0]))} "


@lru_cache(maxsize=10_000)
def _plain(char: str, keep_accents: bool) -> str:
    usual = unicodedata.normalize("NFKC", char).lower()
    if keep_accents or not unicodedata.name(usual[0], "").startswith("LATIN"):
        return usual
    bare = "".join(char for char in unicodedata.normalize("NFKD", usual) if not unicodedata.combining(char))
    return bare.translate(_STROKES)
