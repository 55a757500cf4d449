"""What all stages have: attributes, and a method for one turn and for several."""

import pytest

from convinse import EvidenceRetrievalScoring, Pipeline
from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.base import retrieve
from convinse.support.errors import ModuleError
from evidences import evidence
from refusals import refused


class Batching(EvidenceRetrievalScoring):
    def inference_on_turns(self, turns, sources):
        return [[evidence(f"one of {len(turns)}")] for _ in turns]


class OneByOne(Batching):
    def inference_on_turn(self, turn, sources):
        return [*super().inference_on_turn(turn, sources), evidence(turn["question"])]


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
        (Writing, [["A?"], ["B?"]]),
        (WritingTogether, [["A?"], ["B?"]]),
    ],
)
def test_the_method_that_a_class_defines_is_called(kind, texts):
    turns = [{"question": "A?"}, {"question": "B?"}]
    retrieve(kind(parse_config({})), turns, ("text",))
    assert [[found["evidence_text"] for found in turn["top_evidences"]] for turn in turns] == texts


def test_a_class_without_either_method_is_refused_when_the_pipeline_is_built():
    module = type("Neither", (EvidenceRetrievalScoring,), {})(parse_config({}))
    refused(
        ModuleError,
        lambda: Pipeline(parse_config({}), ers=module),
        "Neither: the class must implement inference_on_turn",
    )


class Alone(OneByOne):
    def __init__(self, config):
        super().__init__(config)


def test_a_module_gets_the_resources_of_its_pipeline():
    with Pipeline(parse_config({"ers_use_cache": False, "ers": f"{__name__}:Alone"})) as pipeline:
        assert pipeline.ers.resources is pipeline.resources is pipeline.qu.resources
