"""CONVINSE's import path of the base class of answering."""

from .base import HeterogeneousAnswering

__all__ = ["HeterogeneousAnswering"]
