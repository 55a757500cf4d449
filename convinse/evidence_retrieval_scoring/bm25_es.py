"""CONVINSE's import path of scoring by BM25."""

from __future__ import annotations

from ..config import Config
from ..records.evidence import Evidence
from .native import ClocqBM25


class BM25Scoring:
    """Okapi BM25 as `ers: clocq_bm25` computes it."""

    def __init__(self, config: Config) -> None:
        self._rank, self._most = ClocqBM25(config).scorer.rank, config.evs_max_evidences

    def get_top_evidences(self, structured_representation: str, evidences: list[Evidence]) -> list[Evidence]:
        """Return the best `evs_max_evidences` evidences."""
        return self._rank(structured_representation, evidences, self._most)
