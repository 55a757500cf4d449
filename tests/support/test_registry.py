import itertools
import sys
from importlib.metadata import EntryPoint

import pytest

from case_tables import each_case
from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.base import EvidenceRetrievalScoring
from convinse.heterogeneous_answering.base import HeterogeneousAnswering
from convinse.question_understanding.base import QuestionUnderstanding
from convinse.support.errors import ModuleError
from convinse.support.registry import find_module, module_names
from refusals import refused

GOOD = """
from convinse import EvidenceRetrievalScoring

class MyERS(EvidenceRetrievalScoring):
    def inference_on_turn(self, turn, sources):
        return []

class Other:
    pass

def function(config):
    pass
"""
NUMBERS = itertools.count()


@pytest.fixture
def module(workdir):
    """Write a module of the user's into the working directory; returns its name, new for every call."""
    names = []

    def write(code):
        names.append(f"users_module_{next(NUMBERS)}")
        (workdir / f"{names[-1]}.py").write_text(code)
        return names[-1]

    yield write
    for name in names:
        sys.modules.pop(name, None)


def not_found(stage, name, *words, base=EvidenceRetrievalScoring):
    assert refused(ModuleError, lambda: find_module(stage, name, base), *words).startswith(f"{stage}: ")


def test_an_unknown_name_suggests_the_nearest_one_or_lists_all():
    not_found("qu", "slot", "unknown module 'slot'", "did you mean 'slots'", base=QuestionUnderstanding)
    not_found("ha", "zzz", "entity_voting", "package.module:Class", base=HeterogeneousAnswering)


def test_a_module_in_the_working_directory_is_found(module):
    found = find_module("ers", f"{module(GOOD)}:MyERS", EvidenceRetrievalScoring)
    assert issubclass(found, EvidenceRetrievalScoring)
    assert found.__name__ == "MyERS"


@each_case("modules", "code")
def test_a_module_that_does_not_import_shows_its_own_error(module, case):
    name = module(case["code"])
    not_found("ers", f"{name}:MyERS", name, case["says"])


@each_case("modules", "name")
def test_a_name_that_means_no_class(case):
    not_found("ers", case["name"], case["says"])


@each_case("modules", "class")
def test_a_class_of_another_kind_is_no_module_of_the_stage(module, case):
    not_found("ers", f"{module(GOOD)}:{case['class']}", case["says"])
    not_found("ha", f"{module(GOOD)}:MyERS", "must inherit convinse.Het", base=HeterogeneousAnswering)


@each_case("modules", "method")
def test_a_method_with_other_parameters_is_named(module, case):
    name = module(f"{GOOD}\nclass Older(MyERS):\n    def {case['method']}:\n        pass\n")
    not_found("ers", f"{name}:Older", case["says"], "docs/your-own-module.md")


def test_an_installed_plug_in_is_a_name(module, monkeypatch):
    point = EntryPoint("plugged", f"{module(GOOD)}:MyERS", "convinse.ers")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point] if group == "convinse.ers" else [])
    assert find_module("ers", "plugged", EvidenceRetrievalScoring).__name__ == "MyERS"
    assert "plugged" in module_names("ers")
    assert "plugged" not in module_names("ha")
    not_found("ers", "pluged", "did you mean 'plugged'")


TRAINED = """
from convinse import EvidenceRetrievalScoring

class MyERS(EvidenceRetrievalScoring):
    trainer = f"{__name__}:train"
    def inference_on_turn(self, turn, sources):
        return []

class Patient(MyERS):
    trainer = None

def train(ers, sources):
    ers.trained_on = sources
"""


def test_a_module_names_its_trainer(module):
    name = module(TRAINED)
    ers = find_module("ers", f"{name}:MyERS", EvidenceRetrievalScoring)(parse_config({}))
    ers.train(["kb"])
    assert ers.trained_on == ["kb"]
    patient = find_module("ers", f"{name}:Patient", EvidenceRetrievalScoring)(parse_config({}))
    patient.train(["kb"])
    assert not hasattr(patient, "trained_on")
    for trainer, fault in (
        (f"{name}:trained", "has no function 'trained'"),
        (name, "has no function ''"),
        ("nowhere_to_be_found:train", "does not import: ModuleNotFoundError"),
    ):
        ers.trainer = trainer
        with pytest.raises(ModuleError, match=f"^ers: .*{fault}"):
            ers.train(["kb"])
