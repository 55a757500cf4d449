"""The benches: their measures on hand-made cases, and a quick run as a user types it."""

import json
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from bench import measures
from bench.third import figures_of
from convinse.formats.conversations.benchmark import read_benchmark
from places import ROOT


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (measures.answer_scores(["The Hobbit!", "in 1937"], [["hobbit"], ["1937"]]), {"exact": 50, "f1": 250 / 3}),
        (measures.first_right([4, 2, 0], {0, 2}), 2),
        (measures.first_right([4, 2], {1}), None),
        (measures.mean_reciprocal_rank([1, 2, None, 4]), (1 + 0.5 + 0.25) / 4),
        (measures.share_within([1, 5, 6, None], 5), 0.5),
        (measures.presence({"ours": [1, 9, None]}, (3, 9))["ours"], {"e=3": 1 / 3, "e=9": 2 / 3}),
        (measures.same_share(["a", "b", ""], ["a", "c", ""]), 2 / 3),
        (measures.spearman([1, 2, 3, 4], [4, 3, 2, 1]), -1),
        (measures.spearman([1, 2, 2, 4], [1, 3, 2, 4]), 4.5 / np.sqrt(4.5 * 5)),  # ties share a rank
        (measures.top_overlap([5, 4, 3, 2, 1], [1, 4, 5, 3, 2], top=2), 0.5),
        (measures.best_first([1.0, 2.0, 1.0 + 1e-9], ["b", "c", "a"]), [1, 2, 0]),  # equal ones by text
    ],
)
def test_measures(found, expected):
    assert found == (None if expected is None else pytest.approx(expected))


def test_the_conversations_outside_of_the_snapshot_are_those_of_two_sets():
    conversations = read_benchmark(ROOT / "scripts/bench/third.json", "convmix")
    assert Counter(conversation["conv_id"].split("-")[1] for conversation in conversations) == {"w27k": 12, "pages": 10}
    ids = [turn["question_id"] for conversation in conversations for turn in conversation["questions"]]
    assert len(ids) == len(set(ids)) == 118
    assert all(
        turn["answers"] or turn["kind"] == "unanswerable"
        for conversation in conversations
        for turn in conversation["questions"]
    )


def test_questions_without_an_answer_are_not_counted():
    right = dict.fromkeys(("p_at_1", "h_at_5", "mrr", "answer_presence"), 1.0)
    found = {"answers": [{"id": "Q44578", "label": "Titanic"}], "pred_answers": [], **right}
    missed = {**found, **dict.fromkeys(right, 0.0)}
    figures = figures_of([{"conv_id": "a", "questions": [found, missed, {"answers": [], "pred_answers": []}]}])
    assert [figures[name] for name in ("conversations", "right", "num_questions", "h_at_5")] == [1, 1, 2, 0.5]


def bench(*words):
    command = [sys.executable, "-m", "convinse", "bench", *words]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})


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
    assert table["columns"] == ["question", "median ms (least-most)", "95 %", "number"] and table["words"] == 1
    assert [row[0] for row in table["rows"]] == list(part["figures"]) and table["rows"][0][0] in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["kb", "--parts", "copies"], "unknown part 'copies'; valid: wikidata-27k"),
        (["temporal", "--config", "unknown.yml"], "bench temporal: unknown.yml: "),
    ],
)
def test_wrong_options_are_told_in_a_line(words, message, tmp_path):
    done = bench(*words, "--output", str(tmp_path / "figures.json"))
    assert done.returncode != 0 and message in done.stderr and "Traceback" not in done.stderr
