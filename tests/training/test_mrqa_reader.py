"""`train reader`: files of the MRQA format, found and drawn from; the trained model and the table of the task."""

import gzip
import re
from collections import ChainMap, Counter
from functools import partial
from pathlib import Path

import pytest

from case_tables import each_case
from convinse.cli import main
from convinse.encoder.checkpoint import load_checkpoint
from convinse.encoder.extractive_reader import ExtractiveReader
from convinse.formats.download import find_collection
from convinse.scoring.mrqa import evaluate
from convinse.support.errors import ConfigError, DataError
from convinse.training import mrqa_reader
from convinse.training.mrqa_baseline import BASELINES, comparison, file_names
from convinse.training.mrqa_reader import dev_questions, find_sets, train_examples
from refusals import refused
from tiny_models import tiny
from toy_reading import mrqa_line, toy_examples
from trainings import record, write_mrqa
from written import write, write_lines

# --- files


@pytest.fixture
def file(workdir):
    return lambda *lines, name="set.jsonl": write_lines(workdir / name, *lines)


def line(context, *questions):
    numbered = [{"qid": f"{context}{n}", "question": "who?", **question} for n, question in enumerate(questions)]
    return {"context": context, "qas": numbered}


def spans(*pairs):
    return {"detected_answers": [{"text": "", "char_spans": [list(pair)]} for pair in pairs], "answers": ["x"]}


@pytest.mark.parametrize("name", ["set.jsonl", "set.jsonl.gz"])
def test_spans_of_all_answers_become_exclusive(file, name):
    contexts = line("one two", spans((4, 6), (0, 2), (4, 6))), line("three", spans((0, 4)), spans((1, 1)))
    found = train_examples(file({"header": {"dataset": "x"}}, *contexts, name=name), None, 1)
    expected = [("one two", ((0, 3), (4, 7))), ("three", ((0, 5),)), ("three", ((1, 2),))]
    assert [(example.context, example.spans) for example in found] == expected
    assert found[1].context is found[2].context  # kept once


@pytest.fixture
def toys(file):
    """A file of so many toy examples, without header and tokens."""
    return lambda number, **name: file(*(mrqa_line(e, str(n)) for n, e in enumerate(toy_examples(1, number))), **name)


def test_a_sample_is_seeded_and_every_question_is_as_likely(toys):
    path = toys(40)
    everything = train_examples(path, None, 1)
    assert everything == train_examples(path, 99, 1) == toy_examples(1, 40)
    assert train_examples(path, 10, 3) == train_examples(path, 10, 3) != train_examples(path, 10, 4)
    counts = Counter()
    for seed in range(200):
        drawn = train_examples(path, 10, seed)
        assert len(drawn) == 10
        counts.update(everything.index(example) for example in drawn)
    assert min(counts[place] for place in range(40)) > 25 and max(counts.values()) < 80  # of 50


def test_questions_without_a_span_are_trained_on_if_impossible_and_validated_on_if_answered(file):
    path = file(line("one", {"answers": ["x"]}, spans((0, 2)), {"is_impossible": True}))
    assert [example.spans for example in train_examples(path, None, 1)] == [((0, 3),), ()]
    path = file(line("one", spans((0, 2)), {"answers": []}, {"answers": ["elsewhere"]}))
    answers = {question.qid: question.answers for _, question in dev_questions(path, None, 1)}
    assert answers == {"one0": ["x"], "one2": ["elsewhere"]}
    unanswered = file(line("one", {"answers": []}))
    refused(DataError, lambda: dev_questions(unanswered, None, 1), "set.jsonl: no question with accepted answers")


@each_case("faulty_mrqa")
def test_a_faulty_line_is_named_with_its_question(file, case):
    assert re.search(case["message"], refused(DataError, lambda: train_examples(file(*case["lines"]), None, 1)))


def test_files_are_found_by_name(workdir):
    for name in ("dev/SQuAD.jsonl.gz", "dev/notes.txt", "other/mine.jsonl", "dev/NaturalQuestionsShort.jsonl"):
        write(workdir / name)
    both = find_sets([workdir / "dev", workdir / "other"], "dev_folders")
    files = {"SQuAD": "SQuAD.jsonl.gz", "NaturalQuestionsShort": "NaturalQuestionsShort.jsonl", "mine": "mine.jsonl"}
    assert {name: path.name for name, path in both.items()} == files
    chosen = find_sets([workdir / "dev"], "train_folder", ["NaturalQuestions", "SQuAD"])
    assert list(chosen) == ["NaturalQuestionsShort", "SQuAD"]
    with pytest.raises(ConfigError, match=r"train_sets: no SQuADs.jsonl .* did you mean 'SQuAD'\?"):
        find_sets([workdir / "dev"], "train_folder", ["SQuADs"])
    (workdir / "other/SQuAD.jsonl").touch()
    for folders, words in ((["dev", "other"], ["the data set is there twice"]), (["none"], ["none: no NAME.jsonl"])):
        refused(ConfigError, partial(find_sets, [workdir / name for name in folders], "my_key"), "my_key: ", *words)


# --- the table of the task


@pytest.mark.parametrize(("name", "mark"), [("mrqa-dev-in", "(I)"), ("mrqa-dev-out", "(O)")])
def test_every_downloaded_dev_set_has_a_row(name, mark):
    sets = {file.name.removesuffix(".jsonl.gz") for file in find_collection(name)}
    rows = comparison(dict.fromkeys(sets, (1.0, 2.0)))
    measured = [title for title, scores in rows[:12] if scores[-1] is not None]
    assert len(measured) == 6 and len(rows) == 13 and all(title.startswith(mark) for title in measured)
    assert file_names("TriviaQA") == file_names("TriviaQA-web") == ("TriviaQA", "TriviaQA-web")
    assert file_names("mine") == ("mine",) and len({file for row in BASELINES for file in row.files}) == 15


def test_means_compare_the_same_sets():
    base, large = ((78.5 + 25.7) / 2, (86.7 + 34.5) / 2), ((80.3 + 34.6) / 2, (88.4 + 43.8) / 2)
    mean = comparison({"SQuAD": (80.0, 90.0), "DROP": (20.0, 30.0)})[-1]
    assert mean == ("mean of 2", [pytest.approx(base), pytest.approx(large), (50.0, 60.0)])
    rows = comparison({"SQuAD": (80.0, 90.0), "mine": (20.0, 30.0)})
    assert rows[12:] == [("mine", (None, None, (20.0, 30.0))), ("mean of 2", [None, None, (50.0, 60.0)])]


# --- training

DEV = {"dev-in": {"SQuAD": 20, "TriviaQA-web": 10}, "dev-out": {"DROP": 10, "mine": 5}}
BASE = str(tiny("bert", "question-answering", initializer_range=0.05))


@pytest.fixture
def data(workdir):
    """A folder as `--data` takes it; its training sets are packed."""
    dev = {f"{folder}/{name}": number for folder, sets in DEV.items() for name, number in sets.items()}
    folder = write_mrqa(workdir / "data", {"train/SQuAD": 260, "train/NewsQA": 130, **dev})
    for path in (folder / "train").iterdir():
        path.with_suffix(".jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    return folder


def train(**changes):
    """Train by a configuration of the data above; returns the exit status."""
    settings = {"base": BASE, "output": "out", "train_folder": "data/train", "dev_folders": ["data/dev-in", "data/dev-out"],
                "device": "cpu", "max_length": 64, "stride": 8, **changes}  # fmt: skip
    write("my.yml", settings)
    return main(["train", "reader", "--config", "my.yml", "--quiet"])


def test_tiny_yml_trains_and_prints_the_table(data, capsys):
    arguments = ["--config", "mrqa/tiny.yml", "--data", "data", "--base", BASE, "--output", "models/tiny", "--quiet"]
    assert main(["train", "reader", *arguments]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = [line.split("│") for line in printed.out.splitlines()]
    rows = {cells[1].strip(): [cell.strip() for cell in cells[2:5]] for cells in lines if len(cells) == 6}
    assert rows["(I) SQuAD"][:2] == ["78.5 / 86.7", "80.3 / 88.4"]
    assert rows["(O) DuoRC"] == ["44.8 / 54.6", "46.8 / 58.0", "–"]
    scores = record("models/tiny")["dev"]
    titles = {"(I) SQuAD": "SQuAD", "(I) TriviaQA Web": "TriviaQA-web", "(O) DROP": "DROP", "mine": "mine"}
    for title, name in titles.items():
        assert rows[title][2] == f"{scores[name]['exact_match']:.1f} / {scores[name]['f1']:.1f}"
    assert rows["mean of 4"][2].endswith(f"{sum(score['f1'] for score in scores.values()) / 4:.1f}")
    card = Path("models/tiny/README.md").read_text()
    for words in ("NewsQA (130 questions)", "- learning_rate: 0.0001", "macro F1", "| (I) SQuAD | 78.5 / 86.7 |"):
        assert words in card


def test_it_learns_and_the_written_model_has_the_figures(data):
    assert train(epochs=7, learning_rate=3e-3, batch_size=16) == 0
    found = record("out")
    scores = [measures["macro F1"] for measures in found["epochs"]]
    assert len(scores) == 8 and found["best_epoch"] == scores.index(max(scores)) > 0
    assert max(scores) > 60 > 30 > scores[0]
    reader = ExtractiveReader("out", "cpu", precision="fp32", max_length=64, stride=8)  # as it was measured
    for path in (data / "dev-in/SQuAD.jsonl", data / "dev-out/DROP.jsonl"):
        questions = dev_questions(path, None, 1)
        predictions = {q.qid: reader.read(q.question, [context])[0].text for context, q in questions}
        expected = evaluate({q.qid: q.answers for _, q in questions}, predictions)
        assert found["dev"][path.stem] == pytest.approx(expected)
    tokens = load_checkpoint("out", "question-answering").tokenizer.tokenize("[TLE] the [PAR]")
    assert tokens == ["[TLE]", "the", "[PAR]"]


def test_the_epoch_is_chosen_on_drawn_questions_and_the_figures_are_of_all(data, monkeypatch):
    sizes, original = [], mrqa_reader.validate

    def counted(reader, dev, quiet):
        sizes.append({name: len(questions) for name, questions in dev.items()})
        return original(reader, dev, quiet)

    monkeypatch.setattr(mrqa_reader, "validate", counted)
    assert train(epochs=1, dev_questions=7) == 0
    assert sizes[:2] == [{"SQuAD": 7, "TriviaQA-web": 7, "DROP": 7, "mine": 5}] * 2
    assert dict(ChainMap(*sizes[2:])) == DEV["dev-in"] | DEV["dev-out"]
