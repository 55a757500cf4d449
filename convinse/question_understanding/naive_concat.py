"""Naive concatenation: CONVINSE's four baselines that put parts of the history before the question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..records.conversation import Turn
from .base import QuestionUnderstanding
from .history import history_part


class NaiveConcat(QuestionUnderstanding):
    """Questions and answers of some earlier turns, then the question; the subclasses say which."""

    variant: ClassVar[str]

    def select(self, turns: int) -> Sequence[int]:
        """The places of the earlier turns that are put before the question, of so many."""
        raise NotImplementedError

    def inference_on_turn(self, turn: Turn, history_turns: Sequence[Turn]) -> str:
        """Concatenate; see the base class."""
        parts = [
            history_part(history_turns, place, part)
            for place in self.select(len(history_turns))
            for part in ("question", "answer")
        ]
        used = [part for part in parts if part["text"].strip()]
        turn["history_used"] = used
        turn["structured_representation"] = " ".join(
            text for text in (*(part["text"].strip() for part in used), turn["question"].strip()) if text
        )
        return turn["structured_representation"]


class NcAll(NaiveConcat):
    """All earlier turns."""

    variant = "all"

    def select(self, turns: int) -> Sequence[int]:
        """All of them."""
        return range(turns)


class NcInit(NaiveConcat):
    """The first turn."""

    variant = "init"

    def select(self, turns: int) -> Sequence[int]:
        """The first one."""
        return range(turns)[:1]


class NcPrev(NaiveConcat):
    """The turn before."""

    variant = "prev"

    def select(self, turns: int) -> Sequence[int]:
        """The last one."""
        return range(turns)[-1:]


class NcInitPrev(NaiveConcat):
    """The first turn and the one before."""

    variant = "init_prev"

    def select(self, turns: int) -> Sequence[int]:
        """The first and the last one."""
        return range(turns) if turns <= 2 else (0, turns - 1)
