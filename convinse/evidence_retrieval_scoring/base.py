"""The base class of evidence retrieval and scoring modules."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from ..config import Config
from ..encoder.pool import ModelPool
from ..records.conversation import Conversation, Turn
from ..records.evidence import Evidence, check_evidence
from ..resources import stage_language
from ..scoring.convqa import add_answer_presence
from ..support.errors import ModuleError
from ..support.registry import find_trainer


class EvidenceRetrievalScoring(ABC):
    """Evidence retrieval and scoring (ERS): from `turn["structured_representation"]` to the top-e evidences.

    A module of your own inherits this class, implements `inference_on_turn` and is named in the configuration as
    `ers: package.module:Class`. Keys of its own stand below `custom` there and in `self.config.custom` here.

    Attributes:
        config: the checked configuration; `config.evs_max_evidences` is e.
        language: the words of the language that questions and evidences are in.
        logger: writes to the log of the run.
        conversations_at_once: how many conversations the pipeline hands over together. A module that computes in
            batches raises it and overrides `inference_on_turns`.
        model_pool: the models that the stages of a pipeline share, handed over by it; None outside of one. A module may
            pass them on to `BertReranker`, `BiEncoder` and `ExtractiveReader`, or leave them alone.
        trainer: `package.module:function` that trains a module that learns; it is given the module and the sources.
    """

    conversations_at_once = 1
    model_pool: ModelPool | None = None
    trainer: str | None = None

    def __init__(self, config: Config) -> None:
        self.config = config
        self.language = stage_language()
        self.logger = logging.getLogger(f"{__name__}.{type(self).__name__}")

    @abstractmethod
    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[Evidence]:
        """The top-e evidences of one turn, best first; also stored in `turn["top_evidences"]`.

        Args:
            turn: has the question's intent in `turn["structured_representation"]`; may lack gold `answers`.
            sources: the wanted sources, of `kb`, `text`, `table`, `info`.

        Returns:
            At most `config.evs_max_evidences` evidences of these sources.
        """

    def inference_on_turns(self, turns: Iterable[Turn], sources: Sequence[str]) -> list[list[Evidence]]:
        """The evidences of several turns; adds `answer_presence` and `answer_presence_per_src` where there are answers."""
        results = []
        for turn in turns:
            turn.pop("top_evidences", None)
            evidences = self.inference_on_turn(turn, sources)
            self.finish_turn(turn, evidences, sources)
            results.append(turn["top_evidences"])
        return results

    def inference_on_data(self, conversations: Iterable[Conversation], sources: Sequence[str]) -> None:
        """All turns of the conversations, in place."""
        self.inference_on_turns([turn for conversation in conversations for turn in conversation["questions"]], sources)

    def use_models(self, models: ModelPool) -> None:
        """Called by a pipeline before its first turn, with the models that its stages share."""
        self.model_pool = models

    def store_cache(self) -> None:
        """Called after a run; a module that keeps intermediate results stores them here."""

    def train(self, sources: Sequence[str]) -> None:
        """Called by `convinse train ers`: lets the named `trainer` train; a module may also learn here."""
        if self.trainer is not None:
            find_trainer("ers", self.trainer)(self, sources)

    def finish_turn(self, turn: Turn, evidences: list[Evidence] | None, sources: Sequence[str]) -> None:
        """Check what a module returned, store it in the turn and measure the answer presence.

        Raises:
            ModuleError: the module broke its contract; the message names it, the turn and the fault.
        """
        where = f"{type(self).__name__} on turn {turn.get('question_id', turn.get('turn', '?'))}"
        evidences = turn.get("top_evidences", evidences)
        if not isinstance(evidences, list):
            raise ModuleError(
                f"{where}: inference_on_turn must return a list of evidences, not {type(evidences).__name__}"
            )
        if len(evidences) > self.config.evs_max_evidences:
            raise ModuleError(
                f"{where}: {len(evidences)} evidences, but evs_max_evidences is {self.config.evs_max_evidences}; return the best ones only"
            )
        for evidence in evidences:
            check_evidence(evidence, where)
        turn["top_evidences"] = evidences
        add_answer_presence(turn, sources)
