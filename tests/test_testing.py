"""The contract tests catch modules that break them; they run over the project's own modules beside their tests."""

import random

import pytest

from convinse.evidence_retrieval_scoring.native import NativeERS
from convinse.question_understanding.naive_concat import NcAll, NcInit
from convinse.testing import EvidenceRetrievalScoringContract, QuestionUnderstandingContract


class TestNcInit(QuestionUnderstandingContract):
    def make(self, config):
        return NcInit(config)


class AllSources(NativeERS):
    def inference_on_turn(self, turn, sources):
        return super().inference_on_turn(turn, ["kb", "text", "table", "info"])


class WorstFirst(NativeERS):
    def inference_on_turn(self, turn, sources):
        turn["top_evidences"] = super().inference_on_turn(turn, sources)[::-1]
        return turn["top_evidences"]


class Shuffled(NativeERS):
    def inference_on_turn(self, turn, sources):
        found = super().inference_on_turn(turn, sources)
        turn["top_evidences"] = [{k: v for k, v in e.items() if k != "score"} for e in random.sample(found, len(found))]
        return turn["top_evidences"]


class Cheater(NativeERS):
    def inference_on_turn(self, turn, sources):
        found = super().inference_on_turn(turn, sources)
        turn["top_evidences"] = found if turn.get("answers") else []
        return turn["top_evidences"]


class Meddler(NativeERS):
    def inference_on_turn(self, turn, sources):
        found = super().inference_on_turn(turn, sources)
        turn["question"] = "?"
        return found


@pytest.mark.parametrize(
    "module, test",
    [
        (AllSources, "test_requested_sources_only"),
        (WorstFirst, "test_at_most_evs_max_evidences_best_first"),
        (Shuffled, "test_deterministic"),
        (Cheater, "test_gold_answers_are_not_used"),
        (Meddler, "test_only_documented_keys_change"),
    ],
)
def test_a_broken_ers_is_caught(module, test):
    contract = type("Contract", (EvidenceRetrievalScoringContract,), {"make": lambda self, config: module(config)})()
    with pytest.raises(AssertionError):
        getattr(contract, test)()


def test_a_qu_module_that_looks_at_the_answers_is_caught():
    class Peeking(NcAll):
        def inference_on_turn(self, turn, history_turns):
            turn["structured_representation"] = turn["question"] + str(turn.get("answers"))
            return turn["structured_representation"]

    contract = type("Contract", (QuestionUnderstandingContract,), {"make": lambda self, config: Peeking(config)})()
    with pytest.raises(AssertionError):
        contract.test_own_gold_answers_are_not_used()
