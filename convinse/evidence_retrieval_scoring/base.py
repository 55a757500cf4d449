"""The base class of evidence retrieval and scoring modules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..records.conversation import Conversation, Turn
from ..records.evidence import Evidence
from ..stage import Stage, inferred, keep_evidences, results_of


class EvidenceRetrievalScoring(Stage):
    """Evidence retrieval and scoring (ERS): from `turn["structured_representation"]` to the top-e evidences.

    A module of your own inherits this class, implements `inference_on_turn` and is named in the configuration as
    `ers: package.module:Class`. Its own keys stand below `custom` there and in `self.config.custom` here.

    >>> class ShortestFirst(EvidenceRetrievalScoring):
    ...     def inference_on_turn(self, turn, sources):
    ...         retriever = ClocqRetriever(self.config, self.resources)
    ...         evidences, _ = retriever.retrieve_evidences(turn["structured_representation"], sources)
    ...         return sorted(evidences, key=lambda evidence: len(evidence["evidence_text"]))[:3]
    >>> module = ShortestFirst(load_config("lexical.yml"))
    >>> for evidence in module.inference_on_turn({"structured_representation": "film Titanic"}, ["kb"]):
    ...     print(evidence["evidence_text"])
    Titanic, genre, melodrama
    Titanic, instance of, film
    Titanic, genre, drama film
    """

    stage = "ers"

    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[Evidence]:
        """Return the top-e evidences of a turn, best first.

        Args:
            turn: with the question's intent in `turn["structured_representation"]`, and, if present, its ids in
                `turn["representation"]`; may lack gold `answers`.
            sources: of `kb`, `text`, `table`, `info`.

        Returns:
            At most `config.evs_max_evidences` evidences of these sources.
        """
        return self.inference_on_turns([turn], sources)[0]

    def inference_on_turns(self, turns: Sequence[Turn], sources: Sequence[str]) -> list[list[Evidence]]:
        """Return the evidences of several turns; they are stored in the turns, with the answer presence, for use without a pipeline."""
        return [keep_evidences(self, turn, self.inference_on_turn(turn, sources), sources) for turn in turns]

    def inference_on_data(self, conversations: Iterable[Conversation], sources: Sequence[str]) -> None:
        """Retrieve for all turns of the conversations, in place."""
        retrieve(self, [turn for conversation in conversations for turn in conversation["questions"]], sources)


def retrieve(
    module: EvidenceRetrievalScoring, turns: Sequence[Turn], sources: Sequence[str], most: int | None = None
) -> None:
    """Let a module retrieve the evidences of turns; see `keep_evidences`."""
    returned = results_of(module, inferred(module, EvidenceRetrievalScoring, turns, sources), turns)
    for turn, evidences in zip(turns, returned, strict=True):
        keep_evidences(module, turn, evidences, sources, most)
