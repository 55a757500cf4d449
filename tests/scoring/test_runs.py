"""Finished runs: read and paired by their questions, compared (`evaluate compare`)."""

import json
import math
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convinse.scoring.convqa import MEASURES
from convinse.scoring.pipeline_runs import check_same_questions, gold_ids, measured_conversations, run_name
from convinse.scoring.significance import compare, p_value
from convinse.support.errors import DataError, DependencyError, ScoringError
from finished import conversation, turn
from refusals import refused
from written import write, write_lines

needs_scipy = pytest.mark.skipif(find_spec("scipy") is None, reason="needs the extra ir")


# --- turns of a run


def read(*conversations):
    measured = measured_conversations(write_lines("turns.jsonl", *conversations))
    return [(question_id, group) for _, group, turns in measured for question_id in turns]


def test_turns_with_gold_answers_have_their_ids_and_conversations():
    without = {"question_id": "none", "question": "?"}
    found = read(conversation("a", turn("q1"), turn("q2"), without), conversation("b", turn("q3")))
    assert found == [("q1", "conversation a"), ("q2", "conversation a"), ("q3", "conversation b")]
    ((_, _, turns),) = measured_conversations(
        write_lines("turns.jsonl", conversation("a", turn("q", ['"Yes"', "q42"])))
    )
    assert gold_ids(turns["q"]) == {"yes", "q42"}  # compared as ids are


A, TWICE = conversation("a", turn("q")), conversation("a", turn("q"), turn("q"))


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("turns.jsonl", [A, conversation("b", turn("q"))], "turns.jsonl:2: question 'q' is given twice"),
        ("turns.jsonl", [conversation("a", {"question": "?"})], "no question has gold answers"),
        ("turns.jsonl", [], "no question has gold answers"),
        ("turns.jsonl", [A, {"conv_id": "b"}], "turns.jsonl:2.*'questions' is missing"),
        ("turns.jsonl", [A, json.dumps(A)[:30]], "turns.jsonl:2: not valid JSON"),
        ("res.json", {"conv_id": "a"}, "res.json: holds no list of conversations"),
        ("res.json", b'{"conv_id": "a"}\n{"conv_id": "b"}\n', "res.json: not valid JSON"),
        ("res.json", [A, {"conv_id": "b"}], "res.json: number 2 of the list.*'questions' is missing"),
        ("res.json", [TWICE], "res.json: number 1 of the list: question 'q' is given twice"),
        ("none.jsonl", None, "none.jsonl: cannot be read"),
    ],
)
def test_a_file_that_cannot_be_measured_is_named_with_its_line(name, content, fault):
    if content is not None:
        write_lines(name, *content) if name == "turns.jsonl" else write(name, content)
    with pytest.raises(DataError, match=fault):
        list(measured_conversations(Path(name)))


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
def test_a_run_is_named_by_its_folders_or_its_file(path, name):
    assert run_name(Path(path)) == name


def test_runs_over_other_questions_are_refused():
    one, more = {"q1": frozenset("a")}, {"q1": frozenset("a"), "q2": frozenset("b"), "q3": frozenset("c")}
    check_same_questions(one, Path("A"), dict(one), Path("B"))
    fault = "B: 2 of the 3 questions of A are missing, the first is 'q2'"
    refused(ScoringError, lambda: check_same_questions(more, Path("A"), one, Path("B")), fault)
    refused(ScoringError, lambda: check_same_questions(one, Path("B"), more, Path("A")), fault)
    other, fault = {"q1": frozenset("b")}, "B: question 'q1' has other gold answers than in A"
    refused(ScoringError, lambda: check_same_questions(one, Path("A"), other, Path("B")), fault)


# --- two runs compared


def by_enumeration(differences):
    """Both signs of all: twice the part whose sum is at least as far on the side of the observed one."""
    signs = product((1, -1), repeat=len(differences))
    sums = [sum(sign * value for sign, value in zip(row, differences, strict=True)) for row in signs]
    observed = abs(sum(differences))
    return min(1.0, 2 * sum(value >= observed for value in sums) / len(sums))


@needs_scipy
@settings(max_examples=25)
@given(st.lists(st.integers(-3, 3), max_size=8))
def test_few_differences_are_tested_exactly(differences):
    assert p_value(differences) == pytest.approx(by_enumeration(differences), abs=1e-6)


@needs_scipy
def test_many_differences_come_close_to_the_sign_test_and_repeat():
    better, worse = 62, 38
    tail = sum(math.comb(100, k) for k in range(better, 101)) / 2**100
    assert p_value([1.0] * better + [-1.0] * worse) == pytest.approx(2 * tail, abs=0.003)
    assert p_value([1.0] * 40) == 0.00002  # never 0
    assert p_value([0.5, -0.25, 1.0] * 8) == p_value([0.5, -0.25, 1.0] * 8)


def runs(ranks_a, ranks_b, turns=1, **more):
    """Two runs whose right answers have the ranks, so many turns a conversation."""

    def run(name, ranks):
        questions = [turn(f"q{n}", rank=rank) for n, rank in enumerate(ranks)]
        starts = range(0, len(ranks), turns)
        return write_lines(name, *(conversation(str(n), *questions[n : n + turns], **more) for n in starts))

    return [run("a.jsonl", ranks_a), run("b.jsonl", ranks_b)]


@needs_scipy
def test_means_difference_and_the_questions_behind_it():
    result = compare(*runs([1, 2, 0, 1, 0, 3], [1, 1, 1, 1, 4, 0]))
    assert (result["num_questions"], result["num_groups"]) == (6, 6)
    assert result["p_at_1"] == {
        "first": 0.3333, "second": 0.6667, "difference": 0.3333, "better": 2, "worse": 0, "p_value": 0.5,
        "p_value_groups": 0.5,
    }  # fmt: skip
    first, second = [1, 0.5, 0, 1, 0, 1 / 3], [1, 1, 1, 1, 0.25, 0]
    assert result["mrr"]["first"] == round(sum(first) / 6, 4)
    assert result["mrr"]["difference"] == round((sum(second) - sum(first)) / 6, 4)
    assert (result["mrr"]["better"], result["mrr"]["worse"]) == (3, 1)
    assert result["mrr"]["p_value"] == pytest.approx(by_enumeration([6, 12, 3, -4]))  # twelfths
    assert result["answer_presence"]["p_value"] == 1.0
    assert list(result)[2:] == list(MEASURES)


@needs_scipy
def test_questions_of_one_conversation_do_not_make_a_difference_certain():
    """Ten better answers to one conversation are one piece of luck; to ten conversations they are ten."""
    within = compare(*runs([0] * 10, [1] * 10, turns=5))["p_at_1"]
    assert (within["p_value"], within["p_value_groups"]) == (pytest.approx(2 / 2**10, abs=1e-6), 0.5)
    wordings = compare(*runs([0] * 10, [1] * 10, group=3))["p_at_1"]
    assert (wordings["p_value"], wordings["p_value_groups"]) == (within["p_value"], 1.0)
    apart = compare(*runs([0] * 10, [1] * 10))["p_at_1"]
    assert apart["p_value"] == apart["p_value_groups"] == within["p_value"]


def test_without_scipy_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    refused(DependencyError, lambda: p_value([1.0, 2.0]), "evaluate compare needs scipy", "[ir]'")
