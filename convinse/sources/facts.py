"""Where the facts of a question come from: the knowledge base at hand (of files, live, or joined), or a server of the CLOCQ API."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ..config import ClocqParams
from ..knowledge_base.api_client import ClocqApi
from ..knowledge_base.items import FactEntities, Items
from ..knowledge_base.search_space import SearchSpace, SpaceFact, best_facts, facts_around
from ..language.language import Language
from ..records.evidence import Entity, Origin
from ..records.representation import QuestionEntity
from ..support.program import program_id


class FactSource(ABC):
    """A source of facts.

    Attributes:
        is_remote: whether a search sends requests, so that its results are worth a place in the cache, whoever linked the question.
    """

    is_remote = False

    @property
    @abstractmethod
    def version(self) -> str:
        """Results depend on it; a part of the keys of the cache."""

    @abstractmethod
    def search(
        self, question: str, entities: Sequence[QuestionEntity] | None
    ) -> tuple[list[SpaceFact], list[QuestionEntity]]:
        """Return the facts around the items of a question, and these items, best first; without `entities`, the question is linked."""

    @abstractmethod
    def neighborhood(self, item_id: str, p: int) -> list[FactEntities]:
        """Return the facts that an item occurs in, pruned at `p`."""

    def counts(self) -> dict[str, int]:
        """Return the numbers of `items` and `facts`, if all of them are at hand."""
        return {}

    def origin(self, fact: Sequence[Entity]) -> Origin | None:
        """Return the address and the day of a fact that was looked up; None of another."""
        return None

    def close(self) -> None:
        """Close the connections; the next search opens them again."""


class IndexFacts(FactSource):
    """The facts of the knowledge base at hand, which its owner closes."""

    def __init__(self, items: Items, space: SearchSpace) -> None:
        self._items, self._space = items, space

    @property
    def version(self) -> str:
        """See the base class; the program links and searches."""
        return f"{self._items.build_id}/{program_id()}"

    def search(
        self, question: str, entities: Sequence[QuestionEntity] | None
    ) -> tuple[list[SpaceFact], list[QuestionEntity]]:
        """See the base class."""
        return self._space.search(question, entities)

    def neighborhood(self, item_id: str, p: int) -> list[FactEntities]:
        """See the base class."""
        return self._items.neighborhood(item_id, p)

    def counts(self) -> dict[str, int]:
        """See the base class."""
        return self._items.counts()

    def origin(self, fact: Sequence[Entity]) -> Origin | None:
        """See the base class."""
        return self._items.origin(fact)


class ClocqServer(FactSource):
    """The facts of a server. Methods raise `NetworkError` if it cannot be used; no request is sent before the first call."""

    is_remote = True

    def __init__(self, api: ClocqApi, params: ClocqParams, p: int, language: Language) -> None:
        self._api, self._params, self._p, self._language = api, params, p, language

    @property
    def version(self) -> str:
        """See the base class: the address."""
        return self._api.address

    def search(
        self, question: str, entities: Sequence[QuestionEntity] | None
    ) -> tuple[list[SpaceFact], list[QuestionEntity]]:
        """See the base class; the server links."""
        if entities is None:
            return self._api.search_space(question, self._params, self._p)
        facts = facts_around(self._api.neighborhood, entities, min(self._p, self._params.p_setting))
        return best_facts(question, facts, self._params, self._language), list(entities)

    def neighborhood(self, item_id: str, p: int) -> list[FactEntities]:
        """See the base class."""
        return self._api.neighborhood(item_id, p)

    def close(self) -> None:
        """See the base class."""
        self._api.close()
