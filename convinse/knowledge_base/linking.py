"""Mentions of a text and the items that they may mean.

Names are found by their labels and aliases, the longest first; where there is none, parts of names and misspelt ones by
edit distance. A mention is certain, or it takes a conversation that speaks of what it names. The candidates of a mention are ranked by CLOCQ's four signals (Christmann et al., WSDM 2022, arXiv 2108.08597): match with the mention,
relevance to the text, connectivity and coherence with the candidates of the other mentions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ..config import ClocqParams
from ..language.language import Language, english
from ..records.evidence import Entity
from ..records.representation import QuestionEntity
from .index import KnowledgeBase
from .spotting import NameSpotter, SpottedName

_NEAR_BEST = 0.8  # AUTO keeps candidates of at least this share of the best score
_AUTO_LIMIT = 5  # items that AUTO keeps for a mention at most
_NEIGHBOR_LIMIT = 300
_KEPT_TEXTS = 2048  # whose mentions stay in memory: the questions of a run over several combinations of sources
_RIVALS = 16  # mentions on either side whose items say what a mention means: more than a question has


class ScoredCandidate(NamedTuple):
    """An item for a mention, with CLOCQ's combined score."""

    id: str
    label: str
    score: float

    @property
    def entity(self) -> Entity:
        """Id and label."""
        return {"id": self.id, "label": self.label}


class LinkedMention(NamedTuple):
    """A name, or a common noun, in a text: `text[start:end]` is `surface`; candidates are sorted, best first.

    `is_certain` is false of a word that may as well mean something else: a part of a name, a common word written small or a
    misspelt word; unless the text asks for a property of the item.
    """

    start: int
    end: int
    surface: str
    candidates: tuple[ScoredCandidate, ...]
    is_name: bool = True
    is_certain: bool = True

    @property
    def meanings(self) -> list[QuestionEntity]:
        """The candidates as CLOCQ lists them."""
        return [
            QuestionEntity(item=candidate.entity, question_word=self.surface, score=candidate.score, rank=rank)
            for rank, candidate in enumerate(self.candidates)
        ]


class EntityLinker:
    """Finds the items of a knowledge base in a text.

    Args:
        kb: the knowledge base.
        params: see `ClocqParams`.
        language: of the texts and the knowledge base; English by default.
    """

    def __init__(self, kb: KnowledgeBase, params: ClocqParams, language: Language | None = None) -> None:
        self._kb = kb
        self._params = params
        self._language = language or english()
        self._spotter = NameSpotter(kb, self._language, params.d)
        self._linked = lru_cache(maxsize=_KEPT_TEXTS)(self._link)

    def link(self, text: str, classes: bool = False) -> list[LinkedMention]:
        """The mentions of a question or representation from left to right, without overlap; may be empty.

        Common nouns ("country") are linked only with `classes`, and only in a text that names nothing. Surface forms are those of the text after `repair`.
        """
        return list(self._linked(repair(text), classes))

    def _link(self, text: str, classes: bool) -> tuple[LinkedMention, ...]:
        spotted = self._spotter.names(text)
        is_named = bool(spotted)
        if not is_named and classes:
            spotted = list(self._spotter.classes(text))
        spotted.sort(key=lambda mention: mention[:2])
        return tuple(mention._replace(is_name=is_named) for mention in self._disambiguate(text, spotted))

    def _disambiguate(self, text: str, spotted: Sequence[SpottedName]) -> list[LinkedMention]:
        params, stems = self._params, self._language.words.stems
        context = set(stems(text))
        ranked = (
            sorted(own, key=lambda pair: (-pair[1], -pair[0].frequency, pair[0].id)) for _, _, _, own, _ in spotted
        )
        pools = [own[: params.d] for own in ranked]
        items = dict.fromkeys(c.id for pool in pools for c, _ in pool)
        neighbors = {item: self._kb.neighbors(item, _NEIGHBOR_LIMIT) for item in items} if len(pools) > 1 else {}
        profiles = {item: set(stems(" ".join((self._kb.description(item), *self._kb.types(item))))) for item in items}
        mentions = []
        for number, (start, end, surface, _, sort) in enumerate(spotted):
            own = set(stems(surface))
            beside = [*pools[max(0, number - _RIVALS) : number], *pools[number + 1 : number + 1 + _RIVALS]]
            rivals = dict.fromkeys(c.id for pool in beside for c, _ in pool)
            scored = []
            for candidate, match in pools[number]:
                prior = math.log2(2 + candidate.frequency) / 12
                relevance = _overlap(context - own, profiles[candidate.id])
                connectivity = max((_hops(candidate.id, rival, neighbors) for rival in rivals), default=0.0)
                coherence = max((_overlap(profiles[rival], profiles[candidate.id]) for rival in rivals), default=0.0)
                score = (
                    params.h_match * match * (0.5 + 0.5 * min(1.0, prior))
                    + params.h_rel * relevance
                    + params.h_conn * connectivity
                    + params.h_coh * coherence
                )
                scored.append(ScoredCandidate(candidate.id, candidate.label, round(score, 6)))
            scored.sort(key=lambda c: (-c.score, int(c.id[1:])))
            k = _auto_k([candidate.frequency for candidate, _ in pools[number]]) if params.k == "AUTO" else params.k
            kept = scored[:k]
            if params.k == "AUTO":  # namesakes that are nearly as good may be meant, too
                kept += [c for c in scored[k:_AUTO_LIMIT] if c.score >= _NEAR_BEST * scored[0].score]
            mentions.append(LinkedMention(start, end, surface, tuple(kept), is_certain=sort == "name"))
        return mentions


def repair(text: str) -> str:
    """Text that was read as Windows-1252 where it was UTF-8 ("PelÃ©"), as it was meant; other text as it is."""
    if not re.search(r"[ÃÂâ][\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]", text):
        return text
    try:
        return text.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return text


def _auto_k(frequencies: Sequence[int]) -> int:
    """CLOCQ's AUTO: items to keep for a mention, by the entropy (bits) of how often its candidates occur.

    One candidate that is far more frequent than the others is meant; several equally frequent ones all may be.
    """
    total = sum(frequencies) + len(frequencies)
    shares = [(frequency + 1) / total for frequency in frequencies]
    return min(_AUTO_LIMIT, int(-sum(share * math.log2(share) for share in shares)) + 1)


def _overlap(wanted: set[str], present: set[str]) -> float:
    return len(wanted & present) / len(wanted) if wanted else 0.0


def _hops(first: str, second: str, neighbors: dict[str, set[str]]) -> float:
    """CLOCQ's connectivity: 1 in one fact, 0.5 through one item between, else 0."""
    if first == second:
        return 0.0
    if second in neighbors[first] or first in neighbors[second]:
        return 1.0
    return 0.5 if neighbors[first] & neighbors[second] else 0.0
