"""CONVINSE's import path of the base class of question understanding."""

from .base import QuestionUnderstanding

__all__ = ["QuestionUnderstanding"]
