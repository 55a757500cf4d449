"""The `wikipedia` commands as a user types them."""

import json
import pickle
import re
from pathlib import Path

import pytest

from convinse.cli import main

HTML = "<p>It was made by <a href='/wiki/James_Cameron'>James Cameron</a> in the year 1997.</p>"


@pytest.fixture
def pages(workdir):
    lines = [json.dumps({"title": "Titanic (1997 film)", "url": "u", "qid": "Q44578", "html": HTML}), "{",
             json.dumps({"title": "Nobody", "url": "u", "qid": None, "html": HTML})]  # fmt: skip
    Path("pages.jsonl").write_text("\n".join(lines))
    Path("titles.tsv").write_text("title\tqid\nJames Cameron\tQ42574\n")
    return "pages.jsonl"


def rows(text):
    return dict(re.findall(r"│ (.+?) +│ +(\S+) │", text))


def test_build_and_info_print_what_the_dump_holds(pages, capsys):
    assert main(["wikipedia", "build", pages, "--output", "deep/w.db", "--titles", "titles.tsv", "--quiet"]) == 0
    built = rows(capsys.readouterr().out)
    assert (built["pages"], built["text evidences"], built["skipped bad lines"]) == ("1", "1", "1")
    assert built["skipped pages without an item"] == "1" and "seconds" in built
    assert main(["wikipedia", "info", "deep/w.db"]) == 0
    shown = rows(capsys.readouterr().out)
    assert shown.items() <= built.items() and {"build id", "info evidences"} <= shown.keys()


def test_import_pickle(workdir, capsys):
    evidence = {"evidence_text": "x", "source": "infobox", "disambiguations": [], "wikidata_entities": []}
    Path("d.pickle").write_bytes(pickle.dumps({"Q1": [evidence], "Q2": []}))
    assert main(["wikipedia", "import-pickle", "d.pickle", "--output", "w.db", "--quiet"]) == 0
    shown = rows(capsys.readouterr().out)
    assert (shown["pages"], shown["info evidences"], shown["skipped items without evidences"]) == ("1", "1", "1")


@pytest.mark.parametrize("arguments, words", [
    (["build", "nowhere.jsonl", "--output", "w.db"], ["nowhere.jsonl", "cannot be read"]),
    (["build", "pages.jsonl", "--output", "titles.tsv"], ["titles.tsv", "no Wikipedia dump"]),
    (["build", "pages.jsonl", "--output", "."], ["folder"]),
    (["build", "pages.jsonl", "--output", "w.db", "--titles", "no.tsv"], ["no.tsv"]),
    (["import-pickle", "evil.pickle", "--output", "w.db"], ["refused: os.system"]),
    (["import-pickle", "no.pickle", "--output", "w.db"], ["no.pickle"]),
    (["info", "pages.jsonl"], ["pages.jsonl", "not a Wikipedia dump"]),
    (["info", "no.db"], ["no.db"]),
])  # fmt: skip
def test_errors_are_one_line(pages, capsys, arguments, words):
    Path("evil.pickle").write_bytes(b"cos\nsystem\n(S'touch hacked'\ntR.")
    before = sorted(Path().iterdir())
    assert main(["wikipedia", *arguments, "--quiet"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and all(word in error for word in words)
    assert sorted(Path().iterdir()) == before
