"""National teams by the names that questions have for them: "the German national team", "the England side"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from ..knowledge_base.index import Candidate, KnowledgeBase
from .text import fold

_NAME = r"[A-Z][^\W\d_]+"
_TEAM = re.compile(
    rf"(\b[Tt]he )?\b({_NAME}(?: {_NAME}){{0,3}})(?:['’]s)?((?: (?:national|men['’]?s|women['’]?s|football|soccer|basketball|"
    r"cricket|rugby|hockey|handball|volleyball))*) (team|side|squad)\b"
)
_MOST = 1000  # national teams that are looked through
_LEAST_PREFIX = 3  # letters that a country and the word for its people share
_DEMONYM = ("n", "sh", "ch", "ese", "i", "ic", "ss", "ek")  # endings of words for peoples
_IRREGULAR = {
    "american": "united states", "british": "great britain", "us": "united states", "usa": "united states", "danish": "denmark", "dutch": "netherlands", "finnish": "finland", "french": "france", "irish": "republic of ireland",
    "polish": "poland", "scottish": "scotland", "swiss": "switzerland", "welsh": "wales",
}  # fmt: skip
_OF_WHOM = re.compile(r" (?:men|women)s?(?: s)?$")
_SQUADS = re.compile(r"\bunder (?:\d+|[a-z]+)\b|\bu\d+\b|\bolympic\b")  # youth teams have names of their own


class _Team(NamedTuple):
    country: str  # folded, as the two below
    kind: frozenset[str]  # words behind "national": "football team"
    women: bool
    item: Candidate


class TeamMention(NamedTuple):
    """`text[start:end]` names a country's team; the candidates are equally good."""

    start: int
    end: int
    candidates: list[Candidate]


class NationalTeams:
    """The national teams of a knowledge base; looked up when a text first speaks of a team."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb

    def mentions(self, text: str) -> Iterator[TeamMention]:
        """The mentions of teams that the knowledge base has, from left to right.

        "Spanish side" and "a Spanish team" may be clubs; so that a people's name is taken for its national team, the text
        must say "national" or "the ... team".
        """
        for match in _TEAM.finditer(text):
            the, name, said, noun = match.groups(default="")
            words = name.split()
            clear = "national" in said or bool(the and noun == "team")
            for first in range(len(words)):  # "Did England" begins with no name
                surface = " ".join(words[first:])
                found = _of_country(fold(surface), self._teams, said.lower(), clear)
                if found:
                    yield TeamMention(match.end(2) - len(surface), match.end(), found)
                    break

    @cached_property
    def _teams(self) -> list[_Team]:
        """Of the items whose labels say that they are national teams: "Germany national football team"."""
        found = []
        for team in self._kb.search_names(["national", "team"], _MOST):
            name = fold(team.label)
            country, national, kind = name.partition(" national ")
            if national and not _SQUADS.search(name):
                words = set(name.split())
                women = not words.isdisjoint(("women", "womens"))
                found.append(_Team(_OF_WHOM.sub("", country), frozenset(kind.split()), women, team))
        return found


def _of_country(country: str, teams: list[_Team], said: str, peoples: bool) -> list[Candidate]:
    """The teams of a country, or with `peoples` of the people that a word names, that fit what is said of the sport."""
    if peoples and country in _IRREGULAR:
        country, peoples = _IRREGULAR[country], False
    shared = {team.country: _shared(country, team.country, peoples) for team in teams}
    best = max(shared.values(), default=0)
    if best == 0:
        return []
    women = "women" in said
    sports = set(fold(said).split()) - {"national", "men", "mens", "women", "womens", "s", "football", "soccer"}
    return [team.item for team in teams if shared[team.country] == best and team.women == women and sports <= team.kind]


def _shared(word: str, country: str, peoples: bool) -> int:
    """Letters that a word shares with a country's name, from the first; 0 where it names neither country nor people."""
    if word == country:
        return len(country) + 1
    if not peoples:
        return 0
    number = next((n for n, pair in enumerate(zip(word, country, strict=False)) if pair[0] != pair[1]), None)
    number = min(len(word), len(country)) if number is None else number
    return number if number >= max(_LEAST_PREFIX, len(country) - 3) and word.endswith(_DEMONYM) else 0
