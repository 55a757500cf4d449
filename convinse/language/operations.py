"""Finds the words by which a question orders things or offers a choice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from .literals import LiteralWords
from .property_names import PropertyWords
from .text import Words, fold
from .word_lists import Ordered, Renamed, Table, WordLists, WordSet

_MOST_WORDS = 3  # behind "first" or "longest" that name the ordered things
_RELATIVE = " that "
_VOWELS = frozenset("aeiou")
_NEVER_DOUBLED = frozenset("wxy")  # "lowest"


class AskedOrder(NamedTuple):
    """The end of an order that a question asks for.

    Attributes:
        by: keywords of the measures that order; empty: dates do.
        highest: the highest, or latest, comes first.
        place: in the order, from 1.
        noun: keywords of the words behind, which name the ordered things or the measure ("the most goals").
        words: the folded words that ask for the order.
    """

    by: frozenset[str]
    highest: bool
    place: int
    noun: tuple[str, ...]
    words: frozenset[str]


class OperationWords(WordLists):
    """Words of questions that order; `operations.txt` explains the lists."""

    file = "operations.txt"
    words: Words
    properties: PropertyWords
    literals: LiteralWords
    earliest: WordSet
    latest: WordSet
    aging: WordSet
    recent_times: WordSet
    degrees: Table
    lower_degrees: Table
    most: WordSet
    least: WordSet
    ordinals: Ordered
    standing: str
    ranks: WordSet
    offering: WordSet
    comparing: re.Pattern[str]
    choosing_one: re.Pattern[str]
    of_two: re.Pattern[str]
    apart: re.Pattern[str]
    compared_to: str
    years_to: str
    than: str
    offering_both: re.Pattern[str]
    several: re.Pattern[str]
    enumerating: re.Pattern[str]
    whats: re.Pattern[str]
    listing: re.Pattern[str]
    affirming: WordSet
    refusing: WordSet
    sole: WordSet
    fields: Renamed
    abbreviations: Table
    leading: Table
    naming: WordSet
    name_of: re.Pattern[str]
    given_names: re.Pattern[str]
    family_names: re.Pattern[str]
    name_header: str
    voting: WordSet
    ballots: Table
    winning: re.Pattern[str]
    losing: re.Pattern[str]
    won: re.Pattern[str]
    lost: re.Pattern[str]
    opposing: re.Pattern[str]
    sides: WordSet
    numbering: WordSet
    numbered: re.Pattern[str]
    roles: re.Pattern[str]
    verbs_of_travel: WordSet
    holding: re.Pattern[str]
    holders: WordSet
    located: WordSet
    faring: re.Pattern[str]
    outcomes: WordSet
    origins: Table
    staying: re.Pattern[str]
    staying_on: re.Pattern[str]
    choosing: WordSet
    continuing: WordSet
    sizes: WordSet
    pace: WordSet
    excluding: re.Pattern[str]
    excepting: re.Pattern[str]
    totals: WordSet
    relating: WordSet
    greater: WordSet
    lesser: WordSet
    exceeding: re.Pattern[str]
    undercutting: re.Pattern[str]
    within: re.Pattern[str]
    spelling: re.Pattern[str]
    summing: re.Pattern[str]
    averaging: re.Pattern[str]
    spent: WordSet
    received: WordSet
    receiving: re.Pattern[str]
    adding: WordSet
    pending: re.Pattern[str]
    settling: WordSet
    staff: WordSet
    absent: re.Pattern[str]
    absences: WordSet
    back: re.Pattern[str]
    task_words: WordSet
    done_words: WordSet
    undone: re.Pattern[str]
    due_words: WordSet
    deadlines: WordSet
    overdue: re.Pattern[str]
    overdue_question: str
    overdue_request: str
    missing: re.Pattern[str]
    jointly: re.Pattern[str]
    shared: re.Pattern[str]
    collections: WordSet
    verbs: re.Pattern[str]
    states: re.Pattern[str]
    every: re.Pattern[str]
    existing: re.Pattern[str]
    agents: WordSet
    between: re.Pattern[str]
    reversing: str
    differing: re.Pattern[str]
    sections: re.Pattern[str]
    counting: re.Pattern[str]
    count_behind: re.Pattern[str]
    capacities: WordSet
    taken: WordSet
    vacant: WordSet
    full: re.Pattern[str]
    births: WordSet
    kin: Table
    living: WordSet
    dead: WordSet
    beside_counts: WordSet
    counted_of_those: re.Pattern[str]
    spanning: re.Pattern[str]
    lasting: re.Pattern[str]
    alike: re.Pattern[str]
    recurring: WordSet
    partial: re.Pattern[str]
    partial_times: re.Pattern[str]
    bounding: WordSet
    heading: re.Pattern[str]
    web: WordSet
    addresses: Table
    day_header: str
    dated: WordSet
    explaining: re.Pattern[str]
    reasoning: re.Pattern[str]
    supposing: re.Pattern[str]
    making: WordSet
    cases: WordSet
    asking: re.Pattern[str]
    counted_again: re.Pattern[str]
    summed_again: re.Pattern[str]
    clause: re.Pattern[str]
    listed_again: re.Pattern[str]
    narrowed: re.Pattern[str]

    def asks_for_several(self, question: str) -> bool:
        """Return True for a question, or a request, for several things: "which clubs did he play for", "albums by Coldplay"."""
        return bool(self.several.search(question) or self.enumerating.match(question))

    def order(self, question: str) -> AskedOrder | None:
        """Return the first order that a question asks for; None without an order."""
        words = fold(question).split()
        for place, word in enumerate(words):
            nth = self.ordinals.index(word) + 2 if word in self.ordinals else 1
            at = place + (nth > 1)
            end = self._end(words, at)
            if (end is None and nth == 1) or self.is_denied(words, place):
                continue
            is_ago = words[at : at + 1] == [word] and not self.recent_times.isdisjoint(words[at + 1 : at + 2])
            if is_ago and word in self.latest and self.words.articles.isdisjoint(words[max(0, at - 1) : at]):
                continue  # "who won it last year?"
            by, highest, behind = end or (frozenset(), False, at)
            noun = tuple(map(self.properties.keyword, self._noun(words[behind:])))
            if not noun:  # "Which bus leaves first?"
                noun = tuple(map(self.properties.keyword, self._noun(fold(self.head(question)).split()[:1])))
            if not noun and end is not None:  # "Who joined first?"
                verbs = (verb for verb in self.verbs.findall(" ".join(words[:place])) if verb not in self.words.common)
                noun = tuple(map(self.properties.keyword, verbs))
            is_bare = not noun and not words[behind:] and words[:1] == ["who"]
            if is_bare and not by and word not in self.aging:  # "who is last?"
                noun = (self.properties.keyword(self.standing),)
            if noun or by or word in self.aging:  # "who is the oldest?"
                return AskedOrder(by, highest, nth, noun, frozenset(words[place:behind]))
        return None

    def is_of_degree(self, word: str) -> bool:
        """Return True for "longest", "first", "most", "longer" and the like (folded)."""
        of_two = self.earlier_of_two | self.later_of_two
        return word in self.places | of_two | self.most | self.least or word in self._comparatives

    def place(self, question: str) -> int | None:
        """Return the place in an order that a question names alone, 1 for "the first one", -1 for "the last"; None without one."""
        words = [word.strip("?.!,") for word in fold(question).split()]
        said = [word for word in words if word in self.places]
        if len(said) != 1 or words[-1] not in self.words.ones | {said[0]}:
            return None
        if said[0] in self.ordinals:
            return self.ordinals.index(said[0]) + 2
        return 1 if said[0] in self.earliest else -1

    def is_denied(self, words: Sequence[str], place: int) -> bool:
        """Return True if a word of a question stands behind "no", perhaps with an article between: "no last watering"."""
        spoken = self.words
        before = [word for word in words[max(0, place - 2) : place] if word not in spoken.articles]
        return bool(before) and spoken.denial.fullmatch(before[-1]) is not None

    def nth(self, question: str) -> tuple[int, str, str] | None:
        """Return the place that a question names from the second on, its word, and the noun behind: "her third child"; None without one."""
        words = fold(question).split()
        for word, noun in pairwise(words):
            if word in self.ordinals and noun not in self.words.common:
                return self.ordinals.index(word) + 2, word, noun
        return None

    def with_doers(self, words: frozenset[str]) -> frozenset[str]:
        """Return keywords of verbs with those of who does it: "drive", "driver"."""
        return words | {f"{word}{ending}" for word in words for ending in self.agents}

    def head(self, question: str) -> str:
        """Return the noun that a question asks for, and words behind: that of "which NOUN" or "NOUN of the"; empty without one."""
        match = self.heading.search(question)
        return "" if match is None else next(filter(None, match.groups()))

    def asked_again(self, question: str, last: str) -> tuple[str, str, str] | None:
        """Return the words before and behind what a question keeps of the last one, and that: "How many ", "invoices are not paid", "".

        None if it asks nothing of the things that the last question asked for.
        """
        last = last.rstrip(" ?.!")
        asking = self.asking.match(last)
        things = last[asking.end() :] if asking else last
        if asking and asking["total"]:
            things = things.replace(_RELATIVE, " ", 1)
        if self.counted_again.match(question):
            return "How many ", things, ""
        if self.summed_again.match(question):
            return "What is the total of the ", self._as_noun(things), ""
        if self.listed_again.match(question):
            return "Which ", things, ""
        if (narrowed := self.narrowed.match(question)) is None:
            return None
        condition = question[narrowed.end() :].rstrip(" ?.!")
        # "which of them are late?" of what was counted
        is_of_counted = narrowed["of"] is not None and self.counting.match(last) is not None
        if narrowed["many"] or narrowed["which"] or is_of_counted:
            return "How many " if narrowed["many"] else "Which ", things, f", {condition}"
        return "", last, f", {condition}"

    def _as_noun(self, things: str) -> str:
        """Return the things of a question as it names and describes them: "invoices that are not paid"."""
        return self.clause.sub(_RELATIVE, things, count=1)

    def header(self, name: str) -> str:
        """Return the name of a pair of a document with the words by which people ask for it: "From", sender."""
        return f"{name}, {self.fields[fold(name)]}" if fold(name) in self.fields else name

    def offers(self, question: str) -> bool:
        """Return True if a question names the things to choose from: "X or Y", "which of X and Y", "X vs Y"; it asks for no difference."""
        if self.differing.search(question):
            return False
        if not self.offering.isdisjoint(fold(question).split()):
            return True
        return self.offering_both.search(question) is not None and self.compares(question)

    def compares(self, question: str) -> bool:
        """Return True if a question asks which of its things is more: "which is older?"."""
        return self.comparison(question) is not None or self.compares_dates(question) is not None

    def chooses(self, question: str) -> bool:
        """Return True if a question asks which of two things is more: "Is X or Y longer?", not "Was it out in 1990 or later?"."""
        words = fold(question).split()
        following = {second for first, second in pairwise(words) if first in self.offering}
        of_two = following & (self._comparatives.keys() | self.earlier_of_two | self.later_of_two)
        return self.offers(question) and not of_two and self.compares(question)

    def comparison(self, question: str) -> tuple[frozenset[str], bool] | None:
        """Return the measures, empty if unnamed, and the direction of the one word by which a question compares; else None."""
        words = {word for word in fold(question).split() if word in self._comparatives}
        return self._comparatives[words.pop()] if len(words) == 1 else None

    def compares_measures(self, question: str) -> bool:
        """Return True if a question compares ages, or by a word for a measure: "older", "longer"; not "more" and "earlier"."""
        measures, _ = self.comparison(question) or (frozenset(), True)
        return bool(measures) or not set(map(_comparative, self.aging)).isdisjoint(fold(question).split())

    def compares_dates(self, question: str) -> bool | None:
        """Return True if a question asks for the later one of two ("Who is younger?"), False for the earlier, None for neither."""
        words = {*fold(question).split()}
        is_earlier, is_later = bool(words & self.earlier_of_two), bool(words & self.later_of_two)
        return None if is_earlier == is_later else is_later

    @cached_property
    def earlier_of_two(self) -> WordSet:
        """The words for the earlier of two: first, earlier, older."""
        return self.earliest | set(map(_comparative, self.earliest))

    @cached_property
    def later_of_two(self) -> WordSet:
        """The words for the later of two: last, later, younger."""
        return self.latest | set(map(_comparative, self.latest))

    @cached_property
    def places(self) -> WordSet:
        """The words for places in an order: first, third, last."""
        return self.earliest | self.latest | {*self.ordinals}

    def is_ranking(self, header: str) -> bool:
        """Return True if the header of a column names ranks, where the lowest is the best: "Place", not "Places"."""
        return not self.ranks.isdisjoint(fold(header).split())

    def _end(self, words: Sequence[str], place: int) -> tuple[frozenset[str], bool, int] | None:
        """Return the measures and the direction of the superlative at a place, and the place behind it."""
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
        if " ".join(words[max(0, place - 1) : place + 1]) in self.literals.inclusive:  # "at most"
            return None
        noun = list(map(self.properties.keyword, self._noun(words[place + 1 :])))
        measures = frozenset(noun[:1]) or self._measures_before(words, place)
        return (measures, upward, place + 1) if measures else None

    def _measures_before(self, words: Sequence[str], place: int) -> frozenset[str]:
        """Return the measures that a verb asks for, "costs the most"; of "sold the most in March" the verb."""
        before = [word for word in words[:place] if word not in self.words.articles][-1:]
        names = self.literals.names_of(self.properties.keyword(before[0])) if before else frozenset[str]()
        is_verb = place + 1 < len(words) and before and before[0] not in self.words.common
        if before and before[0] in self.adding and not is_verb and len(names) <= 1:  # "who gave the most?"
            return self.literals.names_of("money")
        return frozenset(names) if len(names) > 1 or is_verb else frozenset()

    def _noun(self, words: Sequence[str]) -> Iterator[str]:
        forms = self.words
        if (
            len(words) > 1 and words[0] in self.choosing and words[1] in forms.definite | forms.pointing
        ):  # "the second of these films"
            words = words[2:]
        if words and words[0] in forms.ones:
            yield words[0]
            return
        for word in words[:_MOST_WORDS]:
            if word in self.words.common:
                return
            yield word

    @cached_property
    def _adjectives(self) -> Mapping[str, tuple[frozenset[str], bool]]:
        keywords = self.properties.keyword_set
        tables = ((self.degrees, True), (self.lower_degrees, False))
        return MappingProxyType(
            {adjective: (keywords(names), up) for table, up in tables for adjective, names in table.items()}
        )

    @cached_property
    def _superlatives(self) -> Mapping[str, tuple[frozenset[str], bool]]:
        return MappingProxyType({_superlative(word): degree for word, degree in self._adjectives.items()})

    @cached_property
    def _comparatives(self) -> Mapping[str, tuple[frozenset[str], bool]]:
        unnamed = {word: (frozenset[str](), word in self.greater) for word in self.greater | self.lesser}
        adjectives = {_comparative(_superlative(word)): degree for word, degree in self._adjectives.items()}
        return MappingProxyType({**self._superlatives, **adjectives, **unnamed})


def _comparative(superlative: str) -> str:
    return f"{superlative[:-2]}r" if superlative.endswith("est") else superlative


def _superlative(adjective: str) -> str:
    if adjective.endswith("e"):
        return f"{adjective}st"
    if adjective.endswith("y"):
        return f"{adjective[:-1]}iest"
    is_doubled = len(adjective) == 3 and adjective[-2] in _VOWELS and adjective[-1] not in _NEVER_DOUBLED  # "biggest"
    return f"{adjective}{adjective[-1]}est" if is_doubled else f"{adjective}est"
