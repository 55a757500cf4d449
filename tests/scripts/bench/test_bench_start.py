"""What a user waits for at first: the first line of an answer, and the size of the base install."""

import json
import sys
from pathlib import Path

import pytest

from bench import start
from bench.harness import ChildError, disk

ANSWERS = """
import time
print("> a question", flush=True)
print("  1. an answer", flush=True)
time.sleep(0.5)
print("  1. of the second turn")
"""


def test_the_first_answer_is_timed_when_it_is_printed(tmp_path):
    done = start.asked((sys.executable, "-c", ANSWERS), tmp_path)
    assert 0 < done.first < done.seconds - 0.4
    assert done.peak > 5_000_000  # bytes


@pytest.mark.parametrize("code", ["print('  no answer found')", ANSWERS + "exit(1)"])
def test_a_command_that_fails_is_no_figure(tmp_path, code):
    with pytest.raises(ChildError, match="status"):
        start.asked((sys.executable, "-c", code), tmp_path)


def test_the_base_install_is_what_its_requirements_lead_to():
    sizes = dict(start.installed())
    assert {"convinse", "numpy", "onnxruntime", "tokenizers", "huggingface-hub"} <= set(sizes)  # of tokenizers
    assert not {"torch", "transformers", "pytest", "pip"} & set(sizes)  # of extras, and of no requirement
    assert all(size > 0 for size in sizes.values()) and sizes["numpy"] > 10**7
    assert len(list(start.installed())) == len(sizes)
    # compiled files come while other tests run
    assert sizes["convinse"] == pytest.approx(disk(start.root() / "convinse"), rel=0.1)


def test_a_run_measures_and_writes(capsys):
    start.run(start.SPEC, ["--quick", "--parts", "install"])
    (part,) = json.loads(Path("results/bench/start.json").read_text()).values()
    assert part["figures"]["total_mb"] == pytest.approx(sum(size for _, size in start.installed()) / 10**6, rel=0.01)
    assert "onnxruntime" in capsys.readouterr().out
