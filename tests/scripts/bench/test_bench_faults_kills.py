"""The campaign parts `kills` and `disks`: what is planted is noticed, and of `convert`, the quickest command, all holds."""

import subprocess
import sys
import tempfile

import pytest

from bench.faults import commands, disks, kills
from bench.faults.campaign import Trial
from bench.faults.commands import Prepared, Started, to_its_end

PARTS = {"kills": kills._killed, "disks": disks._filled}
HALF = "from pathlib import Path; Path('out').write_text('half');"
LEFT = "from pathlib import Path; Path('.out.half').touch();"
LASTING = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); time.sleep(60)"


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    Prepared(folder, "convert")
    return folder


@pytest.fixture
def trial(kept, tmp_path):
    """A trial of a seed: the odd ones have a disk of their own where one may mount that."""

    def make(seed):
        work = tmp_path / str(seed)
        work.mkdir()
        return Trial("convert", seed, work, kept)

    return make


@pytest.fixture
def plant(monkeypatch):
    """Another program instead of the command, the first time that it is started."""

    def put(code, times=1):
        start, started = Prepared.start, []

        def other(self, work, **options):
            started.append(work)
            if len(started) > times:
                return start(self, work, **options)
            errors = tempfile.TemporaryFile()  # noqa: SIM115 - `to_its_end` closes it
            command = [sys.executable, "-c", code]
            return Started(subprocess.Popen(command, cwd=work, stderr=errors, start_new_session=True), errors)

        monkeypatch.setattr(Prepared, "start", other)
        monkeypatch.setattr(kills.time, "sleep", lambda seconds: None)

    return put


@pytest.mark.parametrize("part", PARTS)
def test_of_a_command_that_writes_beside_and_renames_all_holds(part, trial):
    assert PARTS[part]("convert", trial(1)) == ""


def test_an_output_that_is_half_written_is_noticed(plant, trial):
    plant(f"{HALF} raise SystemExit('convinse: full')")
    assert "neither the older nor the newer one" in disks._filled("convert", trial(0))


def test_an_older_output_that_is_gone_is_noticed(plant, trial):
    plant("from pathlib import Path; Path('out').unlink(); raise SystemExit('convinse: full')")
    assert "out is neither the older nor the newer one" in disks._filled("convert", trial(0))


def test_leftovers_are_noticed(plant, trial):
    plant(f"{LEFT} raise SystemExit('convinse: full')")
    assert disks._filled("convert", trial(0)) == "left over: .out.half"


@pytest.mark.parametrize("code", ["raise SystemExit('convinse: a' + chr(10) + 'b')", "1 / 0", "raise SystemExit(1)"])
def test_more_or_less_than_a_line_is_noticed(plant, trial, code):
    plant(code)
    assert "instead of one" in disks._filled("convert", trial(0))


def test_an_output_that_was_half_written_when_its_writer_was_killed_is_noticed(plant, trial, monkeypatch):
    plant(f"{HALF} import time; print(1, flush=True); time.sleep(60)")
    real = Prepared.start

    def then_wait(self, work, **options):
        started = real(self, work, **options)
        while (work / "out").read_bytes() != b"half":
            pass
        return started

    monkeypatch.setattr(Prepared, "start", then_wait)
    assert "neither the older nor the newer one" in kills._killed("convert", trial(0))


def test_processes_that_run_on_are_noticed_and_ended(plant, trial, monkeypatch):
    plant(LASTING)
    real, groups = Prepared.start, []

    def then_wait(self, work, **options):
        started = real(self, work, **options)
        groups.append(started.process.pid)
        while kills._running_after(started.process.pid, 0) < 2:
            pass
        return started

    monkeypatch.setattr(Prepared, "start", then_wait)
    monkeypatch.setattr(kills, "_GRACE", 0.1)
    assert kills._killed("convert", trial(0)) == "1 of its processes run on after 0 s"
    assert kills._running_after(groups[0], 30) == 0


def test_a_command_that_gives_another_result_when_it_is_run_again_is_noticed(plant, trial):
    plant("raise SystemExit('convinse: full')")
    prepared = Prepared(trial(0).kept, "convert")
    prepared.contents = {age: {"out": "another"} for age in prepared.contents}
    work = trial(1).work
    prepared.put_older(work)
    to_its_end(prepared.start(work))
    assert prepared.again(work) == "running it again gives another result"


def test_results_that_are_mixed_or_gone_are_noticed(tmp_path):
    prepared = object.__new__(Prepared)
    prepared.command = commands.COMMANDS["pipeline"]
    prepared.contents = {commands.OLDER: {"a": b'{"conv_id": "a"}'}, commands.NEWER: {"b": b'{"conv_id": "b"}'}}

    def run(**files):
        for name, ids in files.items():
            path = tmp_path / prepared.command.out / ("" if name == "here" else name) / "turns.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f'{{"conv_id": "{own}"}}\n' for own in ids))
        return prepared.is_whole(tmp_path)

    assert run(here="b") == "the older results are gone"
    assert run(here="b", earlier="a") == "" == run(here="", earlier="a")
    assert run(here="ba", earlier="a") == "results are mixed"
