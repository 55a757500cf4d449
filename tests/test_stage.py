"""What all stages have, and what a module without it is told."""

import copy
import pickle

import pytest

from convinse import EvidenceRetrievalScoring
from convinse.config import parse_config
from convinse.stage import call
from convinse.support.errors import ModuleError
from refusals import refused


class WithoutSuper(EvidenceRetrievalScoring):
    """Does not call `super().__init__`."""

    def __init__(self, config):
        self.own = config["custom"]

    def inference_on_turn(self, turn, sources):
        return []


class Learner(WithoutSuper):
    learnt = None

    def train(self):
        self.learnt = ()


class LearnerOfSources(WithoutSuper):
    learnt = None

    def train(self, sources=("kb",)):
        self.learnt = sources


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


@pytest.mark.parametrize(("kind", "learnt"), [(Learner, ()), (LearnerOfSources, ("kb", "text")), (WithoutSuper, None)])
def test_train_is_called_with_sources_or_without(kind, learnt):
    module = kind(parse_config({}))
    call(module.train, ("kb", "text"))
    assert getattr(module, "learnt", None) == learnt
