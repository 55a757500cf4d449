"""The base class of evidence retrieval and scoring modules."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from ..records.conversation import Conversation, Turn
from ..records.evidence import Evidence, check_evidence
from ..scoring.convqa import add_answer_presence
from ..stage import Stage
from ..support.errors import ModuleError


class EvidenceRetrievalScoring(Stage):
    """Evidence retrieval and scoring (ERS): from `turn["structured_representation"]` to the top-e evidences.

    A module of your own inherits this class, implements `inference_on_turn` and is named in the configuration as
    `ers: package.module:Class`. Keys of its own stand below `custom` there and in `self.config.custom` here.
    """

    stage = "ers"

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
