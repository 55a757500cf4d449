"""CONVINSE's import path of retrieval after CLOCQ."""

from .clocq_retriever import ClocqRetriever

__all__ = ["ClocqRetriever"]
