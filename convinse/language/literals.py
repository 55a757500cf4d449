"""The words for numbers, amounts and dates in questions and evidences."""

from __future__ import annotations

import math
import re
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType

from .property_names import PropertyWords
from .text import Words, fold
from .word_lists import Numbers, Ordered, Phrases, Renamed, Table, WordLists, WordSet

_TEN, _THOUSAND = 10, 1000


class LiteralWords(WordLists):
    """Words of numbers, amounts and dates; `literals.txt` explains the lists."""

    file = "literals.txt"
    words: Words
    properties: PropertyWords
    small_numbers: Ordered
    tens: Ordered
    scales: Numbers
    parts: Numbers
    joining: WordSet
    currencies: Renamed
    counted: re.Pattern[str]
    paying: re.Pattern[str]
    gratis: WordSet
    lasting: re.Pattern[str]
    by_time: re.Pattern[str]
    measures: Table
    sizing: WordSet
    numbered: WordSet
    ordinal: re.Pattern[str]
    inclusive: Phrases

    @cached_property
    def numbers(self) -> Numbers:
        """The values of number words and of indefinite articles."""
        words = self.words
        numbers = dict.fromkeys(sorted(words.articles - words.definite), 1)
        numbers |= {word: value for value, word in enumerate(self.small_numbers, 1)}
        return MappingProxyType(numbers | {word: _TEN * value for value, word in enumerate(self.tens, 2)})

    def quantity(self, question: str) -> str:
        """Return "money" or "time" if a question asks for an amount of it, else an empty string."""
        return "money" if self.paying.search(question) else "time" if self.lasting.search(question) else ""

    def asked_scale(self, question: str) -> int:
        """Return the unit of counting in a question: 1000000 in "how many million copies"; else 1."""
        many = self.counted.search(question)
        behind = fold(question[many.end() :]).split()[:1] if many else []
        return self.scales.get(behind[0], self.scales.get(behind[0].removesuffix("s"), 1)) if behind else 1

    @cached_property
    def _number_of_thing(self) -> re.Pattern[str]:
        nouns = "|".join(sorted(map(re.escape, self.numbered)))
        return re.compile(rf"(?i)\b({nouns}) ([^\W\d_]+(?:-[^\W\d_]+)?)\b")

    def in_digits(self, question: str) -> str:
        """Return a question with the numbers of things in digits: "season 2" for "season two"."""

        def in_digits(match: re.Match[str]) -> str:
            number = self.number_in_words(match[2].lower())
            return match[0] if number is None else f"{match[1]} {number}"

        return self._number_of_thing.sub(in_digits, question)

    def number_in_words(self, text: str) -> int | None:
        """Return the number of a text of number words: "eight", "sixty-four", "a hundred and five", "half a million".

        None for other texts, also for several numbers ("two or three", "nineteen eighty-four").
        """
        whole = part = 0
        scale = room = math.inf  # the words that may follow are below these
        words = fold(text).split()
        part_of = [word for word in words if word not in self.words.stop_words]
        if len(part_of) == 2 and part_of[0] in self.parts and part_of[1] in self.scales:  # "a quarter of a million"
            return self.scales[part_of[1]] // self.parts[part_of[0]]
        for place, word in enumerate(words):
            times, number = self.scales.get(word, 0), self.numbers.get(word, 0)
            if part < times < scale and (part or not whole):
                part, room = max(part, 1) * times, times
                if times >= _THOUSAND:
                    whole, part, scale = whole + part, 0, times
            elif 0 < number < room:
                part, room = part + number, _TEN if number >= 2 * _TEN else 0
            elif word not in self.joining or not {*words[:place][-1:]} & self.scales.keys():
                return None
        return whole + part if words and words[-1] not in self.joining | self.words.articles else None

    def names_of(self, head: str) -> WordSet:
        """Return the keyword of a noun or adjective, and the keywords of the measures that it asks for."""
        return frozenset((head, *self._measure_names.get(head, ())))

    def measured(self, question: str) -> WordSet:
        """Return the keywords of the measure that "how tall" asks for; empty for other questions and those for any amount."""
        words = fold(question).split()
        adjectives = (word for how, word in pairwise(words) if how == "how" and word not in self.sizing)
        names = (self._measure_names.get(self.properties.keyword(word), frozenset()) for word in adjectives)
        return next(filter(None, names), frozenset())

    @cached_property
    def _measure_names(self) -> Table:
        words = self.properties
        return MappingProxyType(
            {words.keyword(word): words.keyword_set(names) for word, names in self.measures.items()}
        )
