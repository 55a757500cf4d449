"""The recipe of the embedded model: its steps, and the whole of it on a few examples with a tiny model."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file

from convinse.config import load_settings
from convinse.encoder.bi_encoder import BiEncoder
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.encoder.joint import JointModel
from convinse.encoder.question_readers import YesNoReader
from convinse.encoder.reranker import BertReranker
from convinse.support.errors import ConfigError, DataError
from places import ROOT
from recipes.embedded import __main__ as script
from recipes.embedded import batches
from recipes.embedded import recipe as recipes
from recipes.embedded.data_sets import DATA_SETS, YES_NO_SETS
from recipes.embedded.examples import Candidate, Example, part_of_key
from recipes.embedded.prepared import Prepared
from recipes.embedded.sets import builders
from recipes.embedded.statements import decided_questions, of_set
from tiny_models import WORDS, joint, tiny, torch
from written import write


def example(name, number, negatives=3, words=6):
    chance = random.Random(f"{name} {number}")
    text = " ".join(chance.choices(WORDS, k=words))
    right = Candidate(text, True, ((0, len(text.split()[0])),))
    wrong = [Candidate(" ".join(chance.choices(WORDS, k=words))) for _ in range(negatives)]
    return Example(f"{name} {number}", (right, *wrong), name, f"key {number}", f"{name} {number}")


TRAIN = {name: [example(name, number) for number in range(size)] for name, size in (("a", 200), ("b", 30), ("c", 17))}
TINY = recipes.Recipe(mixture={"a": 50, "b": 30, "c": 1000}, validations=3, batch_size=8)


# -- steps and data ----------------------------------------------------------------------------------------------------


def test_steps_hold_the_mixture_and_each_example_once():
    parts = [recipes.steps(TRAIN, TINY, part) for part in (1, 2, 3)]
    assert {len(part) for part in parts} == {4}  # 97 examples by eights, in three parts of as many steps
    drawn = [example.query for part in parts for step in part for example in step.examples]
    assert len(set(drawn)) == len(drawn)
    assert Counter(query.split()[0] for query in drawn) == {"a": 50, "b": 30, "c": 17}


def test_negatives_are_few_beside_long_texts_and_those_of_a_set():
    train = {
        name: [example(name, n, 4, words=80 if name == "long" else 6) for n in range(40)]
        for name in ("long", "short", "three")
    }
    recipe = recipes.Recipe(mixture=dict.fromkeys(train, 40), validations=1, negatives={"three": 3})
    for drawn in (drawn for step in recipes.steps(train, recipe, 1) for drawn in step.examples):
        least = {"long": 1, "short": 2, "three": 3}[drawn.source]
        assert len(drawn.candidates) - 1 in (least, least + 1)  # one more may be of another example


def test_prepared_examples_are_the_batches_of_the_steps(tmp_path, tokenizer):
    recipe = recipes.Recipe(mixture={"a": 50, "b": 30}, validations=2, passes=2, batch_size=8, dev_examples=4)
    data = recipes.Data({name: TRAIN[name] for name in ("a", "b")}, {"a": TRAIN["c"], "b": []}, "run")
    prepared = recipes.prepare(data, recipe, tokenizer)
    prepared.write(tmp_path / "prepared")
    read = Prepared.read(tmp_path / "prepared")
    order = [step for number in (1, 2) for step in recipes.steps(data.train, recipe, number)]
    assert (read.run_id, read.sizes) == ("run", {"a": 200, "b": 30})
    assert len(read.steps) == len(order) + 1 == 21, "two passes of ten steps"
    first, second = ({example.query for step in part for example in step.examples} for part in (order[:10], order[10:]))
    assert len(first) == len(second) == 80 and first != second
    for number, step in enumerate(order):
        expected = batches.batch(step.examples, tokenizer, random.Random(step.seed))
        made = read.train.part(*read.steps[number : number + 2])
        same(made, expected)
    runs = list(read.train.runs(0, 40, 60))
    assert runs[0][0] == 0 and runs[-1][1] == 40 and 1 < len(runs) < 40
    assert all(one[1] == other[0] for one, other in pairwise(runs))
    chosen = [example for example in TRAIN["c"] if example.chooses]
    assert read.dev.keys() == ({"a"} if chosen else set())
    (tmp_path / "prepared").write_bytes((tmp_path / "prepared").read_bytes()[:-40])
    with pytest.raises(DataError, match="--prepared"):
        Prepared.read(tmp_path / "prepared")


def same(made, expected):
    assert made.sizes == expected.sizes and made.sequences.pad_id == expected.sequences.pad_id
    places = np.arange(len(expected.sequences.ids))
    for one, other in zip(made.sequences.padded(places), expected.sequences.padded(places), strict=True):
        assert (one == other).all()
    for name in ("relevant", "readable", "firsts", "ends"):
        assert (getattr(made, name) == getattr(expected, name)).all()
    assert all((one == other).all() for one, other in zip(made.spans, expected.spans, strict=True))


def test_gathered_examples_are_in_the_part_of_their_key():
    data = recipes.gather({name: lambda name=name: TRAIN[name] for name in ("a", "b")}, ("a", "b"), ())
    assert {part: {example.part for examples in getattr(data, part).values() for example in examples} for part in ("train", "dev")} == {
        "train": {"train"}, "dev": {"dev"},
    }  # fmt: skip


def test_held_out_texts_are_left_out_of_text_sets():
    def text(name):
        return " ".join(f"{name}{number}" for number in range(10))

    def question(part, name, wrong):
        key = next(f"{name} {n}" for n in range(99) if part_of_key(f"{name} {n}") == part)
        return Example(f"who {name}", (Candidate(text(name), True), Candidate(text(wrong))), "a", key)

    facts = [question("train", "y", "x"), question("dev", "x", "x")]
    sets = {
        "a": [question("train", *names) for names in (("x", "y"), ("y", "x"), ("x", "z"))],
        "b": [question("dev", "y", "w")],
        "facts": facts,
    }
    data = recipes.gather({name: lambda name=name: sets[name] for name in sets}, {"a", "facts"}, {"a", "b"})
    texts = [[candidate.text for candidate in example.candidates] for example in data.train["a"]]
    assert texts == [[text("x")], [text("x"), text("z")]]
    assert data.train.keys() == data.dev.keys() == {"a", "facts"} and data.train["facts"] == facts[:1]


@pytest.mark.parametrize("name", ["embedded", "reader", "gpu"])
def test_the_shipped_recipes_name_sets_that_can_be_built(tmp_path, name):
    recipe = load_settings(recipes.Recipe, f"model/{name}.yml")
    assert set(recipe.mixture) <= {*builders(tmp_path, tmp_path, 1)} & DATA_SETS.keys()
    assert {*recipe.alone, *recipe.mined, *recipe.negatives, *recipe.lists} <= set(recipe.mixture)


@pytest.fixture
def refused(capsys, caplog):
    """The line with which the recipe refuses some arguments beside the data and the output."""
    caplog.set_level("WARNING", logger="convinse")  # what it tells of its progress goes to standard error, too

    def line(*arguments):
        assert script.main(["--data", ".", "--output", "out", *map(str, arguments)]) == 1
        return capsys.readouterr().err

    return line


QED = {"mixture": {"qed": 4}}


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ({**QED, "batchsize": 3}, (), "mine.yml: unknown key 'batchsize'; did you mean 'batch_size'?"),
        ({"mixture": {"sentence_list": 4}}, ("--base", "TINY"), "sentence_list; did you mean 'sentence_lists'?"),
        (QED, ("--data", "nowhere"), "nowhere: no such folder; give the folder of the data sets with --data"),
        (QED, ("--base", "some/name"), "base: some/name: no such folder"),  # a name of the hub
        (QED, ("--base", "TINY"), "boolq/train.jsonl.gz: no such data"),
        (QED, ("--output", "thesis"), "thesis: is not a model that was trained here"),
        (QED, ("--set", "layers"), "--set layers: expected KEY=VALUE"),
    ],
)
def test_wrong_arguments_give_one_line(refused, content, arguments, message):
    write("thesis/thesis.txt", "important")
    arguments = [tiny("bert", "embedding") if word == "TINY" else word for word in arguments]
    error = refused("--config", write("mine.yml", content), *arguments)
    assert message in error and error.startswith("train embedded: ") and error.count("\n") == 1
    assert not Path("out").exists() and Path("thesis/thesis.txt").read_text() == "important"


# -- all of it ---------------------------------------------------------------------------------------------------------


def test_the_model_to_train_begins_as_layers_of_the_base():
    base = joint(num_hidden_layers=4)
    settings = {"mixture": {"qed": 1}, "base": str(base)}
    checkpoint, teachers, _ = script.start_from(recipes.Recipe(**settings, layers=[0, 2], reader=str(base)))
    layers, model = teachers.reader.bert.encoder.layer, checkpoint.model
    assert type(model) is JointModel and model.config.row_form == "ranked" and len(layers) == 4
    assert len(model.bert.encoder.layer) == model.config.num_hidden_layers == 2
    for place, layer in zip((0, 2), model.bert.encoder.layer, strict=True):
        assert all(map(torch.equal, layer.parameters(), layers[place].parameters()))
    assert not any(parameter.requires_grad for parameter in teachers.embedding.parameters())
    with pytest.raises(ConfigError, match="layers: 4: .* has 4 layers"):
        script.start_from(recipes.Recipe(**settings, layers=[4]))


LINES = {
    "qed/dev.jsonl": 250, "boolq/train.jsonl": 120, "boolq/dev.jsonl": 60, "infotabs/train.jsonl": 150, "yesno/strategyqa-train.jsonl": 60,
    "yesno/creak-train.jsonl": 60, "tabfact/pairs-train-1.jsonl": 60, "tabfact/pairs-train-2.jsonl": 20,
}  # fmt: skip
QUICK = {
    "mixture": {"qed": 1, "boolq": 1}, "alone": {"boolq": 1.0}, "mined": {"qed": 1}, "listwise": 0.5,
    "yes_no": {"layer": 1, "epochs": 1}, "batch_size": 8, "max_length": 96, "seed": 11,
}  # fmt: skip


@pytest.fixture(scope="module")
def shared(beginnings):
    """The beginnings of the data sets of the quick recipe, which are all there is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(script, "TEXT_SETS", frozenset(QUICK["mixture"]))
        yield beginnings(LINES, ())


def arguments(folder, data):
    config = write(folder / "mine.yml", QUICK)
    base = tiny("bert", "embedding", initializer_range=0.05)
    words = ["--data", data, "--output", folder / "model", "--config", config, "--quick", "--base", base]
    return list(map(str, words))


@pytest.fixture(scope="module")
def trained(shared, tmp_path_factory):
    """A folder with `model`."""
    folder = tmp_path_factory.mktemp("trained")
    assert script.main(arguments(folder, shared)) == 0
    return folder


def test_the_trained_folder_is_a_model_for_all_three_tasks(trained):
    folder = trained / "model"
    assert {path.name for path in trained.iterdir()} == {"mine.yml", "model"}  # nothing else is left
    assert {"model.safetensors", "onnx.json", "model_int8.onnx"} <= {path.name for path in folder.iterdir()}
    odds = BertReranker(folder, "cpu").predict([("who wrote it", "the author"), ("who wrote it", "a song")])
    assert odds.shape == (2,) and odds[0] != odds[1]
    spans = ExtractiveReader(str(folder), "cpu").read("who wrote it", ["the author wrote it", "a song"])
    assert spans and all(0 < span.probability <= 1 for span in spans)
    decided = YesNoReader(folder, "cpu").probabilities([("was it a song", "it was a song"), ("was it a song", "no")])
    assert ((decided > 0) & (decided < 1)).all()
    vectors = BiEncoder(folder, "cpu").embed(["the author", "a song"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_card_and_record_say_what_was_done(trained):
    card, record = (trained / "model/README.md").read_text(), json.loads((trained / "model/training.json").read_text())
    for name in QUICK["mixture"]:
        (row,) = [line for line in card.splitlines() if line.startswith(f"| {DATA_SETS[name].content}")]
        assert DATA_SETS[name].licence in row and row.endswith(f"| {record['examples'][name]:,} | 24 |")
    assert "Validation of the yes/no head" in card and str(trained) not in card
    assert len(record["epochs"]) == len(record["yes_no"]["epochs"]) == 2
    assert {"qed F1", "qed first", "boolq first", "mean"} <= record["epochs"][0].keys()
    assert record["recipe"]["seed"] == 11


def test_the_same_seed_gives_the_same_weights_and_an_older_model_is_replaced(trained, shared, tmp_path):
    target = shutil.copytree(trained / "model", tmp_path / "model")
    before = (target / "model.safetensors").read_bytes()
    (target / "model.safetensors").write_bytes(b"older")
    assert script.main(arguments(tmp_path, shared)) == 0
    assert (target / "model.safetensors").read_bytes() == before


@pytest.mark.slow
def test_a_machine_with_the_prepared_examples_needs_no_data(shared, tmp_path):
    config = write(tmp_path / "headless.yml", {**QUICK, "yes_no": None})
    words = arguments(tmp_path, shared)
    words[words.index("--config") + 1] = str(config)
    assert script.main([*words, "--prepared", str(tmp_path / "prepared")]) == 0
    (tmp_path / "empty").mkdir()
    words[words.index("--data") + 1] = str(tmp_path / "empty")
    words[words.index("--output") + 1] = str(tmp_path / "again")
    assert script.main([*words, "--prepared", str(tmp_path / "prepared")]) == 0
    trained, again = (load_file(tmp_path / name / "model.safetensors") for name in ("model", "again"))
    assert all(torch.equal(trained[name], again[name]) for name in trained)


@pytest.mark.slow
def test_the_command_starts_the_recipe(tmp_path):
    command = [
        sys.executable,
        "-m",
        "convinse",
        "train",
        "embedded",
        "--data",
        str(tmp_path / "none"),
        "--output",
        "m",
        "--quick",
    ]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 1 and done.stderr.startswith("train embedded: ") and "none: no such folder" in done.stderr


def test_statements_are_decided_by_passages_and_pages_stay_in_one_part(shared):
    rows = {name: list(of_set(name, shared)) for name in YES_NO_SETS}
    assert all(rows.values()) and list(decided_questions(shared)) == [row for each in rows.values() for row in each]
    for name, decided in rows.items():
        assert {row.yes for row in decided} == ({0.0, 0.5, 1.0} if name == "infotabs" else {0.0, 1.0})
        assert all(row.question and row.passage and row.key for row in decided)
    # a passage is of one part, also if it is another box of the same category, which does not say
    parts: dict[str, set[str]] = {}
    for row in (row for each in rows.values() for row in each):
        parts.setdefault(row.passage, set()).add(part_of_key(row.key))
    assert {len(of_passage) for of_passage in parts.values()} == {1}
    others = [row for row in rows["infotabs"] if not row.passage.startswith(row.key)]
    assert others and {row.yes for row in others} == {0.5}
    true, false = rows["tabfact"][:2]
    assert (true.yes, false.yes) == (1.0, 0.0) and true.key == false.key and " is " in true.passage


def test_heads_alone_are_trained_over_a_finished_model(trained, shared, tmp_path):
    base = trained / "model"
    assert script.main([*arguments(tmp_path, shared), "--trunk", str(base)]) == 0
    made = tmp_path / "model"
    assert (made / "model.safetensors").read_bytes() == (base / "model.safetensors").read_bytes()
    assert YesNoReader(made, "cpu").probabilities([("was it a song", "no")]).shape == (1,)


@pytest.mark.slow
def test_a_student_begins_as_layers_of_its_teacher_and_learns_from_it(shared, tmp_path):
    """The three commands of a GPU on the processor: examples, a teacher, a student, with a tiny model as MPNet."""
    mixture = {"mixture": {"qed": 24, "boolq": 24}, "passes": 2, "validations": 2, "yes_no": None, "mined": {}}
    config = write(tmp_path / "gpu.yml", {**QUICK, **mixture})
    examples, teacher, student = (str(tmp_path / name) for name in ("examples", "teacher", "student"))
    words = ["--config", str(config), "--data", str(shared), "--prepared", examples]
    base = str(joint(num_hidden_layers=2))
    assert script.main([*words, "--base", base]) == 0 and Path(examples).is_file()
    assert script.main([*words, "--base", base, "--output", teacher, "--set", "embedding_every=1000000"]) == 0
    settings = ["--set", f"reader={teacher}", "--set", "layers=[0]"]
    assert script.main([*words, "--base", teacher, "--output", student, *settings]) == 0
    model = JointModel.from_pretrained(student)
    assert model.config.num_hidden_layers == 1 and len(model.bert.encoder.layer) == 1
    record = json.loads((tmp_path / "student" / "training.json").read_text())
    assert len(record["epochs"]) == 3 and record["recipe"]["reader"] == teacher
    assert BertReranker(tmp_path / "student", "cpu").predict([("who", "the author")]).shape == (1,)


def test_what_is_sent_in_pieces_is_joined_and_checked(tmp_path):
    (tmp_path / "learned").mkdir()
    (tmp_path / "learned" / "weights").write_bytes(b"weights" * 1000)
    command = ["bash", str(ROOT / "scripts/recipes/embedded/gpu.sh")]
    run = partial(subprocess.run, cwd=tmp_path, capture_output=True, text=True)
    assert run([*command, "pieces", "parcel", "learned", "weights"]).returncode == 0
    assert run([*command, "join", "joined", "parcel"]).returncode == 0
    assert (tmp_path / "joined" / "weights").read_bytes() == b"weights" * 1000
    (piece,) = (tmp_path / "parcel").glob("piece.*")
    piece.write_bytes(piece.read_bytes()[:-1])
    result = run([*command, "join", "again", "parcel"])
    assert result.returncode == 1 and "gpu: a piece is missing or damaged; fetch it again" in result.stderr
    assert not (tmp_path / "again").exists()


def test_files_of_ones_own_are_learned_from_without_the_shared_data(tmp_path):
    lines = [{"header": {"dataset": "mine"}}]
    for number in range(60):
        text = f"the author {number} wrote it about a song"
        answers = [{"text": f"author {number}", "char_spans": [[4, 11 + len(str(number)) - 1]]}]
        qas = [{"qid": str(number), "question": "who wrote it", "answers": ["x"], "detected_answers": answers}]
        lines.append({"context": text, "title": f"page {number}", "qas": qas})
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    config = write(tmp_path / "mine.yml", {"files": {"mine": "mine.jsonl"}, "mixture": {"mine": 1}, "max_length": 96})
    base = tiny("bert", "embedding", initializer_range=0.05)
    words = ["--data", tmp_path / "data", "--output", tmp_path / "model", "--config", config, "--quick", "--base", base]
    assert script.main([str(word) for word in words]) == 0
    assert "| mine.jsonl | your own | " in (tmp_path / "model" / "README.md").read_text()
    assert ExtractiveReader(str(tmp_path / "model"), "cpu").read("who wrote it", ["the author wrote it", "a song"])
