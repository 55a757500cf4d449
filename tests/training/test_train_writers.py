"""Trainers of models that write (`ha: seq2seq`, `qu: sr`): what is learned from, and that it is learned."""

import copy
from pathlib import Path

import pytest

from convinse.cli import main
from convinse.config import parse_config
from convinse.heterogeneous_answering.seq2seq import Seq2SeqAnswering
from convinse.question_understanding import structured_representation
from convinse.question_understanding.structured_representation import StructuredRepresentation
from convinse.support.errors import DataError, ModelError, NothingToTrainError
from convinse.testing import QuestionUnderstandingContract
from convinse.training.fusion import fusion_example
from convinse.training.representation import read_examples, train_representation
from evidences import evidence
from refusals import refused
from tiny_models import tiny
from tiny_seq2seq import writer
from trainings import KINDS, record, silver_settings, write_silver
from written import names, write

# --- Fusion-in-Decoder

TOLKIEN, BOOK = ("Who wrote it?", "Q892", "Tolkien"), ("Is it a book?", "Yes", "Yes")
EVIDENCES = [
    evidence("a book"),
    evidence("the Professor wrote", "text", ("the Professor", "Q892")),
    evidence("by Tolkien", "text"),
]


@pytest.mark.parametrize(
    ("turn", "evidences", "read", "answer"),
    [
        (TOLKIEN, EVIDENCES, 3, "the Professor"),  # the name in the best evidence
        (TOLKIEN, EVIDENCES[::2], 3, "Tolkien"),
        (("Who wrote it?", "Q1", "nobody"), EVIDENCES[:2], 3, None),
        (TOLKIEN, [], 3, None),
        (TOLKIEN, EVIDENCES, 1, None),  # only what is read counts
        (BOOK, EVIDENCES, 3, "Yes"),
        (("Is it a book?", "Q7", "seven"), EVIDENCES, 3, None),
    ],
)
def test_name_in_the_best_evidence_or_yes_or_no_is_the_text_to_write(turn, evidences, read, answer):
    question, item, label = turn
    ha = Seq2SeqAnswering(parse_config({"ha": "seq2seq", "ha_model": "none", "evs_max_evidences": read}))
    gold = [{"id": item, "label": label}]
    example = fusion_example(ha, {"question": question, "answers": gold, "top_evidences": copy.deepcopy(evidences)})
    texts = tuple(f"question: {question} context: {part['evidence_text']}" for part in evidences)
    assert example == (None if answer is None else (texts, answer))


@pytest.mark.parametrize(("base", "words"), [(tiny(), "BertConfig"), (None, "set ha_training: {base:")])
def test_a_base_that_does_not_write_is_refused(workdir, base, words):
    ha = Seq2SeqAnswering(parse_config(KINDS["fusion"]().configuration("new", base or "")), writer=object())
    refused((ModelError, NothingToTrainError), lambda: ha.train(("kb",)), words)


# --- structured representations


@pytest.fixture
def settings(workdir):
    write_silver()
    return silver_settings


def module(keys):
    return StructuredRepresentation(parse_config(keys))


def test_examples_are_the_annotated_turns_with_their_history(settings):
    found = read_examples(parse_config(settings()), Path("results/mine/annotated_train.json"))
    second = "who directed it? ||| cameron ||| when was he born?"
    assert [tuple(example) for example in found] == [
        ("who directed it?", "|| titanic || directed || person"),
        (second, "titanic || cameron || born || date"),
        (f"{second} ||| 1954 ||| did you like it? ||| no ||| who wrote it?", "|| hobbit || wrote ||"),
    ]


@pytest.mark.parametrize(
    ("base", "epochs"),
    [
        ({"init_std": 0.1}, 60),
        pytest.param({"init_std": 0.1, "headless": True}, 60, marks=pytest.mark.slow),
        pytest.param({"kind": "t5", "initializer_factor": 1.0}, 120, marks=pytest.mark.slow),
    ],
)
def test_a_model_learns_to_write_representations(settings, base, epochs, monkeypatch):
    monkeypatch.setattr(structured_representation, "NO_REPEAT", 0)  # the tiny vocabulary repeats pieces of words
    training = {"base": str(writer(**base)), "epochs": epochs, "learning_rate": 1e-2}
    keys = settings(qu_training=training)
    folder = train_representation(module(keys))
    written = record(folder)
    losses = [epoch["loss"] for epoch in written["epochs"]]
    assert losses[written["best_epoch"]] == min(losses) < 0.2 * losses[0]
    assert written["exact_match"] == 1.0
    assert "100.0 % of its representations exactly" in (folder / "README.md").read_text()
    history = [{"turn": 0, "question": "who directed it?", "answers": [{"id": "Q0", "label": "cameron"}]}]
    trained = module({**keys, "qu_model": str(folder)})
    understanding = trained.inference_on_turn({"question": "when was he born?"}, history)
    assert understanding["structured_representation"] == "titanic || cameron || born || date"
    assert understanding["history_used"] == [{"turn": 0, "part": "answer", "text": "cameron"}]
    assert names("results/mine") == ["annotated_dev.json", "annotated_train.json", "qu_model"]


def test_missing_files_and_models_say_how_to_make_them(settings):
    error, words = NothingToTrainError, "set qu_training: {base: FOLDER or hub name}"
    refused(error, lambda: train_representation(module(settings(qu_training={"base": None}))), words)
    missing = module(settings(qu_model="./none"))
    refused(ModelError, lambda: missing.inference_on_turn({"question": "Who?"}, []), "qu_model: ./none: no such folder")
    Path("results/mine/annotated_dev.json").unlink()
    words = "annotated_dev.json: no such file; run bash run.sh annotate"
    refused(DataError, lambda: train_representation(module(settings())), words)


def test_the_command_says_which_key_takes_the_model(settings, capsys):
    write("my.yml", settings(qu_training={"epochs": 1}))
    assert main(["train", "qu", "my.yml"]) == 0
    assert "name it in qu_model" in capsys.readouterr().err
    assert Path("results/mine/qu_model/model.safetensors").is_file()


@pytest.mark.slow
class TestContract(QuestionUnderstandingContract):
    def config(self, **overrides):
        return super().config(qu="sr", qu_model=str(writer()), device="cpu", num_beams=2, **overrides)

    def make(self, config):
        return StructuredRepresentation(config)
