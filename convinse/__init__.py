"""Conversational question answering over heterogeneous evidence: Wikidata facts, Wikipedia text, tables and infoboxes.

The public names are imported on first use; `import convinse` alone loads no heavy library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .support.version import __version__ as __version__

if TYPE_CHECKING:
    from .config import Config, load_config
    from .dialogue.session import Session
    from .encoder.extractive_reader import ExtractiveReader
    from .encoder.reranker import BertReranker
    from .evidence_retrieval_scoring.base import EvidenceRetrievalScoring
    from .evidence_retrieval_scoring.clocq_retriever import ClocqRetriever
    from .evidence_retrieval_scoring.wikipedia_retriever.wikipedia_retriever import WikipediaRetriever
    from .heterogeneous_answering.base import HeterogeneousAnswering
    from .pipeline import Pipeline, ask
    from .question_understanding.base import QuestionUnderstanding
    from .records.conversation import Conversation, Turn
    from .records.evidence import Entity, Evidence
    from .support.errors import ConvinseError

_PUBLIC = {
    "BertReranker": "encoder.reranker",
    "ClocqRetriever": "evidence_retrieval_scoring.clocq_retriever",
    "Config": "config",
    "Conversation": "records.conversation",
    "ConvinseError": "support.errors",
    "Entity": "records.evidence",
    "Evidence": "records.evidence",
    "EvidenceRetrievalScoring": "evidence_retrieval_scoring.base",
    "ExtractiveReader": "encoder.extractive_reader",
    "HeterogeneousAnswering": "heterogeneous_answering.base",
    "Pipeline": "pipeline",
    "QuestionUnderstanding": "question_understanding.base",
    "Session": "dialogue.session",
    "Turn": "records.conversation",
    "WikipediaRetriever": "evidence_retrieval_scoring.wikipedia_retriever.wikipedia_retriever",
    "ask": "pipeline",
    "load_config": "config",
}
__all__ = [
    "BertReranker",
    "ClocqRetriever",
    "Config",
    "Conversation",
    "ConvinseError",
    "Entity",
    "Evidence",
    "EvidenceRetrievalScoring",
    "ExtractiveReader",
    "HeterogeneousAnswering",
    "Pipeline",
    "QuestionUnderstanding",
    "Session",
    "Turn",
    "WikipediaRetriever",
    "ask",
    "load_config",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'convinse' has no attribute '{name}'")
    return getattr(importlib.import_module(f".{_PUBLIC[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
