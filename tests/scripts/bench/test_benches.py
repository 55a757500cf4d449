"""The benches: their measures on hand-made cases, and a quick run as a user types it."""

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from bench import measures, processors, spans
from convinse.support.errors import DataError
from documentation import marked_blocks
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


@pytest.fixture
def shown_spans(tmp_path):
    """The file that the page shows."""
    path = tmp_path / "spans.jsonl"
    shown = [block.text for block in marked_blocks("docs/benchmarks.md") if block.said == path.name]
    path.write_text(*shown, encoding="utf-8")
    return path


def test_gold_spans_are_words_with_places(shown_spans):
    gold = [[spans.gold_words(line, span) for span in line.spans] for line in spans.read_spans(shown_spans)]
    bread, mill, date, parts, nothing = gold
    assert bread == [(["for", "twelve", "hours", "in", "cold", "room"], {(0, word) for word in range(19, 25)})]
    assert mill == [(["jonas", "feld"], {(1, 9), (1, 10)})]
    assert date == [(["2009"], {(1, 18)})]
    assert [words for words, _ in parts] == [["three", "parts", "of", "wheat"], ["one", "part", "of", "barley"]]
    assert all(places and {number for number, _ in places} == {0} for _, places in parts) and nothing == []


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ('{"question": "Who?", "spans": ["x"]}', "1: no passages"),
        ('{"question": " ", "passages": [{"text": "x"}], "spans": []}', "1: the question is empty"),
        ('{"question": "Who?", "passages": [{"text": "x"}]}', "1: Object missing required field `spans`"),
        (
            '{"question": "Who?", "passages": [{"text": "x"}], "spans": [{"passage": 1, "text": "x"}]}',
            "passage 1 has no span 'x'",
        ),
        (
            '{"question": "Who?", "passages": [{"text": "x"}], "spans": [{"passage": 0, "text": "y"}]}',
            "passage 0 has no span 'y'",
        ),
        (
            '{"question": "Who?", "passages": [{"text": "x"}], "spans": [{"passage": 0, "start": 1, "end": 1}]}',
            "no span '1 to 1'",
        ),
        ('{"question": "Who?", "passages": [{"text": "x"}], "spans": [{"start": 0, "end": 1}]}', "no span '0 to 1'"),
        (
            '{"question": "Who?", "passages": [], "spans": [], "history": [{"role": "agent", "content": "x"}]}',
            "1: Invalid enum value 'agent'",
        ),
        ("", "no questions"),
    ],
)
def test_a_line_of_spans_that_cannot_be_scored_is_named(line, error, tmp_path):
    path = tmp_path / "spans.jsonl"
    path.write_text(line)
    with pytest.raises(DataError, match=re.escape(error)):
        spans.read_spans(path)


def answered(label, words, *spans, file="0"):
    quote = {
        "path": f"files/{file}/Title.txt",
        "words": words,
        "spans": [{"start": start, "end": end} for start, end in spans],
    }
    answer = {"answer": {"id": label, "label": label}, "score": 0.9, "rank": 1, "evidences": [0]}
    return {"question": "", "pred_answers": [answer], "top_evidences": [{"quote": quote}]}


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        (
            answered("twelve hours", "The dough must rest for twelve hours in a cold room.", (24, 36)),
            {"precision": 1, "recall": 1 / 3, "f1": 0.5, "f1_places": 0.5, "passage_recall": 1, "passage_first": 1, "file_first": 1},
        ),
        (  # the words of the gold span at another place
            answered("room", "Its room is cold", (4, 8), file="1"),
            {"precision": 1, "recall": 1 / 6, "f1_places": 0, "passage_recall": 2 / 6, "passage_first": 0, "file_first": 0},
        ),
        (  # a computed answer has no span
            answered("12 hours", "The dough must rest for twelve hours in a cold room."),
            {"precision": 0.5, "f1_places": 0, "passage_first": 1, "passage_found": 1},
        ),
        (
            {"question": "", "pred_answers": [], "top_evidences": [], "abstained": {"reason": "no evidences"}},
            {"abstains": 1, "precision": 0, "f1": 0, "passage_found": 0, "file_first": 0},
        ),
    ],
)  # fmt: skip
def test_answers_are_measured_by_their_spans_and_passages(turn, expected, shown_spans):
    measured = spans.measures_of(spans.read_spans(shown_spans)[0], turn)
    assert {name: measured[name] for name in expected} == pytest.approx(expected)


def test_a_question_without_gold_spans_asks_for_an_abstention(shown_spans):
    line = spans.read_spans(shown_spans)[4]
    assert spans.measures_of(line, {"pred_answers": [], "abstained": {"reason": ""}}) == {"abstains_rightly": True}
    assert spans.measures_of(line, answered("9 euros", "It costs 9 euros.")) == {"abstains_rightly": False}


def bench(*words):
    command = [sys.executable, "-m", "convinse", "bench", *words]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})


LARGEST = """
import numpy as np, onnxruntime
from onnx import TensorProto, helper
tensor = helper.make_tensor_value_info
node = helper.make_node("MatMulInteger", ["levels", "weights"], ["sums"])
inputs, output = [tensor("levels", TensorProto.UINT8, [1, 64])], [tensor("sums", TensorProto.INT32, [1, 1])]
weights = helper.make_tensor("weights", TensorProto.INT8, [64, 1], [127] * 64)
graph = helper.make_graph([node], "largest", inputs, output, [weights])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
print(session.run(None, {"levels": np.full((1, 64), 255, np.uint8)})[0].item() == 255 * 127 * 64)
"""


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("cc") or not shutil.which("objdump"), reason="no C compiler")
@pytest.mark.skipif("VNNI" not in processors.instructions(), reason="this processor has no VNNI")
def test_a_processor_without_vnni_is_measured_on_one_with_it(tmp_path):
    """Its products overflow where those of VNNI do not."""
    pytest.importorskip("onnx")
    for settings, is_exact in (({}, "True\n"), (processors.as_avx2(tmp_path), "False\n")):
        done = subprocess.run(
            [sys.executable, "-c", LARGEST], capture_output=True, text=True, env={**os.environ, **settings}
        )
        assert done.stdout == is_exact, done.stderr


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


@pytest.mark.slow
def test_spans_of_a_file_are_measured_beside_the_baseline(tmp_path, shown_spans):
    output = tmp_path / "results.json"
    done = bench("results", "--parts", "spans", "--spans", str(shown_spans), "--output", str(output))
    assert done.returncode == 0, done.stderr
    figures = json.loads(output.read_text())["spans"]["figures"]
    assert list(figures) == ["config.yml, history", "config.yml", spans.PLAIN]
    assert all(row["questions"] == 4 and row["unanswerable"] == 1 and row["f1"] > 0.5 for row in figures.values())


def test_an_unknown_part_gives_one_line(tmp_path):
    done = bench("pipeline", "--parts", "copies", "--output", str(tmp_path / "figures.json"))
    assert done.returncode != 0 and "unknown part 'copies'; valid: commands, turn, kb, large" in done.stderr
