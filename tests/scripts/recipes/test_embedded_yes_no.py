"""Training of the yes/no head: its data, what the trunk reads, steps, measures, and the head that comes out."""

import random

import numpy as np
import pytest

from convinse.encoder.checkpoint import YES_NO, load_checkpoint
from convinse.encoder.tokens import TextTokenizer
from convinse.encoder.yes_no_head import YesNoHead, load_yes_no
from convinse.support.errors import DataError
from recipes.embedded import __main__ as script
from recipes.embedded import frozen, ranking_sets
from recipes.embedded import yes_no as training
from recipes.embedded.recipe import Recipe, YesNo
from tiny_models import joint, torch
from written import write_lines


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """BoolQ as published: the passage says whether the book was written by whom the question names."""
    folder = tmp_path_factory.mktemp("data")
    chance = random.Random(1)
    for name, number in (("train", 150), ("dev", 30)):
        lines = []
        for place in range(number):
            right, other = chance.sample(["tolkien", "cameron", "jackson"], 2)
            book, yes = f"{name} book {place}", place % 2 == 0
            question = f"was {book} written by {right if yes else other}"
            passage = f"{book} was written by {right}"
            lines.append({"question": question, "title": f"{name} {place}", "answer": yes, "passage": passage})
        write_lines(folder / "boolq" / f"{name}.jsonl.gz", *lines)
    return folder


def trained(data, state, **settings):
    checkpoint = load_checkpoint(joint(), "question-answering")
    before = {name: tensor.clone() for name, tensor in checkpoint.model.state_dict().items()}
    recipe = Recipe(stages=[], max_length=64, token_budget=512, device="cpu", seed=3,
                    yes_no=YesNo(layer=1, **settings))  # fmt: skip
    head, fitted = training.train_yes_no(checkpoint, ranking_sets.boolq_questions(data), recipe, state)
    after = checkpoint.model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)  # the trunk stays as it is
    return head, fitted


def test_every_question_is_in_one_part_with_its_answer(data):
    questions = ranking_sets.boolq_questions(data)
    assert len(questions) == 180 and sum(one.yes for one in questions) == 90
    assert all(one.yes == (one.question.split()[-1] == one.passage.split()[-1]) for one in questions)
    with pytest.raises(DataError, match="boolq"):
        ranking_sets.boolq_questions(data / "none")


def test_the_trunk_reads_each_question_once_as_alone(data):
    checkpoint = load_checkpoint(joint(), "question-answering")
    tokenizer = TextTokenizer.of(checkpoint, 64)
    questions = ranking_sets.boolq_questions(data)[:7]
    pairs, answers = [(one.question, one.passage) for one in questions], np.array([one.yes for one in questions])
    read = frozen.read_by_trunk(checkpoint.model, 1, tokenizer.pairs(pairs), answers, 64, "read")
    lengths = tokenizer.pairs(pairs).lengths
    assert [len(one) for one in read.states] == lengths.tolist() and read.targets.tolist() == answers.tolist()
    for place, pair in enumerate(pairs):
        alone = frozen.read_by_trunk(checkpoint.model, 1, tokenizer.pairs([pair]), answers[:1], 64, "read")
        np.testing.assert_allclose(read.states[place], alone.states[0], atol=0.05)
    hidden, mask, yes = read.batch(np.array([2, 0]), torch.device("cpu"))
    assert hidden.shape == (2, max(lengths[[2, 0]]), 32) and mask.sum(1).tolist() == lengths[[2, 0]].tolist()
    assert yes.tolist() == read.targets[[2, 0]].tolist()


def test_an_epoch_has_each_question_once_and_depends_on_its_number():
    read = frozen.States([np.zeros((1 + place % 5, 2), dtype=np.float16) for place in range(70)], np.zeros(70))
    first, again, other = (frozen.steps(read, 8, random.Random(seed)) for seed in (1, 1, 2))
    assert sorted(np.concatenate(first).tolist()) == list(range(70))
    assert [step.tolist() for step in first] == [step.tolist() for step in again] != [step.tolist() for step in other]


def test_measures_are_those_of_their_definitions():
    head = YesNoHead(2, 1, 1, 4).eval()
    with torch.no_grad():
        head.odds.weight.zero_()
        head.odds.bias.fill_(np.log(3))  # "yes" with three quarters, whatever is read
    read = frozen.States([np.ones((3, 2), dtype=np.float16)] * 5, np.array([1, 1, 1, 0, 0], dtype=np.float32))
    found = training.measures(head, read)
    assert found["accuracy"] == found["majority"] == pytest.approx(0.6)
    assert found["log loss"] == pytest.approx(-(3 * np.log(0.75) + 2 * np.log(0.25)) / 5)


def test_a_seed_gives_one_head_and_the_best_epoch_is_kept(data, tmp_path):
    (head, fitted), (again, _) = (trained(data, tmp_path / name, epochs=3, learning_rate=1e-2) for name in "ab")
    losses = [one["log loss"] for one in fitted.history]
    assert len(losses) == 4 and fitted.best == 1 + int(np.argmin(losses[1:]))
    for one, other in zip(head.state_dict().values(), again.state_dict().values(), strict=True):
        assert torch.equal(one, other)


@pytest.fixture
def run(data, tmp_path):
    """Train the head of a finished model by the command, with settings of the head; the exit status."""

    def main(settings):
        recipe = tmp_path / "recipe.yml"
        recipe.write_text(f"stages: [{{mixture: {{boolq: 5}}}}]\nyes_no: {settings}\nmax_length: 64\n")
        given = {"data": data, "output": tmp_path / "out", "config": recipe, "trunk": joint()}
        return script.main([word for name, value in given.items() for word in (f"--{name}", str(value))])

    return main


def test_a_finished_model_gets_a_head(run, tmp_path, workdir):
    assert run("{epochs: 1, layer: 2}") == 0
    output = tmp_path / "out"
    head = load_yes_no(output, load_checkpoint(output, "question-answering").model.config)
    assert head.layer == 2
    for file in joint().iterdir():
        assert (output / file.name).read_bytes() == file.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "recipe.yml"]  # nothing else is left
    assert {path.name for path in output.iterdir()} == {
        YES_NO,
        "onnx.json",
        "model.onnx",
        "model_int8.onnx",
        *(path.name for path in joint().iterdir()),
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [("null", "the recipe has no yes/no head"), ("{layer: 0}", "layer"), ("{epoch: 1}", "epoch")],
)
def test_recipes_without_a_head(run, tmp_path, capsys, workdir, settings, message):
    assert run(settings) == 1
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert message in error and not (tmp_path / "out").exists()
