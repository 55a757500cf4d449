"""The words of statements: verbs, prepositions, articles, and the forms of names in a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .text import Words
from .word_lists import Renamed, WordSet

_VOWELS = "aeiou"
_DAY = re.compile(r"\d{1,2} [A-Z]|\d{1,2}[/.-]")


@dataclass(frozen=True, eq=False)
class StatementWords:
    """The words by which English turns questions into statements; see `statements.txt`."""

    words: Words
    openings: WordSet
    prepositions: WordSet
    being: WordSet
    irregular: Renamed
    regular: WordSet
    adverbs: WordSet
    subjects: WordSet
    naming: WordSet
    qualities: WordSet
    measured: WordSet
    date_nouns: WordSet
    definite: WordSet
    relative: WordSet
    sites: WordSet
    with_article: WordSet

    # -- verbs ---------------------------------------------------------------------------------------------------------

    def past(self, verb: str) -> str:
        """Return the past of a verb."""
        return self.irregular[verb].split()[0] if verb in self.irregular else _with_ed(verb)

    @staticmethod
    def third_person(verb: str) -> str:
        """Return the third person singular of a verb."""
        if verb == "have":
            return "has"
        if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
            return f"{verb}es"
        return f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2:-1] not in _VOWELS else f"{verb}s"

    @cached_property
    def determiners(self) -> WordSet:
        """Words before a noun."""
        return self.definite | self.words.articles

    @cached_property
    def bases(self) -> WordSet:
        """The base forms of known verbs, as behind "did"."""
        return self.regular | self.irregular.keys()

    @cached_property
    def participles(self) -> WordSet:
        """The past participles of known verbs."""
        return frozenset({*map(_with_ed, self.regular), *(forms.split()[1] for forms in self.irregular.values())})

    @cached_property
    def finite(self) -> WordSet:
        """Forms of verbs that may follow their subject, without base forms."""
        return frozenset({*map(self.past, self.bases), *map(self.third_person, self.bases)}) - {"was"}

    # -- names ---------------------------------------------------------------------------------------------------------

    def preposition(self, answer: str, is_date: bool) -> str:
        """Return the preposition before a date or a place."""
        if is_date:
            return "on" if _DAY.match(answer) else "in"
        return "at" if self.sites & {*answer.lower().split()} else "in"

    def named(self, answer: str) -> str:
        """Return a name with its article in a sentence: the Academy Award."""
        is_bare = answer[:1].isupper() and answer.split()[0].lower() not in self.words.definite
        capitals = {word.lower().strip(",") for word in answer.split() if word[:1].isupper()}
        return f"the {answer}" if is_bare and (capitals & self.with_article or answer.endswith(" team")) else answer

    @staticmethod
    def listed(names: Sequence[str], word: str = "and") -> str:
        """Return names as a list: A, B and C."""
        return f" {word} ".join(filter(None, (", ".join(names[:-1]), names[-1])))

    @staticmethod
    def plural(behind: str) -> str:
        """Return the words behind several names, from the words behind a single name, with which their verb agrees."""
        verb, blank, rest = behind.partition(" ")
        plurals = {"is": "are", "was": "were", "has": "have"}
        if verb in plurals:
            verb = plurals[verb]
        elif verb.endswith("s") and not verb.endswith("ss"):
            verb = verb[:-1]
        return f"{verb}{blank}{rest}"


def _with_ed(verb: str) -> str:
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in _VOWELS:
        return f"{verb[:-1]}ied"
    doubles = re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", verb) is not None or verb in ("prefer", "transfer", "admit")
    return f"{verb}{verb[-1]}ed" if doubles and verb[-1] not in "k" else f"{verb}ed"
