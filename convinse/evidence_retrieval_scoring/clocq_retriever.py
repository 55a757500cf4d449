"""Candidate evidences of a question: facts of the knowledge base, Wikipedia evidences of its items, and passages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from os import PathLike

from ..config import Config, read_config, to_dict
from ..knowledge_base.items import FactEntities, Items
from ..knowledge_base.search_space import SpaceFact, is_named
from ..records.evidence import DEFAULT_SOURCES, Entity, Evidence, merge_duplicates, normalize_source, parse_sources
from ..records.facts import fact_evidence
from ..records.literals import is_item
from ..records.representation import QuestionEntity, without_answer_type
from ..resources import Resources
from ..sources.facts import FactSource
from ..support.errors import DataError
from .passage_retriever import PassageRetriever
from .wikipedia_retriever import WikipediaRetriever

_VERSION = 4  # of the cache of search spaces; to be raised if the same data and parameters give other results


class ClocqRetriever:
    """Retrieval after CLOCQ (Christmann et al., WSDM 2022): the items of a question, and the evidences around them.

    Facts come from the knowledge base at hand or from a server of the CLOCQ API (`facts`); for the same data the results are the
    same. Files are opened and servers are contacted at the first retrieval.

    >>> retriever = ClocqRetriever("lexical.yml")
    >>> evidences, question_entities = retriever.retrieve_evidences("director of the film Titanic", "kb")
    >>> question_entities[0]["item"]
    {'id': 'Q44578', 'label': 'Titanic'}
    >>> [evidence["evidence_text"] for evidence in evidences if ", director, " in evidence["evidence_text"]]
    ['Titanic, director, James Cameron']

    Args:
        config: a configuration or its name; `kb_path`, `clocq_*`, the Wikipedia and the cache settings are used.
        resources: knowledge base, dump, passages and cache; by default new.
    """

    def __init__(self, config: Config | str | PathLike[str] = "config.yml", resources: Resources | None = None) -> None:
        self.config = config = read_config(config)
        self.resources = resources or Resources(config)
        self.cache = self.resources.cache
        self.wikipedia = WikipediaRetriever(config, resources=self.resources)

    @property
    def kb(self) -> Items:
        """The embedded knowledge base."""
        return self.resources.kb

    @property
    def facts(self) -> FactSource:
        """The source of facts."""
        return self.resources.facts

    @cached_property
    def passages(self) -> PassageRetriever:
        """The retriever of `ers_passage_index`, which finds nothing without; passages are linked to items of the knowledge base."""
        resources = self.resources
        return PassageRetriever(
            resources.passages,
            self.config.evs_max_evidences,
            lambda text: resources.linker.link(text),
            resources.language,
        )

    def retrieve_evidences(
        self,
        text: str = "",
        sources: str | Sequence[str] = DEFAULT_SOURCES,
        known: Sequence[QuestionEntity] | None = None,
        *,
        structured_representation: str = "",
    ) -> tuple[list[Evidence], list[QuestionEntity]]:
        """Return the evidences of sources for a question or representation, and the question's items.

        With `ers_passage_index`, the best passages for the whole text are among the `text` evidences.
        Evidences of equal text and source are merged, with the entities of all.

        Args:
            text: a question or representation; the answer type of a representation with four slots is not linked.
            sources: a list, or a combination such as `kb_text`.
            known: the items that the text is about; if None, the text is linked.
            structured_representation: CONVINSE's name of `text`.

        Raises:
            ConfigError: a source is invalid; the message lists the valid sources.
        """
        sources = parse_sources(sources, "retrieve_evidences: sources")
        text = text or structured_representation
        evidences, entities = self.retrieve_KB_facts(text, known)
        if "kb" not in sources:
            evidences = []
        if {"text", "table", "info"} & set(sources):
            for entity in filter(is_named, entities):
                pages = self.retrieve_wikipedia_evidences(entity)
                evidences += [evidence for evidence in pages if evidence["source"] in sources]
        if "text" in sources:
            evidences += self.passages.retrieve_passages(text)
        return merge_duplicates(evidences), entities

    def retrieve_KB_facts(  # noqa: N802 - CONVINSE's name
        self, text: str = "", known: Sequence[QuestionEntity] | None = None, *, structured_representation: str = ""
    ) -> tuple[list[Evidence], list[QuestionEntity]]:
        """Return the facts of the question's search space as evidences, and the question's items.

        Results are cached if items are linked or a server answers; facts of `known` items are read directly.

        Args:
            text, known, structured_representation: see `retrieve_evidences`.

        Raises:
            NetworkError: if a server has the facts and cannot be used. A failure is not cached, and never an empty result.
        """
        text = text or structured_representation
        if known is not None and not self.facts.is_remote:
            facts, entities = self._search(text, known)
            evidences = [fact_evidence(*fact) for fact in facts]
            for (fact, _), evidence in zip(facts, evidences, strict=True):
                if (statement := self.facts.origin(fact)) is not None:
                    evidence["origin"] = statement
            return evidences, entities
        parameters = {**to_dict(self.config)["clocq_params"], "p": self.config.clocq_p, "version": _VERSION}
        key = ("search_space", self.facts.version, parameters, text, *([] if known is None else [list(known)]))
        cached = self.cache.get(*key)
        if cached is None:
            facts, entities = self._search(text, known)
            cached = {"facts": facts, "entities": entities}
            self.cache.put(*key, value=cached)
        return [fact_evidence(*fact) for fact in cached["facts"]], cached["entities"]

    def _search(
        self, text: str, known: Sequence[QuestionEntity] | None
    ) -> tuple[list[SpaceFact], list[QuestionEntity]]:
        return self.facts.search(without_answer_type(text, self.config.sr_delimiter), known)

    def retrieve_kb_facts_for_item(self, item_id: str) -> list[FactEntities]:
        """Return the facts that contain an item, pruned at `clocq_p`; a fact is a list of `{"id", "label"}`.

        Raises:
            NetworkError: if a server has the facts and cannot be used.
        """
        return self.facts.neighborhood(item_id, self.config.clocq_p)

    def retrieve_wikipedia_evidences(self, question_entity: QuestionEntity | Entity | str) -> list[Evidence]:
        """Return the evidences of an item's Wikipedia page, with `retrieved_for_entity`.

        Args:
            question_entity: a question entity, an item (`{"id", "label"}`) or an id.

        Raises:
            DataError: it is not an item.
        """
        match question_entity:
            case str(name) if is_item(name):
                label = ""
            case {"item": {"id": str(name), **others}} | {"id": str(name), **others}:
                label = str(others.get("label") or "")
            case _:
                raise DataError(
                    f"retrieve_wikipedia_evidences: {question_entity!r:.80} is not an item; "
                    "give an id such as Q42, or a question entity"
                )
        item = Entity(id=name, label=label or self.kb.label(name) or name)
        evidences = self.wikipedia.retrieve_wp_evidences(item["id"])
        for evidence in evidences:
            evidence["retrieved_for_entity"] = item
        return evidences

    def filter_evidences(self, evidences: Iterable[Evidence], sources: str | Sequence[str]) -> list[Evidence]:
        """Return the evidences of sources with at most `evr_max_entities` entities.

        With `evr_require_entity` (CONVINSE's rule) evidences whose only entity is that of their page are left out, too.
        """
        sources, config = parse_sources(sources, "filter_evidences: sources"), self.config
        return [
            evidence
            for evidence in evidences
            if normalize_source(evidence["source"]) in sources
            and len(evidence["wikidata_entities"]) <= config.evr_max_entities
            and not (config.evr_require_entity and len(evidence["wikidata_entities"]) == 1)
        ]

    def reset_cache(self) -> None:
        """Empty the evidence cache: evidences are retrieved, read and scored anew."""
        self.cache.clear()

    def store_cache(self) -> None:
        """Close the cache, whose entries are on disk already, and the connections."""
        self.wikipedia.store_cache()
        self.resources.close_caches()
