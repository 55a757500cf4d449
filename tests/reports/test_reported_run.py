from pathlib import Path

import pytest
from written_runs import holding, write_run

from convinse.reports.reported_run import find_runs, read_runs
from convinse.support.errors import DataError, ScoringError


def test_a_turn_has_the_values_of_the_report(workdir):
    folder = write_run("a", [2, 1], holding(3), seconds={"qu": 1.0, "total": 2.0}, structured_representation="|| x")
    (run,) = read_runs([folder / "turns.jsonl"])
    first = run.turns["q0"]
    assert (run.name, run.seconds) == ("a-kb", {"qu": 1.0, "total": 2.0})
    assert first.measures == (0.0, 0.5, 1.0, 1.0) and first.group == "conversation c0" and first.representation == "|| x"
    assert (first.first_rank, first.num_evidences, len(first.evidences)) == (3, 5, 5)
    assert [answer["is_right"] for answer in first.answers] == [False, True]
    assert [shown["has_answer"] for shown in first.evidences] == [False, False, True, False, False]
    assert run.metrics["p_at_1"] == 0.5 and run.metrics["answer_presence"] == 1.0


def test_runs_are_found_below_a_folder_unless_moved_aside_or_of_a_single_stage(workdir):
    folders = [write_run("a", [1]), write_run("b", [1])]
    for name in ("earlier-0a", "ers", "qu"):
        other = folders[0] / name / "turns.jsonl"
        other.parent.mkdir()
        other.write_bytes((folders[0] / "turns.jsonl").read_bytes())
    files = [folder / "turns.jsonl" for folder in folders]
    assert find_runs([Path("results")]) == files == find_runs([files[0], folders[1], Path("results")])
    assert find_runs([folders[0] / "ers"]) == [folders[0] / "ers" / "turns.jsonl"]  # where it is named


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: find_runs([Path("none")]) and read_runs([Path("none")]), DataError, "none"),
        (lambda: find_runs([Path()]), DataError, r"no turns\.jsonl here or below"),
        (lambda: read_runs([write_run("a", [1]) / "turns.jsonl", write_run("b", [1, 0]) / "turns.jsonl"]), ScoringError, "are missing"),
        (lambda: read_runs([write_run("a", [1]) / "turns.jsonl"] * 2), ScoringError, "two runs have this name"),
        (lambda: read_runs([write_run("a", [1], seconds={"qu": "long"}) / "turns.jsonl"]), DataError, r"metrics\.json: cannot be read"),
    ],
)  # fmt: skip
def test_other_files_are_refused_as_runs(workdir, make, kind, words):
    with pytest.raises(kind, match=words):
        make()
