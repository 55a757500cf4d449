"""The `kb` commands as a user types them."""

import json
import re
import signal
import urllib.request
from pathlib import Path

import pytest

from convinse.cli import main
from convinse.cli.arguments import languages, size
from convinse.knowledge_base import build as build_module
from loopback import free_port


@pytest.fixture
def folder(world_index):
    """A folder with a dump and its index; not to be written to."""
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
    given = {"memory": 1_500_000_000, "languages": ("de", "en", "mul"), "quiet": False}
    assert seen == {"dump": Path("a.json"), "output": Path("b"), **given}
    assert main(["kb", "build", "a.json", "--output", "b", "--quiet"]) == 130
    assert (seen["memory"], seen["languages"], seen["quiet"]) == (4_000_000_000, ("en", "mul"), True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("512MB", 512 * 10**6), ("4GB", 4 * 10**9), ("4gb", 4 * 10**9), ("2G", 2 * 10**9), ("1.5 GiB", 3 * 2**29),
     ("1000", 1000), ("8kB", 8000), ("1TiB", 2**40)],
)  # fmt: skip
def test_sizes(text, expected):
    assert size(text) == expected


@pytest.mark.parametrize("text", ["", "GB", "4XB", "-4GB", "4 G B", "1.2.3GB", "nan", "1e9", "four", "."])
def test_sizes_that_are_none(text, usage_error):
    assert "512MB or 4GB" in usage_error("kb", "build", "a.json", "--output", "b", f"--memory={text}")


def test_languages():
    assert languages("en") == ("en", "mul")
    assert languages("de, en") == ("de", "en", "mul")
    assert languages("mul,zh-hans") == ("mul", "zh-hans")


@pytest.mark.parametrize("text", ["", "en,", "EN", "e n", "ü"])
def test_languages_that_are_none(text, usage_error):
    assert "such as en" in usage_error("kb", "build", "a.json", "--output", "b", f"--language={text}")


def test_search_as_json(folder, command):
    found = json.loads(command("kb", "search", folder / "kb", "Who directed Titanic?", "--json"))
    assert set(found) == {"kb_item_tuple", "search_space"}
    assert found["kb_item_tuple"][0]["item"]["label"] == "Titanic"
    assert ["Titanic", "director", "James Cameron"] in [[e["label"] for e in fact] for fact in found["search_space"]]


def test_search_without_items(folder, command):
    asked = ("kb", "search", folder / "kb", "Who wrote it?")
    assert "no item" in command(*asked)
    assert json.loads(command(*asked, "--json")) == {"kb_item_tuple": [], "search_space": []}


@pytest.mark.parametrize(
    "arguments",
    [["info", "nowhere"], ["search", "nowhere", "x"], ["serve", "nowhere"], ["build", "nowhere", "--output", "x"]],
)
def test_what_is_not_there_is_one_line(arguments, command_error):
    assert "nowhere" in command_error("kb", *arguments)


@pytest.mark.parametrize(
    "arguments",
    [[], ["serv"], ["info"], ["serve", "kb", "--port", "70000"], ["serve", "kb", "--port", "x"], ["build", "x"]],
)
def test_wrong_usage(usage_error, arguments):
    assert usage_error("kb", *arguments)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_serve_until_it_is_stopped(folder, serve, ending):
    port = free_port()
    process, address = serve(folder / "kb", "--port", port)
    assert address == f"http://127.0.0.1:{port}"
    with urllib.request.urlopen(f"{address}/test", timeout=10) as response:
        assert response.status == 200
    process.send_signal(ending)
    assert process.communicate(timeout=30) == ("", "")
    assert process.returncode in (0, 130 if ending == signal.SIGINT else -ending)


def test_serve_links_relations_with_the_embedded_model(folder, serve):
    _, address = serve(folder / "kb", "--port", 0)
    body = json.dumps({"question": "Who performed in Titanic?", "parameters": {}, "top_ranked": True}).encode()
    request = urllib.request.Request(
        f"{address}/linking_api/relation_linking", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        (linking,) = json.loads(response.read())["linkings"]
    assert linking == {"item": {"id": "P161", "label": "cast member"}, "mention": "performed"}


def test_serve_on_a_free_port_and_on_a_taken_one(folder, serve, command_error):
    _, address = serve(folder / "kb", "--port", 0)
    port = address.rpartition(":")[2]
    line = command_error("kb", "serve", folder / "kb", "--port", port)
    assert f"127.0.0.1:{port}: cannot listen there" in line and "--port" in line


def test_serve_warns_of_other_machines(folder, serve):
    process, _ = serve(folder / "kb", "--port", 0, "--host", "0.0.0.0")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert "reachable from other machines" in err and err.count("\n") == 1
