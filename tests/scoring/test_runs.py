"""Finished runs: read and paired by their questions, compared (`evaluate compare`), and written for TREC's tools."""

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
from convinse.scoring.pipeline_runs import check_same_questions, measured_turns, run_name
from convinse.scoring.significance import compare, p_value
from convinse.scoring.trec import document_id, write_trec
from convinse.support.errors import DataError, DependencyError, OutputError, ScoringError
from finished import conversation, evidence, turn
from refusals import refused
from written import names, write, write_lines

needs_scipy = pytest.mark.skipif(find_spec("scipy") is None, reason="needs the extra ir")


# --- turns of a run


def read(*conversations):
    return [(one.question_id, one.group) for one in measured_turns(write_lines("turns.jsonl", *conversations))]


def test_turns_with_gold_answers_have_their_ids_and_conversations():
    without = {"question_id": "none", "question": "?"}
    found = read(conversation("a", turn("q1"), turn("q2"), without), conversation("b", turn("q3")))
    assert found == [("q1", "conversation a"), ("q2", "conversation a"), ("q3", "conversation b")]
    (measured,) = measured_turns(write_lines("turns.jsonl", conversation("a", turn("q", ['"Yes"', "q42"]))))
    assert measured.gold == {"yes", "q42"}  # compared as ids are


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
        list(measured_turns(Path(name)))


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


# --- TREC

RIGHT, WRONG, OTHER = evidence("right", "Q2", "Q1"), evidence("wrong", "Q2"), evidence("other")


def ids(*evidences):
    return [document_id(one) for one in evidences]


def columns(path, first, last):
    return [line.split()[first:last] for line in Path(path).read_text().splitlines()]


def two_runs():
    """The first finds the answer at rank 2 and never; the second at rank 1 and has no evidence for q2."""
    first = conversation("c", turn("q1", evidences=[WRONG, RIGHT]), turn("q2", evidences=[OTHER]))
    second = conversation("c", turn("q1", evidences=[RIGHT, OTHER, WRONG]), turn("q2"))
    return [write_lines("results/one/kb/turns.jsonl", first), write_lines("results/two/kb/turns.jsonl", second)]


def test_the_id_of_a_document_is_made_of_its_source_and_text():
    assert document_id(RIGHT) == document_id({**evidence("right"), "score": 3.5})
    assert len({*ids(RIGHT, WRONG, evidence("right", source="text"))}) == 3
    assert document_id(evidence("x", source="infobox")) == document_id(evidence("x", source="info"))
    assert document_id(RIGHT) == "kb-77dca6f36cf069af"  # in earlier files, too


def test_runs_and_the_qrels_of_them_all():
    assert write_trec(two_runs(), Path("trec")) == {
        "qrels": "trec/qrels.txt", "num_questions": 2, "num_judged": 4, "num_relevant": 1,
        "runs": {"one-kb": "trec/one-kb.run.txt", "two-kb": "trec/two-kb.run.txt"},
    }  # fmt: skip
    right, wrong, other = ids(RIGHT, WRONG, OTHER)
    assert columns("trec/one-kb.run.txt", 0, 6) == [
        ["q1", "Q0", wrong, "1", "2", "one-kb"], ["q1", "Q0", right, "2", "1", "one-kb"],
        ["q2", "Q0", other, "1", "1", "one-kb"],
    ]  # fmt: skip
    ranked = [[right, "1", "3"], [other, "2", "2"], [wrong, "3", "1"]]
    assert columns("trec/two-kb.run.txt", 2, 5) == ranked
    judged = [["q1", "0", right, "1"], ["q1", "0", wrong, "0"], ["q1", "0", other, "0"], ["q2", "0", other, "0"]]
    assert sorted(columns("trec/qrels.txt", 0, 4)) == sorted(judged)


def test_an_evidence_is_relevant_when_its_entities_of_one_run_hold_an_answer():
    knows = write_lines("knows.jsonl", conversation("c", turn("q", evidences=[evidence("same", "Q1")])))
    knows_not = write_lines("not.jsonl", conversation("c", turn("q", evidences=[evidence("same", "Q3")])))
    for paths in ([knows, knows_not], [knows_not, knows]):
        assert write_trec(paths, Path("trec"), force=True)["num_relevant"] == 1
        assert columns("trec/qrels.txt", 3, 4) == [["1"]]


def test_files_are_replaced_only_by_force_and_never_by_halves():
    paths = two_runs()
    write_trec(paths, Path("trec"))
    Path("trec/qrels.txt").write_text("mine")
    refused(OutputError, lambda: write_trec(paths, Path("trec")), "exists already; --force replaces it")
    paths[1].write_text(paths[1].read_text() + "half")
    refused(DataError, lambda: write_trec(paths, Path("trec"), force=True), "turns.jsonl:2: not valid JSON")
    assert Path("trec/qrels.txt").read_text() == "mine"
    assert names("trec") == ["one-kb.run.txt", "qrels.txt", "two-kb.run.txt"]


def test_runs_without_names_of_their_own_are_refused():
    path = write_lines("results/one/kb/turns.jsonl", conversation("c", turn("a b")))
    words = "a run of the name 'one-kb' is given already"
    refused(ScoringError, lambda: write_trec([path, path], Path("trec")), words)
    refused(DataError, lambda: write_trec([path], Path("trec")), "question 'a b': white space in a question_id")


def test_a_question_without_evidence_in_any_run_is_judged_all_the_same():
    write_trec([write_lines("a.jsonl", conversation("c", turn("q")))], Path("trec"))
    assert columns("trec/qrels.txt", 0, 4) == [["q", "0", "none", "0"]] and columns("trec/a.run.txt", 0, 6) == []


def test_without_scipy_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    refused(DependencyError, lambda: p_value([1.0, 2.0]), "evaluate compare needs scipy", "[ir]'")
