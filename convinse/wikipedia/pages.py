"""Pages of evidences by item: a Wikipedia dump, an index of documents, both joined, or none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np

from ..records.evidence import Evidence, Row

EvidencePlace = tuple[str, int]  # the item of a page, and the place of an evidence on it


class Pages(ABC):
    """The pages of a source.

    Attributes:
        build_id: results depend on it.
        vectors_of: the id of the weights of the model of the vectors; empty without vectors.
        searches_words: whether a search by words finds more than one by vectors.
    """

    build_id: str
    vectors_of: str
    searches_words: bool = False

    @property
    @abstractmethod
    def has_changed(self) -> bool:
        """True if the pages on disk were changed or replaced since they were opened."""

    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """Return the number of `pages` or `files`."""

    @abstractmethod
    def get(self, item_id: str) -> list[Evidence] | None:
        """Return the evidences of an item's page; None if the item has no page."""

    @abstractmethod
    def table(self, page: str, table: int) -> list[Row]:
        """Return the whole rows of a table on an item's page, in their order. Tables count from 0; rows must not be changed."""

    def rows_alike(self, page: str, table: int) -> list[Row]:
        """Return the rows of a table and of those of other pages with the same head; see `table`."""
        return self.table(page, table)

    @property
    def pair_names(self) -> Sequence[str]:
        """The names of the pairs of names and values in documents."""
        return ()

    def with_pairs(self, names: Sequence[str]) -> list[Evidence]:
        """Return all pairs of the documents that have a pair of some names, in the order of the documents."""
        return []

    @property
    def dated_sections(self) -> Sequence[Evidence]:
        """The first evidences of the documents and sections with a day in their title, in the order of the documents."""
        return ()

    @abstractmethod
    def search(self, words: Iterable[str], limit: int) -> list[EvidencePlace]:
        """Return the evidences with some words (see `search_words`), best first by BM25."""

    @abstractmethod
    def nearest(self, question: np.ndarray, limit: int) -> list[EvidencePlace]:
        """Return the evidences with the vectors nearest to that of a question, nearest first; empty without vectors.

        `question` is [dimension] float32, by the model `vectors_of`.
        """

    @abstractmethod
    def vectors(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the stored vectors of texts, [n, dimension] float32 (zeros for an unknown text), and whether each is stored, bool [n]."""

    @abstractmethod
    def close(self) -> None:
        """Close the files."""


class NoPages(Pages):
    """No pages at all."""

    build_id = vectors_of = ""
    has_changed = False

    def sizes(self) -> dict[str, int]:
        """Return nothing."""
        return {}

    def get(self, item_id: str) -> None:
        """Return None."""

    def table(self, page: str, table: int) -> list[Row]:
        """Return an empty list."""
        return []

    def search(self, words: Iterable[str], limit: int) -> list[EvidencePlace]:
        """Return an empty list."""
        return []

    def nearest(self, question: np.ndarray, limit: int) -> list[EvidencePlace]:
        """Return an empty list."""
        return []

    def vectors(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return zeros."""
        return np.zeros((len(texts), 0), np.float32), np.zeros(len(texts), bool)

    def close(self) -> None:
        """Do nothing."""
