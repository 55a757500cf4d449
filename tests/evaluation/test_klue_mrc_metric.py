"""The 13 values of KLUE-MRC by the interface of its metric card."""

import subprocess
import sys

import pytest

from convinse.evaluation import klue_mrc
from places import ROOT

PREDICTIONS = [
    {"id": "a", "prediction_text": "2020", "no_answer_probability": 0.3},
    {"id": "b", "prediction_text": "서울", "no_answer_probability": 0.7},
]
REFERENCES = [
    {"id": "a", "answers": {"text": ["2020"], "answer_start": [38]}},
    {"id": "b", "answers": [], "unanswerable": True},
]
EXPECTED = {
    "exact": 50.0, "f1": 50.0, "total": 2, "HasAns_exact": 100.0, "HasAns_f1": 100.0, "HasAns_total": 1,
    "NoAns_exact": 0.0, "NoAns_f1": 0.0, "NoAns_total": 1,
    "best_exact": 100.0, "best_exact_thresh": 0.3, "best_f1": 100.0, "best_f1_thresh": 0.3,
}  # fmt: skip


def test_compute_gives_the_values_of_the_card_and_names_a_missing_prediction():
    assert klue_mrc.compute(predictions=PREDICTIONS, references=REFERENCES) == EXPECTED
    with pytest.raises(ValueError, match="'b' has no prediction"):
        klue_mrc.compute(predictions=PREDICTIONS[:1], references=REFERENCES)


@pytest.mark.filterwarnings("default")
def test_hugging_face_evaluate_loads_the_file(workdir, monkeypatch):
    pytest.importorskip("evaluate")
    code = (
        "import sys, evaluate\n"
        f"predictions, references, expected = {PREDICTIONS!r}, {REFERENCES!r}, {EXPECTED!r}\n"
        "metric = evaluate.load(sys.argv[1])\n"
        "assert metric.compute(predictions=predictions, references=references) == expected\n"
        "references[0] = {'id': 'a', 'answers': [{'text': '2020'}, {'text': '1999'}], 'unanswerable': False}\n"
        "more = metric.compute(predictions=predictions, references=references, no_answer_threshold=0.5)\n"
        "print(more['exact'], more['NoAns_f1'])\n"
    )
    monkeypatch.setenv("HF_HOME", str(workdir / "hf"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    done = subprocess.run([sys.executable, "-c", code, klue_mrc.__file__], capture_output=True, text=True)
    assert done.stdout == "100.0 100.0\n", done.stderr
