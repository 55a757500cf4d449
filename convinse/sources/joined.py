"""Two sources as one: names are linked in both, and evidences of both compete in one ranking.

An id tells which source it is of (`F1099511627776` is of documents), and equal names stay apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from typing import TypeVar

import numpy as np

from ..knowledge_base.items import Candidate, FactEntities, Items, Text
from ..records.evidence import Entity, Evidence, Origin, Row
from ..records.literals import is_document_item
from ..wikipedia.pages import EvidencePlace, Pages

T = TypeVar("T")


class JoinedItems(Items):
    """The items of a knowledge base and the names in documents."""

    def __init__(self, knowledge_base: Items, documents: Items) -> None:
        self.knowledge_base, self.documents = knowledge_base, documents
        self.is_live = knowledge_base.is_live
        self.build_id = f"{knowledge_base.build_id} {documents.build_id}"

    def _of(self, entity_id: str) -> Items:
        return self.documents if is_document_item(entity_id) else self.knowledge_base

    @property
    def has_changed(self) -> bool:
        """See the base class; the names of documents change with their index."""
        return self.knowledge_base.has_changed

    def counts(self) -> dict[str, int]:
        """Return those of the knowledge base."""
        return self.knowledge_base.counts()

    def origin(self, fact: Sequence[Entity]) -> Origin | None:
        """See the base class."""
        return self.knowledge_base.origin(fact)

    def text(self, entity_id: str) -> Text:
        """See the base class."""
        return self._of(entity_id).text(entity_id)

    def has(self, entity_id: str) -> bool:
        """See the base class."""
        return self._of(entity_id).has(entity_id)

    def label(self, entity_id: str) -> str:
        """See the base class."""
        return self._of(entity_id).label(entity_id)

    def aliases(self, entity_id: str) -> list[str]:
        """See the base class."""
        return self._of(entity_id).aliases(entity_id)

    def types(self, entity_id: str) -> tuple[str, ...]:
        """See the base class."""
        return self._of(entity_id).types(entity_id)

    def is_class(self, entity_id: str) -> bool:
        """See the base class."""
        return self._of(entity_id).is_class(entity_id)

    def candidates(self, form: str, limit: int = 50) -> list[Candidate]:
        """See the base class; one's own documents come first."""
        both = [*self.documents.candidates(form, limit), *self.knowledge_base.candidates(form, limit)]
        return sorted(both, key=lambda candidate: not candidate.is_label)[:limit]

    def search_names(self, words: Sequence[str], limit: int, edits: int = 0) -> list[Candidate]:
        """See the base class; one's own documents come first."""
        named = self.documents.search_names(words, limit, edits)
        return [*named, *self.knowledge_base.search_names(words, limit, edits)][:limit]

    def properties(self) -> Iterable[tuple[str, str, list[str]]]:
        """See the base class."""
        return self.knowledge_base.properties()

    def properties_of(self, entity_id: str) -> list[str]:
        """See the base class."""
        return self._of(entity_id).properties_of(entity_id)

    def objects(self, entity_id: str, prop: int) -> list[str]:
        """See the base class."""
        return self._of(entity_id).objects(entity_id, prop)

    def literals(self, entity_id: str, properties: Sequence[int]) -> dict[int, list[Entity]]:
        """See the base class."""
        return self._of(entity_id).literals(entity_id, properties)

    def frequency(self, entity_id: str) -> int:
        """See the base class."""
        return self._of(entity_id).frequency(entity_id)

    def neighbors(self, entity_id: str, limit: int = 1000) -> set[str]:
        """See the base class."""
        return self._of(entity_id).neighbors(entity_id, limit)

    def neighborhood(self, entity_id: str, p: int = 1000) -> list[FactEntities]:
        """See the base class."""
        return self._of(entity_id).neighborhood(entity_id, p)

    def close(self) -> None:
        """See the base class."""
        self.knowledge_base.close()
        self.documents.close()


class JoinedPages(Pages):
    """The pages of a Wikipedia dump, and documents."""

    searches_words = True

    def __init__(self, wikipedia: Pages, documents: Pages) -> None:
        self.wikipedia, self.documents = wikipedia, documents
        self.build_id = f"{wikipedia.build_id} {documents.build_id}"
        # vectors of two models cannot be compared with those of one question
        self._with_vectors = [pages for pages in (documents, wikipedia) if pages.vectors_of]
        self.vectors_of = self._with_vectors[0].vectors_of if self._with_vectors else ""
        self._with_vectors = [pages for pages in self._with_vectors if pages.vectors_of == self.vectors_of]

    def _of(self, item_id: str) -> Pages:
        return self.documents if is_document_item(item_id) else self.wikipedia

    @property
    def has_changed(self) -> bool:
        """See the base class."""
        return self.wikipedia.has_changed or self.documents.has_changed

    def sizes(self) -> dict[str, int]:
        """See the base class."""
        return self.wikipedia.sizes() | self.documents.sizes()

    def get(self, item_id: str) -> list[Evidence] | None:
        """See the base class."""
        return self._of(item_id).get(item_id)

    def table(self, page: str, table: int) -> list[Row]:
        """See the base class."""
        return self._of(page).table(page, table)

    def rows_alike(self, page: str, table: int) -> list[Row]:
        """See the base class."""
        return self._of(page).rows_alike(page, table)

    @property
    def pair_names(self) -> Sequence[str]:
        """See the base class."""
        return self.documents.pair_names

    @property
    def dated_sections(self) -> Sequence[Evidence]:
        """See the base class."""
        return self.documents.dated_sections

    def with_pairs(self, names: Sequence[str]) -> list[Evidence]:
        """See the base class."""
        return self.documents.with_pairs(names)

    def search(self, words: Iterable[str], limit: int) -> list[EvidencePlace]:
        """See the base class; both sources have their best evidences among the first."""
        words = list(words)
        return _alternately(
            [pages.search(words, limit) for pages in (self.documents, self.wikipedia) if pages.searches_words]
        )

    def nearest(self, question: np.ndarray, limit: int) -> list[EvidencePlace]:
        """See the base class; both sources have their best evidences among the first."""
        return _alternately([pages.nearest(question, limit) for pages in self._with_vectors])

    def vectors(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """See the base class."""
        (found, is_stored), *others = [pages.vectors(texts) for pages in self._with_vectors or [self.documents]]
        for more, is_more in others:
            found = np.where(is_stored[:, None], found, more)
            is_stored = is_stored | is_more
        return found, is_stored

    def close(self) -> None:
        """See the base class."""
        self.wikipedia.close()
        self.documents.close()


def _alternately(lists: Sequence[Sequence[T]]) -> list[T]:
    return [found for found in chain.from_iterable(zip_longest(*lists)) if found is not None]
