"""What all stages have: attributes, and a method for one turn and for several."""

import copy
import pickle

import pytest

from convinse import EvidenceRetrievalScoring
from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.base import retrieve
from convinse.support.errors import ModuleError
from evidences import evidence
from refusals import refused


class WithoutSuper(EvidenceRetrievalScoring):
    def __init__(self, config):
        self.custom = config["custom"]

    def inference_on_turn(self, turn, sources):
        return []


@pytest.mark.parametrize("name", ["config", "language", "logger"])
def test_an_attribute_without_super_init_is_an_error_that_says_so(name):
    module = WithoutSuper(parse_config({}))
    message = refused(ModuleError, lambda: getattr(module, name))
    assert message == f"WithoutSuper: self.{name} is not set; call super().__init__(config) in its __init__"
    setattr(module, name, 5)
    assert getattr(module, name) == 5


def test_any_missing_attribute_is_an_ordinary_error():
    module = WithoutSuper(parse_config({"custom": {"a": 1}}))
    with pytest.raises(AttributeError, match="'WithoutSuper' object has no attribute 'confg'"):
        _ = module.confg
    assert not hasattr(module, "trained_on") and module.custom == {"a": 1}
    assert copy.copy(module).custom == pickle.loads(pickle.dumps(module)).custom == {"a": 1}


class Batching(EvidenceRetrievalScoring):
    def inference_on_turns(self, turns, sources):
        return [[evidence(f"one of {len(turns)}")] for _ in turns]


class OneByOne(Batching):
    def inference_on_turn(self, turn, sources):
        return [*super().inference_on_turn(turn, sources), evidence(turn["question"])]


class BatchesAgain(OneByOne):
    def inference_on_turns(self, turns, sources):
        return [[*found, evidence("more")] for found in super().inference_on_turns(turns, sources)]


class Writing(EvidenceRetrievalScoring):
    def inference_on_turn(self, turn, sources):
        turn["top_evidences"] = [evidence(turn["question"])]


class WritingTogether(Writing):
    def inference_on_turns(self, turns, sources):
        for turn in turns:
            self.inference_on_turn(turn, sources)
        return turns


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (Batching, [["one of 2"], ["one of 2"]]),
        (OneByOne, [["one of 1", "A?"], ["one of 1", "B?"]]),
        (BatchesAgain, [["one of 1", "A?", "more"], ["one of 1", "B?", "more"]]),
        (Writing, [["A?"], ["B?"]]),
        (WritingTogether, [["A?"], ["B?"]]),
    ],
)
def test_the_method_that_a_class_defines_is_called(kind, texts):
    turns = [{"question": "A?"}, {"question": "B?"}]
    retrieve(kind(parse_config({})), turns, ("text",))
    assert [[found["evidence_text"] for found in turn["top_evidences"]] for turn in turns] == texts


def test_a_class_without_either_method_is_refused():
    module = type("Neither", (EvidenceRetrievalScoring,), {})(parse_config({}))
    for call in (module.inference_on_turns, lambda turns, sources: module.inference_on_turn(turns[0], sources)):
        refused(ModuleError, lambda call=call: call([{"question": "A?"}], ("text",)), "Neither", "inference_on_turn")
