"""convert, validate, visualize and download as a user types them."""

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

from convinse.cli import main
from convinse.formats import download as download_module
from fileserver import serve
from loopback import scripted_server

CONTEXT = "The answer is 42."


@pytest.fixture
def squad(workdir):
    asked = [{"id": "q1", "question": "What?", "answers": [{"text": "42", "answer_start": 14}], "is_impossible": False},
             {"id": "q2", "question": "Why?", "answers": [], "is_impossible": True}]  # fmt: skip
    Path("squad.json").write_text(
        json.dumps({"version": "v2.0", "data": [{"title": "T", "paragraphs": [{"context": CONTEXT, "qas": asked}]}]})
    )
    return "squad.json"


@pytest.fixture
def mrqa(squad, capsys):
    assert main(["convert", squad, "mrqa.jsonl.gz", "--to", "mrqa", "--quiet"]) == 0
    capsys.readouterr()
    return "mrqa.jsonl.gz"


def rows(text):
    return dict(re.findall(r"│ (.+?) +│ +(\S+) │", text))


def refused(arguments, capsys, *words):
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and error.startswith("convinse: ")
    for word in words:
        assert word in error, error


def test_convert(squad, capsys):
    assert main(["convert", squad, "deep/out.jsonl", "--to", "mrqa"]) == 0
    out, err = capsys.readouterr()
    shown = rows(out)
    assert (shown["contexts"], shown["questions"]) == ("1", "2") and "seconds" in shown
    assert [value for what, value in shown.items() if "unanswerable" in what] == ["1"]
    assert "read as squad" in err and "squad to mrqa" in out
    example = json.loads(Path("deep/out.jsonl").read_text().splitlines()[1])
    assert example["qas"][0]["detected_answers"][0]["char_spans"] == [[14, 15]]
    assert main(["convert", "deep/out.jsonl", "back.json", "--to", "squad", "--from", "mrqa", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert json.loads(Path("back.json").read_text())["data"] == json.loads(Path(squad).read_text())["data"]


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["nowhere", "out", "--to", "mrqa"], ["nowhere", "No such file"]),
        (["squad.json", "out", "--to", "mrqua"], ["mrqua", "did you mean 'mrqa'"]),
        (["squad.json", "out", "--to", "mrqa", "--from", "sqad"], ["sqad", "did you mean 'squad'"]),
        (["squad.json", "out", "--to", "mrqa", "--from", "mrqa"], ["squad.json:1", "context"]),
        (["squad.json", "squad.json", "--to", "mrqa"], ["is the file to read"]),
        (["squad.json", "squad.json/out", "--to", "mrqa"], ["squad.json/out", "cannot be written"]),
    ],
)
def test_convert_refuses(squad, capsys, arguments, words):
    refused(["convert", *arguments, "--quiet"], capsys, *words)
    assert [path.name for path in Path().iterdir()] == ["squad.json"]


def test_convert_wants_a_format(squad, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["convert", squad, "out"])
    assert caught.value.code == 2 and "--to" in capsys.readouterr().err


@pytest.mark.parametrize("more", [[], ["--format", "mrqa"]])
def test_validate(mrqa, capsys, more):
    assert main(["validate", mrqa, *more]) == 0
    out = capsys.readouterr().out.splitlines()
    assert "format: mrqa" in out and "questions: 2" in out and "header: squad, " in out


def test_validate_names_all_that_is_wrong(mrqa, capsys):
    example = json.loads(gzip.decompress(Path(mrqa).read_bytes()).splitlines()[1])
    example["qas"][0]["detected_answers"][0]["char_spans"] = [[14, 99]]
    Path("bad.jsonl").write_text("".join(json.dumps(example) + "\n" for _ in range(15)))
    assert main(["validate", "bad.jsonl"]) == 1
    out, err = capsys.readouterr()
    assert err == "convinse: bad.jsonl: 43 problems, listed above\n"
    assert out.startswith("problem: bad.jsonl:1: qid 'q1': the character span [14, 99]")
    assert out.count("problem: ") == 20 and "23 more problems; --all prints them" in out
    assert main(["validate", "bad.jsonl", "--all"]) == 1
    assert capsys.readouterr().out.count("problem: ") == 43


def test_validate_squad_and_multiqa(squad, capsys):
    assert main(["validate", squad]) == 0
    assert "unanswerable: 1" in capsys.readouterr().out
    assert main(["convert", squad, "m.jsonl", "--to", "multiqa", "--quiet"]) == 0
    assert main(["validate", "m.jsonl", "--fix-header"]) == 0
    assert "format: multiqa" in capsys.readouterr().out


def test_validate_refuses(squad, capsys):
    refused(["validate", "nowhere"], capsys, "nowhere", "No such file")
    Path("text").write_text("Hello")
    refused(["validate", "text"], capsys, "text", "--format")
    refused(["validate", "text", "--format", "squad"], capsys, "not valid JSON")


def test_visualize(mrqa, capsys):
    assert main(["visualize", mrqa]) == 0
    out = capsys.readouterr().out
    assert "The answer is »42«." in out and "question What?" in out and "\x1b" not in out and "q2" in out
    assert main(["visualize", mrqa, "--limit", "1"]) == 0
    assert "q2" not in capsys.readouterr().out
    assert main(["visualize", mrqa, "--qid", "q2"]) == 0
    assert "q1" not in capsys.readouterr().out
    refused(["visualize", mrqa, "--qid", "q3"], capsys, "q3")
    with pytest.raises(SystemExit):
        main(["visualize", mrqa, "--limit", "0"])


def test_download(workdir, capsys, monkeypatch):
    content = b'{"context": "a", "qas": [{"qid": "1", "question": "?", "answers": ["a"]}]}\n'
    table = {"x": {"about": "", "base": "http://127.0.0.1:9/", "files": [
        {"name": "X.jsonl", "url": "y", "md5": hashlib.md5(content).hexdigest(), "examples": 1}]}}  # fmt: skip
    Path("table.json").write_text(json.dumps(table))
    monkeypatch.setattr(download_module, "_TABLE", Path("table.json"))
    with scripted_server(serve(content)) as server:
        for _ in range(2):
            assert main(["download", "x", "data", "--mirror", server.url, "--quiet"]) == 0
    assert capsys.readouterr().out == "data/X.jsonl: 1 questions\ndata/X.jsonl: 1 questions, was there already\n"
    assert len(server.requests) == 1 and Path("data/X.jsonl").read_bytes() == content
    refused(["download", "y", "data"], capsys, "unknown data set 'y'", "x")


def test_download_offline(workdir, capsys, monkeypatch):
    monkeypatch.setenv("CONVINSE_OFFLINE", "1")
    refused(["download", "mrqa-dev-out", "data"], capsys, "bioasq.org", "CONVINSE_OFFLINE")
