"""Type checkers find nothing to say about the Python of the documentation: mypy --strict, and pyright where it is installed."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from documentation import PAGES, marked_blocks
from places import ROOT


@pytest.fixture
def programs(workdir):
    """The blocks of Python that import something, as files; those that a page names keep their names."""
    shutil.copy(ROOT / "examples/typed_program.py", workdir)
    for page in PAGES:
        for number, block in enumerate(marked_blocks(page)):
            if block.language == "python" and "import" in block.text:
                name = block.said if block.mark == "file" else "{}_{}.py".format(re.sub(r"\W", "_", page), number)
                (workdir / name).write_text(block.text, encoding="utf-8")
    return workdir


@pytest.mark.slow
@pytest.mark.parametrize(
    ("checker", "options"),
    [("mypy", ("--strict", "--ignore-missing-imports", ".")), ("pyright", ("--pythonpath", sys.executable))],
)
def test_the_programs_of_the_pages_are_typed(programs, checker, options):
    command = [sys.executable, "-m", "mypy"] if checker == "mypy" else [shutil.which("pyright") or ""]
    if checker == "mypy":
        pytest.importorskip("mypy")
    elif not command[0]:
        pytest.skip("pyright is not installed (extra release)")
    (programs / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{ROOT}"], "reportMissingImports": false}}')
    environment = {**os.environ, "MYPYPATH": str(ROOT), "PYTHONPATH": ""}
    done = subprocess.run([*command, *options], cwd=programs, env=environment, capture_output=True, text=True)
    assert not [line for line in done.stdout.splitlines() if " error: " in line and not line.startswith(str(ROOT))]
