"""What all stages have, and what a module without it is told."""

import copy
import pickle

import pytest

from convinse import EvidenceRetrievalScoring
from convinse.config import parse_config
from convinse.support.errors import ModuleError
from refusals import refused


class WithoutSuper(EvidenceRetrievalScoring):
    """Does not call `super().__init__`."""

    def __init__(self, config):
        self.own = config["custom"]

    def inference_on_turn(self, turn, sources):
        return []


@pytest.mark.parametrize("name", ["config", "language", "logger"])
def test_what_super_would_have_set_is_an_error_that_says_so(name):
    module = WithoutSuper(parse_config({}))
    message = refused(ModuleError, lambda: getattr(module, name))
    assert message == f"WithoutSuper: self.{name} is not set; call super().__init__(config) in its __init__"
    setattr(module, name, 5)
    assert getattr(module, name) == 5


def test_any_missing_attribute_is_an_ordinary_error():
    module = WithoutSuper(parse_config({"custom": {"a": 1}}))
    with pytest.raises(AttributeError, match="'WithoutSuper' object has no attribute 'confg'"):
        _ = module.confg
    assert not hasattr(module, "trained_on") and module.own == {"a": 1}
    assert copy.copy(module).own == pickle.loads(pickle.dumps(module)).own == {"a": 1}


class Batching(EvidenceRetrievalScoring):
    """Computes turns together."""

    def inference_on_turn(self, turn, sources):
        return Batching.inference_on_turns(self, [turn], sources)[0]

    def inference_on_turns(self, turns, sources):
        return [[{"evidence_text": f"one of {len(turns)}", "source": "text"}] for _ in turns]


class OneByOne(Batching):
    """Changes what its parent makes of a turn."""

    def inference_on_turn(self, turn, sources):
        return [*super().inference_on_turn(turn, sources), {"evidence_text": turn["question"], "source": "text"}]


class Writing(EvidenceRetrievalScoring):
    """Writes into the turn and returns nothing."""

    def inference_on_turn(self, turn, sources):
        turn["top_evidences"] = [{"evidence_text": turn["question"], "source": "text"}]


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (Batching, [["one of 2"], ["one of 2"]]),
        (OneByOne, [["one of 1", "A?"], ["one of 1", "B?"]]),
        (Writing, [["A?"], ["B?"]]),
    ],
)
def test_a_module_is_asked_by_turn_or_by_batch(kind, texts):
    turns = [{"question": "A?"}, {"question": "B?"}]
    made = kind(parse_config({})).inference_on_turns(turns, ("text",))
    assert [[evidence["evidence_text"] for evidence in evidences] for evidences in made] == texts
