"""The base class of evidence retrieval and scoring modules."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from ..records.conversation import Conversation, Turn
from ..records.evidence import Evidence
from ..stage import Stage, call
from ..turn_results import Kept, keep_evidences


class EvidenceRetrievalScoring(Stage):
    """Evidence retrieval and scoring (ERS): from `turn["structured_representation"]` to the top-e evidences.

    A module of your own inherits this class, implements `inference_on_turn` and is named in the configuration as
    `ers: package.module:Class`. Keys of its own stand below `custom` there and in `self.config.custom` here.
    """

    stage = "ers"

    @abstractmethod
    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[Evidence]:
        """The top-e evidences of one turn, best first.

        Args:
            turn: has the question's intent in `turn["structured_representation"]`, and where it is known by ids in
                `turn["representation"]`; may lack gold `answers`.
            sources: the wanted sources, of `kb`, `text`, `table`, `info`.

        Returns:
            At most `config.evs_max_evidences` evidences of these sources.
        """

    def prepare(self, turns: Sequence[Turn], sources: Sequence[str]) -> None:
        """Compute together what `inference_on_turn` is about to be asked for; by default nothing."""

    def inference_on_turns(self, turns: Iterable[Turn], sources: Sequence[str]) -> list[list[Evidence]]:
        """The evidences of several turns: prepared together, then one by one.

        Stores them in `turn["top_evidences"]` and adds `answer_presence` and `answer_presence_per_src` where there are
        gold answers, for whoever uses a module without a pipeline.

        Raises:
            ModuleError: a module broke its contract.
        """
        turns = list(turns)
        for turn in turns:
            turn.pop("top_evidences", None)
        self.prepare(turns, sources)
        return Kept(keep_evidences(self, turn, call(self.inference_on_turn, turn, sources), sources) for turn in turns)

    def inference_on_data(self, conversations: Iterable[Conversation], sources: Sequence[str]) -> None:
        """All turns of the conversations, in place."""
        self.inference_on_turns([turn for conversation in conversations for turn in conversation["questions"]], sources)
