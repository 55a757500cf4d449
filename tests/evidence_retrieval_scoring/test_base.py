from functools import partial

import pytest

from convinse.config import parse_config
from convinse.evidence_retrieval_scoring.base import EvidenceRetrievalScoring
from convinse.records.border import structured
from convinse.support.errors import DataError, ModuleError
from evidences import evidence
from refusals import refused


class Fixed(EvidenceRetrievalScoring):
    """Returns what it is told, and may store something else."""

    returned = stored = None

    def inference_on_turn(self, turn, sources):
        if self.stored is not None:
            turn["top_evidences"] = self.stored
        return self.returned


def module(returned, stored=None, **config):
    found = Fixed(parse_config(config))
    found.returned, found.stored = returned, stored
    return found


def test_the_base_class_cannot_be_made():
    with pytest.raises(TypeError, match="inference_on_turn"):
        EvidenceRetrievalScoring(parse_config({}))


def test_config_and_logger_are_set():
    config = parse_config({"custom": {"my_key": 1}})
    found = Fixed(config)
    assert found.config is config
    found.logger.debug("works")
    assert found.store_cache() is None
    assert found.train(("kb",)) is None


def test_what_is_returned_is_stored():
    turn = {"question": "x", "top_evidences": [evidence("stale")]}
    assert module([evidence("a")]).inference_on_turns([turn], ("text",)) == [[structured(evidence("a"))]]
    assert turn == {"question": "x", "top_evidences": [structured(evidence("a"))]}


def test_what_is_stored_in_the_turn_counts():
    turn = {"question": "x"}
    module(None, stored=[evidence("a")]).inference_on_turns([turn], ("text",))
    assert turn["top_evidences"] == [structured(evidence("a"))]


def test_what_is_returned_counts_where_both_are_there():
    turn = {"question": "x"}
    module([evidence("a")], stored=[evidence("b")]).inference_on_turns([turn], ("text",))
    assert [one["evidence_text"] for one in turn["top_evidences"]] == ["a"]


def test_answer_presence_is_added_where_there_are_answers():
    evidences = [evidence("a", "text", ("seven", "Q7")), evidence("b", "kb", ("eight", "Q8"))]
    first, second = {"question": "x", "answers": [{"id": "Q7", "label": "seven"}]}, {"question": "y"}
    module(evidences).inference_on_data([{"conv_id": "1", "questions": [first, second]}], ("kb", "text"))
    assert first["answer_presence"]
    assert [source for source, found in first["answer_presence_per_src"].items() if found] == ["text"]
    assert "answer_presence" not in second
    assert second["top_evidences"] == [structured(one) for one in evidences]


def test_every_turn_of_every_conversation_is_done():
    conversations = [{"conv_id": str(n), "questions": [{"question": "x"}, {"question": "y"}]} for n in range(3)]
    module([]).inference_on_data(conversations, ("kb",))
    assert [turn["top_evidences"] for one in conversations for turn in one["questions"]] == [[]] * 6


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "must return a list"),
        ({"a": 1}, "must return a list"),
        (["text"], "not a dictionary"),
        ([{"source": "kb"}], "evidence_text"),
        ([{**evidence("a"), "source": "web"}], "source 'web'"),
        ([{**evidence("a"), "wikidata_entities": [{"id": "Q1"}]}], "wikidata_entities"),
        ([{**evidence("a"), "disambiguations": [["a"]]}], "disambiguations"),
        ([{**evidence("a"), "retrieved_for_entity": "Q1"}], "retrieved_for_entity"),
    ],
)
def test_a_broken_contract_is_one_clear_line(returned, message):
    turn = {"question": "x", "question_id": "movies-7-2"}
    run = partial(module(returned).inference_on_turns, [turn], ("text",))
    refused((ModuleError, DataError), run, message, "Fixed", "movies-7-2")
