"""CONVINSE's import path of the base class of retrieval and scoring."""

from .base import EvidenceRetrievalScoring

__all__ = ["EvidenceRetrievalScoring"]
