"""Training of the answer type head: its parts, what it learns, its calibration, and the report."""

import random

import numpy as np
import pytest

from convinse.encoder.answer_classes import DATE, NUMBER, OTHER, YES_NO, read_answer_classes
from convinse.encoder.answer_type_head import load_answer_type
from convinse.encoder.answer_type_reader import AnswerTypeReader
from convinse.encoder.checkpoint import ANSWER_TYPE, load_checkpoint
from recipes.embedded import __main__ as script
from recipes.embedded import answer_type as training
from recipes.embedded.answer_classes import TypedQuestion, TypedQuestions
from recipes.embedded.recipe import AnswerType, Recipe
from tiny_models import joint, torch

NAMES = {"Q5": "human", "Q6256": "country", DATE: DATE, NUMBER: NUMBER, YES_NO: YES_NO, OTHER: OTHER}
WORDS = {"who": ("Q5", "Q1"), "where": ("Q6256", "Q2"), "when": (DATE, "1937-01-01T00:00:00Z")}


@pytest.fixture(scope="module")
def typed():
    """Each question's first word says what its answer is."""
    questions = []
    for number in range(240):
        word = list(WORDS)[number % 3]
        root, answer = WORDS[word]
        text = f"{word} wrote {'the hobbit' if number % 2 else 'a song'} of {number}"
        questions.append(TypedQuestion(text, text, (answer,), {root: 1.0}, True, "made", f"template {number}"))
    return TypedQuestions(questions, NAMES, {name: name for name in NAMES})


def recipe_of(**settings):
    return Recipe(stages=[], max_length=64, token_budget=512, device="cpu", seed=3,
                  answer_type=AnswerType(**{"layer": 1, "looks": 2, "inner": 16, "batch_size": 16, "learning_rate": 2e-2, **settings}))  # fmt: skip


def trained(typed, state, **settings):
    checkpoint = load_checkpoint(joint(), "question-answering")
    before = {name: tensor.clone() for name, tensor in checkpoint.model.state_dict().items()}
    result = training.train_answer_type(checkpoint, typed, recipe_of(**settings), state)
    after = checkpoint.model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)  # the trunk stays as it is
    return result


@pytest.fixture(scope="module")
def result(typed, tmp_path_factory):
    return trained(typed, tmp_path_factory.mktemp("run") / "state")


def test_the_head_learns_and_the_dev_part_has_no_say(typed, result, tmp_path):
    losses = [epoch["log loss"] for epoch in result.fitted.history]
    assert len(losses) == 7 and losses[result.fitted.best] == min(losses[1:]) < losses[0] / 2
    assert [question for question in typed.questions if question.part == "dev"] == result.held_out
    assert result.chances.shape == (len(result.held_out), len(NAMES))
    right = [
        question.classes.get(list(NAMES)[top], 0)
        for question, top in zip(result.held_out, result.chances.argmax(1), strict=True)
    ]
    assert np.mean(right) > 0.9
    others = [one._replace(classes={OTHER: 1.0}) if one.part == "dev" else one for one in typed.questions]
    again = trained(typed._replace(questions=others), tmp_path / "state")
    for mine, own in zip(again.head.state_dict().values(), result.head.state_dict().values(), strict=True):
        assert torch.equal(mine, own)


def test_what_chooses_is_no_part_of_what_trains(typed):
    train = [one for one in typed.questions if one.part == "train"]
    choosing = [one for one in train if training._chooses(one.key)]
    assert 0.03 < len(choosing) / len(train) < 0.2


def test_questions_behind_others_are_what_the_last_one_asks_for_and_before_names_what_they_ask_for(typed, monkeypatch):
    common = frozenset("who where when wrote the hobbit a song of".split())
    monkeypatch.setattr(training, "common_words", lambda questions: common)
    made = training.after_others(typed.questions, random.Random(1))
    assert 0.05 < len(made) / len(typed.questions) < 0.2
    texts = {question.text for question in typed.questions}
    # the numbers are the only words that are not common
    before = [one for one in made if one.text.removeprefix(one.question).strip(" ?").isdigit()]
    behind = [one for one in made if one not in before]
    assert len(behind) > len(before) > 0
    for question in behind:
        assert question.text.endswith(f" {question.question}") and question.text[: -len(question.question) - 1] in texts
    of_question = {one.question: one for one in typed.questions}
    assert all(
        one.classes == of_question[one.question].classes and one.key == of_question[one.question].key for one in made
    )


def test_how_often_the_verb_is_first_is_counted_by_class():
    def asked(text, classes):
        return TypedQuestion(text, "Was it?", ("x",), classes, True, "made", text)

    questions = [
        asked("Was it?", {YES_NO: 1.0}), asked("Is it?", {YES_NO: 1.0}), asked("In 1999, was it?", {YES_NO: 1.0}),
        asked("Is it he or she?", {"Q5": 0.5, OTHER: 0.5}), asked("Who?", {"Q5": 1.0}), asked("When?", {DATE: 1.0}),
    ]  # fmt: skip
    usual = (1 + 1) / (3 + 2)
    shares = [float(share) for share in training.verb_first_shares(questions, NAMES).split()]
    assert dict(zip(NAMES, shares, strict=True)) == pytest.approx(
        {"Q5": (0.5 + usual) / 2.5, "Q6256": usual, DATE: usual / 2, NUMBER: usual, YES_NO: (2 + usual) / 4,
         OTHER: (0.5 + usual) / 1.5}, abs=1e-6,
    )  # fmt: skip


def test_the_model_keeps_how_often_the_verb_is_first(typed, result):
    own = [question for question in typed.questions if question.part == "train" and not training._chooses(question.key)]
    assert result.classes.settings == {"verb_first": training.verb_first_shares(own, NAMES)}
    assert result.classes.verb_first.max() < 0.01, "none of these questions begins with the verb"


def test_logits_are_divided_by_what_makes_the_answers_likeliest(result):
    values = np.log(np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.1, 0.9]]))
    targets = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32)  # right in three of four, sure with 0.9
    head = training.AnswerTypeHead(4, 1, 2, 1, 4)
    with torch.no_grad():
        head.classes.weight.fill_(3.0)
        head.classes.bias.fill_(3.0)
    training._cool(head, values, targets)
    by = 3.0 / head.classes.bias[0].item()
    assert by == pytest.approx(1.5) and head.classes.weight[0, 0].item() == pytest.approx(
        3.0 / by
    )  # the most that is tried
    several = np.ones((4, 2), dtype=np.float32) / 2
    assert training._log_loss(training.chances_of(values), several) == pytest.approx(0, abs=1e-6)


def test_what_is_saved_tells_the_same(result, tmp_path):
    result.head.save(tmp_path, result.classes, "float32")
    again = load_answer_type(tmp_path, load_checkpoint(joint(), "question-answering").model.config)
    assert read_answer_classes(tmp_path).names == NAMES
    for mine, own in zip(again.state_dict().values(), result.head.state_dict().values(), strict=True):
        assert torch.equal(mine, own)


def test_what_is_right_and_what_words_say():
    def asked(text, root, answer, source="made"):
        return TypedQuestion(text, text, (answer,), {root: 1.0}, True, source, text)

    held_out = [
        asked("who wrote it?", "Q5", "Q1"), asked("it was made by?", "Q5", "Q1", source="boolq"), asked("is it?", YES_NO, "Yes"), asked("where?", OTHER, "Q3"),
    ]  # fmt: skip
    chances = np.eye(6)[[0, 1, 4, 0]] * 0.9 + 0.1 / 6
    types = {"Q1": ("human",), "Q3": ("thing",)}
    rows, error = training.measured(held_out, chances, list(NAMES), lambda item: types.get(item, ()))
    assert rows["all"] == {"n": 4, "head": 0.5, "word lists": 0.5, "told": 0.75, "of told": pytest.approx(2 / 3)}
    assert rows["all but other items"]["head"] == pytest.approx(2 / 3) == rows["all but other items"]["told"]
    assert rows["boolq"] == {"n": 1, "head": 0, "word lists": 0, "told": 0, "of told": 0}
    assert rows["without BoolQ and SQuAD"]["n"] == 3 and rows["answer: yes or no"]["head"] == 1
    assert error == pytest.approx(abs(0.9 + 0.1 / 6 - 0.5))


def run(tmp_path, monkeypatch, typed, settings):
    monkeypatch.setattr(script, "typed_questions", lambda data, work, least: typed)
    recipe = tmp_path / "recipe.yml"
    recipe.write_text(f"stages: [{{mixture: {{qed: 5}}}}]\nyes_no: null\nanswer_type: {settings}\nmax_length: 64\n")
    given = {"data": tmp_path, "output": tmp_path / "out", "config": recipe, "trunk": joint()}
    return script.main([word for name, value in given.items() for word in (f"--{name}", str(value))])


def test_a_finished_model_gets_a_head(tmp_path, monkeypatch, typed, workdir):
    assert run(tmp_path, monkeypatch, typed, "{epochs: 1, layer: 2, looks: 2, inner: 16}") == 0
    reader = AnswerTypeReader(tmp_path / "out", "cpu")
    assert reader.classes.names == NAMES and reader.probabilities(["who was it"]).shape == (1, 6)
    for file in joint().iterdir():
        assert (tmp_path / "out" / file.name).read_bytes() == file.read_bytes()
    assert (tmp_path / "out" / ANSWER_TYPE).is_file() and (tmp_path / "out" / "onnx.json").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "recipe.yml"]  # nothing else is left


@pytest.mark.parametrize(
    ("settings", "message"),
    [("null", "no answer type head"), ("{layer: 9}", "answer_type: layer: 9: the model has 2 layers")],
)
def test_recipes_without_a_head(tmp_path, monkeypatch, typed, capsys, workdir, settings, message):
    assert run(tmp_path, monkeypatch, typed, settings) == 1
    assert message in capsys.readouterr().err.strip().splitlines()[-1] and not (tmp_path / "out").exists()
