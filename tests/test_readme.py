"""The README says what is true: its own module runs as shown, its files, keys and names exist."""

import json
import re
import subprocess
import sys
from pathlib import Path

from convinse.cli import main
from convinse.config import ClocqParams, Config
from convinse.support.registry import module_names
from places import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(after, language):
    """The first code block of a language after some words."""
    return re.search(rf"```{language}\n(.*?)```", README[README.index(after) :], re.DOTALL)[1]


def test_the_module_of_the_readme_runs_in_the_pipeline(workdir):
    source = block("`my_module.py`:", "python")
    assert len([line for line in source.splitlines() if line.strip()]) <= 15
    Path("my_module.py").write_text(source)
    Path("my_config.yml").write_text(block("`my_config.yml`:", "yaml"))
    command = block("`my_config.yml`:", "bash").split()
    assert command[:2] == ["bash", "run.sh"]
    assert main([*command[2:], "--limit", "3", "--quiet"]) == 0
    turns = [
        t
        for line in Path("results/mine/kb_text/turns.jsonl").read_text().splitlines()
        for t in json.loads(line)["questions"]
    ]
    assert len(turns) == 15 and any(turn["answer_presence"] for turn in turns)
    # the score of the module, not that of BM25
    assert all(isinstance(evidence["score"], int) for turn in turns for evidence in turn["top_evidences"])


def test_the_contract_test_of_the_readme_passes(workdir):
    Path("my_module.py").write_text(block("`my_module.py`:", "python"))
    Path("test_mine.py").write_text(block("a test can tell", "python"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"],
        capture_output=True, text=True, env={"PYTHONPATH": f"{ROOT}:{workdir}", "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b7 passed", done.stdout)


def test_the_python_example_runs(workdir, capsys):
    exec(compile(block("## Python", "python"), "README", "exec"), {})
    assert "1954-08-16" in capsys.readouterr().out


def test_every_configuration_key_is_in_the_table():
    table = README[README.index("## Configuration") : README.index("## The cache")]
    shown = set(re.findall(r"`(\w+)`", table))
    assert {*Config.__struct_fields__, *ClocqParams.__struct_fields__} <= shown


def test_every_module_name_is_in_the_table():
    table = README[README.index("## Modules") : README.index("## Configuration")]
    for stage in ("qu", "ers", "ha"):
        missing = [name for name in module_names(stage) if f"`{name}`" not in table and name != "naive_concat"]
        assert not missing, missing


def test_no_placeholder_is_left():
    assert "@@" not in README
