"""Question-relevant evidences: facts of the knowledge base, and the Wikipedia evidences of the question's items."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ..config import Config, resolve, to_dict
from ..knowledge_base.api_client import ClocqApi
from ..knowledge_base.index import FactEntities, KnowledgeBase
from ..knowledge_base.search_space import SearchSpace, is_named
from ..records.evidence import Entity, Evidence, merge_duplicates, normalize_source, unique_entities
from ..records.facts import fact_text
from ..records.representation import QuestionEntity
from ..resources import stage_language
from ..support.evidence_cache import EvidenceCache
from .passage_retriever import PassageRetriever
from .wikipedia_retriever import WikipediaRetriever

_VERSION = 2  # of the search space; raised when the same data and parameters give other results


class ClocqRetriever:
    """Retrieval after CLOCQ (Christmann et al., WSDM 2022): the items of a question, and the evidences around them.

    Facts come from the embedded knowledge base, or with `clocq_use_api` from a server of the CLOCQ HTTP API; of the
    same data the results are the same. Nothing is opened or asked before the first retrieval.

    Args:
        config: `kb_path`, `clocq_*`, the Wikipedia and the cache settings are used.
        cache: the cache to use instead of the configured one.
        wikipedia: the Wikipedia retriever to use instead of one of its own.
        api: the client to use instead of one of its own, where `clocq_use_api` is set.
    """

    def __init__(
        self,
        config: Config,
        cache: EvidenceCache | None = None,
        wikipedia: WikipediaRetriever | None = None,
        api: ClocqApi | None = None,
    ) -> None:
        self.config = config
        self.language = stage_language()
        self.logger = logging.getLogger(f"{__name__}.{type(self).__name__}")
        self.cache = cache or EvidenceCache(config.ers_cache_path if config.ers_use_cache else None)
        self.wikipedia = wikipedia or WikipediaRetriever(
            config,
            self.cache,
            titles=lambda item_id: self.kb.text(item_id).title,
            labels=lambda item_id: self.kb.label(item_id),
        )
        self._api: ClocqApi | None = None
        if config.clocq_use_api:
            self._api = api or ClocqApi(config.clocq_host, config.clocq_port)

    @cached_property
    def kb(self) -> KnowledgeBase:
        """The embedded knowledge base, opened on first use."""
        return KnowledgeBase(resolve(self.config.kb_path))

    @cached_property
    def _search_space(self) -> SearchSpace:
        return SearchSpace(self.kb, self.config.clocq_params, self.config.clocq_p, self.language)

    @cached_property
    def passages(self) -> PassageRetriever | None:
        """The retriever of `ers_passage_index`, or None; passages are linked to items of the embedded knowledge base."""
        if self.config.ers_passage_index is None:
            return None
        from ..knowledge_base.linking import EntityLinker

        linker = EntityLinker(self.kb, self.config.clocq_params, self.language)
        return PassageRetriever(self.config, linker.link, language=self.language)

    @property
    def _origin(self) -> str:
        """Where facts come from, as the cache knows it."""
        return self.kb.build_id if self._api is None else self._api.address

    @cached_property
    def _parameters(self) -> dict[str, Any]:
        return {**to_dict(self.config)["clocq_params"], "p": self.config.clocq_p, "version": _VERSION}

    def retrieve_evidences(self, text: str, sources: Sequence[str]) -> tuple[list[Evidence], list[QuestionEntity]]:
        """The evidences of the wanted sources for a question or representation, and the question's items.

        With `ers_passage_index`, the best passages for the whole text are among the `text` evidences.
        Evidences of equal text and source become one evidence, with the entities of all.
        """
        sources = [normalize_source(source) for source in sources]
        evidences, entities = self.retrieve_KB_facts(text)
        if "kb" not in sources:
            evidences = []
        if {"text", "table", "info"} & set(sources):
            for entity in filter(is_named, entities):
                pages = self.retrieve_wikipedia_evidences(entity)
                evidences += [evidence for evidence in pages if evidence["source"] in sources]
        if "text" in sources and self.passages is not None:
            evidences += self.passages.retrieve_passages(text)
        return merge_duplicates(evidences), entities

    def retrieve_KB_facts(self, text: str) -> tuple[list[Evidence], list[QuestionEntity]]:  # noqa: N802 - CONVINSE's name
        """The facts of the question's search space as evidences, and the question's items; cached.

        Raises:
            NetworkError: with `clocq_use_api`, when the server cannot be used. A failure is not cached, and never an
                empty result.
        """
        key = ("search_space", self._origin, self._parameters, text)
        cached = self.cache.get(*key)
        if cached is None:
            facts, entities = self._search(text)
            items = {entity["item"]["id"]: entity["item"] for entity in entities}
            cached = {"evidences": [self._evidence(fact, items) for fact in facts], "entities": entities}
            self.cache.put(*key, value=cached)
        return cached["evidences"], cached["entities"]

    def _search(self, text: str) -> tuple[list[FactEntities], list[QuestionEntity]]:
        if self._api is not None:
            return self._api.search_space(text, self.config.clocq_params, self.config.clocq_p)
        facts, entities = self._search_space.search(text)
        return [fact.fact for fact in facts], entities

    def retrieve_kb_facts_for_item(self, item_id: str) -> list[FactEntities]:
        """The facts that an item occurs in, at most `clocq_p`: lists of `{"id", "label"}`.

        Raises:
            NetworkError: with `clocq_use_api`, when the server cannot be used.
        """
        source = self._api or self.kb
        return source.neighborhood(item_id, self.config.clocq_p)

    def retrieve_wikipedia_evidences(self, question_entity: QuestionEntity) -> list[Evidence]:
        """The evidences of a question entity's Wikipedia page, with `retrieved_for_entity`."""
        item: Entity = {"id": question_entity["item"]["id"], "label": question_entity["item"]["label"]}
        evidences = self.wikipedia.retrieve_wp_evidences(item["id"])
        for evidence in evidences:
            evidence["retrieved_for_entity"] = item
        return evidences

    @staticmethod
    def _evidence(fact: FactEntities, items: dict[str, Entity]) -> Evidence:
        """A fact as evidence, retrieved for the best question entity in it (an answer of the API does not tell)."""
        entities = unique_entities([fact[0], *fact[2::2]])
        inside = {entity["id"] for entity in entities}
        retrieved_for = next((item for item_id, item in items.items() if item_id in inside), None)
        if retrieved_for is None:  # a property of the question, which CLOCQ has among its items
            inside = {entity["id"] for entity in fact}
            retrieved_for = next((item for item_id, item in items.items() if item_id in inside), fact[0])
        return {
            "evidence_text": fact_text(fact),
            "source": "kb",
            "disambiguations": [[item["label"], item["id"]] for item in entities],
            "wikidata_entities": entities,
            "retrieved_for_entity": retrieved_for,
        }

    def store_cache(self) -> None:
        """Close the cache and the connections; everything put into the cache is on disk already."""
        self.wikipedia.store_cache()
        self.cache.close()
        if self._api is not None:
            self._api.close()
