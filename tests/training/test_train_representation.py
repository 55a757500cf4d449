"""`train qu` for `qu: sr`: from annotated files to a model folder that writes representations."""

from pathlib import Path

import pytest

from convinse.cli import main
from convinse.config import parse_config
from convinse.question_understanding.structured_representation import StructuredRepresentation
from convinse.support.errors import DataError, ModelError, NothingToTrainError
from convinse.testing import QuestionUnderstandingContract
from convinse.training.representation import read_examples, train_representation
from tiny_seq2seq import writer
from trainings import record, same, silver_conversations, silver_settings, weights, write_silver
from written import names, write


@pytest.fixture
def settings(workdir):
    write_silver()
    return silver_settings


TASK = "sequence-to-sequence"


def module(given):
    return StructuredRepresentation(parse_config(given))


# --- what is learned from


def test_examples_are_the_annotated_turns_with_their_history(settings):
    found = read_examples(parse_config(settings()), Path("results/mine/annotated_train.json"))
    assert [tuple(example) for example in found] == [
        ("who directed it?", "|| titanic || directed || person"),
        ("who directed it? ||| cameron ||| when was he born?", "titanic || cameron || born || date"),
        ("who directed it? ||| cameron ||| when was he born? ||| 1954 ||| did you like it? ||| no ||| who wrote it?",
         "|| hobbit || wrote ||"),
    ]  # fmt: skip


def test_a_missing_file_says_how_to_make_it(settings):
    Path("results/mine/annotated_dev.json").unlink()
    with pytest.raises(DataError, match="annotated_dev.json: no such file; run bash run.sh annotate"):
        train_representation(module(settings()))


def test_a_file_without_representations_is_named(settings):
    write("results/mine/annotated_dev.json", silver_conversations([("who", None, "x")]))
    with pytest.raises(DataError, match="annotated_dev.json: no turn has a representation in silver_SR"):
        train_representation(module(settings()))


# --- training


@pytest.mark.parametrize(
    ("base", "epochs"),
    [
        ({"init_std": 0.1}, 60),
        ({"init_std": 0.1, "headless": True}, 60),
        ({"kind": "t5", "initializer_factor": 1.0}, 120),
    ],
)
def test_a_model_learns_to_write(settings, base, epochs):
    training = {"base": str(writer(**base)), "epochs": epochs, "patience": epochs, "learning_rate": 1e-2}
    given = settings(qu_training=training)
    folder = train_representation(module(given))
    kept = record(folder)
    losses = [epoch["loss"] for epoch in kept["epochs"]]
    assert losses[kept["best_epoch"]] == min(losses) < 0.2 * losses[0]
    assert kept["exact_match"] == 1.0
    assert "100.0 % of its representations exactly" in (folder / "README.md").read_text()
    trained = module({**given, "qu_model": str(folder)})
    turn = {"question": "When was he born?".lower()}
    history = [{"turn": 0, "question": "who directed it?", "answers": [{"id": "Q0", "label": "cameron"}]}]
    understanding = trained.inference_on_turn(turn, history)
    assert understanding["structured_representation"] == "titanic || cameron || born || date"
    assert understanding["history_used"] == [{"turn": 0, "part": "answer", "text": "cameron"}]
    assert names("results/mine") == ["annotated_dev.json", "annotated_train.json", "qu_model"]


def test_the_same_seed_gives_the_same_model(settings):
    first, again, second = (
        weights(train_representation(module(settings(seed=seed, qu_training={"output": f"models/{number}"}))), TASK)
        for number, seed in enumerate((1, 1, 2))
    )
    assert same(first, again) and not same(first, second)


def test_nothing_to_start_from(settings):
    with pytest.raises(NothingToTrainError, match="set qu_training: {base: FOLDER or hub name}"):
        train_representation(module(settings(qu_training={"base": None})))


def test_a_model_that_is_not_there_is_named_by_its_key(settings):
    with pytest.raises(ModelError, match="^qu_model: ./none: no such folder"):
        module(settings(qu_model="./none")).inference_on_turn({"question": "Who?"}, [])


def test_the_command(settings, capsys):
    write("my.yml", settings(qu_training={"epochs": 1}))
    assert main(["train", "qu", "my.yml"]) == 0
    assert "name it in qu_model" in capsys.readouterr().err
    assert (Path("results/mine/qu_model") / "model.safetensors").is_file()


class TestContract(QuestionUnderstandingContract):
    def config(self, **overrides):
        search = {"num_beams": 2, "max_output_length": 12}
        return super().config(qu="sr", qu_model=str(writer()), device="cpu", qu_sr=search, **overrides)

    def make(self, config):
        return StructuredRepresentation(config)
