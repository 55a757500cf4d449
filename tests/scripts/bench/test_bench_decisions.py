"""The part of `bench model` on questions for yes or no."""

import numpy as np
import pytest
from model_bench import bench_of

from bench.model import __main__ as decisions
from convinse.encoder.yes_no_head import YesNoHead
from tiny_models import copy_of, joint, torch
from written import write_lines


def test_accuracy_and_log_loss_are_those_of_their_definitions():
    found = decisions.decision_scores(np.array([0.9, 0.2, 0.6]), np.array([True, False, False]))
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["log loss"] == pytest.approx(-(np.log(0.9) + np.log(0.8) + np.log(0.4)) / 3)
    certain = decisions.decision_scores(np.array([0.0]), np.array([True]))
    assert certain["log loss"] < 20  # and wrong, but a number


@pytest.fixture
def data(tmp_path):
    for name in ("train", "dev"):
        lines = [
            {
                "question": f"was {name} {place} written by tolkien",
                "title": f"{name} {place}",
                "passage": f"The book {name} {place} was{'' if place % 2 else ' not'} written by Tolkien. He was born in {place}.",
                "answer": bool(place % 2),
            }
            for place in range(100)
        ]
        write_lines(tmp_path / "data" / "boolq" / f"{name}.jsonl.gz", *lines)
    return tmp_path / "data"


def run(folder, data, work, monkeypatch, questions=100):
    monkeypatch.setenv("CONVINSE_DATA", str(data))
    bench = bench_of(folder, work, questions=questions)
    return bench, decisions.decision_part(bench)


def test_words_and_the_head_decide_the_held_out_questions(data, tmp_path, capsys, monkeypatch):
    folder = copy_of(joint(), tmp_path / "model")
    torch.manual_seed(1)
    YesNoHead(32, 2, 1, 64).save(folder)
    bench, found = run(folder, data, tmp_path, monkeypatch)
    assert 5 < found["questions"] < 60  # a tenth of the keys is held out
    assert found[decisions.WORDS]["accuracy"] == 1.0  # "not" is a denial
    assert found[decisions.FREQUENT]["accuracy"] >= 0.5
    assert len(bench.bounds) == 1 and bench.bounds[0].value == found[decisions.HEAD]["accuracy"]
    ways = (decisions.WORDS_AND_HEAD, decisions.HEAD, decisions.WORDS)
    assert len({found[way]["log loss"] for way in ways}) == 3
    assert "questions of BoolQ" in capsys.readouterr().out
    assert run(folder, data, tmp_path, monkeypatch, 1)[1]["questions"] == 4


def test_without_the_head_words_decide(data, tmp_path, capsys, monkeypatch):
    bench, found = run(joint(), data, tmp_path, monkeypatch)
    assert set(found) == {"questions", decisions.FREQUENT, decisions.WORDS} and not bench.bounds
    assert "no yes/no head" in capsys.readouterr().out
