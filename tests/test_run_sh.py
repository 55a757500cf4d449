"""run.sh in an environment that is prepared already, and its checks."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def run(*arguments, cwd, **variables):
    environment = {**os.environ, "CONVINSE_NO_VENV": "1", "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(
        ["bash", str(ROOT / "run.sh"), *arguments], cwd=cwd, env=environment, capture_output=True, text=True
    )


@pytest.fixture
def own_python(tmp_path):
    """A python3 that comes first in PATH: the one that runs the tests."""
    import sys

    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to(sys.executable)
    return {"CONVINSE_PYTHON": sys.executable}


def test_runs_the_command_from_any_directory(workdir, own_python):
    done = run("--version", cwd=workdir, **own_python)
    assert done.returncode == 0 and done.stdout.startswith("convinse ")
    assert not list(workdir.iterdir())


@pytest.mark.parametrize("arguments, status", [(["pipeline", "no.yml"], 1), (["nonsense"], 2)])
def test_exit_status_passes_through(workdir, own_python, arguments, status):
    assert run(*arguments, cwd=workdir, **own_python).returncode == status


def test_no_python(workdir):
    (workdir / "bin").mkdir()
    for tool in ("bash", "dirname", "cat", "cksum"):
        (workdir / "bin" / tool).symlink_to(shutil.which(tool))
    done = run("--version", cwd=workdir, PATH=str(workdir / "bin"), CONVINSE_PYTHON="")
    assert done.returncode == 1
    assert "Python 3.10" in done.stderr and done.stderr.count("\n") == 1


def test_a_failed_installation_is_told_and_tried_again(workdir):
    """A package index that is not there: status 1, the reason, and no stamp."""
    copy = workdir / "copy"
    copy.mkdir()
    for name in ("run.sh", "setup.cfg", "pyproject.toml"):
        shutil.copy(ROOT / name, copy)
    (copy / "constraints.txt").write_text("numpy==0.0.1\n")
    environment = {
        **os.environ,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(workdir),
        "HOME": str(workdir),
        "CONVINSE_NO_VENV": "0",
    }
    done = subprocess.run(
        ["bash", str(copy / "run.sh"), "--version"], cwd=workdir, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "package index" in done.stderr
    assert not list((copy / ".venv").glob(".convinse-stamp*"))


def test_wrappers_only_call_run_sh():
    for script in (ROOT / "bash").glob("*.sh"):
        text = script.read_text()
        assert "run.sh" in text and "python" not in text
        assert subprocess.run(["bash", "-n", str(script)]).returncode == 0
