"""Entity linking: the mentions of a text and their candidate items.

`spotting` finds full names, parts of names and misspelt names in the labels and aliases of the knowledge base.
The candidates of a mention are ranked by CLOCQ's four signals (Christmann et al., WSDM 2022, arXiv 2108.08597): match with the
mention, relevance to the text, connectivity and coherence with the candidates of the other mentions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache

from ..config import ClocqParams
from ..language.language import Language, english
from ..language.property_names import PropertyLabel, PropertyNames
from ..records.literals import is_document_item
from .items import Items
from .spotting import LinkedMention, NameSpotter

_OWNING = 0.1  # for a candidate that has a property that the text asks for: "who managed Chelsea?" means the club
_NEAR_BEST = 0.8  # share of the best score with which AUTO keeps a further candidate
_AUTO_LIMIT = 5  # candidates that AUTO keeps for a mention at most
_NEIGHBOR_LIMIT = 300  # facts of a candidate that are searched for neighbours
_CACHED_TEXTS = 2048  # texts whose mentions are cached: the questions of a run over several combinations of sources
_RIVALS = 16  # mentions on either side whose candidates count for connectivity and coherence: more than a question has


class EntityLinker:
    """Finds the items of a knowledge base in texts of its language, by default English."""

    def __init__(self, kb: Items, params: ClocqParams, language: Language | None = None) -> None:
        self._kb, self._params, self._language = kb, params, language or english()
        self._spotter = NameSpotter(kb, self._language, params.d)
        self._linked = lru_cache(maxsize=_CACHED_TEXTS)(self._link)
        self._properties = [PropertyLabel(label, prop) for prop, label, _ in kb.properties()]
        self._property_names = PropertyNames(kb.properties(), self._language.properties)

    def link(self, text: str, classes: bool = False) -> list[LinkedMention]:
        """Return the mentions of a question or representation from left to right, without overlap.

        Common nouns ("country") are linked only with `classes`, and only in a text without names. Surface forms are from the text
        after `repair`.
        """
        return list(self._linked(repair(text), classes))

    def _link(self, text: str, classes: bool) -> tuple[LinkedMention, ...]:
        spotted = self._spotter.names(text)
        if not spotted and classes:
            spotted = list(self._spotter.classes(text))
        spotted.sort(key=lambda mention: mention[:2])
        params, stems = self._params, self._language.words.stems
        context = set(stems(text))
        pools = [
            sorted(name.scored, key=lambda pair: (-pair[1], -pair[0].frequency, pair[0].id))[: params.d]
            for name in spotted
        ]
        items = dict.fromkeys(c.id for pool in pools for c, _ in pool)
        neighbors = {item: self._kb.neighbors(item, _NEIGHBOR_LIMIT) for item in items} if len(pools) > 1 else {}
        profiles = {item: set(stems(" ".join((self._kb.description(item), *self._kb.types(item))))) for item in items}
        has_names = any(mention.kind == "name" for mention in spotted)
        mentions = []
        for number, mention in enumerate(spotted):
            other_words = context - set(stems(mention.surface))
            requested = self._properties_requested(text, mention) if len(pools[number]) > 1 else frozenset()
            other_pools = [*pools[max(0, number - _RIVALS) : number], *pools[number + 1 : number + 1 + _RIVALS]]
            rivals = dict.fromkeys(c.id for pool in other_pools for c, _ in pool)
            # "who did zidane play for at juventus": a surname in lower case beside a name, if a fact has both
            needs_relation = mention.kind == "part" and mention.surface.islower() and has_names
            may_be_nickname = mention.kind == "name" and mention.surface.isalpha() and len(spotted) > 1
            scored = []
            for candidate, match in pools[number]:
                prior = math.log2(2 + candidate.frequency) / 12
                relevance = _overlap(other_words, profiles[candidate.id])
                connectivity = max((_connectivity(candidate.id, rival, neighbors) for rival in rivals), default=0.0)
                coherence = max((_overlap(profiles[rival], profiles[candidate.id]) for rival in rivals), default=0.0)
                score = (
                    params.h_match * match * (0.5 + 0.5 * min(1.0, prior))
                    + params.h_rel * relevance
                    + params.h_conn * connectivity
                    + params.h_coh * coherence
                    + _OWNING * (not requested.isdisjoint(self._kb.properties_of(candidate.id)))
                )
                # "who played Jack in Titanic?" means no Jack who has nothing to do with it; files have no relations
                is_nickname = may_be_nickname and not candidate.is_label and not is_document_item(candidate.id)
                if (connectivity == 1 or not needs_relation) and (connectivity > 0 or not is_nickname):
                    scored.append((candidate, round(score, 6)))
            if not scored:
                continue
            scored.sort(key=lambda pair: (-pair[1], int(pair[0].id[1:])))
            if params.k == "AUTO":
                k = _auto_k([candidate.frequency for candidate, _ in pools[number]])
                near_best = [pair for pair in scored[k:_AUTO_LIMIT] if pair[1] >= _NEAR_BEST * scored[0][1]]
                best = [*scored[:k], *near_best]
            else:
                best = scored[: params.k]
            mentions.append(mention._replace(scored=best))
        return tuple(mentions)

    def _properties_requested(self, text: str, mention: LinkedMention) -> frozenset[str]:
        """Return the ids of the properties that the words of a text beside a mention ask for."""
        properties = self._language.properties
        words = properties.with_synonyms(properties.keywords(text) - properties.keywords(mention.surface))
        return frozenset(label.id for label in self._properties if self._property_names.asking(label, words))


def repair(text: str) -> str:
    """Return a text with UTF-8 that was read as Windows-1252 ("PelÃ©") decoded; other texts unchanged."""
    if not re.search(r"[ÃÂâ][\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]", text):
        return text
    try:
        return text.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return text


def _auto_k(frequencies: Sequence[int]) -> int:
    # CLOCQ's AUTO: the number of items of a mention depends on the entropy (bits) of its candidates' frequencies
    total = sum(frequencies) + len(frequencies)
    shares = [(frequency + 1) / total for frequency in frequencies]
    return min(_AUTO_LIMIT, int(-sum(share * math.log2(share) for share in shares)) + 1)


def _overlap(stems: set[str], profile: set[str]) -> float:
    return len(stems & profile) / len(stems) if stems else 0.0


def _connectivity(first: str, second: str, neighbors: dict[str, set[str]]) -> float:
    # CLOCQ's connectivity, but of an item with itself 0: another mention of it is no evidence
    if first == second:
        return 0.0
    if second in neighbors[first] or first in neighbors[second]:
        return 1.0
    return 0.5 if neighbors[first] & neighbors[second] else 0.0
