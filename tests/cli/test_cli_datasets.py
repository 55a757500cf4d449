import gzip
import hashlib
import json
from pathlib import Path

import pytest

from convinse.cli import main
from convinse.formats import download as download_module
from loopback import scripted_server, serve
from written import write, write_lines

CONTEXT = "The answer is 42."


@pytest.fixture
def mrqa(workdir, command):
    questions = [{"id": "q1", "question": "What?", "answers": [{"text": "42", "answer_start": 14}], "is_impossible": False},
             {"id": "q2", "question": "Why?", "answers": [], "is_impossible": True}]  # fmt: skip
    write(
        "squad.json",
        {"version": "v2.0", "data": [{"title": "T", "paragraphs": [{"context": CONTEXT, "qas": questions}]}]},
    )
    command("convert", "squad.json", "mrqa.jsonl.gz", "--to", "mrqa", "--quiet")
    return "mrqa.jsonl.gz"


def test_validate_names_all_that_is_wrong(mrqa, capsys):
    example = json.loads(gzip.decompress(Path(mrqa).read_bytes()).splitlines()[1])
    example["qas"][0]["detected_answers"][0]["char_spans"] = [[14, 99]]
    write_lines("bad.jsonl", *[example] * 15)
    assert main(["validate", "bad.jsonl"]) == 1
    out, err = capsys.readouterr()
    assert err == "convinse: bad.jsonl: 43 problems, listed above\n"
    assert out.startswith("problem: bad.jsonl:1: qid 'q1': the character span [14, 99]")
    assert out.count("problem: ") == 20 and "23 more problems; --all prints them" in out
    assert main(["validate", "bad.jsonl", "--all"]) == 1
    assert capsys.readouterr().out.count("problem: ") == 43


def test_visualize(mrqa, command):
    out = command("visualize", mrqa)
    assert "The answer is »42«." in out and "question What?" in out and "\x1b" not in out and "q2" in out
    assert "q2" not in command("visualize", mrqa, "--limit", "1")
    assert "q1" not in command("visualize", mrqa, "--qid", "q2")


def test_download(command, monkeypatch):
    content = b'{"context": "a", "qas": [{"qid": "1", "question": "?", "answers": ["a"]}]}\n'
    table = {"x": [{"name": "X.jsonl", "url": "http://127.0.0.1:9/y", "md5": hashlib.md5(content).hexdigest()}]}
    monkeypatch.setattr(download_module, "TABLE", write("table.json", table))
    with scripted_server(serve(content)) as server:
        for more in ("", ", was there already"):
            shown = command("download", "x", "data", "--mirror", server.url, "--quiet")
            assert shown == f"data/X.jsonl: as published{more}\n"
    assert len(server.requests) == 1 and Path("data/X.jsonl").read_bytes() == content


def test_download_offline(command_error, monkeypatch):
    monkeypatch.setenv("CONVINSE_OFFLINE", "1")
    line = command_error("download", "mrqa-dev-out", "data")
    assert "bioasq.org" in line and "CONVINSE_OFFLINE" in line
