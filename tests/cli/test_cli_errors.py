"""Errors of the command line: commands, the files that they read and the words of the one line are in tests/cases/errors.yml."""

import gzip
import shlex
import sys
from pathlib import Path

import pytest

from case_tables import cases
from convinse.cli import main
from handmade import world
from handmade import write as write_documents
from places import ROOT
from written import write, write_lines

CASES = cases("errors")
QUESTION = {"question": "What?", "answers": ["42"]}


class Places(dict):
    """The paths that stand for {names} in the cases; models are made when they are asked for."""

    def __missing__(self, name):
        tiny = pytest.importorskip("tiny_models").tiny
        return str(tiny("bert", "question-answering") if name == "reader" else tiny())


def file_contents():
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.fixture
def places(workdir, monkeypatch):
    """Files that the commands read, and paths."""
    monkeypatch.setattr(
        sys, "dont_write_bytecode", True
    )  # Python itself would keep what it compiled of a user's module
    questions = [
        {"id": "q1", "question": "What?", "answers": [{"text": "42", "answer_start": 14}], "is_impossible": False}
    ]
    write("squad.json", {"version": "v2.0", "data": [{"title": "T", "paragraphs": [{"context": "The answer is 42.", "qas": questions}]}]})  # fmt: skip
    write_lines("mrqa.jsonl", {"header": {"dataset": "x"}}, {"context": "The answer is 42.", "context_tokens": [], "qas": [{"qid": "q1", **QUESTION}]})  # fmt: skip
    write("predictions.json", {"q1": "42"})
    write_lines("pages.jsonl", {"title": "Titanic", "url": "u", "qid": "Q44578", "html": "<p>It was made in 1997.</p>"})
    write("qu.json", [{"conv_id": "1", "questions": [{"question": "Who?", "structured_representation": "Who?"}]}])
    write("text", "Hello")
    write("cut.jsonl.gz", gzip.compress(Path("mrqa.jsonl").read_bytes() * 50, mtime=0)[:-20])
    write_documents(Path("dump.json"), world()[:3])
    return Places(poleval=str(ROOT / "examples" / "poleval"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.get("run", case.get("usage")) or "nothing")
def test_an_error_is_one_line_and_changes_no_file(case, places, command_error, capsys):
    for name, content in case.get("files", {}).items():
        write(name, content)
    before = file_contents()
    words = [word.format_map(places) for word in shlex.split(case.get("run", case.get("usage")))]
    if "usage" in case:
        with pytest.raises(SystemExit, match="^2$"):
            main(words)
        line = capsys.readouterr().err
    else:
        line = command_error(*words, *(["--quiet"] if words[0] != "evaluate" else []))
    for expected in case["says"]:
        assert expected in line
    after = file_contents()
    if case.get("begins"):
        after = {path: content for path, content in after.items() if path.parts[0] != "results"}
    assert after == before
