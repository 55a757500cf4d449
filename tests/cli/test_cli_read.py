import json
from pathlib import Path

import pytest

from convinse.cli import main
from convinse.encoder.extractive_reader import ExtractiveReader
from tiny_models import copy_of, damage, tiny
from written import names, read_json, write, write_lines

MODEL = tiny("bert", "question-answering")
TEXTS = {
    "a": ("who wrote the hobbit", "[TLE] the hobbit [PAR] a book by tolkien \u00e9\U0001f44d\U0001f3fd\r\n in england"),
    "b": ("where", "a city in south africa"),
    "c": ("who directed titanic", "james cameron directed titanic " * 60),
}


@pytest.fixture(scope="module")
def reader():
    return ExtractiveReader(MODEL, "cpu")


def expected(reader, pairs=TEXTS):
    return {qid: reader.read(question, [text])[0].text for qid, (question, text) in pairs.items()}


def mrqa(path, pairs=TEXTS, header=True):
    lines = [{"header": {"dataset": "x", "split": "dev"}}] * header
    return str(write_lines(path, *lines, *contexts("qid", pairs)))


def squad(path, pairs=TEXTS, title="the title"):
    return str(write(path, {"version": "v2.0", "data": [{"title": title, "paragraphs": contexts("id", pairs)}]}))


def contexts(key, pairs):
    return [{"context": text, "qas": [{key: qid, "question": question, "answers": []}]}
            for qid, (question, text) in pairs.items()]  # fmt: skip


def words(*arguments, model=MODEL):
    options = ["--model", str(model)] if model else []
    return ["read", "--output", "out.json", "--device", "cpu", *options, *arguments]


def read(*arguments, **options):
    return main(words(*arguments, **options))


def predictions(name="out.json"):
    return read_json(name)


def test_the_formats_have_the_same_predictions(workdir, reader):
    """The title is not a part of the text."""
    assert main(["convert", squad(workdir / "x.json"), "multi.jsonl.gz", "--to", "multiqa", "--quiet"]) == 0
    for name in ("x.json", "multi.jsonl.gz"):
        assert read(name, "--quiet") == 0
        assert predictions() == expected(reader)


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_mrqa(workdir, reader, name, capsys):
    assert read(mrqa(workdir / name)) == 0
    assert predictions() == expected(reader)
    assert list(predictions()) == list(TEXTS)
    printed = capsys.readouterr()
    assert printed.out == "out.json: 3 predictions\n"
    assert names() == ["out.json", name]


def test_the_text_does_not_depend_on_the_answers(workdir, reader):
    """`flatten` takes the title into the text where an answer stands in it."""
    text = "a book and a film"
    place = {"doc_id": 0, "part": "title", "start_byte": 0, "text": "tolkien"}
    candidate = {"single_answer": {"extractive": {"answer": "tolkien", "instances": [place]}}}
    question = {"question": "who", "qid": "q", "answers": {"open-ended": {"annotators_answer_candidates": [candidate]}}}
    documents = [{"version": "x", "title": "tolkien", "text": text}]
    context = {"id": "c", "context": {"documents": documents}, "qas": [question]}
    write_lines("x.jsonl", {"header": {"dataset_name": "x"}}, context)
    assert read("x.jsonl", "--quiet") == 0
    assert predictions()["q"] in text and predictions() == expected(reader, {"q": ("who", text)})


def test_no_answer(workdir, reader):
    mrqa(workdir / "x.jsonl", {**TEXTS, "d": ("who", " \n")})
    assert read("x.jsonl", "--na-probs", "na.json", "--quiet") == 0
    chances = predictions("na.json")
    for qid, (question, text) in TEXTS.items():
        assert chances[qid] == pytest.approx(reader.read(question, [text])[0].no_answer, abs=1e-5)
    assert predictions()["d"] == "" and chances["d"] == 1.0
    middle = sorted(chances.values())[1]
    answered = predictions()
    assert read("x.jsonl", "--no-answer", str(middle + 1e-4), "--quiet") == 0
    assert predictions() == {qid: answered[qid] if chances[qid] <= middle else "" for qid in chances}
    assert 0 < list(predictions().values()).count("") < 4


def test_the_model_of_a_configuration(workdir, reader):
    Path("my.yml").write_text(json.dumps({"ha_model": str(MODEL)}))
    assert read(mrqa(workdir / "x.jsonl"), "--config", "my.yml", "--quiet", model=None) == 0
    assert predictions() == expected(ExtractiveReader(MODEL, "cpu"))
    other = tiny("bert", "question-answering", seed=5)
    assert read("x.jsonl", "--config", "my.yml", "--quiet", model=other) == 0
    assert predictions() == expected(ExtractiveReader(other, "cpu")) != expected(ExtractiveReader(MODEL, "cpu"))


def test_a_broken_model(workdir, tmp_path, command_error):
    broken = damage(copy_of(MODEL, tmp_path / "model"), lambda tensors: tensors["qa_outputs.bias"].fill_(float("nan")))
    assert "is not a number" in command_error(*words(mrqa(workdir / "x.jsonl"), "--quiet", model=broken))
    assert names() == ["x.jsonl"]
