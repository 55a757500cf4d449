"""A language: its word lists in a single object for all stages.

The word lists are the files of a folder beside this module, a file for each class. To add a language, write a folder with the
same files and, if its grammar differs, a class beside the class with the English grammar.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from pathlib import Path

from .answer_types import AnswerTypes
from .bm25 import BM25
from .literals import LiteralWords
from .operations import OperationWords
from .property_names import PropertyWords
from .sentence_templates import SentenceTemplates
from .step_words import StepWords
from .talk_words import TalkWords
from .text import Words, fold
from .time_words import TimeWords
from .word_lists import Phrases, Renamed, WordLists, WordSet, read_words

_PLAIN = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)*")  # the name of a value that a question can have
_THING = re.compile(r"[A-Za-z0-9][\w.'’-]*(?: [\w.&'’-]+)*(?<![.])")
_UNIT = re.compile(r" \([^()]*\)$")
_MOST_WORDS = 3  # of a name that a question asks for: longer ones are phrases or sentences
_FOLDER = Path(__file__).parent


class NameWords(WordLists):
    """Words in names of people; see `names.txt`."""

    file = "names.txt"
    suffixes: WordSet
    titles: WordSet
    writing: WordSet
    particles: WordSet
    joining: WordSet
    listing: WordSet
    in_titles: WordSet
    male: WordSet
    female: WordSet

    def gender(self, name: str) -> str | None:
        """Return the gender that the title or the first name of a person tells: female for "Mrs Okoye" and "Dr Helen Ross"."""
        first = {fold(words.partition(" ")[0]).rstrip(".") for words in (name, self.without_title(name))}
        genders = {"male": self.male, "female": self.female}
        return next((gender for gender, forms in genders.items() if not forms.isdisjoint(first)), None)

    def parted(self, names: str) -> list[str]:
        """Return the names of a list of names."""
        return re.split(rf" (?:{'|'.join(sorted(self.listing))}) ", names)

    def without_title(self, name: str) -> str:
        """Return a name without the title before it: "Okoye" of "Mr Okoye"."""
        title, _, rest = name.partition(" ")
        return rest if rest and fold(title) in self.titles else name

    @cached_property
    def written(self) -> re.Pattern[str]:
        """A written name: words with capitals, and small words between them."""
        small = "|".join(sorted(self.joining | self.particles))
        return re.compile(rf"\b[A-Z][\w'’.-]*(?: (?:(?:{small}) )*[A-Z0-9][\w'’.-]*)*")

    def listed(self, name: str) -> list[str]:
        """Return the names that a word such as "and" joins."""
        joined = "|".join(sorted(self.joining))
        return re.split(rf" (?:{joined}) ", name)


class FollowUpWords(WordLists):
    """Questions for properties; see `follow_ups.txt`."""

    file = "follow_ups.txt"
    words: Words
    questions: Renamed
    definite: WordSet
    with_article: WordSet
    measured: WordSet
    persons: WordSet
    happening: WordSet
    rows: WordSet
    row_names: WordSet

    def about(self, name: str, thing: str) -> str | None:
        """Return the question for the value that files have by a name of a thing; None if it might be no English."""
        name = _UNIT.sub("", name)
        words = name.split()
        if not _PLAIN.fullmatch(name) or not _THING.fullmatch(thing.strip("“”")) or len(words) > _MOST_WORDS:
            return None
        if words[0].lower() in self.words.common:  # "in stock" is no noun
            return None
        words = [word.lower() if word[1:].islower() else word for word in words]
        if len(words) == 1 and words[0] in self.happening:
            return f"When does {thing} {words[0]}?"
        if words[-1] in self.persons:
            return f"Who is the {' '.join(words)} of {thing}?"
        return f"What is the {' '.join(words)} of {thing}?" if words[-1] in self.measured else None

    def row_named(self, header: str, text: str) -> str | None:
        """Return how a question names a row by its first cell: "invoice 2401", "the Adult ticket", "Ida Roth"; None if it cannot."""
        head = header.lower().split()[-1:]
        if head and head[0] in self.rows and _THING.fullmatch(text):
            is_word = all(word.isalpha() and len(word) > 1 for word in text.split())
            return f"the {text} {head[0]}" if is_word else f"{head[0]} {text}"
        return text if head and head[0] in self.row_names and text[:1].isupper() else None

    def document_named(self, title: str) -> str | None:
        """Return how a question names a document: "Ida Roth", “Notes of May”; None for a title that is no name."""
        if not title[:1].isupper():
            return None
        return title if all(word[:1].isupper() or word[:1].isdigit() for word in title.split()) else f"“{title}”"

    def named(self, label: str) -> str:
        """Return a name with its article in a question: the Academy Award."""
        is_bare = label[:1].isupper() and label.split()[0].lower() not in self.definite | self.words.articles
        capitals = {word.lower().strip(",") for word in label.split() if word[:1].isupper()}
        return f"the {label}" if is_bare and (capitals & self.with_article or label.endswith(" team")) else label


class PageWords(WordLists):
    """Words of the Wikipedia in a language; see `pages.txt`."""

    file = "pages.txt"
    closing_sections: Phrases
    works: str
    not_articles: re.Pattern[str]
    marks: re.Pattern[str]
    less_than: str


class Language:
    """The words of a language, by what they are for.

    Raises:
        DataError: a file of the folder is missing or invalid; the message names it and the list.
    """

    def __init__(self, folder: Path) -> None:
        words = self.words = Words(folder)
        types = self.answer_types = AnswerTypes(folder, words=words)
        properties = self.properties = PropertyWords(folder, words=words)
        literals = self.literals = LiteralWords(folder, words=words, properties=properties)
        operations = self.operations = OperationWords(folder, words=words, properties=properties, literals=literals)
        times = self.times = TimeWords(folder, words=words)
        self.names = NameWords(folder)
        self.pages = PageWords(folder)
        self.sentences = SentenceTemplates(folder)
        self.follow_ups = FollowUpWords(folder, words=words)
        self.talk = TalkWords(folder, words=words, types=types)
        self.steps = StepWords(folder, words=words, types=types, operations=operations, times=times)

    @cached_property
    def bm25(self) -> BM25:
        """BM25 over texts in this language, with a cache of texts."""
        return BM25(self.words)


def load(folder: Path) -> Language:
    """Return the language of a folder of word lists. Raises `DataError` as `Language` does."""
    return Language(folder)


@lru_cache
def stop_words(code: str) -> WordSet:
    """Return the stop words of a language, which needs no other word lists; empty without a list."""
    if code == english().words.code:
        return english().words.common
    path = _FOLDER / "stop_words" / f"{code}.txt"
    return read_words(path) if path.is_file() else frozenset()


@lru_cache(maxsize=1)
def english() -> Language:
    """Return English, which is read once and shared."""
    return load(_FOLDER / "english")
