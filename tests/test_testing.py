"""The contract tests catch modules that break them; they run over the project's own modules beside their tests."""

import random

import pytest

from convinse.evidence_retrieval_scoring.native import NativeERS
from convinse.question_understanding.naive_concat import NcAll, NcInit
from convinse.testing import EvidenceRetrievalScoringContract, QuestionUnderstandingContract, without


class TestNcInit(QuestionUnderstandingContract):
    def make(self, config):
        return NcInit(config)


class Broken(NativeERS):
    def __init__(self, config, fault):
        super().__init__(config)
        self.fault = fault

    def inference_on_turn(self, turn, sources):
        turn["top_evidences"] = self.fault(turn, super().inference_on_turn(turn, sources))
        return turn["top_evidences"]


@pytest.mark.parametrize(
    "test, fault",
    [
        ("test_requested_sources_only", lambda turn, found: [{**evidence, "source": "table"} for evidence in found]),
        ("test_at_most_evs_max_evidences_best_first", lambda turn, found: found[::-1]),
        ("test_deterministic", lambda turn, found: [without(one, "score") for one in random.sample(found, len(found))]),
        ("test_gold_answers_are_not_used", lambda turn, found: found if turn.get("answers") else []),
        ("test_only_documented_keys_change", lambda turn, found: turn.update(question="?") or found),
    ],
)
def test_a_broken_ers_is_caught(test, fault):
    make = {"make": lambda self, config: Broken(config, fault)}
    contract = type("Contract", (EvidenceRetrievalScoringContract,), make)()
    with pytest.raises(AssertionError):
        getattr(contract, test)()


def test_a_qu_module_that_looks_at_the_answers_is_caught():
    class Peeking(NcAll):
        def inference_on_turn(self, turn, history_turns):
            turn["structured_representation"] = turn["question"] + str(turn.get("answers"))
            return turn["structured_representation"]

    contract = type("Contract", (QuestionUnderstandingContract,), {"make": lambda self, config: Peeking(config)})()
    with pytest.raises(AssertionError):
        contract.test_gold_answers_are_not_used()
