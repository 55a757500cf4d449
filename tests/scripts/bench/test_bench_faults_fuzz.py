"""Fuzzed files: the formats are whole, what is damaged is told, and faults that are planted are noticed."""

import json
import random
import sys
import time

import msgspec
import pytest

from bench.faults import __main__ as faults
from bench.faults import fuzz, fuzz_run
from bench.faults.fuzz_formats import FORMATS
from bench.faults.fuzz_mutations import mutated, put
from convinse.formats import convmix
from convinse.support.errors import DataError

EVALUATED = "evaluate answers"


def run_part(monkeypatch, tmp_path, *options, amount=3):
    """The figures of the part, with few files of a format."""
    monkeypatch.setattr(fuzz, "_FILES", (amount,) * 3)
    output = tmp_path / "out.json"
    parts = ("--parts", "fuzz") if len(faults._PARTS) > 1 else ()
    monkeypatch.setattr(sys, "argv", ["bench faults", "--quick", *parts, "--output", str(output), *options])
    try:
        faults.main()
    except SystemExit as end:
        assert "failed" in str(end)
    return json.loads(output.read_text())["fuzz"]["figures"]


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_valid_files_are_there_and_read_without_a_complaint(name, tmp_path):
    FORMATS[name].make(tmp_path / "valid")
    for target in FORMATS[name].targets:
        assert len(list((tmp_path / "valid").glob(target))) == 1
    for number, way in enumerate(FORMATS[name].ways):
        FORMATS[name].make(tmp_path / str(number))
        with fuzz_run.inside(tmp_path / str(number)):
            for step in way:
                ending = fuzz_run.ended(step)
                # there is no data to train on: what comes after reading the settings
                assert not ending.fault and (ending.status == 0 or name == "training settings"), ending


def test_readers_that_are_as_they_should_be_hold(monkeypatch, tmp_path, capsys):
    figures = run_part(monkeypatch, tmp_path, "--group", EVALUATED, amount=40)
    assert figures == {"groups": {EVALUATED: {"tried": 40, "held": 40, "failed": 0}}, "failures": []}


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (TypeError("no number"), "TypeError: no number (at convmix.py:"),
        (DataError("first\nsecond"), ""),  # which the command puts on one line
        (SystemExit(3), "SystemExit: 3"),
    ],
)
def test_a_fault_that_is_planted_is_told_with_its_place(monkeypatch, tmp_path, capsys, raised, told):
    def read(data, where):
        raise raised

    monkeypatch.setattr(convmix, "check_measurable", read)
    failures = run_part(monkeypatch, tmp_path, "--group", EVALUATED, amount=12)["failures"]
    assert bool(failures) == bool(told) and all(told in failure["reason"] for failure in failures)
    assert all(f"--group '{EVALUATED}' --seed " in failure["repeat"] for failure in failures)


def test_messages_of_several_lines_are_faults(monkeypatch):
    def several():
        raise DataError("first\nsecond")

    assert fuzz_run.ended(several) == ("DataError of several lines: 'first\\nsecond'", 1)
    assert fuzz_run.ended(lambda: None) == ("", 0)


def busy():
    while True:
        pass


@pytest.mark.parametrize(("limit", "action"), [("_CPU_SECONDS", busy), ("_SECONDS", lambda: time.sleep(60))])
def test_what_takes_too_long_is_a_fault(monkeypatch, limit, action):
    monkeypatch.setattr(fuzz_run, limit, 0.05)
    assert fuzz_run.ended(action).fault.startswith("more than")


@pytest.mark.parametrize("kind", ["json", "lines", "yaml", "table", "bytes"])
def test_a_seed_gives_the_same_damage_again(kind):
    valid = msgspec.json.encode({"a": [1, {"b": "c"}]}) + b"\n"
    damaged = [mutated(random.Random(seed), kind, valid) for seed in range(60)]
    assert damaged == [mutated(random.Random(seed), kind, valid) for seed in range(60)]
    assert len(set(damaged)) > 20 and sum(content != valid for content in damaged) > 40


def test_a_file_may_be_gone_or_no_file(tmp_path):
    kinds = set()
    for seed in range(300):
        path = tmp_path / str(seed)
        path.write_bytes(b"{}")
        put(random.Random(seed), path, "json")
        kinds.add("link" if path.is_symlink() else "folder" if path.is_dir() else "file" if path.exists() else "gone")
    assert kinds == {"link", "folder", "file", "gone"}
