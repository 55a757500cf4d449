"""The measures of PolEval 2022 by hand, and its files; the faulty ones are in tests/cases/unscorable.yml."""

import math
import sys

import pytest

from case_tables import each_case
from convinse.scoring.poleval import Expected, evaluate, read_expected, read_submission
from convinse.support import errors
from convinse.support.errors import DataError, DependencyError, ScoringError
from places import DATA
from written import write

pytest.importorskip("ir_measures")
POLEVAL = DATA / "poleval2022"


def scores(tmp_path, expected, submission, questions=None):
    expected = read_expected(write(tmp_path / "expected.tsv", expected), questions)
    return evaluate(expected, read_submission(write(tmp_path / "out.tsv", submission), expected))


def dcg(places):
    return sum(1 / math.log2(place + 1) for place in places)


@each_case("poleval")
def test_measures_by_hand(tmp_path, case):
    found = scores(tmp_path, case["expected"], case["submission"])["sets"]["all"]
    assert set(found) == {"num_questions", "ndcg_at_10", "mrr_at_10", "recall_at_10", "recall_at_100"}
    assert {name: value for name, value in found.items() if name in case} == {
        name: value for name, value in case.items() if name in found
    }


def test_the_organisers_script_counts_a_repeated_id_each_time(tmp_path):
    expected = read_expected(write(tmp_path / "expected.tsv", "a\tb\nc\n"))
    submission = read_submission(write(tmp_path / "out.tsv", "a\ta\tb\nx\tc\n"), expected)
    official = evaluate(expected, submission, official=True)
    ndcg = (dcg([1, 2, 3]) / dcg([1, 2]) + dcg([2])) / 2
    assert official["macro"]["ndcg_at_10"] == round(100 * ndcg, 4)
    assert official["repeated_ids"] == {"counted": "each time", "lines": 1}
    once = evaluate(expected, submission)
    assert once["macro"]["ndcg_at_10"] == round(50 * (dcg([1, 3]) / dcg([1, 2]) + dcg([2])), 4)
    assert once["repeated_ids"] == {"counted": "once", "lines": 1}
    assert {**once["macro"], "ndcg_at_10": 0} == {**official["macro"], "ndcg_at_10": 0}


HEADER = "\t".join(f"Result{n}" for n in range(1, 11)).replace("5\tR", "5 R")  # as out-header.tsv has it, with a blank


def test_a_submission_may_have_the_header_of_the_task(tmp_path):
    assert scores(tmp_path, "a\nb\n", f"{HEADER}\na\nb\n") == scores(tmp_path, "a\nb\n", "a\nb\n")
    with pytest.raises(ScoringError, match="1 lines, but 2 are expected"):
        scores(tmp_path, "a\nb\n", f"{HEADER}\na\n")
    with pytest.raises(ScoringError, match="3 lines, but 2 are expected"):
        scores(tmp_path, "a\nb\n", f"a\n{HEADER}\nb\n")


def test_sets_and_their_mean(tmp_path):
    write(tmp_path / "in.tsv", "one\tq?\none\tq?\none\tq?\ntwo\tq?\n")
    found = scores(tmp_path, "a\na\na\na\n", "a\na\nx\na\n")
    assert list(found["sets"]) == ["one", "two"] and found["sets"]["one"]["num_questions"] == 3
    assert found["sets"]["one"]["ndcg_at_10"] == 66.6667 and found["sets"]["two"]["ndcg_at_10"] == 100
    assert found["macro"]["ndcg_at_10"] == 83.3333 and found["macro"]["num_questions"] == 4
    other = write(tmp_path / "other.tsv", "x\tq?\n" * 4)
    assert list(scores(tmp_path, "a\na\na\na\n", "a\na\nx\na\n", other)["sets"]) == ["x"]


@each_case("unscorable", "expected")
def test_files_that_cannot_be_scored(tmp_path, case):
    with pytest.raises(getattr(errors, case["error"]), match=case["message"]):
        scores(tmp_path, case["expected"], case["submission"])


def test_questions_that_do_not_belong(tmp_path):
    write(tmp_path / "in.tsv", "one\tq?\n")
    with pytest.raises(ScoringError, match="1 questions, but .* has 2 lines"):
        scores(tmp_path, "a\nb\n", "a\nb\n")
    write(tmp_path / "in.tsv", "macro\tq?\n")
    with pytest.raises(DataError, match="no set can be called 'macro'"):
        scores(tmp_path, "a\n", "a\n")
    (tmp_path / "bad.tsv").write_bytes(b"a\n\xff\n")
    with pytest.raises(DataError, match="bad.tsv:2: no UTF-8"):
        read_expected(tmp_path / "bad.tsv")
    with pytest.raises(DataError, match="cannot be read"):
        read_expected(tmp_path / "nowhere.tsv")


def test_without_the_package_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(DependencyError, match=r"run pip install '.*\[ir\]'"):
        evaluate(Expected({"1": {"a": 1}}, {"1": "all"}, True), {})


@pytest.mark.skipif(not POLEVAL.is_dir(), reason="the data of PolEval 2022 is not there")
def test_the_task_s_own_files():
    expected = read_expected(POLEVAL / "dev-0" / "expected.tsv")
    assert len(expected.gains) == 599 and set(expected.sets.values()) == {"wiki-trivia"}
    submission = read_submission(POLEVAL / "dev-0" / "expected.tsv", expected)
    assert sum(len(set(row)) < len(row) for row in submission.values()) == 11  # the task's file repeats ids
    submission = {question: list(dict.fromkeys(row)) for question, row in submission.items()}
    found = evaluate(expected, submission)
    assert found["macro"]["ndcg_at_10"] == found["macro"]["mrr_at_10"] == 100.0
    backwards = evaluate(expected, {question: [*"xy", *reversed(row)] for question, row in submission.items()})
    assert backwards["macro"]["mrr_at_10"] == pytest.approx(100 / 3, abs=1e-4)
