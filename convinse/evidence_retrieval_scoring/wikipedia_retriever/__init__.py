"""Evidences of Wikipedia pages, below CONVINSE's import path."""

from .wikipedia_retriever import WikipediaRetriever

__all__ = ["WikipediaRetriever"]
