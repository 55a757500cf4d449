"""The base class of answering modules."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from ..config import Config
from ..encoder.pool import ModelPool
from ..records.conversation import RankedAnswer, Turn
from ..resources import stage_language
from ..scoring.convqa import add_answer_metrics
from ..support.errors import ModuleError
from ..support.registry import find_trainer


class HeterogeneousAnswering(ABC):
    """Heterogeneous answering (HA): from `turn["top_evidences"]` to ranked answers.

    A module of your own inherits this class, implements `inference_on_turn` and is named in the configuration as
    `ha: package.module:Class`.

    Attributes:
        config: the checked configuration; `config.ha_max_answers` bounds the answers of a turn.
        language: the words of the language that questions and evidences are in.
        logger: writes to the log of the run.
        model_pool: the models that the stages of a pipeline share, handed over by it; None outside of one. A module may
            pass them on to `ExtractiveReader`, or leave them alone.
        trainer: `package.module:function` that trains a module that learns; it is given the module and the sources.
    """

    model_pool: ModelPool | None = None
    trainer: str | None = None

    def __init__(self, config: Config) -> None:
        self.config = config
        self.language = stage_language()
        self.logger = logging.getLogger(f"{__name__}.{type(self).__name__}")

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

    def use_models(self, models: ModelPool) -> None:
        """Called by a pipeline before its first turn, with the models that its stages share."""
        self.model_pool = models

    def store_cache(self) -> None:
        """Called after a run; a module that keeps intermediate results stores them here."""

    def train(self, sources: Sequence[str]) -> None:
        """Called by `convinse train ha`: lets the named `trainer` train; a module may also learn here."""
        if self.trainer is not None:
            find_trainer("ha", self.trainer)(self, sources)

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
