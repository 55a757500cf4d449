"""Finds the names of national teams in questions: "the German national team", "the England side"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from .text import fold
from .word_lists import Renamed, WordSet

_NAME = r"[A-Z][^\W\d_]+"
_SMALL_NAME = r"[^\W\d_]{2,}"
_LEAST_PREFIX = 3  # letters at the beginning of a country and of the word for its people


class TeamName(NamedTuple):
    """The parts of the label of a national team: "Germany national football team"."""

    country: str  # folded
    kind: WordSet  # the words behind "national"
    women: bool  # whether it is a women's team


class TeamPhrase(NamedTuple):
    """Words of a text that may name a team."""

    end: int  # of the phrase in the text
    name_end: int  # in the text
    name: str  # of the country or people; it may begin with other words ("Did England")
    said: str  # the words between the name and the noun, in lower case
    # whether the name may be that of a people: "Spanish side" and "a Spanish team" may be clubs, so the text must have
    # "national" or "the ... team"
    peoples: bool


@dataclass(frozen=True, eq=False)
class TeamWords:
    """Words about national teams; see `teams.txt`."""

    label_words: WordSet
    nouns: WordSet
    kinds: WordSet
    usual_sports: WordSet
    women: WordSet
    demonym_endings: WordSet
    peoples: Renamed
    of_whom: re.Pattern[str]
    squads: re.Pattern[str]

    def phrases(self, text: str) -> Iterator[TeamPhrase]:
        """Yield the phrases of a text that may name a team, from left to right; in a text without capitals countries need none."""
        is_cased = any(char.isupper() for char in text[1:])
        for match in self._phrase(is_cased).finditer(text):
            the, name, said, noun = match.groups(default="")
            is_definite = the or "the" in name.split()  # a small name includes the words before it
            peoples = "national" in said or bool(is_definite and noun == "team")
            yield TeamPhrase(match.end(), match.end(2), name, said.lower(), peoples)

    def read_label(self, label: str) -> TeamName | None:
        """Return the parts of a team's label; None if it is not a national team, or a youth team."""
        name = fold(label)
        country, national, kind = name.partition(" national ")
        if not national or self.squads.search(name):
            return None
        return TeamName(self.of_whom.sub("", country), frozenset(kind.split()), not self.women.isdisjoint(name.split()))

    def shared(self, name: str, phrase: TeamPhrase, team: TeamName) -> int:
        """Return the length of the common prefix of a folded name and a team's country.

        0 if it names neither the country nor, if the phrase allows it, its people.
        """
        country, peoples = name, phrase.peoples
        if peoples and name in self.peoples:
            country, peoples = self.peoples[name], False
        if country == team.country:
            return len(country) + 1
        if not peoples or not country.endswith(tuple(self.demonym_endings)):
            return 0
        pairs = zip(country, team.country, strict=False)
        differing = next((place for place, (left, right) in enumerate(pairs) if left != right), None)
        number = min(len(country), len(team.country)) if differing is None else differing
        return number if number >= max(_LEAST_PREFIX, len(team.country) - 3) else 0

    def fits(self, phrase: TeamPhrase, team: TeamName) -> bool:
        """Return True if a team has the sport and the gender of a phrase."""
        sports = set(fold(phrase.said).split()) - self.usual_sports
        return team.women == ("women" in phrase.said) and sports <= team.kind

    @lru_cache(maxsize=2)  # noqa: B019 - a language has a single object
    def _phrase(self, is_cased: bool) -> re.Pattern[str]:
        kinds, nouns = "|".join(sorted(self.kinds)), "|".join(sorted(self.nouns))
        name, flags = (_NAME, re.UNICODE) if is_cased else (_SMALL_NAME, re.IGNORECASE)
        pattern = rf"(\b[Tt]he )?\b({name}(?: {name}){{0,3}})(?:['’]s)?((?: (?:{kinds}))*) ({nouns})\b"
        return re.compile(pattern, flags)
