"""The `wikipedia` commands as a user types them."""

import pickle
import re

import pytest

from evidences import evidence
from written import names, write, write_lines

HTML = "<p>It was made by <a href='/wiki/James_Cameron'>James Cameron</a> in the year 1997.</p>"


@pytest.fixture
def pages():
    page = {"title": "Titanic (1997 film)", "url": "u", "qid": "Q44578", "html": HTML}
    write("titles.tsv", "title\tqid\nJames Cameron\tQ42574\n")
    return write_lines("pages.jsonl", page, "{", {**page, "title": "Nobody", "qid": None})


def rows(text):
    return dict(re.findall(r"│ (.+?) +│ +(\S+) │", text))


def test_build_and_info_print_what_the_dump_holds(pages, command):
    built = rows(command("wikipedia", "build", pages, "--output", "deep/w.db", "--titles", "titles.tsv", "--quiet"))
    assert (built["pages"], built["text evidences"], built["skipped bad lines"]) == ("1", "1", "1")
    assert built["skipped pages without an item"] == "1" and "seconds" in built
    shown = rows(command("wikipedia", "info", "deep/w.db"))
    assert shown.items() <= built.items() and {"build id", "info evidences"} <= shown.keys()


def test_import_pickle(command):
    path = write("d.pickle", pickle.dumps({"Q1": [evidence("x", "infobox")], "Q2": []}))
    shown = rows(command("wikipedia", "import-pickle", path, "--output", "w.db", "--quiet"))
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
def test_errors_are_one_line(pages, command_error, arguments, words):
    write("evil.pickle", b"cos\nsystem\n(S'touch hacked'\ntR.")
    before = names()
    error = command_error("wikipedia", *arguments, "--quiet")
    assert all(word in error for word in words)
    assert names() == before
