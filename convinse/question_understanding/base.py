"""The base class of question understanding modules."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence

from ..config import Config
from ..evidence import Turn


class QuestionUnderstanding(ABC):
    """Question understanding (QU): from a question and its history to `turn["structured_representation"]`.

    A module of your own inherits this class, implements `inference_on_turn` and is named in the configuration as
    `qu: package.module:Class`.

    Attributes:
        config: the checked configuration.
        logger: writes to the log of the run.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.logger = logging.getLogger(f"{__name__}.{type(self).__name__}")

    @abstractmethod
    def inference_on_turn(self, turn: Turn, history_turns: Sequence[Turn]) -> str:
        """The intent-explicit representation of one question; also stored in `turn["structured_representation"]`.

        Args:
            turn: the current turn; its `answers` are not to be looked at.
            history_turns: the earlier turns, oldest first, with `question`, `structured_representation` and `answers`:
                the gold ones, or, with `--pred-answers`, the predicted one.
        """

    def store_cache(self) -> None:
        """Called after a run; a module that keeps intermediate results stores them here."""

    def train(self, sources: Sequence[str]) -> None:
        """Called by `convinse train qu`; a module that learns does it here."""


def history_turn(turn: Turn, use_gold_answers: bool) -> Turn:
    """What a later turn may know of an earlier one: its gold answers where wanted and known, else its first predicted one."""
    answers = turn.get("answers") if use_gold_answers else None
    if not answers:
        answers = [ranked["answer"] for ranked in turn.get("pred_answers", [])[:1]]
    return {
        "turn": turn.get("turn", 0),
        "question": turn["question"],
        "structured_representation": turn.get("structured_representation", ""),
        "answers": answers,
    }
