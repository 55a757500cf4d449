"""National teams of a knowledge base, found by the names that questions use."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from ..language.national_teams import TeamName, TeamWords
from ..language.text import fold
from .items import Candidate, Items

_MOST = 1000  # teams that are looked up


class TeamMention(NamedTuple):
    """`text[start:end]` names a country's team; the candidates match equally well."""

    start: int
    end: int
    candidates: list[Candidate]


class NationalTeams:
    """The national teams of a knowledge base; their labels are looked up when a text first mentions a team."""

    def __init__(self, kb: Items, words: TeamWords) -> None:
        self._kb, self._words = kb, words

    def mentions(self, text: str) -> Iterator[TeamMention]:
        """Yield the mentions of teams that the knowledge base has, from left to right."""
        for phrase in self._words.phrases(text):
            words = phrase.name.split()
            for first in range(len(words)):  # the phrase may begin with other words: "Did England"
                surface = " ".join(words[first:])
                lengths = [self._words.shared(fold(surface), phrase, name) for name, _ in self._teams]
                best = max(lengths, default=0)
                named = [team for team, length in zip(self._teams, lengths, strict=True) if best and length == best]
                candidates = [candidate for name, candidate in named if self._words.fits(phrase, name)]
                if candidates:
                    yield TeamMention(phrase.name_end - len(surface), phrase.end, candidates)
                    break

    @cached_property
    def _teams(self) -> list[tuple[TeamName, Candidate]]:
        candidates = self._kb.search_names(sorted(self._words.label_words), _MOST)
        named = ((self._words.read_label(candidate.label), candidate) for candidate in candidates)
        return [(name, candidate) for name, candidate in named if name is not None]
