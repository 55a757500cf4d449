"""The harness of the benches: arguments, sizes and parts, systems in turn, processes of their own, the file of figures."""

import argparse
import json
import mmap
from contextlib import closing
from pathlib import Path

import pytest

from bench import harness
from bench.harness import Bench, Bound, ChildError, Spec, Spread, apart, in_turn, interleaved, run
from convinse.support.errors import ConvinseError

RESULTS = Path("results/bench/trial.json")


def first(bench):
    systems = {"a": {"share": 0.5, "seconds": Spread(1, 2, 3)}, "b": {}}
    columns = {"n": ("share", "{:.0%}"), "s": ("seconds", "{:.1f}")}
    bench.compare("groups", ("set", "m", "system"), columns, {("one", "12"): systems, ("two", "3"): {"c": {}}})
    bench.want("speed", bench.size, 3)
    return {"size": bench.size, "rounds": bench.rounds}


def second(bench):
    bench.want("time", 5, 4, at_least=False)
    return {"work": str(bench.work), "kept": str(bench.kept), "state": bench.state}


def trial(**changes):
    given = {"rounds": (1, 5, 7), "prepare": lambda bench: "made"} | changes
    return Spec("trial", "A trial.", {"first": first, "second": second}, (1, 3, 9), **given)


@pytest.mark.parametrize(
    ("arguments", "size", "rounds"),
    [([], 3, 5), (["--quick"], 1, 1), (["--full"], 9, 7), (["--full", "--rounds", "2"], 9, 2)],
)
def test_sizes_and_rounds(arguments, size, rounds, capsys):
    run(trial(), arguments)
    parts = json.loads(RESULTS.read_text())
    figures, bounds, machine = (parts["first"][key] for key in ("figures", "bounds", "machine"))
    assert figures == {"size": size, "rounds": rounds} and parts["second"]["figures"]["state"] == "made"
    assert bounds == {"speed": {"value": size, "bound": 3, "kept": size >= 3}}
    assert machine["cores"] and machine["date"] and "flags" in machine
    output = capsys.readouterr().out
    assert "groups" in output and output.count("12") == 1 and "│ one │ 12 │ a      │ 50% │ 1.0 (2.0-3.0) │" in output
    assert "│     │    │ b      │     │" in output
    assert output.endswith(f"{RESULTS}\n")
    assert "│ time   │        5 │   <= 4 │ missed │" in output
    assert f"│ speed  │        {size} │   >= 3 │ {'missed' if size < 3 else '      '} │" in output
    assert not Path(parts["second"]["figures"]["work"]).exists()


def test_what_was_printed_is_kept_with_what_repeats_it():
    run(trial(), ["--quick", "--output", "figures.json", "--work", "kept", "--rounds", "2"])
    part = json.loads(Path("figures.json").read_text())["first"]
    (table,) = part["tables"]
    assert (table["title"], table["words"], table["columns"]) == ("groups", 3, ["set", "m", "system", "n", "s"])
    assert table["rows"][0] == ["one", "12", "a", "50%", "1.0 (2.0-3.0)"] and table["rows"][1] == ["", "", "b", "", ""]
    assert part["arguments"] == ["--quick", "--rounds", "2"] and part["machine"]["load"] >= 0
    assert part["commit"] is None or len(part["commit"].rstrip("+")) >= 7


def test_parts_that_are_not_measured_stay(capsys):
    run(trial(), ["--output", "figures.json", "--work", "kept"])
    before = json.loads(Path("figures.json").read_text())
    run(trial(), ["--output", "figures.json", "--parts", "first", "--quick"])
    after = json.loads(Path("figures.json").read_text())
    assert after["second"] == before["second"] and after["first"]["figures"]["size"] == 1
    assert before["second"]["figures"]["kept"] == "kept" and Path("kept").is_dir()


def test_a_file_that_is_none_of_figures_is_kept():
    Path("figures.json").write_text("mine")
    with pytest.raises(SystemExit, match="bench trial: figures.json: is no file of figures"):
        run(trial(), ["--output", "figures.json"])
    assert Path("figures.json").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--parts", "firs"], "unknown part 'firs'; valid: first, second"),
        (["--rounds", "0"], "--rounds: must be 1 or more"),
        (["--quick", "--full"], "not allowed with"),
    ],
)
def test_wrong_usage(arguments, words, capsys):
    with pytest.raises(SystemExit) as error:
        run(trial(), arguments)
    assert error.value.code == 2 and words in capsys.readouterr().err


def test_missing_packages_and_data_are_named_with_the_remedy(workdir, monkeypatch, capsys):
    monkeypatch.setitem(harness.PACKAGES, "no_such.package", "some-name")
    with pytest.raises(SystemExit, match="bench trial: packages are missing; run pip install some-name$"):
        run(trial(needs={"second": ("json", "no_such.package")}), [])
    bench = Bench(argparse.Namespace(), None, 1, workdir, workdir)
    assert bench.has("json") and not bench.has("no_such.package") and not bench.has("no_such.package")
    assert capsys.readouterr().out == "no_such is not measured: pip install some-name\n"
    monkeypatch.setenv("CONVINSE_DATA", "nowhere")
    with pytest.raises(SystemExit, match="bench trial: nowhere/a/b: no such data; set CONVINSE_DATA"):
        run(trial(prepare=lambda bench: bench.data("a", "b")), [])


def test_systems_take_turns():
    calls = []
    seconds, results = interleaved({name: lambda name=name: calls.append(name) or name for name in "abc"}, 3)
    assert calls == list("abccbaabc")
    assert [len(times) for times in seconds.values()] == [3, 3, 3] and results == {"a": "a", "b": "b", "c": "c"}
    now = iter(range(100))
    found = list(in_turn({"a": str, "b": repr}, ["x"], lambda: next(now)))
    assert found == [("a", "x", 1, "x"), ("b", "x", 1, "'x'")]


def test_spreads_and_bounds():
    assert Spread.of([3, 1, 2]) == (2, 1, 3) and f"{Spread.of([3, 1, 2]):.1f}" == "2.0 (1.0-3.0)"
    assert not Bound("speed", 3.0, 3).failed and Bound("speed", 2.9, 3).failed
    assert Bound("seconds", 1.1, 1, at_least=False).failed and not Bound("share", None, 1).failed
    assert Bound("speed", 2.9, 3).figures == {"measured": "2.9", "wanted": ">= 3", "missed": "missed"}
    assert harness.percentile([5, 1, 4, 2, 3], 0.8) == 5 and harness.percentile([1], 0.95) == 1


def test_a_call_in_a_process_of_its_own():
    usage = apart(harness.importable, "json", tree=True)
    assert usage.result is True and usage.peak > 10**6 and usage.seconds < 10
    with pytest.raises(ChildError, match="importable: .*TypeError"):
        apart(harness.importable)
    with pytest.raises(ChildError, match="convinse kb info nowhere: convinse: nowhere"):
        harness.command(["kb", "info", "nowhere"])


# -- another version ---------------------------------------------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path):
    """A version of the project with a bench and a command of its own."""
    bench, package = tmp_path / "then" / "scripts" / "bench", tmp_path / "then" / "convinse"
    for folder in (bench, package):
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
    (bench / "harness.py").write_text(
        "import json, os, sys, convinse\n"
        "def child():\n"
        "    given = json.loads(sys.stdin.read())\n"
        "    print(json.dumps([1.5, 7, [given, convinse.__file__, os.environ['CONVINSE_ROOT']]]))\n"
    )
    (package / "__main__.py").write_text("print('that version')")
    return tmp_path / "then"


def bench_against(checkout, work, rounds=1):
    return Bench(argparse.Namespace(against=checkout), None, rounds, work, work)


def test_a_call_of_another_version_runs_its_code(checkout, monkeypatch, tmp_path):
    (tmp_path / "convinse.py").write_text("raise ImportError('the code of the working directory')")
    monkeypatch.chdir(tmp_path)
    usage = apart(harness.importable, "json", checkout=checkout)
    call, package, root = usage.result
    assert usage.seconds == 1.5 and call == ["bench.harness", "importable", ["json"]]
    assert package == str(checkout / "convinse" / "__init__.py") and root == str(checkout)
    (checkout / "scripts" / "bench" / "harness.py").write_text("def child(): raise ValueError('of another format')")
    with pytest.raises(ChildError, match=f"importable of {checkout}: ValueError: of another format"):
        apart(harness.importable, "json", checkout=checkout)


def test_commands_of_two_versions_take_turns(checkout, tmp_path, monkeypatch, capsys):
    ran = []

    def command(arguments, folder, checkout):
        ran.append((arguments, checkout))
        return harness.Usage(3.0 if checkout else 2.0, 5 * 10**6, 0, "")

    monkeypatch.setattr(harness, "command", command)
    figures = harness.commands(bench_against(checkout, tmp_path, 2), "commands", {"a": ["x"]}, lambda: ran.append(0))
    assert ran == [0, (["x"], None), 0, (["x"], checkout), 0, (["x"], checkout), 0, (["x"], None)]
    assert figures == {"a": {"seconds": (2, 2, 2), "peak_mb": 5, "theirs": (3, 3, 3), "times": 1.5}}
    assert "times faster" in capsys.readouterr().out
    assert set(harness.commands(bench_against(None, tmp_path), "", {"a": ["x"]}, list)["a"]) == {"seconds", "peak_mb"}


def test_a_command_of_another_version_runs_its_code(checkout, tmp_path):
    assert harness.command([], tmp_path, checkout).result == "that version\n"


def test_a_folder_that_is_no_checkout_is_refused(tmp_path):
    with pytest.raises(ConvinseError, match="against .*: no checkout of the project"):
        harness.other_version(bench_against(tmp_path, tmp_path))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux only")
def test_memory_without_a_file_counts_as_held():
    before, held = harness.held_memory(), mmap.mmap(-1, 64 << 20)  # shared memory
    with closing(held):
        held.write(bytes(64 << 20))
        assert harness.held_memory() - before > 60 << 20
