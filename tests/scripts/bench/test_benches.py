"""The benches: their measures on hand-made cases, and a quick run as a user types it."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from bench import measures
from places import ROOT


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        (measures.answer_scores(["The Hobbit!", "in 1937"], [["hobbit"], ["1937"]]), {"exact": 50, "f1": 250 / 3}),
        (measures.first_right([4, 2, 0], {0, 2}), 2),
        (measures.first_right([4, 2], {1}), None),
        (measures.mean_reciprocal_rank([1, 2, None, 4]), (1 + 0.5 + 0.25) / 4),
        (measures.share_within([1, 5, 6, None], 5), 0.5),
        (measures.same_share(["a", "b", ""], ["a", "c", ""]), 2 / 3),
        (measures.spearman([1, 2, 2, 4], [1, 3, 2, 4]), 4.5 / np.sqrt(4.5 * 5)),  # ties share a rank
        (measures.top_overlap([5, 4, 3, 2, 1], [1, 4, 5, 3, 2], top=2), 0.5),
        (measures.best_first([1.0, 2.0, 1.0 + 1e-9], ["b", "c", "a"]), [1, 2, 0]),  # equal ones by text
    ],
)
def test_measures(measured, expected):
    assert measured == (None if expected is None else pytest.approx(expected))


def bench(*words):
    command = [sys.executable, "-m", "convinse", "bench", *words]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})


@pytest.mark.slow
def test_a_quick_run_writes_figures_and_tables_and_keeps_other_parts(tmp_path):
    output = tmp_path / "serve.json"
    output.write_text('{"clients": {"seconds": 1}}')
    done = bench("serve", "--quick", "--parts", "turn", "--config", "lexical.yml", "--output", str(output))
    assert done.returncode == 0, done.stderr
    written = json.loads(output.read_text())
    assert written["clients"] == {"seconds": 1}
    part = written["turn"]
    assert part["arguments"] == ["--quick", "--parts", "turn", "--config", "lexical.yml"]
    assert {"date", "cores", "python", "load"} <= part["machine"].keys() and part["rounds"] == 1
    (table,) = part["tables"]
    assert [row[0] for row in table["rows"]] == list(part["figures"]) and table["rows"][0][0] in done.stdout


def test_an_unknown_part_gives_one_line(tmp_path):
    done = bench("pipeline", "--parts", "copies", "--output", str(tmp_path / "figures.json"))
    assert done.returncode != 0 and "unknown part 'copies'; valid: commands, kb" in done.stderr
