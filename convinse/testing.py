"""Contract tests that a module of one's own can inherit.

::

    from convinse.testing import EvidenceRetrievalScoringContract

    class TestMyERS(EvidenceRetrievalScoringContract):
        def make(self, config):
            return MyERS(config)

pytest runs the inherited tests over conversations of the embedded snapshot. Override `conversations`, `config` or
`sources` to run them over data of your own.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from .config import Config, load_config, parse_config
from .evidence_retrieval_scoring.base import EvidenceRetrievalScoring, retrieve
from .formats.convmix import read_conversations
from .heterogeneous_answering.base import HeterogeneousAnswering, answer
from .pipeline import Pipeline
from .question_understanding.base import QuestionUnderstanding, turns_in_step, understand
from .records.conversation import Conversation, RankedAnswer, Turn
from .records.evidence import SOURCES, Evidence, check_evidence, normalize_source

_CONVERSATIONS = 2  # of the snapshot's train part: enough to show a broken contract, fast enough to run often
_FEW = 3  # evidences, to see that evs_max_evidences is obeyed


class _Contract(ABC):
    sources: ClassVar[Sequence[str]] = SOURCES
    # what `prepared` has given for each configuration: pytest makes an object for each test of a class
    _done: ClassVar[list[tuple[Config, list[Turn]]]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._done = []

    def config(self, **overrides: object) -> Config:
        """Return the configuration of the module; without a cache, so that every call computes."""
        return parse_config({"ers_use_cache": False, **overrides})

    def conversations(self) -> list[Conversation]:
        """Return conversations to run over."""
        return read_conversations(load_config(ers_use_cache=False).input_path("train"))[:_CONVERSATIONS]

    def prepared(self, config: Config) -> list[Turn]:
        """Return turns as the default modules prepare them: with a representation and top evidences."""
        for earlier, turns in self._done:
            if earlier == config:
                return copy.deepcopy(turns)
        conversations = Pipeline(config).run(self.conversations(), self.sources)
        turns = [turn for conversation in conversations for turn in conversation["questions"]]
        self._done.append((config, turns))
        return copy.deepcopy(turns)

    @abstractmethod
    def _results(self, keep_answers: bool = True) -> Any: ...

    def test_deterministic(self) -> None:
        assert self._results() == self._results()

    def test_gold_answers_are_not_used(self) -> None:
        assert self._results(keep_answers=False) == self._results()


class EvidenceRetrievalScoringContract(_Contract):
    """The contract between the pipeline and an ERS module."""

    @abstractmethod
    def make(self, config: Config) -> EvidenceRetrievalScoring:
        """Return the module under test."""

    def _run(self, config: Config, sources: Sequence[str], keep_answers: bool = True) -> list[Turn]:
        turns = [without(turn, "top_evidences", "pred_answers", "question_entities") for turn in self.prepared(config)]
        if not keep_answers:
            turns = [without(turn, "answers", "answer_presence", "answer_presence_per_src") for turn in turns]
        retrieve(self.make(config), turns, sources)
        return turns

    def _results(self, keep_answers: bool = True) -> list[list[Evidence]]:
        return [turn["top_evidences"] for turn in self._run(self.config(), self.sources, keep_answers)]

    def test_evidences_have_the_documented_shape(self) -> None:
        for turn in self._run(self.config(), self.sources):
            for evidence in turn["top_evidences"]:
                check_evidence(evidence, "contract")

    def test_requested_sources_only(self) -> None:
        for source in self.sources:
            for turn in self._run(self.config(), [source]):
                returned = {normalize_source(evidence["source"]) for evidence in turn["top_evidences"]}
                assert returned <= {source}, f"{returned} were returned where {source} was asked for"

    def test_at_most_evs_max_evidences_best_first(self) -> None:
        for turn in self._run(self.config(evs_max_evidences=_FEW), self.sources):
            assert len(turn["top_evidences"]) <= _FEW
            scores = [evidence["score"] for evidence in turn["top_evidences"] if "score" in evidence]
            assert scores == sorted(scores, reverse=True), "evidences must come best first"

    def test_batches_equal_single_turns(self) -> None:
        config = self.config()
        module, alone = self.make(config), []
        for turn in self.prepared(config):
            turn = without(turn, "top_evidences", "pred_answers", "question_entities")
            retrieve(module, [turn], self.sources)
            alone.append(turn["top_evidences"])
        assert self._results() == alone

    def test_only_documented_keys_change(self) -> None:
        config = self.config()
        for turn in self.prepared(config):
            turn = without(turn, "top_evidences", "answer_presence", "answer_presence_per_src")
            before = copy.deepcopy(turn)
            retrieve(self.make(config), [turn], self.sources)
            changed = [key for key, value in before.items() if turn.get(key) != value and key != "question_entities"]
            assert not changed, f"the module changed {changed}"


class QuestionUnderstandingContract(_Contract):
    """The contract between the pipeline and a QU module."""

    @abstractmethod
    def make(self, config: Config) -> QuestionUnderstanding:
        """Return the module under test."""

    def _results(self, keep_answers: bool = True, together: bool = True) -> list[list[str]]:
        module, conversations = self.make(self.config()), copy.deepcopy(self.conversations())
        for group in [conversations] if together else [[conversation] for conversation in conversations]:
            for turns, histories in turns_in_step(group, use_gold_answers=True):
                prepared = turns if keep_answers else [without(turn, "answers") for turn in turns]
                understand(module, prepared, histories, use_gold_answers=True)
                for turn, understood in zip(turns, prepared, strict=True):
                    turn.update(understood)
        return [
            [turn["structured_representation"] for turn in conversation["questions"]] for conversation in conversations
        ]

    def test_every_question_gets_a_representation(self) -> None:
        assert all(text.strip() for representations in self._results() for text in representations)

    def test_batches_equal_single_turns(self) -> None:
        assert self._results(together=False) == self._results()


class HeterogeneousAnsweringContract(_Contract):
    """The contract between the pipeline and an HA module."""

    @abstractmethod
    def make(self, config: Config) -> HeterogeneousAnswering:
        """Return the module under test."""

    def _run(self, config: Config, keep_answers: bool = True) -> list[Turn]:
        turns = [without(turn, "pred_answers") for turn in self.prepared(config)]
        if not keep_answers:
            turns = [without(turn, "answers", "p_at_1", "mrr", "h_at_5") for turn in turns]
        answer(self.make(config), turns, self.sources, config.ha_max_answers)
        return turns

    def _results(self, keep_answers: bool = True) -> list[list[RankedAnswer]]:
        return [turn["pred_answers"] for turn in self._run(self.config(), keep_answers)]

    def test_ranks_count_from_one_without_ties(self) -> None:
        for turn in self._run(self.config(ha_max_answers=_FEW)):
            assert [answer["rank"] for answer in turn["pred_answers"]] == list(range(1, len(turn["pred_answers"]) + 1))
            assert len(turn["pred_answers"]) <= _FEW

    def test_answers_are_entities(self) -> None:
        for turn in self._run(self.config()):
            for ranked in turn["pred_answers"]:
                assert isinstance(ranked["answer"]["id"], str)
                assert isinstance(ranked["answer"]["label"], str)

    def test_without_evidences_there_is_no_crash(self) -> None:
        config = self.config()
        turns = [without(turn, "pred_answers") for turn in self.prepared(config)]
        for turn in turns:
            turn["top_evidences"] = []
        answer(self.make(config), turns, self.sources, config.ha_max_answers)


def without(turn: Turn, *keys: str) -> Turn:
    """Return a copy of a turn without some keys."""
    return {key: copy.deepcopy(value) for key, value in turn.items() if key not in keys}  # type: ignore[return-value]
