"""The part of `bench model` on answer types."""

import pytest
from model_bench import bench_of

from bench.model import answer_types
from convinse.encoder.answer_classes import AnswerClasses
from convinse.encoder.answer_type_head import AnswerTypeHead
from recipes.embedded.answer_classes import TypedQuestion, TypedQuestions
from tiny_models import copy_of, joint, torch

NAMES = {name: name for name in ("Q5", "date", "other item")}


@pytest.fixture
def typed(monkeypatch):
    """Every question asks for a human, three answers of four are."""
    questions = []
    for number in range(200):
        root = "Q5" if number % 4 else "date"
        text = f"who wrote {number}"
        questions.append(TypedQuestion(text, text, ("Q1",), {root: 1.0}, number % 2 == 0 or root == "Q5", "made", text))
    monkeypatch.setattr(answer_types, "typed_questions", lambda data, work: TypedQuestions(questions, NAMES, NAMES))
    monkeypatch.setattr(answer_types, "known_labels", lambda data, work: lambda item: ("human",))
    return questions


def test_the_held_out_questions_are_measured(typed, tmp_path, capsys):
    folder = copy_of(joint(), tmp_path / "model")
    head = AnswerTypeHead(32, 1, len(NAMES), 2, 8)
    with torch.no_grad():
        head.classes.bias[0] = 50.0  # always a human
    head.save(folder, AnswerClasses(NAMES, NAMES, {}))
    bench = bench_of(folder, tmp_path, questions=10)
    found = answer_types.types_part(bench)
    own = [question for question in typed if question.part == "dev" and question.known]
    share = sum("Q5" in question.classes for question in own) / len(own)
    assert found["all"]["n"] == len(own) > 5 and found["all"]["head"] == pytest.approx(share)
    assert found["all"]["word lists"] == 1.0 and found["calibration error"] == pytest.approx(1 - share, abs=1e-6)
    assert [bound.value for bound in bench.bounds] == [found["all"]["head"]]
    assert "answer types, " in capsys.readouterr().out


def test_a_model_without_the_head(tmp_path, capsys):
    assert answer_types.types_part(bench_of(joint(), tmp_path)) == {}
    assert "no answer type head" in capsys.readouterr().out
