"""The base class of what ranks the evidences of questions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ..records.evidence import Evidence


class Scorer(ABC):
    """Ranks evidences. A scorer of one's own implements `rank`, and `rank_all` where it computes several questions together."""

    @abstractmethod
    def rank(self, query: str, evidences: Sequence[Evidence], top_k: int) -> list[Evidence]:
        """The best `top_k` evidences with `score` added, best first; all other fields kept, the given ones not changed."""

    def rank_all(
        self,
        queries: Sequence[str],
        evidences: Sequence[Sequence[Evidence]],
        top_k: int,
        questions: Sequence[str] | None = None,
    ) -> list[list[Evidence]]:
        """`rank` for several queries; the results are the same as one by one.

        Args:
            queries: representations, whose words are looked for.
            evidences: candidates of each query.
            top_k: evidences wanted for each query.
            questions: the same in full, for models that read sentences; None: the queries.
        """
        return [self.rank(query, own, top_k) for query, own in zip(queries, evidences, strict=True)]


class PairRanker(Protocol):
    """Scores pairs of a question and an evidence: a model here (`BertReranker`), or that of a server."""

    def rank(self, query: str, evidences: Sequence[Evidence], top_k: int | None = None) -> list[Evidence]:
        """The best `top_k` evidences with `score` added, best first."""

    def rank_all(
        self,
        queries: Sequence[str],
        evidences: Sequence[Sequence[Evidence]],
        top_k: int | None = None,
        beside: Sequence[np.ndarray] | None = None,
        share: float = 0.0,
    ) -> list[list[Evidence]]:
        """`rank` for several queries; `beside` are other scores of their evidences, from 0 to 1, which have this share."""
