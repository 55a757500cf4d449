import subprocess
import sys

import pytest

from convinse.evaluation import klue_mrc
from convinse.support.errors import ModuleError
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


def test_compute():
    assert klue_mrc.compute(predictions=PREDICTIONS, references=REFERENCES) == EXPECTED
    given = {"predictions": PREDICTIONS, "references": REFERENCES}
    more = klue_mrc.compute(**given, no_answer_threshold=0.5, char_f1=True, rouge_w=True)
    assert (more["exact"], more["char_f1"], more["klue_rouge_w"]) == (100.0, 100.0, 100.0)


def test_errors_are_value_errors_that_name_the_id():
    with pytest.raises(ValueError, match="'b' has no prediction"):
        klue_mrc.compute(predictions=PREDICTIONS[:1], references=REFERENCES)


def test_it_is_reached_by_attributes_and_needs_no_other_library(start):
    code = """
import sys
sys.modules["evaluate"] = sys.modules["datasets"] = None
import convinse.evaluation
import convinse.evaluation.klue_mrc.klue_mrc
convinse.evaluation.klue_mrc.compute(predictions=[], references=[])
"""
    _, errors = start(code).communicate(timeout=60)
    assert "ScoringError: there is no question to score" in errors


def test_without_the_library_its_metric_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "evaluate", None)
    monkeypatch.delitem(sys.modules, "convinse.evaluation.klue_mrc.klue_mrc", raising=False)
    import convinse.evaluation.klue_mrc.klue_mrc as script

    with pytest.raises(ModuleError, match=r"pip install 'convinse\[hf-evaluate\]'"):
        script.KlueMrc  # noqa: B018
    with pytest.raises(AttributeError, match="Other"):
        script.Other  # noqa: B018


@pytest.mark.filterwarnings("default")
def test_hugging_face_evaluate_loads_the_folder(workdir, monkeypatch):
    pytest.importorskip("evaluate")
    code = (
        "import sys, evaluate\n"
        "from convinse.support.errors import ScoringError\n"
        f"predictions, references, expected = {PREDICTIONS!r}, {REFERENCES!r}, {EXPECTED!r}\n"
        "metric = evaluate.load(sys.argv[1])\n"
        "assert metric.compute(predictions=predictions, references=references) == expected\n"
        "references[0] = {'id': 'a', 'answers': [{'text': '2020'}, {'text': '1999'}], 'unanswerable': False}\n"
        "more = metric.compute(predictions=predictions, references=references, no_answer_threshold=0.5, char_f1=True)\n"
        "assert (more['exact'], more['NoAns_char_f1']) == (100.0, 100.0)\n"
        "for prediction, reference in zip(predictions, references):\n"
        "    metric.add(prediction=prediction, reference=reference)\n"
        "assert metric.compute() == expected\n"
        "try:\n"
        "    metric.compute(predictions=predictions[:1] * 2, references=references)\n"
        "except ScoringError as error:\n"
        "    print(error)\n"
    )
    monkeypatch.setenv("HF_HOME", str(workdir / "hf"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for folder, place in (("convinse/evaluation/klue_mrc", ROOT), (klue_mrc.FOLDER, workdir)):
        done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, cwd=place)
        assert done.stdout == "prediction 'a' is given twice\n", done.stderr
