"""The base class of answering modules."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from ..records.conversation import RankedAnswer, Turn
from ..stage import Stage


class HeterogeneousAnswering(Stage):
    """Heterogeneous answering (HA): from `turn["top_evidences"]` to ranked answers.

    A module of your own inherits this class, implements `inference_on_turn` and is named in the configuration as
    `ha: package.module:Class`.
    """

    stage = "ha"

    @abstractmethod
    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[RankedAnswer]:
        """The answers of one turn, best first.

        Returns:
            Answers with `answer` (its `id` and `label`), `score` and `rank`; ranks are 1, 2, 3, ... An empty list is "no answer".
            Optional are `evidences`, the places in `turn["top_evidences"]` that support the answer, and `reasons`, what gave it.
        """

    def inference_on_turns(self, turns: Sequence[Turn], sources: Sequence[str]) -> list[list[RankedAnswer]]:
        """The answers of several turns; by default one turn after the other."""
        return [self.inference_on_turn(turn, sources) for turn in turns]
