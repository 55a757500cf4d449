"""`train qu` for `qu: sr`: from annotated files to a model folder that writes representations."""

import json
from pathlib import Path

import pytest

from convinse.cli import main
from convinse.config import parse_config
from convinse.encoder.checkpoint import load_checkpoint
from convinse.question_understanding.structured_representation import StructuredRepresentation
from convinse.support.errors import DataError, ModelError, NothingToTrainError, OutputError
from convinse.testing import QuestionUnderstandingContract
from convinse.training import loop as fit_module
from convinse.training.representation import read_examples, train_representation
from tiny_models import torch
from tiny_seq2seq import writer

SILVER = [
    ("who directed it", [[], ["titanic"], ["directed"], "person"], "cameron"),
    ("when was he born", [["titanic"], ["cameron"], ["born"], "date"], "1954"),
    ("did you like it", None, "no"),
    ("who wrote it", [[], ["hobbit"], ["wrote"], None], "tolkien"),
]


def conversations(silver=SILVER):
    turns = [
        {"turn": number, "question": f"{question}?", "answers": [{"id": f"Q{number}", "label": answer}],
         "silver_SR": [] if found is None else [found]}
        for number, (question, found, answer) in enumerate(silver)
    ]  # fmt: skip
    return [{"conv_id": "a", "questions": turns}]


@pytest.fixture
def settings(workdir):
    """Annotated files where `annotate` puts them, and what training on them takes."""
    Path("results/mine").mkdir(parents=True)
    for part in ("train", "dev"):
        Path(f"results/mine/annotated_{part}.json").write_text(json.dumps(conversations()))

    def make(**keys):
        training = {
            "base": str(writer(init_std=0.1)),
            "epochs": 3,
            "learning_rate": 3e-3,
            "batch_size": 2,
            **keys.pop("qu_training", {}),
        }
        search = {"num_beams": 2, "max_output_length": 40, "no_repeat_ngram_size": 0, **keys.pop("qu_sr", {})}
        return {"name": "mine", "qu": "sr", "device": "cpu", "qu_training": training, "qu_sr": search, **keys}

    return make


def module(given):
    return StructuredRepresentation(parse_config(given))


def weights(folder):
    return load_checkpoint(folder, "sequence-to-sequence").model.state_dict()


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


# --- what is learned from


def test_examples_are_the_annotated_turns_with_their_history(settings):
    found = read_examples(parse_config(settings()), Path("results/mine/annotated_train.json"))
    assert [tuple(example) for example in found] == [
        ("who directed it?", "|| titanic || directed || person"),
        ("who directed it? ||| cameron ||| when was he born?", "titanic || cameron || born || date"),
        (
            "who directed it? ||| cameron ||| when was he born? ||| 1954 ||| did you like it? ||| no ||| who wrote it?",
            "|| hobbit || wrote ||",
        ),
    ]


def test_a_missing_file_says_how_to_make_it(settings):
    Path("results/mine/annotated_dev.json").unlink()
    with pytest.raises(DataError, match="annotated_dev.json: no such file; run bash run.sh annotate"):
        train_representation(module(settings()))


def test_annotated_files_may_lie_elsewhere(settings):
    Path("results/mine").rename("elsewhere")
    assert train_representation(module(settings(qu_training={"annotated": "elsewhere", "epochs": 1}))) == Path(
        "results/mine/qu_model"
    )


def test_a_file_without_representations_is_named(settings):
    Path("results/mine/annotated_dev.json").write_text(json.dumps(conversations([("who", None, "x")])))
    with pytest.raises(DataError, match="annotated_dev.json: no turn has a representation in silver_SR"):
        train_representation(module(settings()))


def test_a_broken_representation_is_named_with_its_place(settings):
    Path("results/mine/annotated_train.json").write_text(json.dumps(conversations([("who", "|| a || b || c", "x")])))
    with pytest.raises(DataError, match="annotated_train.json: conversation 'a', turn 0: silver_SR is no list of"):
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
    record = json.loads((folder / "training.json").read_text())
    losses = [epoch["loss"] for epoch in record["epochs"]]
    assert losses[record["best_epoch"]] == min(losses) < 0.2 * losses[0]
    assert record["exact_match"] == 1.0
    assert "100.0 % of its representations exactly" in (folder / "README.md").read_text()
    trained = module({**given, "qu_model": str(folder)})
    turn = {"question": "When was he born?".lower()}
    history = [{"turn": 0, "question": "who directed it?", "answers": [{"id": "Q0", "label": "cameron"}]}]
    assert trained.inference_on_turn(turn, history) == "titanic || cameron || born || date"
    assert turn["history_used"] == [{"turn": 0, "part": "answer", "text": "cameron"}]
    assert sorted(path.name for path in Path("results/mine").iterdir()) == [
        "annotated_dev.json",
        "annotated_train.json",
        "qu_model",
    ]


def test_the_same_seed_gives_the_same_model(settings):
    one, two, other = (
        weights(train_representation(module(settings(seed=seed, qu_training={"output": f"models/{number}"}))))
        for number, seed in enumerate((1, 1, 2))
    )
    assert same(one, two) and not same(one, other)


def test_a_stopped_training_goes_on(settings, monkeypatch):
    whole = weights(train_representation(module(settings(qu_training={"output": "models/whole"}))))
    save, saved = fit_module._save_state, []

    def stop(*arguments):
        save(*arguments)
        saved.append(1)
        if len(saved) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(fit_module, "_save_state", stop)
    given = settings(qu_training={"output": "models/stopped"})
    with pytest.raises(KeyboardInterrupt):
        train_representation(module(given))
    assert not Path("models/stopped").exists()
    train_representation(module(given))
    assert len(saved) == 3, "only the last epoch was left"
    assert same(whole, weights("models/stopped"))
    assert sorted(path.name for path in Path("models").iterdir()) == ["stopped", "whole"]


def test_nothing_to_start_from(settings):
    with pytest.raises(NothingToTrainError, match="set qu_training: {base: FOLDER or hub name}"):
        train_representation(module(settings(qu_training={"base": None})))


def test_a_folder_of_the_user_is_not_replaced(settings):
    Path("mine").mkdir()
    Path("mine/file").write_text("mine")
    with pytest.raises(OutputError, match="name another qu_training.output"):
        train_representation(module(settings(qu_training={"output": "mine"})))


def test_a_model_that_is_not_there_is_named_by_its_key(settings):
    with pytest.raises(ModelError, match="^qu_model: ./none: no such folder"):
        module(settings(qu_model="./none")).inference_on_turn({"question": "Who?"}, [])
    with pytest.raises(ModelError, match="^qu_training.base: ./none: no such folder"):
        train_representation(module(settings(qu_training={"base": "./none"})))


def test_the_command(settings, capsys):
    Path("my.yml").write_text(json.dumps(settings(qu_training={"epochs": 1})))  # JSON is YAML
    assert main(["train", "qu", "my.yml"]) == 0
    assert "name it in qu_model" in capsys.readouterr().err
    assert (Path("results/mine/qu_model") / "model.safetensors").is_file()


class TestContract(QuestionUnderstandingContract):
    def config(self, **overrides):
        return super().config(
            qu="sr", qu_model=str(writer()), device="cpu", qu_sr={"num_beams": 2, "max_output_length": 12}, **overrides
        )

    def make(self, config):
        return StructuredRepresentation(config)
