"""The notebooks of `examples/`: their cells run one after the other, without Jupyter and without a network, as in an empty folder."""

import ast
import json
import re
import sys
from importlib.util import find_spec

import pytest

from places import ROOT

SAID = {
    "own_files": ("Marta Kessler", "1987", "20 euros", "tickets.csv", "line 4: stands"),
    "own_scorer": ("default", "mine", "report.html", "'num_questions': 5"),
    "presence_and_calibration": ("James Cameron", "16 August 1954", "5 questions", "first 100 evidences"),
}


def test_every_notebook_is_run():
    assert {path.stem for path in (ROOT / "examples").glob("*.ipynb")} == SAID.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", SAID)
def test_the_cells_of_a_notebook_run(workdir, capsys, monkeypatch, name):
    monkeypatch.setattr(sys, "path", [*sys.path, str(workdir)])
    monkeypatch.setenv("MPLBACKEND", "agg")
    names = {"__name__": "__main__"}
    for cell in json.loads((ROOT / "examples" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]:
        source = re.sub(r"(?m)^conversations = \d+", "conversations = 1", "".join(cell["source"]))
        if cell["cell_type"] == "markdown" or ("matplotlib" in source and find_spec("matplotlib") is None):
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None
        *statements, last = ast.parse(source).body
        if isinstance(last, ast.Expr) and not source.endswith(";"):  # what Jupyter shows
            exec(compile(ast.Module(statements, []), cell["id"], "exec"), names)
            shown = eval(compile(ast.Expression(last.value), cell["id"], "eval"), names)
            print("" if shown is None else shown._repr_html_())
        else:
            exec(compile(source, cell["id"], "exec"), names)
    printed = capsys.readouterr().out
    assert not [text for text in SAID[name] if text not in printed], printed
