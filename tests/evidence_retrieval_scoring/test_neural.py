import copy

import numpy as np
import pytest

from case_tables import slow_but
from convinse.config import parse_config
from convinse.encoder.reranker import BertReranker
from convinse.evidence_retrieval_scoring.native import NativeERS
from convinse.formats.convmix import read_conversations
from convinse.pipeline import Pipeline
from convinse.records.conversation import asked_in_full
from convinse.testing import without
from evidences import together_as_alone
from tiny_models import tiny
from written import json_lines, read_json, write

SOURCES = ("kb", "text", "table", "info")


@pytest.fixture(scope="module")
def turns():
    config = parse_config({"ers_use_cache": False, "evr_max_entities": 3})
    conversations = read_conversations(config.input_path("test"))[:3]
    with Pipeline(config) as pipeline:
        done = pipeline.run(conversations, "kb")
    return [without(turn, "top_evidences", "pred_answers", "question_entities", "answer_presence", "answer_presence_per_src")
            for conversation in done for turn in conversation["questions"][:2]]  # fmt: skip


def ers(kind=NativeERS, **keys):
    return kind(parse_config({"ers_use_cache": False, "evs_max_evidences": 12, "device": "cpu", **keys}))


CROSS, BI = {"evs_model": str(tiny())}, {"evs_bi_encoder": str(tiny("bert", "embedding"))}
METHODS = {
    "cross_encoder": {"evs": "cross_encoder", **CROSS},
    "cascade": {**CROSS, **BI, "evs_cascade": 6},
    "lexical": {"evs": "cascade", **CROSS},
    "dense": BI,
    "mixed": {**CROSS, "evs_cascade": 3},
}


# the cascade and the mixture score by the cross-encoder, too
@pytest.mark.parametrize("method", slow_but(METHODS.keys() - {"cross_encoder"}, METHODS))
def test_turns_together_are_as_turn_by_turn(turns, method):
    for turn in together_as_alone(lambda: ers(**METHODS[method]), turns, "top_evidences", SOURCES):
        assert len(turn["top_evidences"]) == 12
        assert {"answer_presence", "answer_presence_per_src", "question_entities"} <= turn.keys()


def test_retrieve_of_a_subclass_is_called(turns):
    class Mine(NativeERS):
        def retrieve(self, turn, sources):
            return super().retrieve(turn, sources)[:2]

    found = ers(Mine, evs="cross_encoder", evs_model=str(tiny())).inference_on_turns(copy.deepcopy(turns[:2]), SOURCES)
    assert [len(best) for best in found] == [2, 2]


def test_the_scorer_is_the_configured_one():
    assert ers(**METHODS["cascade"]).conversations_at_once > 1 == ers().conversations_at_once
    module = ers(**METHODS["cross_encoder"], token_budget=99, precision="bf16")
    reranker = module.scorer.reranker
    assert isinstance(reranker, BertReranker)
    assert (reranker.engine.token_budget, reranker.engine.precision) == (99, "bf16")


def test_the_cascade_s_numbers_are_the_configured_ones(turns):
    module = ers(**METHODS["cascade"])
    (found,) = module.inference_on_turns(copy.deepcopy(turns[:1]), SOURCES)
    assert 6 <= sum(one["score"] > 0 for one in found) <= 12
    one = ers(**{**METHODS["cascade"], "evs_cascade": 1})
    (found,) = one.inference_on_turns(copy.deepcopy(turns[:1]), SOURCES)
    assert 1 <= sum(one["score"] > 0 for one in found) <= 2


def test_without_the_cache_nothing_is_written(workdir, turns):
    ers(**METHODS["cascade"]).inference_on_turns(copy.deepcopy(turns[:1]), SOURCES)
    assert list(workdir.iterdir()) == []


def pipeline(*more, **keys):
    keys = {"name": "mine", "evs_max_evidences": 10, "evr_max_entities": 3, "device": "cpu", **keys}
    return ["pipeline", "kb_text", write("my.yml", keys), "--limit", "2", "--quiet", *more]


@pytest.mark.parametrize("more", [(), ("--pred-answers",)])
def test_the_pipeline_uses_the_cascade_where_a_model_is_configured(command, more):
    command(*pipeline(*more, **METHODS["cascade"]))
    conversations = json_lines("results/mine/kb_text/turns.jsonl")
    turns = [turn for conversation in conversations for turn in conversation["questions"]]
    assert len(turns) == 10
    # the first turn has the same representation in every mode; its scores are the cross-encoder's
    turn = turns[0]
    scores = np.array([one["score"] for one in turn["top_evidences"]])
    pairs = [(asked_in_full(turn), one["evidence_text"]) for one in turn["top_evidences"]]
    expected = BertReranker(tiny(), "cpu").predict(pairs)
    expected[["page" in one for one in turn["top_evidences"]]] *= 0.1  # of pages that the question does not name
    assert (scores > 0).sum() >= 6
    np.testing.assert_allclose(scores[scores > 0], expected[scores > 0], atol=1e-5)
    assert scores.tolist() == sorted(scores, reverse=True)
    assert read_json("results/mine/kb_text/metrics.json")["num_questions"] == 10
