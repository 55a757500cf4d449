"""Files of tasks: CLOCQ's own example, in shape, and what is none."""

import json
import logging
from contextlib import closing

import pytest

from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.server import ClocqService
from convinse.knowledge_base.tasks import answer_tasks
from convinse.support.errors import DataError
from refusals import refused

TITANIC, CAMERON = "Q44578", "Q42574"
ITEM = ["get_label", "get_labels", "get_aliases", "get_description", "get_types", "get_type", "get_frequency"]
TASKS = [
    *({"task": name, "kb_item": TITANIC} for name in ITEM),
    {"task": "get_neighborhood", "kb_item": TITANIC, "p": 1000, "include_labels": True},
    {"task": "get_neighborhood_two_hop", "kb_item": TITANIC, "p": 1000, "include_labels": True},
    {"task": "connect", "kb_item1": TITANIC, "kb_item2": CAMERON},
    {"task": "connectivity_check", "kb_item1": TITANIC, "kb_item2": CAMERON},
    {
        "task": "get_search_space",
        "question": "Who directed Titanic?",
        "parameters": {"p": 1000},
        "include_labels": True,
    },
    {"task": "entity_linking", "question": "Who directed Titanic?"},
    {"task": "relation_linking", "question": "Who directed Titanic?"},
]


@pytest.fixture(scope="module")
def service(world_index):
    with closing(KnowledgeBase(world_index)) as kb:
        yield ClocqService(kb)


@pytest.fixture
def answers(service, tmp_path):
    def run(tasks):
        file, output = tmp_path / "tasks.json", tmp_path / "answers.jsonl"
        file.write_text(json.dumps(tasks))
        number = answer_tasks(service, file, output)
        lines = [json.loads(line) for line in output.read_text().splitlines()]
        assert number == len(lines)
        return lines

    return run


def test_every_task_is_answered_in_its_order(answers):
    lines = answers(TASKS)
    film = {"id": "Q11424", "label": "film"}
    assert lines[:7] == [
        "Titanic",
        ["Titanic"],
        [TITANIC],
        "1997 American romantic disaster film",
        [film],
        film,
        [5, 0],
    ]
    assert len(lines[7]) == 5 and len(lines[8]) > 5 and len(lines[9]) == lines[10] == 1
    assert set(lines[11]) == {"kb_item_tuple", "search_space"}
    assert [linking["item"]["id"] for line in lines[12:] for linking in line["linkings"]][-1] == "P57"


def test_a_task_that_lacks_an_argument_is_passed_over_with_a_warning(answers, caplog):
    with caplog.at_level(logging.WARNING):
        assert answers([{"task": "connect", "kb_item1": TITANIC}, TASKS[0], {"task": "entity_linking"}]) == ["Titanic"]
    assert "task 0: connect without item2" in caplog.text and "task 2: entity_linking without question" in caplog.text


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        ({"dev": []}, "expected a list of tasks"),
        ([TASKS[0], {"task": "get_lable", "kb_item": "Q5"}], "task 1: 'get_lable' is no task"),
        ([5], "task 0"),
        ([{"task": "get_label", "kb_item": 5}], "task 0: Expected"),
        ([TASKS[0], {**TASKS[7], "p": "many"}], "task 1: p: 'many'"),
    ],
)
def test_what_is_no_task_is_named_and_nothing_is_written(answers, tmp_path, tasks, words):
    refused(DataError, lambda: answers(tasks), words)
    assert not (tmp_path / "answers.jsonl").exists()
