"""The base class of evidence retrieval and scoring modules."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from ..records.conversation import Conversation, Turn
from ..records.evidence import Evidence
from ..scoring.convqa import add_answer_presence
from ..stage import Stage


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

    def inference_on_turns(self, turns: Sequence[Turn], sources: Sequence[str]) -> list[list[Evidence]]:
        """The evidences of several turns, which it stores in `turn["top_evidences"]`; by default one turn after the other.

        It adds `answer_presence` and `answer_presence_per_src` if a turn has gold answers.
        """
        return [kept_evidences(turn, self.inference_on_turn(turn, sources), sources) for turn in turns]

    def inference_on_data(self, conversations: Iterable[Conversation], sources: Sequence[str]) -> None:
        """All turns of the conversations, in place."""
        self.inference_on_turns([turn for conversation in conversations for turn in conversation["questions"]], sources)


def kept_evidences(turn: Turn, returned: list[Evidence] | None, sources: Sequence[str]) -> list[Evidence]:
    """Store the evidences of a turn, unless the module has stored them (and returned nothing), and measure them."""
    if returned is not None:
        turn["top_evidences"] = returned
    add_answer_presence(turn, sources)
    return turn.get("top_evidences", [])
