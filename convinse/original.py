"""The import paths of CONVINSE's code (Christmann et al., SIGIR 2022), so that modules written for it import as they are."""

from __future__ import annotations

import logging
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .config import Config
    from .records.evidence import Evidence

_NAMES = {
    "convinse.question_understanding.question_understanding": ["QuestionUnderstanding"],
    "convinse.evidence_retrieval_scoring.evidence_retrieval_scoring": ["EvidenceRetrievalScoring"],
    "convinse.evidence_retrieval_scoring.clocq_er": ["ClocqRetriever"],
    "convinse.evidence_retrieval_scoring.bm25_es": ["BM25Scoring"],
    "convinse.evidence_retrieval_scoring.wikipedia_retriever.wikipedia_retriever": ["WikipediaRetriever"],
    "convinse.heterogeneous_answering.heterogeneous_answering": ["HeterogeneousAnswering"],
    "convinse.library": [],
    "convinse.library.utils": ["get_config", "get_logger"],
}
_RENAMED = {"get_config": "load_config"}


class OriginalPaths(MetaPathFinder, Loader):
    """Finds these modules, after all others: their names are those of the package, or of this file."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """See the base class."""
        return ModuleSpec(name, self, is_package=name == "convinse.library") if name in _NAMES else None

    def exec_module(self, module: ModuleType) -> None:
        """See the base class."""
        for name in _NAMES[module.__name__]:
            setattr(module, name, globals().get(name) or getattr(sys.modules["convinse"], _RENAMED.get(name, name)))


class BM25Scoring:
    """Okapi BM25 as `ers: clocq_bm25` computes it."""

    def __init__(self, config: Config) -> None:
        from .evidence_retrieval_scoring.native import ClocqBM25

        self._rank, self._most = ClocqBM25(config).scorer.rank, config.evs_max_evidences

    def get_top_evidences(self, structured_representation: str, evidences: list[Evidence]) -> list[Evidence]:
        """Return the best `evs_max_evidences` evidences."""
        return self._rank(structured_representation, evidences, self._most)


def get_logger(name: str, config: Config) -> logging.Logger:
    """Return a logger, which writes to the log of the run."""
    return logging.getLogger(name)
