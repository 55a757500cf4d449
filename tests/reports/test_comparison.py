import math

import pytest
from written_runs import holding, write_run

from convinse.reports.comparison import calibration, differences, differing, figures, interval, presence
from convinse.reports.reported_run import read_runs
from convinse.scoring.significance import compare

pytest.importorskip("scipy")


def runs(*named):
    return read_runs([folder / "turns.jsonl" for folder in named])


def test_the_interval_of_independent_questions_is_that_of_a_share():
    values, groups = [1.0] * 300 + [0.0] * 100, [str(n) for n in range(400)]
    found = interval(values, groups)
    half = 1.96 * math.sqrt(0.75 * 0.25 / 400)
    assert found == pytest.approx((0.75, 0.75 - half, 0.75 + half), abs=0.006) and found[0] == 0.75
    assert interval(values, groups) == found  # every time


def test_questions_that_go_together_make_it_wider():
    """Groups of 4 equal values are worth a quarter of the questions: the interval is twice as wide."""
    values = [float(n % 4 != 0) for n in range(100) for _ in range(4)]
    alone, together = (interval(values, [str(n // size) for n in range(400)]) for size in (1, 4))
    assert alone[0] == together[0]
    assert (together[2] - together[1]) / (alone[2] - alone[1]) == pytest.approx(2, abs=0.15)


def test_differences_equal_compare(workdir):
    ranks = ([1, 0, 2, 1, 3, 0, 1, 1, 0, 2], [1, 1, 1, 0, 1, 1, 0, 1, 1, 2])
    folders = [write_run(name, found) for name, found in zip("ab", ranks, strict=True)]
    first, second = runs(*folders)
    compared = compare(folders[0] / "turns.jsonl", folders[1] / "turns.jsonl")
    for found, measure in zip(differences(first, second), ("p_at_1", "mrr", "h_at_5", "answer_presence"), strict=True):
        expected = compared[measure]
        assert (round(found.mean, 4), found.better, found.worse, found.p_value) == (
            expected["difference"], expected["better"], expected["worse"], expected["p_value_groups"],
        )  # fmt: skip
    assert figures(second)[0][0] == pytest.approx(0.7)
    assert differing(first, second) == (["q1", "q2", "q4", "q5", "q8"], ["q3", "q6"])


def test_presence_counts_the_first_evidences(workdir):
    (one,), (none,) = runs(write_run("a", [1, 1], holding(2, 4))), runs(write_run("b", [1, 1], holding()))
    assert presence(one.turns.values(), [1, 2, 5]) == [0.0, 1.0, 1.0]
    assert presence(none.turns.values(), [1, 5]) == [0.0, 0.0]


def test_calibration_leaves_out_unanswered_turns(workdir):
    (run,) = runs(write_run("a", [1, 2, 1, 0]))  # each best answer has 0.5
    assert calibration(run.turns.values()) == [(0.5, 0.5, 4)]
    (silent,) = runs(write_run("b", [0, 0], pred_answers=[]))
    assert calibration(silent.turns.values()) == []
