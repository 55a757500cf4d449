"""The contract tests: every registered module keeps its contract, and modules that break one are caught."""

import random
from functools import cache

import pytest

from convinse.evidence_retrieval_scoring.native import NativeERS
from convinse.pipeline import STAGES
from convinse.question_understanding.naive_concat import NcAll
from convinse.support.registry import find_module, module_names
from convinse.testing import (
    EvidenceRetrievalScoringContract,
    HeterogeneousAnsweringContract,
    QuestionUnderstandingContract,
    without,
)

CONTRACTS = {
    "qu": QuestionUnderstandingContract,
    "ers": EvidenceRetrievalScoringContract,
    "ha": HeterogeneousAnsweringContract,
}


def model_keys(name):
    """Settings of a module that needs a model; without the packages for one its tests are skipped."""
    if name == "extractive":
        from tiny_models import tiny

        return {"ha_model": str(tiny(task="question-answering")), "device": "cpu", "evs_max_evidences": 20}
    if name == "seq2seq":
        from tiny_seq2seq import writer

        return {"ha_model": str(writer("t5")), "device": "cpu", "evs_max_evidences": 4, "num_beams": 2}
    return {}


# those that ask a server, and a trained one, run it beside their own tests
MODULES = [(stage, name) for stage in CONTRACTS for name in module_names(stage) if name not in ("llm", "sr")]
METHODS = {stage: [name for name in dir(contract) if name.startswith("test_")] for stage, contract in CONTRACTS.items()}


def contracts():
    """The methods of each module's contract; those of modules that are others with one setting are slow, and of one that has tests of its own."""
    for stage, name in MODULES:
        marks = [pytest.mark.slow] if name in ("clocq_bm25", "seq2seq") else []
        yield from (pytest.param(stage, name, method, marks=marks) for method in METHODS[stage])


@cache
def contract_of(stage, name):
    """The contract of a module, whose tests share what is prepared for them."""

    class Contract(CONTRACTS[stage]):
        def config(self, **overrides):
            return super().config(**{**model_keys(name), **overrides})

        def make(self, config):
            return find_module(stage, name, STAGES[stage])(config)

    return Contract


@pytest.mark.parametrize(("stage", "name", "method"), [*contracts()])
def test_every_registered_module_keeps_its_contract(stage, name, method):
    getattr(contract_of(stage, name)(), method)()


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
