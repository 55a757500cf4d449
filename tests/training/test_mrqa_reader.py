"""`train reader`: from a folder of small MRQA files to a model folder and the table."""

import gzip
from collections import ChainMap, Counter
from pathlib import Path

import pytest

from convinse.cli import main
from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.scoring.mrqa import evaluate
from convinse.training import mrqa_reader as mrqa_training
from convinse.training.mrqa_reader import dev_questions, validate
from tiny_models import tiny
from trainings import record, write_mrqa
from written import names, write

DEV = {"dev-in": {"SQuAD": 20, "TriviaQA-web": 10}, "dev-out": {"DROP": 10, "mine": 5}}


@pytest.fixture
def data(workdir):
    """A folder as `--data` takes it; its training sets are packed."""
    dev = {f"{folder}/{name}": number for folder, sets in DEV.items() for name, number in sets.items()}
    folder = write_mrqa(workdir / "data", {"train/SQuAD": 260, "train/NewsQA": 130, **dev})
    for path in (folder / "train").iterdir():
        path.with_suffix(".jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    return folder


BASE = ("--base", str(tiny("bert", "question-answering", initializer_range=0.05)))


def config_file(**changes):
    settings = {"base": BASE[1], "output": "out", "train_folder": "data/train", "dev_folders": ["data/dev-in", "data/dev-out"],
                "device": "cpu", "max_length": 64, "stride": 8, **changes}  # fmt: skip
    write("my.yml", settings)
    return "my.yml"


def train(*arguments):
    return main(["train", "reader", *arguments])


def test_tiny_yml_trains_and_prints_the_table(data, capsys, workdir):
    assert train("--config", "mrqa/tiny.yml", "--data", "data", *BASE, "--output", "models/tiny", "--quiet") == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    rows = {
        cells[1].strip(): [cell.strip() for cell in cells[2:5]]
        for line in printed.out.splitlines()
        if len(cells := line.split("│")) == 6
    }
    kinds = Counter(name[:3] for name in rows)
    assert kinds["(I)"] == kinds["(O)"] == 6
    assert rows["(I) SQuAD"][:2] == ["78.5 / 86.7", "80.3 / 88.4"]
    assert rows["(O) DuoRC"] == ["44.8 / 54.6", "46.8 / 58.0", "–"]
    scores = record("models/tiny")["dev"]
    titles = {"(I) SQuAD": "SQuAD", "(I) TriviaQA Web": "TriviaQA-web", "(O) DROP": "DROP", "mine": "mine"}
    for title, name in titles.items():
        assert rows[title][2] == f"{scores[name]['exact_match']:.1f} / {scores[name]['f1']:.1f}"
    assert rows["mean of 4"][2].endswith(f"{sum(score['f1'] for score in scores.values()) / 4:.1f}")
    assert names("models") == ["tiny"]
    card = Path("models/tiny/README.md").read_text()
    for words in ("SQuAD (260 questions)", "NewsQA (130 questions)", "- learning_rate: 0.0001", "macro F1",
                  "| (I) SQuAD | 78.5 / 86.7 |"):  # fmt: skip
        assert words in card
    assert not list(Path("models/tiny").glob("*.bin"))


def test_it_learns_and_the_figures_are_those_of_the_written_model(data, workdir):
    assert train("--config", config_file(epochs=7, learning_rate=3e-3, batch_size=16, patience=99), "--quiet") == 0
    found = record("out")
    scores = [measures["macro F1"] for measures in found["epochs"]]
    assert len(scores) == 8 and found["best_epoch"] == scores.index(max(scores)) > 0
    assert max(scores) > 60 > 30 > scores[0]
    reader = ExtractiveReader("out", "cpu", max_length=64, stride=8)
    for path in (data / "dev-in/SQuAD.jsonl", data / "dev-out/DROP.jsonl"):
        questions = dev_questions(path, None, 1)
        predictions = {q.qid: reader.read(q.question, [q.context])[0].text for q in questions}
        expected = evaluate({q.qid: q.answers for q in questions}, predictions)
        assert found["dev"][path.stem] == pytest.approx(expected)
    marked = load_checkpoint("out", "question-answering").tokenizer.tokenize("[TLE] the [PAR]")
    assert marked == ["[TLE]", "the", "[PAR]"]


def test_validation_means_each_set_the_same(data):
    reader = ExtractiveReader(BASE[1], "cpu", max_length=64, stride=8)
    dev = {
        name: dev_questions(data / f"{folder}/{name}.jsonl", None, 1) for folder, sets in DEV.items() for name in sets
    }
    found = validate(reader, dev, quiet=True)
    for measure in ("EM", "F1"):
        values = [found[f"{name} {measure}"] for name in dev]
        assert found[f"macro {measure}"] == pytest.approx(sum(values) / 4)
    assert len(set(values)) > 1


def test_a_stopped_part_of_an_epoch_goes_on_elsewhere(data, monkeypatch, workdir):
    options = {"epochs": 1, "validations": 3, "learning_rate": 1e-3, "dev_questions": 5}
    assert train("--config", config_file(**options), "--quiet") == 0
    original, calls = mrqa_training.validate, []

    def stop(*arguments):
        calls.append(1)
        if len(calls) == 3:  # before training, and after parts 1 and 2
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(mrqa_training, "validate", stop)
    moved = workdir / "elsewhere"
    assert train("--config", config_file(**options), "--output", str(moved / "parts"), "--quiet") == 130
    monkeypatch.setattr(mrqa_training, "validate", lambda *arguments: calls.append(2) or original(*arguments))
    assert train("--config", config_file(**options), "--output", str(moved / "parts"), "--quiet") == 0
    assert calls.count(2) == 2 + 4  # parts 2 and 3, then all questions of the four sets
    assert record(moved / "parts") == record("out")
    assert (moved / "parts/model.safetensors").read_bytes() == Path("out/model.safetensors").read_bytes()


def test_the_epoch_is_chosen_on_drawn_questions_and_the_figures_are_of_all(data, monkeypatch):
    sizes, original = [], mrqa_training.validate

    def count(reader, dev, quiet):
        sizes.append({name: len(questions) for name, questions in dev.items()})
        return original(reader, dev, quiet)

    monkeypatch.setattr(mrqa_training, "validate", count)
    assert train("--config", config_file(epochs=1, dev_questions=7), "--quiet") == 0
    assert sizes[:2] == [{"SQuAD": 7, "TriviaQA-web": 7, "DROP": 7, "mine": 5}] * 2
    assert dict(ChainMap(*sizes[2:])) == DEV["dev-in"] | DEV["dev-out"]


def test_the_number_of_examples_is_of_each_set(data):
    assert train("--config", config_file(epochs=1, examples=50, train_sets=["NewsQA"], minutes=0.001), "--quiet") == 0
    card = Path("out/README.md").read_text()
    assert "NewsQA (50 questions);" in card and "SQuAD (" not in card


# --- configuration


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "train reader takes its settings by --config FILE"),
        (["kb_text", "--config", "mrqa/tiny.yml"], "train reader takes its settings by --config FILE"),
        (
            ["--config", "mrqa/tinny.yml"],
            "mrqa/tinny.yml: no such configuration, nor in config/; did you mean 'mrqa/tiny.yml'?",
        ),
        (["--config", "mrqa/tiny.yml", "--data", "nowhere"], "--data: nowhere: has no folder dev, dev-in or dev-out"),
        (["--config", "mrqa/tiny.yml"], "train_folder: No such file or directory: data/mrqa-tiny/train"),
    ],
)
def test_wrong_use(arguments, message, command_error):
    assert message in command_error("train", "reader", *arguments)


def test_options_of_the_reader_belong_to_it(command_error):
    assert "--data belongs to train reader" in command_error("train", "ha", "--data", "x")
