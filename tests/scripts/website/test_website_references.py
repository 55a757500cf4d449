"""What the site generates from the program: keys, commands, tables of figures."""

import argparse
import importlib
import json
import re
import subprocess
from pathlib import Path

import msgspec
import pytest

import convinse
from convinse.cli import build_parser
from convinse.config import Config, FitSettings, ReaderTraining, RetrieverTraining
from documentation import blocks
from places import ROOT
from website import command_reference, measure, measured_tables, settings_reference
from website.markdown import code, escaped


def key(name, kind=Config):
    return next(key for key in settings_reference.keys(kind) if key.name == name)


@pytest.mark.parametrize("kind", [Config, ReaderTraining, RetrieverTraining])
def test_every_key_has_an_entry_that_says_what_it_is(kind):
    keys = list(settings_reference.keys(kind))
    names = [key.name for key in keys]
    assert set(kind.__struct_fields__) <= set(names) and len(names) == len(set(names))
    assert all(key.about and key.values for key in keys)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("seed", ("whole number, 0 or more", "", "42", "0.1")),
        ("ers_deadline", ("number above 0", "seconds", "60.0", "0.1")),
        ("ha_abstain_below", ("number from 0 to 1", "", "0.3", "0.2")),
        ("token_budget", ("whole number, 1 or more or `null`", "tokens", "null", "0.2")),
        ("evs", ("`auto`, `bm25`, `cascade` or `cross_encoder`", "", "auto", "0.1")),
        ("ers_wikipedia_api", ("an address, http or https", "", "https://en.wikipedia.org/w/api.php", "0.1")),
        ("evs_cascade.lexical_share", ("number from 0 to 1", "", "0.0", "0.1")),
        ("ha_training.trains", ("`ranking` or `reader`", "", "reader", "0.2")),
        ("ha_seq2seq.max_output_length", ("whole number, 1 or more", "tokens", "10", "0.2")),
        ("evs_training.minutes", ("number above 0 or `null`", "minutes", "null", "0.1")),
    ],
)
def test_a_key_has_its_values_unit_default_and_version(name, expected):
    found = key(name)
    assert (found.values, found.unit, found.default, found.since) == expected
    assert all(part in settings_reference.markdown(found) for part in (f"{{confval}} {name}", f"since {expected[3]}"))


def test_what_a_docstring_says_of_several_keys_is_said_of_each():
    said = settings_reference.explained(Config)
    assert (
        said["clocq_host"]
        == said["clocq_port"]
        == ("0.1", "the address of that server; by default the public CLOCQ API")
    )
    assert said["ers_cache_path"][1].startswith("the folder where it is kept")


def test_a_key_that_no_docstring_speaks_of_is_named():
    class Silent(FitSettings, frozen=True):
        """epochs: passes."""

        depth: int = 1

    with pytest.raises(LookupError, match="Silent: its docstring does not say what the key depth is"):
        list(settings_reference.keys(Silent))
    with pytest.raises(LookupError, match="no words for the type"):
        list(settings_reference.keys(msgspec.defstruct("Odd", [("x", complex, 0j)], namespace={"__doc__": "x: odd."})))


def test_every_command_is_on_its_page():
    listed = {line for text in blocks("docs/commands.md", "{commands}") for line in text.splitlines()}
    known = dict(command_reference.parsers(build_parser()))
    assert listed == {name for name in known if " " not in name}
    assert {"kb build", "serve api", "evaluate compare"} <= set(known)


def test_every_public_name_is_in_the_python_reference():
    named = " ".join(blocks("docs/python-reference.md", "{eval-rst}"))
    assert not [
        name for name in convinse.__all__ if not re.search(rf"::.*\.{name}\b", named) and name != "ConvinseError"
    ]


def test_a_command_has_its_arguments_in_the_order_of_use():
    parser = argparse.ArgumentParser(description="does a thing")
    parser.add_argument("--debug", action="store_true")
    parser.add_argument("--size", type=int, default=3, metavar="N", help="of [it], default %(default)s")
    parser.add_argument("--to", choices=["a", "b"])
    parser.add_argument("--hidden", help=argparse.SUPPRESS)
    parser.add_argument("file", metavar="FILE")
    text = command_reference.markdown("thing", parser)
    assert text.startswith("Does a thing.\n\n```text\nconvinse thing [--size N] [--to {a,b}] FILE\n")
    assert "{option} FILE" in text and text.index("{option} FILE") < text.index("{option} --size N")
    assert "Of \\[it\\], default 3." in text and "{option} --to {a|b}" in text
    assert "debug" not in text and "hidden" not in text and "--help" not in text


# -- figures -----------------------------------------------------------------------------------------------------------


def part(load=0.1, arguments=(), tables=1, **changes):
    shown = {"title": "a_b", "columns": ["what", "s"], "words": 1, "rows": [["x|y", "1.0 (0.9-1.2)"]]}
    machine = {"load": load, "cores": 2, "processor": "CPU", "python": "3.11.2", "date": "2026-11-23"}
    values = {"machine": machine, "commit": "abc1234", "arguments": list(arguments), "rounds": 3}
    return {**values, "tables": [shown] * tables, **changes}


def test_a_table_has_what_it_depends_on(tmp_path):
    file = tmp_path / "start.json"
    file.write_text(json.dumps({"one": part(), "two": part(), "none": part(tables=0, commit="0000000")}))
    text = measured_tables.markdown(file, "start", [])
    assert text.count("**a\\_b**\n\n| what | s |\n| --- | ---: |\n| x\\|y | 1.0 (0.9-1.2) |\n") == 2
    told = (
        "`bash run.sh bench start`, medians of 3 rounds; commit `abc1234`, 2026-11-23, 2 cores of CPU, Python 3.11.2."
    )
    assert text.count(told) == 1 and "busy" not in text and "0000000" not in text


def test_a_busy_machine_and_arguments_are_told(tmp_path):
    file = tmp_path / "start.json"
    file.write_text(json.dumps({"one": part(load=3.0, arguments=["--parts", "one"]), "two": part(rounds=1)}))
    text = measured_tables.markdown(file, "start", ["one"])
    assert "bench start --parts one`" in text and "The machine was busy" in text and text.count("a\\_b") == 1


@pytest.mark.parametrize("content", ["{", "[1]", '{"one": {}}', '{"one": 1}'])
def test_figures_that_are_none_name_the_remedy(content, tmp_path):
    file = tmp_path / "start.json"
    file.write_text(content)
    with pytest.raises(
        LookupError, match="start.json: is no file of figures .*; move it away and run bash run.sh docs"
    ):
        measured_tables.markdown(file, "start", ["one"])


def test_what_was_never_measured_names_the_command(tmp_path):
    file = tmp_path / "start.json"
    waiting = "*Not measured yet: `bash run.sh docs --measure {}`*"
    assert waiting.format("start") in measured_tables.markdown(file, "start", ["one", "two"])
    file.write_text(json.dumps({"one": part()}))
    text = measured_tables.markdown(file, "start", ["one", "two"])
    assert waiting.format("start/two") in text and text.count("a\\_b") == 1


SHOWN = [
    measure.Shown("a", ("x",)), measure.Shown("a", ("x", "y")), measure.Shown("a", ("z",), "--full"), measure.Shown("b"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([], [("a", ("x", "y"), ""), ("a", ("z",), "--full"), ("b", (), "")]),
        (["a"], [("a", ("x", "y"), ""), ("a", ("z",), "--full")]),
        (["a/y", "b"], [("a", ("y",), ""), ("b", (), "")]),
        (["a/z"], [("a", ("z",), "--full")]),
    ],
)
def test_what_pages_show_is_measured_in_few_runs(wanted, expected):
    assert measure.runs(SHOWN, wanted) == expected


def test_what_no_page_shows_is_not_measured():
    with pytest.raises(LookupError, match="no page shows a table of 'c'; valid: a, b, a/x, a/y, a/z"):
        measure.runs(SHOWN, ["c"])


def test_every_table_of_a_page_is_one_of_a_bench():
    tables = measure.shown(ROOT / "docs")
    assert sum(text.count("```{figures} ") for text in map(Path.read_text, (ROOT / "docs").glob("*.md"))) == len(tables)
    for table in tables:
        harnessed = importlib.import_module(f"bench.{table.bench}")
        spec = getattr(harnessed, "SPEC", None) or importlib.import_module(f"bench.{table.bench}.__main__").SPEC
        assert set(table.parts) <= set(spec.parts), table
    with pytest.raises(LookupError, match="no such bench: resluts; valid: .*results"):
        measured_tables.markdown(ROOT / "docs/figures/resluts.json", "resluts", [])


def test_a_bench_that_fails_stops_no_other(monkeypatch, capsys):
    calls = []
    monkeypatch.setattr(subprocess, "call", lambda words, cwd: calls.append((words[2:], cwd)) or "bench.start" in words)
    assert measure.main(["start,results/groups"]) == 1
    assert calls == [
        (["bench.results", "--parts", "groups", "--output", "docs/figures/results.json"], ROOT),
        (["bench.start", "--parts", "ask,run_sh,together", "--output", "docs/figures/start.json"], ROOT),
    ]
    assert "failed: start" in capsys.readouterr().err


def test_text_of_the_program_is_no_markdown():
    assert escaped("a_b *c* `d_e` <f>") == "a\\_b \\*c\\* `d_e` \\<f\\>"
    assert escaped("with --until qu, a--b") == "with `--until` qu, a--b"
    assert [code("a"), code("a`b"), code(" || ")] == ["`a`", "``a`b``", "`  ||  `"]
