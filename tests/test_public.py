"""What the package exports, and what importing it costs."""

import ast
import io
import runpy
import subprocess
import sys
from doctest import DocTestFinder, DocTestRunner
from functools import partial
from pathlib import Path

import pytest

import convinse
from case_tables import slow_but
from convinse import BertReranker, ClocqRetriever, ExtractiveReader, Pipeline, WikipediaRetriever, load_config
from convinse.config import parse_config
from convinse.encoder.pool import ModelHead
from convinse.support.errors import ConfigError, ModelError
from places import ROOT
from refusals import refused
from written import write

HERE = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"


def test_public_names_of_the_contract():
    names = {"Pipeline", "Session", "load_config", "EvidenceRetrievalScoring", "QuestionUnderstanding", "HeterogeneousAnswering",
             "ClocqRetriever", "WikipediaRetriever"}  # fmt: skip
    assert names <= set(convinse.__all__)
    for name in convinse.__all__:
        assert getattr(convinse, name).__name__ == name


def test_the_public_names_are_listed_literally():
    """Type checkers and editors read the list; it is that of the lazy table."""
    statements = ast.parse(Path(convinse.__file__).read_text(encoding="utf-8")).body
    (listed,) = [
        ast.literal_eval(statement.value)
        for statement in statements
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__"
    ]
    assert {*listed, "__version__"} == set(dir(convinse)) and all(getattr(convinse, name) for name in listed)


@pytest.mark.parametrize("name", convinse.__all__)
def test_the_example_of_each_public_name_runs(name, lexical, monkeypatch):
    """Pipelines share what is open."""
    public = {other: getattr(convinse, other) for other in convinse.__all__}
    shared = partial(Pipeline, resources=lexical.resources)
    (example,) = DocTestFinder(recurse=False).find(public[name], name, globs={**public, "Pipeline": shared})
    monkeypatch.setattr("convinse.pipeline.Pipeline", shared)  # that of `ask`
    report = io.StringIO()
    DocTestRunner().run(example, out=report.write)
    assert example.examples and not report.getvalue()


def test_the_other_documented_modules():
    from convinse.encoder.joint import JointModel
    from convinse.evaluation import klue_mrc
    from convinse.testing import EvidenceRetrievalScoringContract

    assert callable(JointModel.from_pretrained) and callable(klue_mrc.compute)
    assert EvidenceRetrievalScoringContract.make


CONFIGURED = [ExtractiveReader, BertReranker, ClocqRetriever, WikipediaRetriever]


@pytest.mark.parametrize("kind", CONFIGURED)
def test_a_class_to_use_alone_takes_a_configuration_or_its_name(kind):
    write("mine.yml", "base: config.yml\ntoken_budget: 200\nevr_max_entities: 2\n")
    for made in (kind("mine.yml"), kind(load_config("mine.yml"))):
        if isinstance(made, ModelHead):
            assert made.settings.token_budget == 200
        else:
            assert made.config.evr_max_entities == 2
            assert made.store_cache() is None
    refused(ConfigError, lambda: kind("confg.yml"), "did you mean 'config.yml'?")
    refused(ConfigError, lambda: kind(3), "int: no configuration")


def test_a_model_to_use_alone_is_named_as_in_a_configuration():
    (span,) = ExtractiveReader("snapshot:model").read("Who directed it?", ["It was directed by Jane Doe in 1952."], 1)
    assert "Jane Doe" in span.text
    for kind in (ExtractiveReader, BertReranker):
        refused(ModelError, lambda kind=kind: kind("snapshot:nothing"), "nothing: no such folder")
    refused(ConfigError, lambda: BertReranker(parse_config({})), "evs_model: the configuration names no model")


@pytest.mark.parametrize("name", ["requests", "yaml", "rapidfuzz", "torch", "transformers", "diskcache", "pytest"])
def test_these_libraries_are_used(name):
    imported = set()
    for file in [*(ROOT / "convinse").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        source = file.read_text(encoding="utf-8")
        if f"import {name}" not in source and f"from {name}" not in source:
            continue  # to walk through all trees takes a second
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                imported.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module)
    assert any(module.split(".")[0] == name for module in imported)


def test_unknown_name():
    with pytest.raises(AttributeError, match="Nonsense"):
        convinse.Nonsense  # noqa: B018


def test_answering_without_a_model_loads_no_neural_package(run_python):
    write("mine.yml", "qu: slots\nha: entity_voting\n")
    code = (
        "from convinse.cli import main\n"
        "asked = ['Who directed the film Titanic?', 'When was he born?']\n"
        "assert main(['ask', *asked, '--sources', 'kb', '--config', 'mine.yml']) == 0\n"
        "print(*sys.modules)"
    )
    loaded = set(run_python(HERE + code).split())
    assert "numpy" in loaded and not {"torch", "transformers", "tokenizers", "safetensors", "onnxruntime"} & loaded
    slow = {"http.client", "importlib.metadata", "pydantic", "requests", "rich", "starlette", "tantivy"}
    assert not slow & loaded


@pytest.mark.parametrize("installed", slow_but([False], [True, False]))
def test_answering_with_the_model_of_the_package_needs_no_pytorch(run_python, installed):
    code = (
        "import sys\n"
        "from convinse.cli import main\n"
        "packages = {'torch', 'transformers', 'safetensors'}\n"
        f"if not {installed}: sys.modules |= dict.fromkeys(packages)\n"  # importing them fails
        "assert main(['ask', 'Who directed the film Titanic?', 'When was he born?']) == 0\n"
        "print(*(name for name, module in sys.modules.items() if module))"
    )
    output = run_python(HERE + code)
    loaded = set(output.splitlines()[-1].split())
    assert "onnxruntime" in loaded and not {"torch", "transformers", "safetensors"} & loaded
    assert "1. James Cameron (Q42574)" in output and "16 August 1954" in output


@pytest.mark.slow
def test_importing_every_module_has_no_side_effect(workdir):
    code = (
        "import importlib, pkgutil, convinse\n"
        "for module in pkgutil.walk_packages(convinse.__path__, 'convinse.'):\n"
        "    if module.name.endswith('__main__'): continue\n"
        "    try: importlib.import_module(module.name)\n"
        "    except ImportError as error:\n"
        "        if error.name not in ('torch', 'safetensors', 'transformers'): raise\n"  # the extra neural is missing
        "    except convinse.ConvinseError as error:\n"
        "        if not module.name.startswith('convinse.integrations.'): raise\n"  # the tool that it is for is missing
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)}
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not list(workdir.iterdir())


def test_the_typed_program_of_the_examples_runs(workdir, capsys):
    """`scripts/check_package.sh` checks its types with the installed package."""
    runpy.run_path(str(ROOT / "examples" / "typed_program.py"), run_name="__main__")
    assert capsys.readouterr().out.startswith("194 minute ")
