"""Normalises texts for retrieval: folded strings, content words and their stems."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache

from .word_lists import Table, WordLists, WordSet

_WORD = re.compile(r"\w+(?:['’]\w+)*", re.UNICODE)
_INITIALS = re.compile(r" [^\W\d](?: +[^\W\d](?= ))+")  # in words with blanks around
_POSSESSIVE = re.compile(rb"'(?:[sS](?![\w\x80-\xff]))?")  # in UTF-8 without marks beyond ASCII
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_LEAST_LETTERS = 5  # of a word that may be a slip of another: shorter names are one letter from some common word
END = "\0"  # of a text, among words
_LOWER_OR_BLANK = bytes(
    byte if byte >= 128 or chr(byte) in f"_{END}" else ord(chr(byte).lower()) if chr(byte).isalnum() else ord(" ")
    for byte in range(256)
)


@lru_cache(maxsize=20_000)  # labels and class names come back all the time
def fold(text: str) -> str:
    """Return a text in lower case without accents, punctuation, possessives or repeated blanks, to compare names.

    Single letters in a row are joined, so that `J. R. R. Tolkien` and `JRR Tolkien` are the same name.
    """
    return " ".join(folded_words([text])[:-1])


def folded_words(texts: Sequence[str]) -> list[str]:
    """Return the words of `fold(text)` of all texts in a list, with `END` after each text.

    Thousands of texts a turn are folded as a single string, so that each step is a single call in C.
    """
    plain = [text if text.isascii() else _NOT_ASCII.sub(lambda match: _plain(match[0]), text) for text in texts]
    if any(END in text for text in plain):
        plain = [text.replace(END, " ") for text in plain]
    joined = f" {END} ".join([*plain, ""]).encode()
    joined = _POSSESSIVE.sub(b"", joined).replace(b"&", b" and ").translate(_LOWER_OR_BLANK)
    return _INITIALS.sub(lambda match: f" {match[0].replace(' ', '')}", f" {joined.decode()}").split()


@lru_cache(maxsize=10_000)
def _plain(characters: str) -> str:
    """Return characters beyond ASCII without accents, in lower case; a blank for characters that belong to no word."""
    decomposed = unicodedata.normalize("NFKD", characters.replace("’", "'"))
    plain = "".join(char for char in decomposed if not unicodedata.combining(char)).casefold()
    return "".join(char if char.isascii() or char.isalnum() else " " for char in plain)


@lru_cache(maxsize=1)
def marks() -> str:
    """Return Unicode's combining marks and the non-joiner, which occurs inside words, as ranges of a character class."""
    codes = [code for code in range(0x300, 0x1F000) if code == 0x200C or unicodedata.category(chr(code))[0] == "M"]
    starts = [code for code, before in zip(codes, [0, *codes], strict=False) if code != before + 1]
    ends = [code for code, after in zip(codes, [*codes[1:], 0], strict=True) if code != after - 1]
    ranges = [*zip(starts, ends, strict=True), (0xE0100, 0xE01EF)]
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in ranges)


def listed(names: Sequence[str], word: str = "and") -> str:
    """Return names as a list: A, B and C; if a name has a comma, A, B; and C."""
    *first, last = names
    if first and any("," in name for name in names):
        return f"{'; '.join(first)}; {word} {last}"
    return f" {word} ".join(filter(None, (", ".join(first), last)))


def counted(number: int, noun: str) -> str:
    """Return a number of things: 1 row, 2 rows, 1,200 rows."""
    return f"{number:,} {noun}{'s' if number != 1 else ''}"


def words(text: str) -> list[str]:
    """Return the words of a text, unchanged."""
    return _WORD.findall(text)


class Words(WordLists):
    """The common words of a language, and the stems of all others; `words.txt` explains the lists."""

    file = "words.txt"
    code: str
    stemmer: str
    stop_words: WordSet
    telling: WordSet
    articles: WordSet
    pronouns: Table
    genders: Table
    pointing: WordSet
    couples: WordSet
    sequels: WordSet
    definite: WordSet
    possessive: WordSet
    doing: WordSet
    no_noun: WordSet
    fillers: WordSet
    ones: WordSet
    denial: re.Pattern[str]
    expletive: re.Pattern[str]
    opposites: Table
    permitting: WordSet
    limiting: WordSet
    lacking: WordSet
    particles: WordSet
    clauses: re.Pattern[str]
    written_small: WordSet

    @cached_property
    def stem(self) -> Callable[[str], str]:
        """The Snowball stem of a lower-case word."""
        import Stemmer

        return lru_cache(maxsize=200_000)(Stemmer.Stemmer(self.stemmer).stemWord)

    def without_article(self, form: str) -> str:
        """Return a folded name without the article before it."""
        first, _, rest = form.partition(" ")
        return rest if rest and first in self.articles else form

    def stems(self, text: str, keep_stop_words: bool = False) -> list[str]:
        """Return the stems of the content words of a text, in order, without accents."""
        return list(self._stems(text, keep_stop_words))

    @cached_property
    def _stems(self) -> Callable[[str, bool], tuple[str, ...]]:
        stem, stop_words = self.stem, self.stop_words

        @lru_cache(maxsize=8_000)  # names and questions; as of `fold`
        def stems(text: str, keep_stop_words: bool) -> tuple[str, ...]:
            words = folded_words([text])[:-1]
            return tuple(stem(word) for word in words if keep_stop_words or word not in stop_words)

        return stems

    def stem_set(self, words: WordSet) -> WordSet:
        """Return the stems of some words."""
        return frozenset(map(self.stem, words))

    def is_written_small(self, word: str) -> bool:
        """Return True if texts write a folded word in lower case, so that it is hardly a name by itself."""
        return self.stem(word) in self.written_small

    def is_slip(self, word: str) -> bool:
        """Return True if a folded word is a slip of a word that texts write in lower case: "actres", "maried"."""
        if len(word) < _LEAST_LETTERS:
            return False
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        forms = (word, self.stem(word))
        return any(
            process.extractOne(form, self._long_stems.get(form[0], ()), scorer=OSA.distance, score_cutoff=1) is not None
            for form in forms
        )

    @cached_property
    def _long_stems(self) -> Mapping[str, list[str]]:
        """The stems of `written_small` by their first letter, which people seldom miss."""
        stems: defaultdict[str, list[str]] = defaultdict(list)
        for stem in sorted(self.written_small):
            if len(stem) >= _LEAST_LETTERS - 1:
                stems[stem[0]].append(stem)
        return stems

    def owns(self, pronoun: str, following: str) -> bool:
        """Return True if a pronoun is possessive before a word ("" at the end); "her" is possessive only before a noun."""
        return pronoun in self.possessive or (pronoun == "her" and following not in self.no_noun | {""})

    def owner(self, name: str) -> str:
        """Return the possessive form of a name."""
        return f"{name}'" if name.endswith("s") else f"{name}'s"

    @cached_property
    def common(self) -> WordSet:
        """Words that neither name anything nor tell the relation that a question asks for."""
        return self.stop_words | self.telling

    @cached_property
    def all_pronouns(self) -> WordSet:
        """The pronouns of all kinds."""
        return frozenset().union(*self.pronouns.values())

    @cached_property
    def personal(self) -> WordSet:
        """The pronouns that need an antecedent; the antecedent of "that one" may be in the question itself."""
        return self.all_pronouns - self.pointing

    @cached_property
    def pointing_phrase(self) -> re.Pattern[str]:
        """Demonstrative pronouns that need an antecedent: "that one", "that" at the end; the group is the pronoun."""
        return re.compile(rf"(?i)\b({'|'.join(sorted(self.pointing))})(?: ones?\b|(?=\W*$))")

    @cached_property
    def not_names(self) -> WordSet:
        """Words that name nothing by themselves."""
        return self.common | self.all_pronouns
