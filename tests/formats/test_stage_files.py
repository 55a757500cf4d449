"""Files that the stages QU and ERS wrote, here or in CONVINSE."""

import pytest

from convinse.formats.stage_files import read_stage_file
from convinse.support.errors import DataError
from evidences import evidence
from refusals import refused
from written import write, write_lines

TURN = {
    "turn": 0,
    "question": "Who?",
    "answers": [{"id": "Q1", "label": "one"}],
    "structured_representation": "|| a || b ||",
}
FOUND = {
    **evidence("one, two", "infobox", ("one", "Q1")),
    "disambiguations": [["one", "Q1"], ["two", None], ["three", False]],
    "retrieved_for_entity": [{"id": "Q1", "label": "one", "type": "number"}],
}


def conversations(*turns):
    return [{"conv_id": "c", "questions": list(turns)}]


def read(*turns, sources=("kb", "info"), most=5):
    return read_stage_file(write("res_convinse_ers.json", conversations(*turns)), sources, most)


def test_keys_of_the_turns_tell_the_stage():
    assert read(TURN, TURN)[0] == "qu"
    stage, done = read({**TURN, "top_evidences": [FOUND]}, {**TURN, "top_evidences": []})
    (read_evidence,) = done[0]["questions"][0]["top_evidences"]
    assert stage == "ers" and read_evidence["disambiguations"] == [["one", "Q1"]]
    assert read_evidence["retrieved_for_entity"]["id"] == "Q1"
    lines = write_lines("train_ers.jsonl", *conversations({**TURN, "top_evidences": [FOUND]}))
    assert read_stage_file(lines, ("info",), 1)[0] == "ers"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"structured_representation": None}, "no 'structured_representation'"),
        ({"top_evidences": None}, "no list of 'top_evidences'"),
        ({"top_evidences": [FOUND] * 6}, "6 evidences, but evs_max_evidences is 5"),
        ({"top_evidences": [{**FOUND, "source": "text"}]}, "an evidence of 'text', but kb_info is asked"),
        ({"top_evidences": [{**FOUND, "source": "web"}]}, "'web'"),
        ({"top_evidences": ["one"]}, "an evidence is str"),
        ({"top_evidences": [], "representation": {"predicate": 5}}, "representation"),
        ({"top_evidences": [], "resolved_question": 5}, "$.resolved_question"),
    ],
)
def test_fault_of_a_stage_file_names_its_turn(change, fault):
    bad = {**TURN, "top_evidences": [], "turn": 1, **change}
    refused(DataError, lambda: read({**TURN, "top_evidences": []}, bad), "ers.json: conversation 'c', turn 1: ", fault)
