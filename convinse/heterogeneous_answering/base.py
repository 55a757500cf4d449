"""The base class of answering modules."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from ..records.conversation import RankedAnswer, Turn
from ..stage import Stage, call
from ..turn_results import keep_answers, without_results


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

    def prepare(self, turns: Sequence[Turn]) -> None:
        """Compute together what `inference_on_turn` is about to be asked for; by default nothing."""

    def inference_on_turns(self, turns: Iterable[Turn], sources: Sequence[str]) -> list[list[RankedAnswer]]:
        """The answers of several turns: prepared together, then one by one.

        Stores them in `turn["pred_answers"]` and adds `p_at_1`, `mrr` and `h_at_5` where there are gold answers, for whoever
        uses a module without a pipeline.

        Raises:
            ModuleError: a module broke its contract.
        """
        turns = list(turns)
        for turn in turns:
            without_results(turn, "pred_answers", "ranked_answers", "abstained")
        self.prepare(turns)
        return [keep_answers(self, turn, call(self.inference_on_turn, turn, sources)) for turn in turns]
