"""By which words a question orders or compares what tables and facts list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from .literals import LiteralWords
from .text import fold
from .word_lists import Numbers, Table, WordSet

_MOST_WORDS = 3  # behind "first" or "longest" that say of what
_YEAR = re.compile(r"[12][0-9]{3}")
_VOWELS = frozenset("aeiou")


class AskedOrder(NamedTuple):
    """Which end of an order a question asks for."""

    by: frozenset[str]  # keywords of the measures that order; empty: dates do
    highest: bool  # whether the highest, or latest, comes first
    place: int  # of what is asked in the order, from 1
    noun: tuple[str, ...]  # keywords of the words behind, which say what is ordered, or by what ("the most goals")
    words: frozenset[str]  # the folded words that ask for the order


class AskedComparison(NamedTuple):
    """How a question compares two things: by dates where `by` is empty, else by the measures of these keywords."""

    by: frozenset[str]
    higher: bool
    words: frozenset[str]


class AskedNeighbour(NamedTuple):
    """That a question asks for what stands directly before or behind a named thing."""

    later: bool  # whether it asks for what stands behind
    place: int  # of the word that says so, among the folded words of the question
    named: frozenset[str]  # the keywords among which the name is
    asking: frozenset[str]  # all its keywords, without those that say only that something comes or is made


@dataclass(frozen=True, eq=False)
class OperationWords:
    """Words of questions that order or compare; `operations.txt` says what each list is for."""

    literals: LiteralWords
    earliest: WordSet
    latest: WordSet
    earlier: WordSet
    later: WordSet
    degrees: Table
    lower_degrees: Table
    most: WordSet
    least: WordSet
    more: WordSet
    less: WordSet
    ordinals: Numbers
    ranks: WordSet
    before: WordSet
    after: WordSet
    choice: WordSet
    naming: WordSet
    succeeding: WordSet
    preceding: WordSet
    passive: WordSet
    next: WordSet
    previous: WordSet
    not_next: WordSet
    moving: WordSet
    selected: WordSet

    def order(self, question: str) -> AskedOrder | None:
        """The first order that a question asks for; None where it asks for none."""
        words = fold(question).split()
        for place, word in enumerate(words):
            nth = self.ordinals.get(word, 1)
            at = place + (nth > 1)
            end = self._end(words, at)
            if end is None and nth == 1:
                continue
            by, highest, behind = end or (frozenset(), False, at)
            noun = tuple(self._noun(words[behind:]))
            if noun or by:
                return AskedOrder(by, highest, nth, noun, frozenset(words[place:behind]))
        return None

    def comparison(self, question: str) -> AskedComparison | None:
        """The first comparison of two things that a question makes; None where it makes none."""
        words = fold(question).split()
        for place, word in enumerate(words):
            if word in self.earlier or word in self.later:
                return AskedComparison(frozenset(), word in self.later, frozenset((word,)))
            if word in self.more or word in self.less:
                following = words[place + 1] if place + 1 < len(words) else ""
                degree = self._adjectives.get(following)
                by, upward = degree or (frozenset(map(self.literals.keyword, self._raw_noun(words[place + 1 :]))), True)
                if by:
                    return AskedComparison(by, upward == (word in self.more), frozenset((word, following)))
            degree = self._comparatives.get(word)
            if degree is not None:
                return AskedComparison(*degree, frozenset((word,)))
        return None

    def neighbours(self, question: str) -> Iterator[AskedNeighbour]:
        """The ways to read a question as one for what is directly before or after a name; none where it names years."""
        words = fold(question).split()
        if any(map(_YEAR.fullmatch, words)):
            return
        for place, word in enumerate(words):
            ahead, behind = words[:place], words[place + 1 :]
            if word in self.before or word in self.after:
                yield self._neighbour(word in self.after, place, behind, words)
            elif word in self.succeeding or word in self.preceding:
                is_passive = not self.passive.isdisjoint(behind[:1])
                later = (word in self.succeeding) != is_passive
                yield self._neighbour(later, place, behind, words)
                yield self._neighbour(not later, place, ahead, words)
            elif (word in self.next or word in self.previous) and self.not_next.isdisjoint(behind[:1]):
                yield self._neighbour(word in self.next, place, words, words)

    def _neighbour(self, later: bool, place: int, named: Sequence[str], words: Sequence[str]) -> AskedNeighbour:
        keywords = self.literals.properties.keyword_set
        rest = (word for at, word in enumerate(words) if at != place and word not in self._moving)
        return AskedNeighbour(later, place, keywords(named), keywords(rest))

    @cached_property
    def _moving(self) -> WordSet:
        return self.moving | self.before | self.after | self.next | self.previous | self.passive

    def is_choice(self, question: str) -> bool:
        """Whether a question asks for one of two ("which of the two", "X or Y")."""
        return not self.choice.isdisjoint(fold(question).split())

    @cached_property
    def naming_keywords(self) -> frozenset[str]:
        """Of words that ask who bears a name."""
        return self.literals.properties.keyword_set(self.naming)

    def is_selection(self, keywords: frozenset[str]) -> bool:
        """Whether the name of a table says that it does not list everything."""
        return bool(keywords & self.literals.properties.keyword_set(self.selected))

    def is_ranking(self, keywords: frozenset[str]) -> bool:
        """Whether the name of a column is that of ranks, of which the lowest is the best."""
        return bool(keywords & self.literals.properties.keyword_set(self.ranks))

    def _end(self, words: Sequence[str], place: int) -> tuple[frozenset[str], bool, int] | None:
        """By what, in which direction, and where the words behind begin; of the superlative at a place."""
        if place >= len(words):
            return None
        word, following = words[place], words[place + 1] if place + 1 < len(words) else ""
        if word in self.earliest or word in self.latest:
            return frozenset(), word in self.latest, place + 1
        if word in self._superlatives:
            return *self._superlatives[word], place + 1
        if word not in self.most and word not in self.least:
            return None
        upward = word in self.most
        if following in self.latest:
            return frozenset(), upward, place + 2
        if degree := self._adjectives.get(following):
            return degree[0], degree[1] == upward, place + 2
        noun = self._noun(words[place + 1 :])
        is_limit = " ".join(words[max(0, place - 1) : place + 1]) in self.literals.inclusive  # "at most"
        return None if is_limit or not noun else (frozenset(noun[:1]), upward, place + 1)

    def _noun(self, words: Sequence[str]) -> list[str]:
        return [self.literals.keyword(word) for word in self._raw_noun(words)]

    def _raw_noun(self, words: Sequence[str]) -> Iterator[str]:
        for word in words[:_MOST_WORDS]:
            if word in self.literals.properties.words.common:
                return
            yield word

    @cached_property
    def _adjectives(self) -> Mapping[str, tuple[frozenset[str], bool]]:
        keywords = self.literals.properties.keyword_set
        tables = ((self.degrees, True), (self.lower_degrees, False))
        return MappingProxyType(
            {adjective: (keywords(names), up) for table, up in tables for adjective, names in table.items()}
        )

    @cached_property
    def _superlatives(self) -> Mapping[str, tuple[frozenset[str], bool]]:
        return self._graded("est")

    @cached_property
    def _comparatives(self) -> Mapping[str, tuple[frozenset[str], bool]]:
        return self._graded("er")

    def _graded(self, ending: str) -> Mapping[str, tuple[frozenset[str], bool]]:
        return MappingProxyType(
            {f"{stem}{ending}": degree for word, degree in self._adjectives.items() for stem in _stems(word)}
        )


def _stems(adjective: str) -> Iterator[str]:
    """What an adjective becomes before "er" and "est": long, larg(e), bigg, heavi."""
    if adjective.endswith("e"):
        yield adjective[:-1]
    elif adjective.endswith("y"):
        yield f"{adjective[:-1]}i"
    elif len(adjective) == 3 and adjective[-2] in _VOWELS:
        yield adjective + adjective[-1]
    else:
        yield adjective
