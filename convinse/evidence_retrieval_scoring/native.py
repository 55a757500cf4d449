"""The native ERS: CLOCQ retrieval, then scoring as configured."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

from ..config import Config
from ..evidence import Evidence, Turn
from .base import EvidenceRetrievalScoring
from .bm25 import BM25Scorer, QueryExpansion
from .clocq_retriever import ClocqRetriever


class Scorer(Protocol):
    """Ranks evidences for a query."""

    def rank(self, query: str, evidences: Sequence[Evidence], top_k: int) -> list[Evidence]:
        """The best `top_k` evidences with `score` added, best first; all other fields kept."""


class NativeERS(EvidenceRetrievalScoring):
    """Evidences of the representation's items from all wanted sources, scored down to the top e.

    Args:
        config: see `ClocqRetriever` and the `evs_*` keys.
        retriever: the retriever to use instead of one of its own.
        scorer: the scorer to use instead of the one that `evs` names.
    """

    def __init__(self, config: Config, retriever: ClocqRetriever | None = None, scorer: Scorer | None = None) -> None:
        super().__init__(config)
        self.retriever = retriever or ClocqRetriever(config)
        if scorer is not None:
            self.scorer = scorer

    @cached_property
    def scorer(self) -> Scorer:
        """The scorer that `evs` names."""
        return BM25Scorer(QueryExpansion(self.retriever.kb.properties()))

    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[Evidence]:
        """Retrieve and score; see the base class."""
        query = turn["structured_representation"]
        evidences, entities = self.retriever.retrieve_evidences(query, sources)
        turn["top_evidences"] = self.scorer.rank(query, evidences, self.config.evs_max_evidences)
        turn["question_entities"] = entities  # type: ignore[typeddict-unknown-key]
        return turn["top_evidences"]

    def store_cache(self) -> None:
        """Close the cache."""
        self.retriever.store_cache()


class ClocqBM25(NativeERS):
    """CONVINSE's own combination: CLOCQ retrieval and plain BM25 over the words of the representation."""

    @cached_property
    def scorer(self) -> Scorer:
        """BM25 without query expansion."""
        return BM25Scorer()
