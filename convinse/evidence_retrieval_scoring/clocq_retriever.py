"""Question-relevant evidences: facts of the knowledge base, and the Wikipedia evidences of the question's items."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ..config import Config, to_dict
from ..knowledge_base.api_client import ClocqApi
from ..knowledge_base.index import FactEntities, KnowledgeBase
from ..knowledge_base.search_space import SpaceFact, best_facts, facts_around, is_named
from ..records.evidence import Entity, Evidence, merge_duplicates, normalize_source
from ..records.facts import fact_evidence
from ..records.representation import QuestionEntity, read_slots
from ..resources import Resources
from .passage_retriever import PassageRetriever
from .wikipedia_retriever import WikipediaRetriever

_VERSION = 3  # of the search space; raised when the same data and parameters give other results


class ClocqRetriever:
    """Retrieval after CLOCQ (Christmann et al., WSDM 2022): the items of a question, and the evidences around them.

    Facts come from the embedded knowledge base, or with `clocq_use_api` from a server of the CLOCQ HTTP API; of the
    same data the results are the same. Nothing is opened or asked before the first retrieval.

    Args:
        config: `kb_path`, `clocq_*`, the Wikipedia and the cache settings are used.
        wikipedia: the Wikipedia retriever to use instead of one of its own.
        resources: knowledge base, dump, passages and cache; by default its own.
    """

    def __init__(
        self, config: Config, wikipedia: WikipediaRetriever | None = None, resources: Resources | None = None
    ) -> None:
        self.config = config
        self.resources = resources or Resources(config)
        self.logger = logging.getLogger(f"{__name__}.{type(self).__name__}")
        self.cache = self.resources.cache
        self.wikipedia = wikipedia or WikipediaRetriever(config, resources=self.resources)
        self._api = ClocqApi(config.clocq_host, config.clocq_port) if config.clocq_use_api else None

    @property
    def kb(self) -> KnowledgeBase:
        """The embedded knowledge base."""
        return self.resources.kb

    @cached_property
    def passages(self) -> PassageRetriever | None:
        """The retriever of `ers_passage_index`, or None; passages are linked to items of the embedded knowledge base."""
        index, resources = self.resources.passages, self.resources
        if index is None:
            return None
        return PassageRetriever(index, self.config.evs_max_evidences, resources.linker.link, resources.language)

    @property
    def _origin(self) -> str:
        """Where facts come from, as the cache knows it."""
        return self.kb.build_id if self._api is None else self._api.address

    @cached_property
    def _parameters(self) -> dict[str, Any]:
        return {**to_dict(self.config)["clocq_params"], "p": self.config.clocq_p, "version": _VERSION}

    def retrieve_evidences(
        self, text: str, sources: Sequence[str], known: Sequence[QuestionEntity] | None = None
    ) -> tuple[list[Evidence], list[QuestionEntity]]:
        """The evidences of the wanted sources for a question or representation, and the question's items.

        With `ers_passage_index`, the best passages for the whole text are among the `text` evidences.
        Evidences of equal text and source become one evidence, with the entities of all.

        Args:
            text: a question or representation; of one with four slots the answer type is not linked.
            sources: the wanted sources.
            known: the items that the text is about; None: those that it mentions, which are linked.
        """
        sources = [normalize_source(source) for source in sources]
        evidences, entities = self.retrieve_KB_facts(text, known)
        if "kb" not in sources:
            evidences = []
        if {"text", "table", "info"} & set(sources):
            for entity in filter(is_named, entities):
                pages = self.retrieve_wikipedia_evidences(entity)
                evidences += [evidence for evidence in pages if evidence["source"] in sources]
        if "text" in sources and self.passages is not None:
            evidences += self.passages.retrieve_passages(text)
        return merge_duplicates(evidences), entities

    def retrieve_KB_facts(  # noqa: N802 - CONVINSE's name
        self, text: str, known: Sequence[QuestionEntity] | None = None
    ) -> tuple[list[Evidence], list[QuestionEntity]]:
        """The facts of the question's search space as evidences, and the question's items.

        What has to be linked or asked for is cached; facts of known items are read faster from the knowledge base.

        Args:
            text, known: see `retrieve_evidences`.

        Raises:
            NetworkError: with `clocq_use_api`, when the server cannot be used. A failure is not cached, and never an
                empty result.
        """
        if known is not None and self._api is None:
            facts, entities = self._search(text, known)
            return [fact_evidence(*fact) for fact in facts], entities
        key = ("search_space", self._origin, self._parameters, text, *([] if known is None else [list(known)]))
        cached = self.cache.get(*key)
        if cached is None:
            facts, entities = self._search(text, known)
            cached = {"facts": facts, "entities": entities}
            self.cache.put(*key, value=cached)
        return [fact_evidence(*fact) for fact in cached["facts"]], cached["entities"]

    def _search(
        self, text: str, known: Sequence[QuestionEntity] | None
    ) -> tuple[list[SpaceFact], list[QuestionEntity]]:
        params, p = self.config.clocq_params, self.config.clocq_p
        slots = read_slots(text, self.config.sr_delimiter)
        told = text if slots is None else slots.told
        if self._api is None:
            return self.resources.search_space.search(told, known)
        if known is None:
            return self._api.search_space(told, params, p)
        facts = facts_around(self._api.neighborhood, known, min(p, params.p_setting))
        return best_facts(told, facts, params, self.resources.language), list(known)

    def retrieve_kb_facts_for_item(self, item_id: str) -> list[FactEntities]:
        """The facts that an item occurs in, at most `clocq_p`: lists of `{"id", "label"}`.

        Raises:
            NetworkError: with `clocq_use_api`, when the server cannot be used.
        """
        source = self._api or self.resources.kb
        return source.neighborhood(item_id, self.config.clocq_p)

    def retrieve_wikipedia_evidences(self, question_entity: QuestionEntity) -> list[Evidence]:
        """The evidences of a question entity's Wikipedia page, with `retrieved_for_entity`."""
        item: Entity = {"id": question_entity["item"]["id"], "label": question_entity["item"]["label"]}
        evidences = self.wikipedia.retrieve_wp_evidences(item["id"])
        for evidence in evidences:
            evidence["retrieved_for_entity"] = item
        return evidences

    def store_cache(self) -> None:
        """Close the cache and the connections; everything put into the cache is on disk already."""
        self.wikipedia.store_cache()
        self.cache.close()
        if self._api is not None:
            self._api.close()
