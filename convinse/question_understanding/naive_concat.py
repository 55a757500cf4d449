"""Naive concatenation: CONVINSE's four baselines that put parts of the history before the question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..evidence import Turn
from .base import QuestionUnderstanding


class NaiveConcat(QuestionUnderstanding):
    """Questions and answers of some earlier turns, then the question; the subclasses say which."""

    variant: ClassVar[str]

    def select(self, history_turns: Sequence[Turn]) -> Sequence[Turn]:
        """The earlier turns that are put before the question."""
        raise NotImplementedError

    def inference_on_turn(self, turn: Turn, history_turns: Sequence[Turn]) -> str:
        """Concatenate; see the base class."""
        parts = []
        for earlier in self.select(history_turns):
            parts += [earlier["question"], ", ".join(answer["label"] for answer in earlier.get("answers", []))]
        turn["structured_representation"] = " ".join(
            part.strip() for part in [*parts, turn["question"]] if part.strip()
        )
        return turn["structured_representation"]


class NcAll(NaiveConcat):
    """All earlier turns."""

    variant = "all"

    def select(self, history_turns: Sequence[Turn]) -> Sequence[Turn]:
        """All of them."""
        return history_turns


class NcInit(NaiveConcat):
    """The first turn."""

    variant = "init"

    def select(self, history_turns: Sequence[Turn]) -> Sequence[Turn]:
        """The first one."""
        return history_turns[:1]


class NcPrev(NaiveConcat):
    """The turn before."""

    variant = "prev"

    def select(self, history_turns: Sequence[Turn]) -> Sequence[Turn]:
        """The last one."""
        return history_turns[-1:]


class NcInitPrev(NaiveConcat):
    """The first turn and the one before."""

    variant = "init_prev"

    def select(self, history_turns: Sequence[Turn]) -> Sequence[Turn]:
        """The first and the last one."""
        return history_turns if len(history_turns) <= 2 else [history_turns[0], history_turns[-1]]
