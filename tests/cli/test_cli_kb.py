import json
import pickle
import re
import shutil
import signal
import urllib.request
from pathlib import Path

import pytest

from convinse.cli import main
from convinse.cli.arguments import languages, size
from convinse.knowledge_base import build as build_module
from evidences import evidence
from handmade import claim, document, q
from handmade import write as write_documents
from loopback import free_port
from patience import PATIENCE
from written import write, write_lines


@pytest.fixture
def folder(world_index):
    return world_index.parent


@pytest.fixture
def serve(start):
    """Start `kb serve ...` in a process of its own; returns it and the address that it says it has."""

    def run(*arguments):
        code = "import sys; from convinse.cli import main; sys.exit(main(sys.argv[1:]))"
        process = start(code, "kb", "serve", *arguments)
        return process, re.search(r"http://[0-9.]+:\d+", process.stdout.readline())[0]

    return run


def test_build_passes_its_options_on_and_does_not_speak_of_conversations(folder, workdir, monkeypatch, capsys):
    seen = {}

    def build(dump, output, **options):
        seen.update(options, dump=dump, output=output)
        raise KeyboardInterrupt

    monkeypatch.setattr(build_module, "build", build)
    assert main(["kb", "build", "a.json", "--output", "b", "--memory", "1.5GB", "--language", "de,en"]) == 130
    assert capsys.readouterr().err == "convinse: interrupted; nothing was changed\n"
    arguments = {"memory": 1_500_000_000, "languages": ("de", "en", "mul"), "quiet": False}
    assert seen == {"dump": Path("a.json"), "output": Path("b"), **arguments}
    assert main(["kb", "build", "a.json", "--output", "b", "--quiet"]) == 130
    assert (seen["memory"], seen["languages"], seen["quiet"]) == (4_000_000_000, ("en", "mul"), True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("512MB", 512 * 10**6), ("4GB", 4 * 10**9), ("4gb", 4 * 10**9), ("2G", 2 * 10**9), ("1.5 GiB", 3 * 2**29),
     ("1000", 1000), ("8kB", 8000), ("1TiB", 2**40)],
)  # fmt: skip
def test_sizes(text, expected):
    assert size(text) == expected


def test_languages():
    assert languages("en") == ("en", "mul")
    assert languages("de, en") == ("de", "en", "mul")
    assert languages("mul,zh-hans") == ("mul", "zh-hans")


def test_an_item_is_updated_in_place(folder, workdir, command):
    shutil.copytree(folder / "kb", "kb")
    before = rows(command("kb", "info", "kb"))
    new = document("Q900001", "New", claim("P31", q("Q5")))
    shown = rows(command("kb", "update", "kb", write_documents(workdir / "new.json", [new]), "--quiet"))
    assert (shown["added"], shown["replaced"], shown["removed"]) == ("1", "0", "0")
    assert int(shown["items"]) == int(before["items"]) + 1 and shown["build id"] != before["build id"]


def test_search_as_json(folder, command):
    found = json.loads(command("kb", "search", folder / "kb", "Who directed Titanic?", "--json"))
    assert set(found) == {"kb_item_tuple", "search_space"}
    assert found["kb_item_tuple"][0]["item"]["label"] == "Titanic"
    assert ["Titanic", "director", "James Cameron"] in [[e["label"] for e in fact] for fact in found["search_space"]]
    assert "no item" in command("kb", "search", folder / "kb", "Who wrote it?")


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_serve_until_it_is_stopped(folder, serve, ending):
    port = free_port()
    process, address = serve(folder / "kb", "--port", port)
    assert address == f"http://127.0.0.1:{port}"
    with urllib.request.urlopen(f"{address}/test", timeout=PATIENCE) as response:
        assert response.status == 200
    process.send_signal(ending)
    assert process.communicate(timeout=PATIENCE) == ("", "")
    assert process.returncode in (0, 130 if ending == signal.SIGINT else -ending)


def test_a_taken_port_is_one_line(folder, serve, command_error):
    _, address = serve(folder / "kb", "--port", 0)
    port = address.rpartition(":")[2]
    line = command_error("kb", "serve", folder / "kb", "--port", port)
    assert f"127.0.0.1:{port}: cannot listen there" in line and "--port" in line


def test_serve_warns_of_other_machines(folder, serve):
    process, _ = serve(folder / "kb", "--port", 0, "--host", "0.0.0.0")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert "reachable from other machines" in err and err.count("\n") == 1


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


def test_pages_are_added_and_removed_in_place(pages, command):
    before = rows(command("wikipedia", "build", pages, "--output", "w.db", "--quiet"))
    more = write_lines("more.jsonl", {"title": "James Cameron", "url": "u", "qid": "Q42574", "html": HTML})
    added = rows(command("wikipedia", "add", "w.db", more, "--quiet"))
    assert (added["pages"], added["added"], added["linked anew"]) == ("2", "1", "1")
    removed = rows(command("wikipedia", "remove", "w.db", "James_Cameron"))
    assert (removed["pages"], removed["removed"], removed["linked anew"]) == ("1", "1", "1")
    assert removed["build id"] == before["build id"] != added["build id"]


def test_import_pickle(command):
    path = write("d.pickle", pickle.dumps({"Q1": [evidence("x", "infobox")], "Q2": []}))
    shown = rows(command("wikipedia", "import-pickle", path, "--output", "w.db", "--quiet"))
    assert (shown["pages"], shown["info evidences"], shown["skipped items without evidences"]) == ("1", "1", "1")
