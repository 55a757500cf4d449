import sys

import numpy as np
import plain_rules
import pytest
from hypothesis import given
from hypothesis import strategies as st

from convinse.scoring.no_answer import precision_recall
from convinse.scoring.squad2 import evaluate
from convinse.support.errors import ScoringError

ANSWERS = {"a": ["one two"], "b": ["three"], "c": []}
PREDICTIONS = {"a": "one", "b": "three", "c": "five"}
NA_PROBS = {"a": 0.3, "b": 0.1, "c": 0.2}
PNG = b"\x89PNG\r\n\x1a\n"


def points(scores, answerable, probabilities):
    """Precisions, recalls and average precision of questions in the order of their probabilities."""
    scores, answerable, probabilities = map(np.array, (scores, answerable, probabilities))
    order = np.argsort(probabilities, kind="stable")
    precisions, recalls, average = precision_recall(scores, answerable, probabilities, order)
    return precisions.tolist(), recalls.tolist(), average


def test_points_and_average_precision_by_hand():
    precisions, recalls, average = points([0.5, 1.0, 0.0], [True, True, False], [0.3, 0.1, 0.2])
    assert precisions == pytest.approx([1.0, 1.0, 0.5, 0.5])
    assert recalls == pytest.approx([0.0, 0.5, 0.5, 0.75])
    assert average == pytest.approx(100 * (1.0 * 0.5 + 0.5 * 0.25))


def test_equal_probabilities_are_one_point():
    precisions, recalls, average = points([1.0, 1.0, 0.0], [True, True, False], [0.4, 0.4, 0.4])
    assert (precisions, recalls) == ([1.0, 2 / 3], [0.0, 1.0])
    assert average == pytest.approx(200 / 3)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.booleans(), st.sampled_from([0.1, 0.2, 0.3])), min_size=1
    ).filter(lambda questions: any(answerable for _, answerable, _ in questions))
)
def test_average_precision_is_the_plain_one(questions):
    values, answerable, probabilities = plain_rules.columns(questions)
    average = points(*(list(column.values()) for column in (values, answerable, probabilities)))[2]
    answers = {key: ["x"] if value else [] for key, value in answerable.items()}
    plain = plain_rules.average_precision(answers, values, probabilities)
    assert average == pytest.approx(plain) and 0.0 <= average <= 100.0


def test_pictures_and_average_precisions(tmp_path):
    pytest.importorskip("matplotlib")
    folder = tmp_path / "new" / "plots"
    result = evaluate(ANSWERS, PREDICTIONS, NA_PROBS, plots=folder)
    names = ["na_prob_hist_hasAns.png", "na_prob_hist_noAns.png", "pr_exact.png", "pr_f1.png", "pr_oracle.png"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert all(path.read_bytes().startswith(PNG) for path in folder.iterdir())
    # sure first: b (right), c (has no answer), a (F1 2/3)
    assert list(result)[-3:] == ["pr_exact_ap", "pr_f1_ap", "pr_oracle_ap"]
    assert result["pr_exact_ap"] == pytest.approx(50.0)
    assert result["pr_f1_ap"] == pytest.approx(100 * (0.5 + 5 / 9 / 3))
    assert result["pr_oracle_ap"] == pytest.approx(100 * (0.5 + 2 / 3 / 2))
    assert evaluate(ANSWERS, PREDICTIONS, NA_PROBS) == {k: v for k, v in result.items() if not k.startswith("pr_")}


def test_a_group_without_questions_has_no_picture(tmp_path):
    pytest.importorskip("matplotlib")
    result = evaluate({"c": []}, {"c": ""}, {"c": 0.5}, plots=tmp_path / "none")
    assert [path.name for path in (tmp_path / "none").iterdir()] == ["na_prob_hist_noAns.png"]
    assert not [name for name in result if name.startswith("pr_")]
    evaluate({"a": ["x"]}, {"a": ""}, {"a": 0.5}, plots=tmp_path / "all")
    assert not (tmp_path / "all" / "na_prob_hist_noAns.png").exists()


def test_plots_need_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ScoringError, match=r"pip install 'convinse\[plots\]'"):
        evaluate(ANSWERS, PREDICTIONS, NA_PROBS, plots=tmp_path / "plots")
    assert not (tmp_path / "plots").exists()


def test_plots_need_probabilities(tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(ScoringError, match="no-answer probabilities"):
        evaluate(ANSWERS, PREDICTIONS, plots=tmp_path)
