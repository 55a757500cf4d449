"""The base class of answering modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..records.conversation import RankedAnswer, Turn
from ..stage import Stage, inferred, keep_answers, results_of


class HeterogeneousAnswering(Stage):
    """Heterogeneous answering (HA): from `turn["top_evidences"]` to ranked answers.

    A module of your own inherits this class, implements `inference_on_turn` and is named in the configuration as
    `ha: package.module:Class`.

    >>> class Directors(HeterogeneousAnswering):
    ...     def inference_on_turn(self, turn, sources):
    ...         facts = [evidence["fact"] for evidence in turn["top_evidences"] if "fact" in evidence]
    ...         found = [fact[2] for fact in facts if fact[1]["label"] == "director"]
    ...         return [{"answer": entity, "score": 1 / rank, "rank": rank} for rank, entity in enumerate(found, 1)]
    >>> config = load_config("lexical.yml")
    >>> with Pipeline(config, ha=Directors(config)) as pipeline:
    ...     turn = pipeline.session("kb").ask("Who directed the film Titanic?")
    >>> turn["pred_answers"][0]["answer"]
    {'id': 'Q42574', 'label': 'James Cameron'}

    Attributes:
        can_answer_again: answering a turn again with fewer of its evidences is quick, since no model reads them again;
            conversations then name the evidences that an answer rests on.
    """

    stage = "ha"
    can_answer_again: ClassVar[bool] = False

    def inference_on_turn(self, turn: Turn, sources: Sequence[str]) -> list[RankedAnswer]:
        """Return the answers of one turn, best first.

        Returns:
            Answers with `answer` (its `id` and `label`), `score` and `rank`; ranks are 1, 2, 3, ... An empty list is "no answer".
            Optional are `evidences`, the places in `turn["top_evidences"]` that support the answer, and its `reasons`.
        """
        return self.inference_on_turns([turn], sources)[0]

    def inference_on_turns(self, turns: Sequence[Turn], sources: Sequence[str]) -> list[list[RankedAnswer]]:
        """Return the answers of several turns."""
        return [self.inference_on_turn(turn, sources) for turn in turns]


def answer(module: HeterogeneousAnswering, turns: Sequence[Turn], sources: Sequence[str], most: int) -> None:
    """Let a module answer turns, and keep the best `most` answers of each; see `keep_answers`."""
    evidences = [turn["top_evidences"] for turn in turns]
    returned = results_of(module, inferred(module, HeterogeneousAnswering, turns, sources), turns)
    for turn, top, answers in zip(turns, evidences, returned, strict=True):
        if len(turn.get("top_evidences", ())) < len(top):
            turn["top_evidences"] = (
                top  # CONVINSE's own module deletes them once read; a list adds those of its members
            )
        keep_answers(module, turn, answers, most)
