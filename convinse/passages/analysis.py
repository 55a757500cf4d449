"""Analyzes texts into the terms of an index: words in lower case, folded, without stop words, stemmed.

For a language without a stemmer words stay as they are, without a list of stop words all count. Words are runs of letters,
digits and their marks, as in Unicode's word boundaries but for apostrophes and points.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from ..language.language import stop_words
from ..language.text import marks
from ..support.errors import DataError, nearest

VERSION = 3  # raised when the same text gives other terms
NEUTRAL = "mul"  # no stemming, no stop words
_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
_UNSTEMMED = ("az", "ja", "ko", "zh")  # languages with a name, but without a stemmer
_DOTLESS = ("az", "tr")  # languages with I as the capital of ı, and İ of i
LANGUAGES = tuple(sorted([*_STEMMERS, *_UNSTEMMED, NEUTRAL]))
# Letters of the alphabet, as opposed to letters with an accent: folding leaves them, stemmers expect them.
_ALPHABET = {
    "pl": "ąćęłńóśźż",
    "de": "äöüß",
    "fr": "àâçèéêëîïôùûü",
    "es": "áéíóúüñ",
    "it": "àèéìíòóùú",
    "en": "",
    "tr": "çğıöşü",
    "az": "çğıöşüə",
    NEUTRAL: "",
}
_WORD = re.compile(r"\w+")
# Texts without any of these, such as Latin, Greek and Cyrillic texts, need no more than `_WORD`, which is faster.
_BEYOND = re.compile(
    r"[\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u1cff\u200b-\u200f\u2060\u20d0-\u20ff\u2de0-\U0010ffff]"
)
# Scripts that write without blanks, or glue endings to words: Kana, Han, Hangul; Thai, Lao, Burmese, Khmer.
_UNSPACED = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109d\uaa60-\uaa7f\u1780-\u17d3]{2,}"
)
# Marks that change no word: combining accents, vowels of Hebrew and Arabic, the Arabic tatweel, the nukta of Devanagari (often
# left out), soft hyphens, joiners, directions, variants of emoji.
_SILENT = re.compile(
    r"[\u00ad\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    r"\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u08d3-\u08ff\u093c\u200b-\u200f\u2060\u20d0-\u20ff\ufe00-\ufe0f\ufeff]+"
)
_STROKES = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "ς": "σ"}
)
# Letters of other scripts with several codes or spellings: the hamza of an alef, yeh and kaf of Arabic and Persian keyboards,
# consonants of Malayalam without a vowel.
_VARIANTS = str.maketrans("أإآٱىیک", "ااااييك") | str.maketrans(
    {"ൺ": "ണ്", "ൻ": "ന്", "ർ": "ര്", "ൽ": "ല്", "ൾ": "ള്", "ൿ": "ക്"}
)
# a nasal before a consonant of its own kind, which Devanagari also writes as a point: हिन्दी, हिंदी
_NASAL = re.compile("ङ्(?=[क-घ])|ञ्(?=[च-झ])|ण्(?=[ट-ढ])|न्(?=[त-ध])|म्(?=[प-भ])")
_WIDTHS = re.compile("[\uff01-\uffee]+")  # full and half width, of which marks are letters of their own


class Analyzer:
    """Analyzes texts in a language.

    1. The text is composed (NFC), loses marks that change no word (the vowel marks of Arabic and Hebrew, joiners ...), is put
       into lower case by the rules of the language and cut into words: letters with their marks, digits, underscores.
    2. Runs of two or more Hangul, Han or Kana become their overlapping pairs of characters, runs of Thai, Lao, Burmese and
       Khmer pairs and triples of letters with their marks: Korean glues its particles to words, the others write without
       blanks.
    3. Stop words are left out.
    4. Latin letters lose accents unless they are letters of the language (Polish ł, ą, ó stay, é becomes e), Greek letters
       always; digits of all scripts are the same. Other letters stay, but for those with several codes.
    5. The Snowball stemmer of the language is applied. After that, Turkish ı and i are the same, since foreign keyboards and
       capitals mix them up.

    Raises:
        DataError: the language is not one of `LANGUAGES`.
    """

    def __init__(self, language: str = NEUTRAL) -> None:
        if language not in LANGUAGES:
            raise DataError(f"language '{language}' is not known; {nearest(language, list(LANGUAGES))}")
        self.language = language
        self._stop_words = stop_words(language)
        self._alphabet = _ALPHABET.get(language)
        self._is_dotless = language in _DOTLESS
        self._stem = None
        if language in _STEMMERS:
            import Stemmer

            stemmer = Stemmer.Stemmer(_STEMMERS[language])
            stemmer.maxCacheSize = 0  # callers have a cache of words
            self._stem = stemmer.stemWord

    def words(self, text: str) -> list[str]:
        """Return the words of a text (steps 1 and 2), with stop words; the further steps need single words only."""
        if self._is_dotless:
            text = text.replace("I", "ı")
        if text.isascii():
            return _WORD.findall(text.lower())
        text = unicodedata.normalize("NFC", text).replace("İ", "i")
        if _BEYOND.search(text) is None:
            return _WORD.findall(text.lower())
        text = _WIDTHS.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
        text = _NASAL.sub("ं", _SILENT.sub("", text)).replace("ँ", "ं")
        word, letter = _marked_patterns()

        def grams(match: re.Match[str]) -> str:
            if min(match[0]) >= "\u3040":
                return f" {' '.join(first + second for first, second in pairwise(match[0]))} "
            # an alphabet: pairs of letters are in too many words, and triples miss short words
            letters = letter.findall(match[0])
            pieces = ("".join(letters[at : at + size]) for size in (2, 3) for at in range(len(letters) - size + 1))
            return f" {' '.join(pieces)} "

        return word.findall(_UNSPACED.sub(grams, text).lower())

    def term(self, word: str) -> str | None:
        """Return the term of a word of `words` (steps 3 to 5); None for a stop word."""
        if word in self._stop_words:
            return None
        if not word.isascii():
            word = "".join(
                char
                if char.isascii() or (self._alphabet is not None and char in self._alphabet)
                else _plain(char, self._alphabet is None)
                for char in word
            )
            if word in self._stop_words:
                return None
        if self._stem is not None:
            word = self._stem(word)
        return word.replace("ı", "i") if self._is_dotless else word

    def terms(self, texts: Iterable[str]) -> list[str]:
        """Return the terms of texts, in order."""
        terms = (self.term(word) for text in texts for word in self.words(text))
        return [term for term in terms if term is not None]


@lru_cache(maxsize=1)
def _marked_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A word and a letter with their marks."""
    return re.compile(rf"\w[\w{marks()}]*"), re.compile(f".[{marks()}]*")


@lru_cache(maxsize=10_000)
def _plain(char: str, keep_accents: bool) -> str:
    usual = unicodedata.normalize("NFKC", char).lower()
    script = unicodedata.name(usual[0], "").partition(" ")[0]
    if usual.isdecimal():
        return str(unicodedata.decimal(usual))
    if script != "GREEK" and (keep_accents or script != "LATIN"):
        return "ss" if usual == "ß" else usual.translate(_VARIANTS)
    bare = "".join(char for char in unicodedata.normalize("NFKD", usual) if not unicodedata.combining(char))
    return bare.translate(_STROKES)
