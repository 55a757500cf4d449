"""The recipe of the embedded model: its steps and losses, and the whole of it on a few examples with a tiny model."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.encoder.joint import JointModel
from convinse.encoder.question_readers import YesNoReader
from convinse.encoder.reranker import BertReranker
from convinse.support.errors import ConfigError, DataError
from places import ROOT
from recipes.embedded import __main__ as script
from recipes.embedded import recipe as recipes
from recipes.embedded.card import content_and_licence
from recipes.embedded.examples import Candidate, Example
from recipes.embedded.reading import DATA_SETS
from recipes.embedded.sets import builders
from recipes.embedded.tables import Rows
from tiny_models import WORDS, joint, tiny, torch
from written import write


def example(name, number, negatives=3, words=6):
    chance = random.Random(f"{name} {number}")
    text = " ".join(chance.choices(WORDS, k=words))
    right = Candidate(text, True, ((0, len(text.split()[0])),))
    wrong = [Candidate(" ".join(chance.choices(WORDS, k=words))) for _ in range(negatives)]
    return Example(f"{name} {number}", (right, *wrong), name, f"key {number}", f"{name} {number}")


def data(**sizes):
    return {name: [example(name, number) for number in range(size)] for name, size in sizes.items()}


def recipe(*stages, **settings):
    return recipes.Recipe(stages=list(stages), **settings)


def asked(steps):
    return [one.query for step in steps for one in step.examples]


# -- steps -------------------------------------------------------------------------------------------------------------

STAGE = recipes.Stage(mixture={"a": 50, "b": 30, "c": 1000}, epochs=2, validations=3)
TRAIN = data(a=200, b=30, c=17)


def steps(number, stage=STAGE, **settings):
    return recipes.steps(TRAIN, stage, recipe(stage, **{"batch_size": 8, **settings}), number)


def test_an_epoch_holds_what_the_mixture_says_and_each_example_once():
    for epoch in range(2):
        parts = [steps(epoch * 3 + part) for part in (1, 2, 3)]
        assert {len(part) for part in parts} == {4}  # 97 examples by eights, in three parts of as many steps
        sizes = [len(step.examples) for part in parts for step in part]
        assert sum(sizes) == 97 and max(sizes) - min(sizes) <= 1
        found = asked(step for part in parts for step in part)
        assert len(set(found)) == len(found)
        assert Counter(query.split()[0] for query in found) == {"a": 50, "b": 30, "c": 17}


def test_each_example_has_so_many_negatives():
    train = {
        "short": [example("short", n, 4) for n in range(40)],
        "long": [example("long", n, 4, words=80) for n in range(40)],
    }
    stage = recipes.Stage(mixture=dict.fromkeys(train, 40), validations=1)
    for share, more in ((0.0, (0,)), (1.0, (0, 1))):
        made = recipes.steps(train, stage, recipe(stage, negatives=3, foreign=share), 1)
        for one in (one for step in made for one in step.examples):
            least = 1 if one.source == "long" else 3
            assert len(one.candidates) - 1 - least in more
            original = next(e for e in train[one.source] if e.query == one.query)
            assert one.candidates[0].relevant and one.candidates[1] == original.candidates[1]
        extra = sum(len(one.candidates) for step in made for one in step.examples) - 80 - 40 * 4
        assert extra == 0 if share == 0 else extra > 60


# -- data and recipe ---------------------------------------------------------------------------------------------------


def test_examples_are_gathered_by_their_part():
    train = data(a=100, b=40)
    found = recipes.gather({name: lambda name=name: iter(train[name]) for name in train})
    assert found.train.keys() == found.dev.keys() == train.keys()
    for name, examples in train.items():
        assert found.train[name] == [one for one in examples if one.part == "train"]
        assert found.dev[name] == [one for one in examples if one.part == "dev"]
        assert len(found.train[name]) + len(found.dev[name]) == len(examples) and found.dev[name]
    changed = {**train, "b": [*train["b"][:-1], example("b", 999)]}
    other = recipes.gather({name: lambda name=name: changed[name] for name in changed})
    again = recipes.gather({name: lambda name=name: train[name] for name in train})
    assert found.run_id == again.run_id != other.run_id


def test_held_out_texts_are_left_out_of_text_sets():
    def sentence(name):
        return " ".join(f"{name}{number}" for number in range(10))

    def asked(name, wrong):
        return Example(f"who {name}", (Candidate(sentence(name), True), Candidate(sentence(wrong))), "a", name)

    train = {
        "a": [asked("x", "y"), asked("y", "x"), asked("x", "z")],
        "b": [asked("y", "y")],
        "facts": [asked("y", "x")],
    }
    dev = {"a": [asked("u", "v")], "b": [asked("y", "w")], "facts": [asked("x", "x")]}
    found = recipes.without_held_out(recipes.Data(train, dev, "run"), {"a", "b"}, {"a", "facts"})
    assert [[one.text for one in example.candidates] for example in found.train["a"]] == [
        [sentence("x")], [sentence("x"), sentence("z")],
    ]  # fmt: skip
    assert found.train.keys() == found.dev.keys() == {"a", "facts"} and found.train["facts"] == train["facts"]
    assert found.dev["a"] == dev["a"] and found.run_id == "run"


@pytest.mark.parametrize("name", ["embedded", "reader", "teacher"])
def test_the_recipes_of_the_project_name_known_sets_only(tmp_path, name):
    given = script.load_settings(recipes.Recipe, f"model/{name}.yml")
    known = {*builders(tmp_path, tmp_path, 1)}
    quick = script.quick(given)
    for stage, less in zip(given.stages, quick.stages, strict=True):
        assert set(stage.mixture) <= known & DATA_SETS.keys() and all(most > 0 for most in stage.mixture.values())
        assert {*stage.alone, *stage.mined, *stage.negatives, *stage.lists} <= set(stage.mixture)
        assert less.mixture.keys() == stage.mixture.keys() and max(less.mixture.values()) <= 50
    assert given.apart and (quick.batch_size, quick.seed) == (given.batch_size, given.seed)


QED = {"mixture": {"qed": 4}}
GOOD = {"stages": [QED, QED]}


@pytest.fixture
def refused(capsys, caplog):
    """The line with which the recipe refuses some arguments beside the data and the output."""
    caplog.set_level("WARNING", logger="convinse")  # what it tells of its progress goes to standard error, too

    def line(*arguments):
        defaults = ("--data", ".", "--output", "out")
        assert script.main([*defaults, *map(str, arguments)]) == 1
        (text,) = capsys.readouterr().err.splitlines()
        assert text.startswith("train embedded: ")
        return text.removeprefix("train embedded: ")

    return line


UNKNOWN = {"mixture": {"qed": 4, "squad_sentence": 4}}
BASE = ("--base", "TINY")


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ({**GOOD, "batchsize": 3}, (), "mine.yml: unknown key 'batchsize'; did you mean 'batch_size'?"),
        ({"stages": [QED, {**QED, "epoch": 2}]}, (), "epoch"),
        ({"stages": [{"mixture": {"qed": 0}}]}, (), "mine.yml: stages[0].mixture"),
        ({"stages": []}, (), "mine.yml: stages"),
        ("stages: [", (), "line 1, column 10"),
        (GOOD, ("--config", "model/embeded.yml"), "did you mean 'model/embedded.yml'"),
        ({"stages": [QED, UNKNOWN]}, BASE, "squad_sentence; did you mean 'squad_sentences'?"),
        (GOOD, ("--data", "nowhere"), "nowhere: no such folder; give the folder of the data sets with --data"),
        (GOOD, ("--base", "some/name"), "base: some/name: no such folder"),  # a name of the hub
        (GOOD, BASE, "qed/dev.jsonl.gz: no such data"),
        (GOOD, ("--output", "thesis"), "thesis: is no model that was trained here"),
    ],
)
def test_arguments_that_cannot_be_used_are_told_in_a_line(refused, content, arguments, message):
    write("thesis/thesis.txt", "important")
    arguments = [tiny("bert", "embedding") if word == "TINY" else word for word in arguments]
    assert message in refused("--config", write("mine.yml", content), *arguments)
    assert not Path("out").exists() and Path("thesis/thesis.txt").read_text() == "important"


# -- all of it ---------------------------------------------------------------------------------------------------------


def test_the_model_to_train_begins_as_the_teacher():
    made = script.start_from(recipe(STAGE, base=str(tiny("bert", "embedding")), seed=5))
    checkpoint, teachers, base = made
    teacher = teachers.embedding
    assert type(checkpoint.model) is JointModel and base == tiny("bert", "embedding")
    assert checkpoint.model.config.row_form == "plain"
    ranked = recipe(STAGE, base=str(base), seed=5, rows=Rows("ranked"))
    assert script.start_from(ranked)[0].model.config.row_form == "ranked"
    own, given = checkpoint.model.bert.state_dict(), teacher.state_dict()
    assert all(torch.equal(tensor, given[name]) for name, tensor in own.items())
    assert not any(parameter.requires_grad for parameter in teacher.parameters())
    again = script.start_from(recipe(STAGE, base=str(base), seed=5))[0].model.state_dict()
    other = script.start_from(recipe(STAGE, base=str(base), seed=6))[0].model.state_dict()
    heads = [name for name in again if not name.startswith("bert.") and name.endswith("weight")]
    assert len(heads) == 3
    drawn = checkpoint.model.state_dict()
    assert all(torch.equal(again[name], drawn[name]) and not torch.equal(again[name], other[name]) for name in heads)


def test_layers_of_the_base_are_kept_and_a_reader_teaches():
    base = joint(num_hidden_layers=4)
    made, teachers, _ = script.start_from(recipe(STAGE, base=str(base), layers=[0, 2], reader=str(base)))
    whole, kept = teachers.reader.bert.encoder.layer, made.model.bert.encoder.layer
    assert len(kept) == made.model.config.num_hidden_layers == 2 and len(whole) == 4
    assert all(
        torch.equal(own, given)
        for place, layer in zip((0, 2), kept, strict=True)
        for own, given in zip(layer.parameters(), whole[place].parameters(), strict=True)
    )
    with pytest.raises(ConfigError, match="layers: 4: .* has 4 layers"):
        script.start_from(recipe(STAGE, base=str(base), layers=[4]))


def test_kept_examples_are_those_that_were_gathered(tmp_path):
    given = recipes.gather({"a": lambda: TRAIN["a"], "b": lambda: TRAIN["b"]})
    recipes.write_examples(given, tmp_path / "examples.jsonl.gz")
    assert recipes.read_examples(tmp_path / "examples.jsonl.gz") == given
    (tmp_path / "examples.jsonl.gz").write_bytes((tmp_path / "examples.jsonl.gz").read_bytes()[:-40])
    with pytest.raises(DataError, match="--examples"):
        recipes.read_examples(tmp_path / "examples.jsonl.gz")


LINES = {
    "qed/dev.jsonl": 250,
    "squad-sentences/pairs.jsonl": 400,
    "boolq/train.jsonl": 120,
    "boolq/dev.jsonl": 60,
    "infotabs/train.jsonl": 60,
}
QUICK = {
    "stages": [
        {"mixture": {"qed": 1, "selqa": 1}},
        {
            "mixture": {"qed": 1, "selqa": 1, "squad_sentences": 1},
            "alone": {"selqa": 1.0},
            "mined": {"qed": 1},
            "listwise": 0.5,
        },
    ],
    "yes_no": {"layer": 1, "epochs": 1},
    "batch_size": 8,
    "max_length": 96,
    "seed": 11,
}


@pytest.fixture(scope="module")
def shared(beginnings):
    """The beginnings of the data sets of the quick recipe."""
    return beginnings(LINES, ("selqa",))


def arguments(folder, data, content=QUICK):
    """What to train a model of the recipe `content` in a folder with."""
    config = write(folder / "mine.yml", content)
    base = tiny("bert", "embedding", initializer_range=0.05)
    given = ["--data", data, "--output", folder / "model", "--config", config, "--quick", "--base", base]
    return list(map(str, given))


@pytest.fixture(scope="module")
def trained(shared, tmp_path_factory):
    """A folder with `model`, written by the command as a user types it."""
    folder = tmp_path_factory.mktemp("trained")
    done = subprocess.run(
        [sys.executable, "-m", "convinse", "train", "embedded", *arguments(folder, shared)], cwd=folder,
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr and "Warning" not in done.stderr
    return folder


def test_the_trained_folder_is_a_model_for_all_three_tasks(trained):
    folder = trained / "model"
    names = {path.name for path in folder.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json", "README.md", "training.json"} <= names
    assert {"onnx.json", "model.onnx", "model_int8.onnx"} <= names
    assert [path.name for path in trained.iterdir() if path.name != "mine.yml"] == ["model"]  # nothing else is left
    odds = BertReranker(folder, "cpu").predict([("who wrote it", "the author"), ("who wrote it", "a song")])
    assert odds.shape == (2,) and (odds > 0).all() and (odds < 1).all() and odds[0] != odds[1]
    spans = ExtractiveReader(str(folder), "cpu").read("who wrote it", ["the author wrote it", "a song"])
    assert spans and all(0 < span.probability <= 1 for span in spans)
    said = YesNoReader(folder, "cpu").probabilities([("was it a song", "it was a song"), ("was it a song", "no")])
    assert ((said > 0) & (said < 1)).all() and said[0] != said[1]
    vectors = BiEncoder(folder, "cpu").embed(["the author", "a song"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_the_heads_have_learned_and_the_words_have_not(trained):
    base = tiny("bert", "embedding", initializer_range=0.05)
    given = script.start_from(recipe(STAGE, base=str(base), seed=QUICK["seed"]))[0].model.state_dict()
    found = load_checkpoint(trained / "model", "embedding").model.state_dict()
    words = "bert.embeddings.word_embeddings.weight"
    rounding = given[words].abs().amax(dim=1, keepdim=True) / 127 * 0.51
    assert ((found[words] - given[words]).abs() <= rounding).all()
    for name in ("relevance", "span", "relevance_hidden", "bert.encoder.layer.0.output.dense"):
        assert (found[f"{name}.weight"] - given[f"{name}.weight"]).abs().max() > 1e-5, name


def test_card_and_record_say_what_was_done(trained):
    card = (trained / "model/README.md").read_text()
    rows = [line.split(" | ") for line in card.splitlines() if line.startswith("| ")]
    for name in ("qed", "selqa", "squad_sentences"):
        content, licence = content_and_licence(name)
        (row,) = [row for row in rows if row[0] == f"| {content}"]
        drawn = str(min(24, int(row[2])))  # all, where there are fewer
        assert row[1] == licence and row[3:] == ["0" if name == "squad_sentences" else drawn, f"{drawn} |"]
        assert int(row[2]) > 0
    assert tiny("bert", "embedding", initializer_range=0.05).name in card
    assert "`yes_no.safetensors`" in card and "Validation of the yes/no head" in card
    record = json.loads((trained / "model/training.json").read_text())
    assert len(record["yes_no"]["epochs"]) == 2 and {"accuracy", "log loss"} <= record["yes_no"]["epochs"][1].keys()
    assert len(record["epochs"]) == 2 and record["best_epoch"] == 1
    assert [len(epochs) for epochs in record["earlier_stages"]] == [2]
    assert {"qed F1", "qed first", "selqa first", "mean"} <= record["epochs"][0].keys()
    assert record["recipe"]["seed"] == 11 and set(record["recipe"]["stages"][1]["mixture"]) == {*record["examples"]}
    assert "stage 2: 1 epochs, learning rate 0.0001, 100% of selqa without negatives" in card
    assert str(trained) not in card


def test_the_same_seed_gives_the_same_weights_and_an_older_model_is_replaced(trained, shared, tmp_path):
    """Once more, in this process: another order of hashes, and a model in the way."""
    target = shutil.copytree(trained / "model", tmp_path / "model")
    before = (target / "model.safetensors").read_bytes()
    (target / "model.safetensors").write_bytes(b"older")
    assert script.main(arguments(tmp_path, shared)) == 0
    assert (target / "model.safetensors").read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"model", "mine.yml"}


def test_heads_over_layers_that_stay_as_they_are_are_kept(trained, shared, tmp_path, refused):
    base = str(trained / "model")
    content = {**QUICK, "stages": [{"mixture": {"qed": 1, "selqa": 1}, "lists": {"selqa": 4}}], "yes_no": None}
    changed = ["--base", base]
    assert "the yes_no head of" in refused(*arguments(tmp_path, shared, content), *changed)
    assert script.main([*arguments(tmp_path, shared, {**content, "frozen": 1}), *changed]) == 0
    kept = [(Path(folder) / "yes_no.safetensors").read_bytes() for folder in (base, tmp_path / "model")]
    assert kept[0] == kept[1]
    before, after = (
        load_checkpoint(Path(folder), "embedding").model.state_dict() for folder in (base, tmp_path / "model")
    )
    layer = "bert.encoder.layer.{}.output.dense.weight"
    assert torch.equal(before[layer.format(0)], after[layer.format(0)])
    assert not torch.equal(before[layer.format(1)], after[layer.format(1)])


@pytest.mark.parametrize(
    ("layer", "message"), [(1, "boolq/train.jsonl.gz: no such data"), (3, "yes_no: layer: 3: the model has 2 layers")]
)
def test_what_the_last_step_needs_is_missed_before_the_first(shared, tmp_path, refused, monkeypatch, layer, message):
    monkeypatch.setattr(script, "train_stages", None)  # not called
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "qed").symlink_to(shared / "qed")  # there is no boolq
    content = {"stages": [{"mixture": {"qed": 1}}], "yes_no": {"layer": layer}}
    assert message in refused(*arguments(tmp_path, tmp_path / "data", content))
    assert not (tmp_path / "model").exists()
