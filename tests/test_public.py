"""What the package exports, and what importing it costs."""

import subprocess
import sys

import pytest

import convinse
from places import ROOT


def test_public_names_of_the_contract():
    names = {"Pipeline", "load_config", "EvidenceRetrievalScoring", "QuestionUnderstanding", "HeterogeneousAnswering",
             "ClocqRetriever", "WikipediaRetriever"}  # fmt: skip
    assert names <= set(convinse.__all__)
    for name in convinse.__all__:
        assert getattr(convinse, name).__name__ == name


def test_unknown_name():
    with pytest.raises(AttributeError, match="Nonsense"):
        convinse.Nonsense  # noqa: B018


def test_import_loads_nothing_heavy():
    code = "import sys, convinse; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    ).stdout.split()
    assert not {
        "torch",
        "transformers",
        "tokenizers",
        "safetensors",
        "numpy",
        "msgspec",
        "rich",
        "sqlite3",
        "bm25s",
    } & set(loaded)


def test_answering_without_a_model_loads_no_neural_package(run_python):
    code = (
        "import sys\n"
        "from convinse.cli import main\n"
        "assert main(['ask', 'Who directed the film Titanic?', '--sources', 'kb', '--config', 'lexical.yml']) == 0\n"
        "print(*sys.modules)"
    )
    loaded = run_python(f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}").split()
    assert "numpy" in loaded and not {"torch", "transformers", "tokenizers", "safetensors"} & set(loaded)


def test_importing_every_module_has_no_side_effect(workdir):
    code = (
        "import importlib, pkgutil, convinse\n"
        "for module in pkgutil.walk_packages(convinse.__path__, 'convinse.'):\n"
        "    if module.name.endswith('__main__'): continue\n"
        "    try: importlib.import_module(module.name)\n"
        "    except ImportError as error:\n"
        "        if error.name not in ('torch', 'safetensors', 'transformers'): raise\n"  # the extra neural is missing
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)}
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not list(workdir.iterdir())
