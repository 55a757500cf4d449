"""Naive concatenation: CONVINSE's four baselines that put parts of the history before the question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..records.conversation import Turn, Understanding
from .base import QuestionUnderstanding
from .history import history_part


class NaiveConcat(QuestionUnderstanding):
    """Questions and answers of some earlier turns, then the question; subclasses choose the turns."""

    taken: ClassVar[tuple[slice, ...]]  # of the earlier turns; a turn in several slices is taken once

    def inference_on_turn(self, turn: Turn, history_turns: Sequence[Turn]) -> Understanding:
        """Concatenate; see the base class."""
        earlier = range(len(history_turns))
        parts = [
            history_part(history_turns, place, part)
            for place in dict.fromkeys(place for turns in self.taken for place in earlier[turns])
            for part in ("question", "answer")
        ]
        used = [part for part in parts if part["text"].strip()]
        texts = (*(part["text"].strip() for part in used), turn["question"].strip())
        return {"structured_representation": " ".join(filter(None, texts)), "history_used": used}


class NcAll(NaiveConcat):
    """All earlier turns."""

    taken = (slice(None),)


class NcInit(NaiveConcat):
    """The first turn."""

    taken = (slice(1),)


class NcPrev(NaiveConcat):
    """The turn before."""

    taken = (slice(-1, None),)


class NcInitPrev(NaiveConcat):
    """The first turn and the turn before."""

    taken = (*NcInit.taken, *NcPrev.taken)
