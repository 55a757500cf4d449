"""Wikipedia as a source of evidences: from the cache, else from the dump."""

from __future__ import annotations

import logging
from functools import lru_cache

import msgspec

from ..cache import EvidenceCache
from ..config import Config, resolve
from ..evidence import Evidence
from ..wikipedia.dump import WikipediaDump


class WikipediaRetriever:
    """The sentences, table rows and infobox entries of items' Wikipedia pages.

    Nothing is opened before the first retrieval.

    Args:
        config: `ers_wikipedia_dump`, the `evr_*` filters and the cache settings are used.
        cache: the cache to use instead of the configured one.
    """

    def __init__(self, config: Config, cache: EvidenceCache | None = None) -> None:
        self.config = config
        self.logger = logging.getLogger(f"{__name__}.{type(self).__name__}")
        self.cache = cache or EvidenceCache(config.ers_cache_path if config.ers_use_cache else None)
        self._dump: WikipediaDump | None = None
        self._recent = lru_cache(maxsize=512)(self._filtered)

    @property
    def dump(self) -> WikipediaDump | None:
        """The dump, opened on first use; None when the configuration names none."""
        if self._dump is None and self.config.ers_wikipedia_dump is not None:
            self._dump = WikipediaDump(resolve(self.config.ers_wikipedia_dump))
        return self._dump

    @property
    def build_id(self) -> str:
        """What the evidences depend on besides the item."""
        return self.dump.build_id if self.dump is not None else "none"

    def retrieve_wp_evidences(self, item_id: str) -> list[Evidence]:
        """The evidences of an item's page, without `retrieved_for_entity`; empty for an item that has none in the dump.

        The filters `evr_min_evidence_length`, `evr_max_evidence_length` (characters), `evr_max_entities` and "letters
        are at least half of the characters" are applied here, so that changing them needs no new dump.
        """
        return msgspec.json.decode(self._recent(item_id))  # decoding is the cheapest deep copy

    def _filtered(self, item_id: str) -> bytes:
        found = self.dump.get(item_id) if self.dump is not None else None
        return msgspec.json.encode([evidence for evidence in found or [] if self._passes(evidence)])

    def _passes(self, evidence: Evidence) -> bool:
        text = evidence["evidence_text"]
        letters = sum(map(str.isalpha, text))
        items = sum(entity["id"][:1] == "Q" for entity in evidence["wikidata_entities"])
        config = self.config
        return (
            config.evr_min_evidence_length <= len(text) <= config.evr_max_evidence_length
            and letters * 2 >= len(text)
            and items <= config.evr_max_entities
        )

    def store_cache(self) -> None:
        """Close the cache; everything put into it is on disk already."""
        self.cache.close()
