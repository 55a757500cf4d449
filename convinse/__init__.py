"""Conversational question answering over heterogeneous evidence: Wikidata facts, Wikipedia text, tables and infoboxes.

The public names are imported on first use; `import convinse` alone loads no heavy library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .config import Config, load_config
    from .errors import ConvinseError
    from .evidence import Conversation, Entity, Evidence, Turn
    from .evidence_retrieval_scoring.base import EvidenceRetrievalScoring
    from .evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
    from .evidence_retrieval_scoring.reranker import BertReranker
    from .evidence_retrieval_scoring.wikipedia_retriever import WikipediaRetriever
    from .heterogeneous_answering.base import HeterogeneousAnswering
    from .heterogeneous_answering.extractive_reader import ExtractiveReader
    from .pipeline import Pipeline
    from .question_understanding.base import QuestionUnderstanding

_PUBLIC = {
    "BertReranker": "evidence_retrieval_scoring.reranker",
    "ClocqRetriever": "evidence_retrieval_scoring.clocq_retriever",
    "Config": "config",
    "Conversation": "evidence",
    "ConvinseError": "errors",
    "Entity": "evidence",
    "Evidence": "evidence",
    "EvidenceRetrievalScoring": "evidence_retrieval_scoring.base",
    "ExtractiveReader": "heterogeneous_answering.extractive_reader",
    "HeterogeneousAnswering": "heterogeneous_answering.base",
    "Pipeline": "pipeline",
    "QuestionUnderstanding": "question_understanding.base",
    "Turn": "evidence",
    "WikipediaRetriever": "evidence_retrieval_scoring.wikipedia_retriever",
    "load_config": "config",
}
__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'convinse' has no attribute '{name}'")
    return getattr(importlib.import_module(f".{_PUBLIC[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


__version__ = "0.1.0"
