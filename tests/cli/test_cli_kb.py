"""The `kb` commands as a user types them."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from convinse.cli import main
from convinse.cli.arguments import languages, size
from convinse.knowledge_base import build as build_module
from handmade import world, write
from loopback import free_port
from places import ROOT


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli-kb")
    write(folder / "dump.json", world())
    assert main(["kb", "build", str(folder / "dump.json"), "--output", str(folder / "kb"), "--quiet"]) == 0
    return folder


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "convinse", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_build_prints_what_was_built(folder, workdir, capsys):
    arguments = ["--output", "new/kb", "--memory", "512MB", "--language", "en"]
    assert main(["kb", "build", str(folder / "dump.json"), *arguments, "--quiet"]) == 0
    out = capsys.readouterr().out
    for word in ("new/kb", "items", "facts", "build id", "format", "bytes a fact"):
        assert word in out
    assert main(["kb", "info", str(folder / "kb")]) == 0
    numbers = re.findall(r"(items|properties|facts|build id) │ +(\w+)", capsys.readouterr().out)
    assert re.findall(r"(items|properties|facts|build id) │ +(\w+)", out) == numbers  # whatever its settings
    assert dict(numbers)["properties"] == "11"


def test_build_passes_its_options_on(folder, workdir, monkeypatch):
    seen = {}

    def build(dump, output, **options):
        seen.update(options, dump=dump, output=output)
        raise KeyboardInterrupt

    monkeypatch.setattr(build_module, "build", build)
    assert main(["kb", "build", "a.json", "--output", "b", "--memory", "1.5GB", "--language", "de,en"]) == 130
    assert seen == {
        "dump": Path("a.json"),
        "output": Path("b"),
        "memory": 1_500_000_000,
        "languages": ("de", "en", "mul"),
        "quiet": False,
    }
    assert main(["kb", "build", "a.json", "--output", "b", "--quiet"]) == 130
    assert (seen["memory"], seen["languages"], seen["quiet"]) == (4_000_000_000, ("en", "mul"), True)


def test_an_interrupted_build_does_not_speak_of_conversations(monkeypatch, workdir, capsys):
    def build(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(build_module, "build", build)
    assert main(["kb", "build", "a.json", "--output", "b"]) == 130
    assert capsys.readouterr().err == "convinse: interrupted; nothing was changed\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("512MB", 512 * 10**6), ("4GB", 4 * 10**9), ("4gb", 4 * 10**9), ("2G", 2 * 10**9), ("1.5 GiB", 3 * 2**29),
     ("1000", 1000), ("8kB", 8000), ("1TiB", 2**40)],
)  # fmt: skip
def test_sizes(text, expected):
    assert size(text) == expected


@pytest.mark.parametrize("text", ["", "GB", "4XB", "-4GB", "4 G B", "1.2.3GB", "nan", "1e9", "four", "."])
def test_sizes_that_are_none(text, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["kb", "build", "a.json", "--output", "b", f"--memory={text}"])
    assert "512MB or 4GB" in capsys.readouterr().err


def test_languages():
    assert languages("en") == ("en", "mul")
    assert languages("de, en") == ("de", "en", "mul")
    assert languages("mul,zh-hans") == ("mul", "zh-hans")


@pytest.mark.parametrize("text", ["", "en,", "EN", "e n", "ü"])
def test_languages_that_are_none(text, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["kb", "build", "a.json", "--output", "b", f"--language={text}"])
    assert "such as en" in capsys.readouterr().err


def test_info_of_the_embedded_snapshot(capsys):
    assert main(["kb", "info", "snapshot:kb"]) == 0
    assert "facts" in capsys.readouterr().out


def test_search_shows_items_and_facts(folder, capsys):
    assert main(["kb", "search", str(folder / "kb"), "Who directed Titanic with Kate Winslet?"]) == 0
    out = capsys.readouterr().out
    for word in ("Q44578", "Kate Winslet", "score", "Titanic, director, James Cameron", "facts"):
        assert word in out


def test_search_as_json(folder, capsys):
    assert main(["kb", "search", str(folder / "kb"), "Who directed Titanic?", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"kb_item_tuple", "search_space"}
    assert found["kb_item_tuple"][0]["item"]["label"] == "Titanic"
    assert ["Titanic", "director", "James Cameron"] in [[e["label"] for e in fact] for fact in found["search_space"]]


def test_search_without_items(folder, capsys):
    assert main(["kb", "search", str(folder / "kb"), "Who wrote it?"]) == 0
    assert "no item" in capsys.readouterr().out
    assert main(["kb", "search", str(folder / "kb"), "Who wrote it?", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"kb_item_tuple": [], "search_space": []}


@pytest.mark.parametrize(
    "arguments",
    [["info", "nowhere"], ["search", "nowhere", "x"], ["serve", "nowhere"], ["build", "nowhere", "--output", "x"]],
)
def test_what_is_not_there_is_one_line(arguments, workdir, capsys):
    assert main(["kb", *arguments]) == 1
    err = capsys.readouterr().err
    assert err.startswith("convinse: ") and "nowhere" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [[], ["serv"], ["info"], ["serve", "kb", "--port", "70000"], ["serve", "kb", "--port", "x"], ["build", "x"]],
)
def test_wrong_usage(arguments):
    with pytest.raises(SystemExit, match="2"):
        main(["kb", *arguments])


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_serve_until_it_is_stopped(folder, ending):
    port = free_port()
    process = start("kb", "serve", folder / "kb", "--port", port)
    try:
        line = process.stdout.readline()
        assert f"http://127.0.0.1:{port}" in line
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/test", timeout=10) as response:
            assert response.status == 200
        process.send_signal(ending)
        out, err = process.communicate(timeout=10)
        assert (out, err) == ("", "")
        assert process.returncode in (0, 130) if ending == signal.SIGINT else process.returncode in (0, -ending)
    finally:
        process.kill()
        process.communicate()


def test_serve_on_a_free_port_and_on_a_taken_one(folder, capsys):
    process = start("kb", "serve", folder / "kb", "--port", 0)
    try:
        port = re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())[1]
        assert main(["kb", "serve", str(folder / "kb"), "--port", port]) == 1
        err = capsys.readouterr().err
        assert f"127.0.0.1:{port}: cannot listen there" in err and "--port" in err and err.count("\n") == 1
    finally:
        process.kill()
        process.communicate()


def test_serve_warns_of_other_machines(folder):
    process = start("kb", "serve", folder / "kb", "--port", 0, "--host", "0.0.0.0")
    try:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        assert "reachable from other machines" in err and err.count("\n") == 1
    finally:
        process.kill()
        process.communicate()


def test_serve_on_an_address_of_others(folder, capsys):
    assert main(["kb", "serve", str(folder / "kb"), "--host", "192.0.2.1", "--port", "0"]) == 1
    assert "192.0.2.1" in capsys.readouterr().err


def test_help_names_the_commands(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["kb", "--help"])
    out = capsys.readouterr().out
    assert all(word in out for word in ("build", "info", "search", "serve"))
