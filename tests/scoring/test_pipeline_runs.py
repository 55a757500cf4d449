import json
from pathlib import Path

import pytest

from convinse.scoring.pipeline_runs import check_same_questions, measured_turns, run_name
from convinse.support.errors import DataError, ScoringError
from finished import conversation, turn
from written import write, write_lines


def read(*conversations):
    return [(one.question_id, one.group) for one in measured_turns(write_lines("turns.jsonl", *conversations))]


def test_the_turns_with_gold_answers_by_their_ids():
    without = {"question_id": "none", "question": "?"}
    assert read(conversation("a", turn("q1"), turn("q2"), without), conversation("b", turn("q3"))) == [
        ("q1", "conversation a"), ("q2", "conversation a"), ("q3", "conversation b"),
    ]  # fmt: skip


def test_without_a_question_id_the_conversation_and_the_turn_name_it():
    nameless = [{key: value for key, value in turn("q").items() if key != "question_id"} for _ in range(2)]
    numbered = {**nameless[0], "turn": 7}
    found = read(conversation("a", *nameless), conversation("b", numbered))
    assert [name for name, _ in found] == ["a-0", "a-1", "b-7"]
    assert read(conversation("a", turn(0)))[0][0] == "0"  # a number is a name


def test_the_wordings_of_one_conversation_are_one_group():
    found = read(conversation("a", turn("q1"), group=0), conversation("b", turn("q2"), group=0))
    assert found == [("q1", "group 0"), ("q2", "group 0")]


def test_gold_answers_are_compared_as_ids_are():
    (measured,) = measured_turns(write_lines("turns.jsonl", conversation("a", turn("q", ['"Yes"', "q42"]))))
    assert measured.gold == {"yes", "q42"}


@pytest.mark.parametrize(
    ("conversations", "fault"),
    [
        ([conversation("a", turn("q")), conversation("b", turn("q"))], "turns.jsonl:2: question 'q' is given twice"),
        ([conversation("a", {"question": "?"})], "no question has gold answers"),
        ([], "no question has gold answers"),
        ([conversation("a", turn("q")), {"conv_id": "b"}], "turns.jsonl:2.*'questions' is missing"),
    ],
)
def test_a_file_that_cannot_be_measured(conversations, fault):
    with pytest.raises(DataError, match=fault):
        read(*conversations)


def test_a_json_list_as_convinse_writes_it_is_read_as_lines_are():
    finished = [conversation("a", turn("q1")), conversation("b", turn("q2"))]
    of_list = list(measured_turns(write("res_convinse_gold_answers.json", finished)))
    assert of_list == list(measured_turns(write_lines("turns.jsonl", *finished)))


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"conv_id": "a"}, "res.json: holds no list of conversations"),
        (b'{"conv_id": "a"}\n{"conv_id": "b"}\n', "res.json: not valid JSON"),
        ([conversation("a", turn("q")), {"conv_id": "b"}], "res.json: number 2 of the list.*'questions' is missing"),
        ([conversation("a", turn("q"), turn("q"))], "res.json: number 1 of the list: question 'q' is given twice"),
    ],
)
def test_a_list_that_cannot_be_measured(content, fault):
    with pytest.raises(DataError, match=fault):
        list(measured_turns(write("res.json", content)))


def test_half_a_line_and_a_missing_file():
    path = write_lines("turns.jsonl", conversation("a", turn("q")))
    path.write_text(path.read_text() + json.dumps(conversation("b", turn("r")))[:30])
    with pytest.raises(DataError, match="turns.jsonl:2: not valid JSON"):
        list(measured_turns(path))
    with pytest.raises(DataError, match="none.jsonl: cannot be read"):
        list(measured_turns(Path("none.jsonl")))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("results/mine/kb_text/turns.jsonl", "mine-kb_text"),
        ("results/my runs/kb/turns.jsonl", "my_runs-kb"),
        ("old/best.jsonl", "best"),
        ("v1.2.jsonl.gz", "v1.2"),
        ("convinse/res_convinse_gold_answers.json", "res_convinse_gold_answers"),
    ],
)
def test_the_name_of_a_run(path, name):
    assert run_name(Path(path)) == name


def test_runs_over_other_questions_are_refused():
    one, more = {"q1": frozenset("a")}, {"q1": frozenset("a"), "q2": frozenset("b"), "q3": frozenset("c")}
    check_same_questions(one, Path("A"), dict(one), Path("B"))
    fault = "B: 2 of the 3 questions of A are missing, the first is 'q2'"
    with pytest.raises(ScoringError, match=fault):
        check_same_questions(more, Path("A"), one, Path("B"))
    with pytest.raises(ScoringError, match=fault):
        check_same_questions(one, Path("B"), more, Path("A"))
    with pytest.raises(ScoringError, match="B: question 'q1' has other gold answers than in A"):
        check_same_questions(one, Path("A"), {"q1": frozenset("b")}, Path("B"))
