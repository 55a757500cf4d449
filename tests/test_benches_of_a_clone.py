"""Benches and recipes find what they import in the environment that run.sh alone makes for them."""

import os
import re
import shutil
import subprocess

import pytest

from convinse.cli.develop import benches
from places import ROOT


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The files of the repository, without an environment."""
    folder = tmp_path_factory.mktemp("clone") / "convinse"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no clone with git")
    for name in filter(None, listed.stdout.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def run(clone, *words):
    unset = ("CONVINSE_NO_VENV", "CONVINSE_EXTRAS", "CONVINSE_PYTHON", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    return subprocess.run(["bash", "run.sh", *words], cwd=clone, env=environment, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.skipif("CONVINSE_TEST_CLONE" not in os.environ, reason="installs PyTorch anew: set CONVINSE_TEST_CLONE=1")
@pytest.mark.parametrize("name", benches(ROOT / "scripts/bench"))
def test_a_bench_runs_in_the_environment_of_run_sh(clone, name):
    shutil.rmtree(clone / ".venv", ignore_errors=True)  # what one bench installed is not there for the next
    done = run(clone, "bench", name, "--quick")
    if needed := re.search(r"packages are missing; run (.*)", done.stderr):  # people type what the line says
        subprocess.run(needed[1].split(), cwd=clone, check=True)
        done = run(clone, "bench", name, "--quick")
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.skipif("CONVINSE_TEST_CLONE" not in os.environ, reason="installs PyTorch anew: set CONVINSE_TEST_CLONE=1")
def test_the_recipe_of_the_models_says_what_it_needs(clone):
    shutil.rmtree(clone / ".venv", ignore_errors=True)
    done = run(clone, "train", "embedded", "--data", "nowhere", "--output", "made")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "nowhere" in done.stderr.splitlines()[-1]
