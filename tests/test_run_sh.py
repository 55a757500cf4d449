"""run.sh in an environment that is prepared already, and its checks."""

import os
import shutil
import subprocess
import sys

import pytest

from case_tables import each_case
from places import ROOT


def run(*arguments, cwd, **variables):
    usual = {"CONVINSE_NO_VENV": "1", "CONVINSE_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    environment = {**os.environ, **usual, **variables}
    return subprocess.run(
        ["bash", str(ROOT / "run.sh"), *arguments], cwd=cwd, env=environment, capture_output=True, text=True
    )


def test_runs_the_command_from_any_directory(workdir):
    done = run("--version", cwd=workdir)
    assert done.returncode == 0 and done.stdout.startswith("convinse ")
    assert not list(workdir.iterdir())


@pytest.mark.parametrize("name", ["convinse.py", "json.py", "os.py"])
def test_modules_of_the_working_folder_are_not_run(workdir, name):
    (workdir / name).write_text("raise SystemExit('run in place of the real one')")
    done = run("--version", cwd=workdir)
    assert done.returncode == 0 and done.stdout.startswith("convinse "), done.stderr


@pytest.mark.parametrize("arguments, status", [(["pipeline", "no.yml"], 1), (["nonsense"], 2)])
def test_exit_status_passes_through(workdir, arguments, status):
    assert run(*arguments, cwd=workdir).returncode == status


def test_no_python(workdir):
    (workdir / "bin").mkdir()
    for tool in ("bash", "dirname", "cat", "cksum"):
        (workdir / "bin" / tool).symlink_to(shutil.which(tool))
    done = run("--version", cwd=workdir, PATH=str(workdir / "bin"), CONVINSE_PYTHON="")
    assert done.returncode == 1
    assert "Python 3.10" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_failed_installation_is_told_and_tried_again(workdir):
    """A package index that is not there: status 1, the reason, and no stamp."""
    copy = workdir / "copy"
    copy.mkdir()
    for name in ("run.sh", "setup.cfg", "pyproject.toml"):
        shutil.copy(ROOT / name, copy)
    (copy / "constraints.txt").write_text("numpy==0.0.1\n")
    nowhere = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(workdir), "HOME": str(workdir)}
    environment = {**os.environ, **nowhere, "CONVINSE_NO_VENV": "0"}
    done = subprocess.run(
        ["bash", str(copy / "run.sh"), "--version"], cwd=workdir, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "package index" in done.stderr
    assert not list((copy / ".venv").glob(".convinse-stamp*"))


# stands for the Python of .venv: notes what pip is asked to install, and what is run
PYTHON = """#!/usr/bin/env bash
case "$*" in
    "-m pip --version") ;;
    "-m pip install "*) printf '%s\\n' "${@: -1}" >>"$NOTES/installed" ;;
    "-c "*) printf '%s\\n' "${*:3}" >>"$NOTES/run" ;;
esac
"""


class Checkout:
    """A copy of run.sh beside an environment in which nothing is installed yet."""

    def __init__(self, folder):
        self.folder = folder / "copy"
        (self.folder / ".venv/bin").mkdir(parents=True)
        for name in ("run.sh", "setup.cfg", "pyproject.toml", "constraints.txt"):
            shutil.copy(ROOT / name, self.folder)
        python = self.folder / ".venv/bin/python"
        python.write_text(PYTHON)
        python.chmod(0o755)

    def run(self, *arguments, **variables):
        """The extras that pip is asked for; None: it is not asked."""
        notes = self.folder / "notes"
        shutil.rmtree(notes, ignore_errors=True)
        notes.mkdir()
        unset = ("CONVINSE_NO_VENV", "CONVINSE_EXTRAS", "CONVINSE_PYTHON")
        environment = {name: value for name, value in os.environ.items() if name not in unset}
        done = subprocess.run(
            ["bash", str(self.folder / "run.sh"), *arguments], cwd=self.folder, capture_output=True, text=True,
            env={**environment, "NOTES": str(notes), **variables},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert (notes / "run").read_text().splitlines() == [" ".join(arguments)]
        if not (notes / "installed").exists():
            return None
        (call,) = (notes / "installed").read_text().splitlines()
        assert call.startswith(str(self.folder))
        return call.removeprefix(str(self.folder)).strip("[]")


@pytest.fixture
def checkout(workdir):
    return Checkout(workdir)


@each_case("extras")
def test_a_command_gets_its_extras_once(checkout, case):
    assert checkout.run(*case["command"].split()) == case["extras"]
    assert checkout.run(*case["command"].split()) is None


@pytest.mark.parametrize(
    "steps",  # command, CONVINSE_EXTRAS, what is installed then
    [
        [("train", "plots", "plots,neural,ir"), ("train", "", None), ("--version", "plots", None),
         ("kb", "ray,plots", "ray,plots"), ("ask", "neural", None)],
        [("test", "", "test"), ("train qu", "", None), ("evaluate poleval gold found", "", None), ("kb", "plots", "plots")],
        [("test", "clients", "clients,test"), ("serve mcp", "", None)],
    ],
)  # fmt: skip
def test_extras_that_an_earlier_command_brought_are_not_installed_again(checkout, steps):
    for command, more, installed in steps:
        assert checkout.run(*command.split(), CONVINSE_EXTRAS=more) == installed


def test_other_versions_are_installed_anew(checkout):
    assert checkout.run("kb") == "" and checkout.run("kb") is None
    with (checkout.folder / "constraints.txt").open("a") as constraints:
        constraints.write("numpy==0.0.1\n")
    assert checkout.run("kb") == ""
