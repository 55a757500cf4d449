"""National teams by the names that questions have for them: "the German national team", "the England side"."""

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
_LEAST_PREFIX = 3  # letters that a country and the word for its people share


class TeamName(NamedTuple):
    """What the label of a national team says: "Germany national football team"."""

    country: str  # folded
    kind: WordSet  # the words behind "national"
    women: bool  # whether it is a women's team


class TeamPhrase(NamedTuple):
    """Words of a text that may name a team."""

    end: int  # of the phrase in the text
    name_end: int  # where the name of the country or people in it ends
    name: str  # that name; it may begin with words that do not belong to it ("Did England")
    said: str  # the words between the name and the noun, in lower case
    # whether the name may be that of a people: "Spanish side" and "a Spanish team" may be clubs, so the text must say
    # "national" or "the ... team"
    peoples: bool


@dataclass(frozen=True, eq=False)
class TeamWords:
    """Words that speak of national teams; see `teams.txt`."""

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
        """The phrases of a text that may name a team, from left to right; countries need no capital where nothing has one."""
        is_cased = any(char.isupper() for char in text[1:])
        for match in self._phrase(is_cased).finditer(text):
            the, name, said, noun = match.groups(default="")
            is_definite = the or "the" in name.split()  # words before a small name stand in it
            peoples = "national" in said or bool(is_definite and noun == "team")
            yield TeamPhrase(match.end(), match.end(2), name, said.lower(), peoples)

    def read_label(self, label: str) -> TeamName | None:
        """What the label of a team says; None where it is no national team, or a team of young people."""
        name = fold(label)
        country, national, kind = name.partition(" national ")
        if not national or self.squads.search(name):
            return None
        return TeamName(self.of_whom.sub("", country), frozenset(kind.split()), not self.women.isdisjoint(name.split()))

    def shared(self, name: str, phrase: TeamPhrase, team: TeamName) -> int:
        """Letters that a folded name shares with a team's country, from the first; 0 where it names neither the country
        nor, if the phrase may name one, its people."""
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
        """Whether what a phrase says of the sport, and of whom, is true of a team."""
        sports = set(fold(phrase.said).split()) - self.usual_sports
        return team.women == ("women" in phrase.said) and sports <= team.kind

    @lru_cache(maxsize=2)  # noqa: B019 - a language has one
    def _phrase(self, is_cased: bool) -> re.Pattern[str]:
        kinds, nouns = "|".join(sorted(self.kinds)), "|".join(sorted(self.nouns))
        name, flags = (_NAME, re.UNICODE) if is_cased else (_SMALL_NAME, re.IGNORECASE)
        pattern = rf"(\b[Tt]he )?\b({name}(?: {name}){{0,3}})(?:['’]s)?((?: (?:{kinds}))*) ({nouns})\b"
        return re.compile(pattern, flags)
