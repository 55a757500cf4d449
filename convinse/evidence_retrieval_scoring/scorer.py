"""The base class of scorers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from ..records.evidence import Evidence

_RRF_K = 60  # of the fusion's authors


def reciprocal_ranks(rankings: Iterable[Sequence[int] | np.ndarray], number: int) -> np.ndarray:
    """Return the reciprocal rank fusion of rankings of `number` things by their places: sums of 1 / (60 + rank), [number]."""
    values = np.zeros(number, dtype=np.float64)
    for ranking in rankings:
        np.add.at(values, np.asarray(ranking, np.int64), 1 / (_RRF_K + 1 + np.arange(len(ranking))))
    return values


class Scorer(ABC):
    """Ranks evidences. A subclass implements `rank`, and `rank_all` if it computes several questions together."""

    @abstractmethod
    def rank(self, query: str, evidences: Sequence[Evidence], top_k: int) -> list[Evidence]:
        """Return copies of the best `top_k` evidences with `score`, best first."""

    def rank_all(
        self,
        queries: Sequence[str],
        evidences: Sequence[Sequence[Evidence]],
        top_k: int,
        questions: Sequence[str] | None = None,
    ) -> list[list[Evidence]]:
        """Rank for several queries, with the same results as `rank`.

        Args:
            queries: representations, for scores by words.
            evidences: the candidates of the queries.
            top_k: number of evidences for a query.
            questions: the questions in full, for models that read sentences; by default the queries.
        """
        return [self.rank(query, candidates, top_k) for query, candidates in zip(queries, evidences, strict=True)]


class PairRanker(Protocol):
    """A model for pairs of a question and an evidence, local (`BertReranker`) or of a server."""

    def rank(self, query: str, evidences: Sequence[Evidence], top_k: int | None = None) -> list[Evidence]:
        """Return the best `top_k` evidences with `score`, best first."""

    def rank_all(
        self,
        queries: Sequence[str],
        evidences: Sequence[Sequence[Evidence]],
        top_k: int | None = None,
        beside: Sequence[np.ndarray] | None = None,
        share: float = 0.0,
    ) -> list[list[Evidence]]:
        """Rank for several queries; further scores `beside`, from 0 to 1, have this share in the score."""
