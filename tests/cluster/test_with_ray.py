"""The tests `test_ray_*.py`, each file in a process of its own: CONVINSE_EXTRAS=dev,ray bash run.sh test tests/cluster

Ray ends a process whose head node is gone, a minute later and without a word; with it would go the tests that run there then.
To run some of them by hand: CONVINSE_TESTS_WITH_RAY=1 bash run.sh test tests/cluster/test_ray_cluster.py -k NAME
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from places import ROOT

HERE = "CONVINSE_TESTS_WITH_RAY"  # set where they may run
FILES = sorted(path.name for path in Path(__file__).parent.glob("test_ray_*.py"))


@pytest.mark.timeout(900)
@pytest.mark.skipif(find_spec("ray") is None, reason="the extra ray is not installed")
@pytest.mark.skipif(HERE in os.environ, reason="this is that process")
@pytest.mark.parametrize("name", FILES)
def test_the_tests_with_ray_pass(name):
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", f"tests/cluster/{name}"]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, HERE: "1"}, capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
