"""National teams by the names that questions have for them: "the German national team", "the England side"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ..text import fold
from .index import Candidate, KnowledgeBase

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
_SQUADS = re.compile(r"\bunder (?:\d+|[a-z]+)\b|\bu\d+\b|\bolympic\b")  # youth teams have names of their own


class TeamMention(NamedTuple):
    """`text[start:end]` names a country's team; the candidates are equally good."""

    start: int
    end: int
    candidates: list[Candidate]


def national_teams(text: str, kb: KnowledgeBase) -> Iterator[TeamMention]:
    """The mentions of teams that the knowledge base has, from left to right.

    "Spanish side" and "a Spanish team" may be clubs; so that a people's name is taken for its national team, the text must
    say "national" or "the ... team".
    """
    teams = None
    for match in _TEAM.finditer(text):
        the, name, said, noun = match.groups(default="")
        words = name.split()
        clear = "national" in said or bool(the and noun == "team")
        if teams is None:
            teams = _teams(kb)
        for first in range(len(words)):  # "Did England" begins with no name
            country = fold(" ".join(words[first:]))
            found = _of_country(country, teams, said.lower(), clear)
            if found:
                yield TeamMention(match.end(2) - len(" ".join(words[first:])), match.end(), found)
                break


@lru_cache(maxsize=4)
def _teams(kb: KnowledgeBase) -> list[tuple[str, str, Candidate]]:
    """(country, rest of the name, team), folded, of the teams whose names say that they are national."""
    found = []
    for team in kb.search_names(["national", "team"], _MOST):
        country, national, rest = fold(team.label).partition(" national ")
        country, of, who = re.sub(r" (?:men|women)s?(?: s)?$", "", country), " women ", fold(team.label)
        if national and not _SQUADS.search(who):
            found.append((country, f"women {rest}" if of.strip() in who or "womens" in who else rest, team))
    return found


def _of_country(country: str, teams: list[tuple[str, str, Candidate]], said: str, peoples: bool) -> list[Candidate]:
    """The teams of a country, or with `peoples` of the people that a word names, that fit what is said of the sport."""
    if peoples and country in _IRREGULAR:
        country, peoples = _IRREGULAR[country], False
    shared = {own: _shared(country, own, peoples) for own, _, _ in teams}
    best = max(shared.values(), default=0)
    if best == 0:
        return []
    women = "women" in said
    sports = set(fold(said).split()) - {"national", "men", "mens", "women", "womens", "s", "football", "soccer"}
    return [
        team
        for own, rest, team in teams
        if shared[own] == best and rest.startswith("women") == women and sports <= set(rest.split())
    ]


def _shared(word: str, country: str, peoples: bool) -> int:
    """Letters that a word shares with a country's name, from the first; 0 where it names neither country nor people."""
    if word == country:
        return len(country) + 1
    if not peoples:
        return 0
    number = next((n for n, pair in enumerate(zip(word, country, strict=False)) if pair[0] != pair[1]), None)
    number = min(len(word), len(country)) if number is None else number
    return number if number >= max(_LEAST_PREFIX, len(country) - 3) and word.endswith(_DEMONYM) else 0
