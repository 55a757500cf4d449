"""A language: all that is known of its words, in one object that stages are handed.

Its word lists are the files of a folder beside this module; a file belongs to the class that reads it. To add a
language, write such a folder; where its grammar differs, also a class beside the class that has the English grammar.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from .answer_types import AnswerTypes
from .asked_time import TimeWords
from .bm25 import BM25
from .literals import LiteralWords
from .national_teams import TeamWords
from .operations import OperationWords
from .property_names import PropertyWords
from .statement_words import StatementWords
from .talk_words import TalkWords
from .text import Words
from .word_lists import Phrases, Renamed, WordSet, read_lists

_TEN = 10  # "1905" and "1900" have other words than these
_FOLDER = Path(__file__).parent


@dataclass(frozen=True, eq=False)
class YesNoWords:
    """Words of questions for yes or no; see `yes_no.txt`."""

    properties: PropertyWords
    light: WordSet
    denial: re.Pattern[str]

    @cached_property
    def light_keywords(self) -> WordSet:
        """The keywords of words that an evidence may lack and yet say yes."""
        return self.properties.keyword_set(self.light | self.properties.words.telling)


@dataclass(frozen=True, eq=False)
class NameWords:
    """Words in names of people; see `names.txt`."""

    literals: LiteralWords
    suffixes: WordSet
    particles: WordSet
    joining: WordSet
    before_years: WordSet

    @cached_property
    def written(self) -> re.Pattern[str]:
        """A name as it is written: words with capitals, and small ones between them."""
        small = "|".join(sorted(self.joining | self.particles))
        return re.compile(rf"\b[A-Z][\w'’.-]*(?: (?:(?:{small}) )*[A-Z0-9][\w'’.-]*)*")

    def listed(self, name: str) -> list[str]:
        """The names that a word such as "and" joins in what may be a name of its own."""
        joined = "|".join(sorted(self.joining))
        return re.split(rf" (?:{joined}) ", name)

    def spoken(self, year: str) -> str:
        """The words of a year of four digits, as they are spoken ("nineteen eighty four"); empty of other texts."""
        if re.fullmatch(r"[1-9][0-9]{3}", year) is None:
            return ""
        first, last = self._two_digits(int(year[:2])), self._two_digits(int(year[2:]))
        return f"{first} {last}" if first and last else ""

    def _two_digits(self, number: int) -> str:
        words = {value: word for word, value in self.literals.numbers.items()}
        if number >= _TEN and number in words:
            return words[number]
        tens, digit = number // 10 * 10, number % 10
        return f"{words[tens]} {words[digit]}" if tens in words and digit in words else ""


@dataclass(frozen=True, eq=False)
class CommonWords:
    """What texts write small; see `common_words.txt`."""

    words: Words
    stems: WordSet

    def has(self, word: str) -> bool:
        """True for a folded word that texts write small."""
        return self.words.stem(word) in self.stems


@dataclass(frozen=True, eq=False)
class FollowUpWords:
    """Questions for properties; see `follow_ups.txt`."""

    questions: Renamed


@dataclass(frozen=True, eq=False)
class PageWords:
    """Words of the Wikipedia in a language; see `pages.txt`."""

    closing_sections: Phrases
    works: str
    not_articles: re.Pattern[str]
    marks: re.Pattern[str]
    less_than: str


@dataclass(frozen=True, eq=False)
class Language:
    """The words of a language, by what they are for."""

    words: Words
    answer_types: AnswerTypes
    properties: PropertyWords
    literals: LiteralWords
    operations: OperationWords
    times: TimeWords
    yes_no: YesNoWords
    names: NameWords
    common: CommonWords
    teams: TeamWords
    pages: PageWords
    statements: StatementWords
    follow_ups: FollowUpWords
    talk: TalkWords

    @cached_property
    def bm25(self) -> BM25:
        """BM25 over texts in this language; it remembers what it has read."""
        return BM25(self.words)


def load(folder: Path) -> Language:
    """Read a language's word lists.

    Raises:
        DataError: a file is missing, or is not of its form; the message names it and the list.
    """
    words = read_lists(Words, folder / "words.txt")
    properties = read_lists(PropertyWords, folder / "properties.txt", words=words)
    literals = read_lists(LiteralWords, folder / "literals.txt", properties=properties)
    return Language(
        words,
        read_lists(AnswerTypes, folder / "answer_types.txt", words=words),
        properties,
        literals,
        read_lists(OperationWords, folder / "operations.txt", literals=literals),
        read_lists(TimeWords, folder / "times.txt"),
        read_lists(YesNoWords, folder / "yes_no.txt", properties=properties),
        read_lists(NameWords, folder / "names.txt", literals=literals),
        read_lists(CommonWords, folder / "common_words.txt", words=words),
        read_lists(TeamWords, folder / "teams.txt"),
        read_lists(PageWords, folder / "pages.txt"),
        read_lists(StatementWords, folder / "statements.txt", words=words),
        read_lists(FollowUpWords, folder / "follow_ups.txt"),
        read_lists(TalkWords, folder / "talk.txt"),
    )


@dataclass(frozen=True, eq=False)
class _StopWords:
    stop_words: WordSet


@lru_cache
def stop_words(code: str) -> WordSet:
    """The stop words of a language, of which nothing else need be known; none where there is no list."""
    if code == english().words.code:
        return english().words.common
    path = _FOLDER / "stop_words" / f"{code}.txt"
    return read_lists(_StopWords, path).stop_words if path.is_file() else frozenset()


@lru_cache(maxsize=1)
def english() -> Language:
    """English; read once, and shared."""
    return load(_FOLDER / "english")
