"""Numbers, amounts and dates as questions and evidences speak of them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from .property_names import PropertyWords
from .text import fold
from .word_lists import Numbers, Phrases, Renamed, Table, WordSet


class Limit(NamedTuple):
    """A number that a question compares with: "over 100 million dollars" is `question[start:end]`."""

    number: float  # in full
    above: bool  # whether more than it is asked for, or less
    inclusive: bool  # whether the number itself counts, too ("at least")
    unit: str  # the folded word behind it; empty where there is none, or it stands for an amount of money
    money: bool  # whether it may be an amount of money: by its unit or sign, or because it has no unit
    start: int
    end: int


_TEN, _THOUSAND = 10, 1000


@dataclass(frozen=True, eq=False)
class LiteralWords:
    """Words of numbers, amounts and dates; `literals.txt` says what each list is for."""

    properties: PropertyWords
    number_words: Numbers
    scales: Numbers
    joining: WordSet
    currencies: Renamed
    money: WordSet
    earned: WordSet
    counted: re.Pattern[str]
    measured: re.Pattern[str]
    of_which: WordSet
    asking: WordSet
    measures: Table
    above: Phrases
    below: Phrases
    inclusive: Phrases
    general_dates: WordSet

    def limit(self, question: str) -> Limit | None:
        """What a question compares with; None where it compares with no number ("over the moon")."""
        match = self._compared.search(question)
        number = None if match is None else self._number(match)
        if match is None or number is None:
            return None
        unit = fold(match["unit"]).strip()
        common = self.properties.words.common
        money = bool(match["currency"]) or not unit or unit in common or self.keyword(unit) in self.money_keywords
        word = (match["above"] or match["below"]).lower()
        return Limit(number, bool(match["above"]), word in self.inclusive, "" if money else unit, money, *match.span())

    def _number(self, match: re.Match[str]) -> float | None:
        word = (match["word"] or "").lower()
        scales = [self.scales[scale] for scale in re.findall(r"[a-z]+", match["scales"].lower())]
        if match["digits"]:
            number = float(match["digits"].replace(",", ""))
        elif word in self.scales:  # "over hundred people"
            number = float(self.scales[word])
        elif word in self.number_words and (scales or word not in self.properties.words.articles):
            number = float(self.number_words[word])
        else:
            return None
        return number * math.prod(scales)

    def asked_scale(self, question: str) -> int:
        """What a question counts in: 1000000 in "how many million copies"; else 1."""
        many = self.counted.search(question)
        behind = fold(question[many.end() :]).split()[:1] if many else []
        return self.scales.get(behind[0], self.scales.get(behind[0].removesuffix("s"), 1)) if behind else 1

    def number_in_words(self, text: str) -> int | None:
        """The number that a text is, in words alone: "eight", "sixty-four", "a hundred and five", "thirty million"; else None.

        Two numbers are none ("two or three", "nineteen eighty-four").
        """
        whole = part = 0
        scale = room = math.inf  # the words that may follow are below these
        words = fold(text).split()
        for place, word in enumerate(words):
            times, number = self.scales.get(word, 0), self.number_words.get(word, 0)
            if part < times < scale and (part or not whole):
                part, room = max(part, 1) * times, times
                if times >= _THOUSAND:
                    whole, part, scale = whole + part, 0, times
            elif 0 < number < room:
                part, room = part + number, _TEN if number >= 2 * _TEN else 0
            elif word not in self.joining or not {*words[:place][-1:]} & self.scales.keys():
                return None
        return whole + part if words and words[-1] not in self.joining | self.properties.words.articles else None

    def keyword(self, word: str) -> str:
        """See `PropertyWords.keyword`."""
        return self.properties.keyword(word)

    def names_of(self, head: str) -> WordSet:
        """The keyword of a noun or adjective, and those of the measures that it asks for."""
        return frozenset((head, *self._measure_names.get(head, ())))

    @cached_property
    def money_keywords(self) -> WordSet:
        """Of units of money."""
        return self.properties.keyword_set(self.money)

    @cached_property
    def earned_keywords(self) -> WordSet:
        """Of the names of what something made."""
        return self.properties.keyword_set(self.earned)

    @cached_property
    def asking_keywords(self) -> WordSet:
        """Of the words that ask for a number and say not of what."""
        return self.properties.keyword_set(self.asking)

    @cached_property
    def general_date_keywords(self) -> WordSet:
        """Of the names of dates that do not say of what."""
        return self.properties.keyword_set(self.general_dates)

    @cached_property
    def _measure_names(self) -> Table:
        keyword_set = self.properties.keyword_set
        return MappingProxyType({self.keyword(word): keyword_set(names) for word, names in self.measures.items()})

    @cached_property
    def _compared(self) -> re.Pattern[str]:
        above, below, scales = ("|".join(map(re.escape, words)) for words in (self.above, self.below, self.scales))
        signs = "".join(map(re.escape, self.currencies))
        return re.compile(
            rf"\b(?:(?P<above>{above})|(?P<below>{below})) "
            rf"(?:an? (?=[0-9]))?(?P<currency>[{signs}]?)(?:(?P<digits>[0-9][0-9,]*(?:\.[0-9]+)?)|(?P<word>[a-z]+))"
            rf"(?P<scales>(?:[ -](?:{scales}))*)\b(?P<unit>(?: \w+)?)",
            re.IGNORECASE,
        )
