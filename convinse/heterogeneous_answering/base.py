"""The base class of answering modules."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from ..records.conversation import RankedAnswer, Turn
from ..scoring.convqa import add_answer_metrics
from ..stage import Stage
from ..support.errors import ModuleError


class HeterogeneousAnswering(Stage):
    """Heterogeneous answering (HA): from `turn["top_evidences"]` to ranked answers.

    A module of your own inherits this class, implements `inference_on_turn` and is named in the configuration as
    `ha: package.module:Class`.
    """

    stage = "ha"

    @abstractmethod
    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[RankedAnswer]:
        """The answers of one turn, best first; also stored in `turn["pred_answers"]`.

        Returns:
            `{"answer": {"id", "label"}, "score", "rank"}` with ranks 1, 2, 3, ... An empty list is "no answer".
            `"evidences"`, optional, lists the places in `turn["top_evidences"]` that support the answer.
        """

    def inference_on_turns(self, turns: Iterable[Turn], sources: Sequence[str]) -> list[list[RankedAnswer]]:
        """The answers of several turns; adds `p_at_1`, `mrr` and `h_at_5` where there are gold answers."""
        results = []
        for turn in turns:
            turn.pop("pred_answers", None)
            answers = self.inference_on_turn(turn, sources)
            self.finish_turn(turn, answers)
            results.append(turn["pred_answers"])
        return results

    def finish_turn(self, turn: Turn, answers: list[RankedAnswer] | None) -> None:
        """Check what a module returned, store it in the turn and measure it.

        Raises:
            ModuleError: the module broke its contract; the message names it, the turn and the fault.
        """
        where = f"{type(self).__name__} on turn {turn.get('question_id', turn.get('turn', '?'))}"
        answers = turn.get("pred_answers", answers)
        if not isinstance(answers, list):
            raise ModuleError(f"{where}: inference_on_turn must return a list of answers, not {type(answers).__name__}")
        for place, answer in enumerate(answers, 1):
            entity = answer.get("answer") if isinstance(answer, dict) else None
            if not isinstance(entity, dict) or not isinstance(entity.get("id"), str) or answer.get("rank") != place:
                raise ModuleError(
                    f"{where}: answer {place} must be {{'answer': {{'id', 'label'}}, 'score', 'rank': {place}}}"
                )
        turn["pred_answers"] = answers[: self.config.ha_max_answers]
        add_answer_metrics(turn)
