"""What the results of a run come from: whatever is read or computes differently is another run, all else is the same."""

import shutil
import sys
from pathlib import Path

import pytest

from convinse import __version__, support
from convinse.cli import main
from convinse.config import parse_config
from convinse.experiment.identity import origins
from convinse.knowledge_base.build import build
from convinse.passages.build import build_index
from convinse.pipeline import Pipeline
from convinse.support import program
from convinse.wikipedia.dump import write_dump
from evidences import evidence
from handmade import claim, document, q, world
from handmade import write as write_documents
from places import SNAPSHOT
from written import write, write_lines

OWN = """
from convinse import HeterogeneousAnswering
from own_words import WORD

class Own(HeterogeneousAnswering):
    def inference_on_turn(self, turn, evidences=None):
        return []
"""


@pytest.fixture
def data(own_world):
    folder = own_world
    shutil.copytree(SNAPSHOT / "answers", folder / "answers")
    (folder / "model").mkdir()
    shutil.copy(SNAPSHOT / "model" / "referents.json", folder / "model")
    write(folder / "list.txt", "one")
    write("own.py", OWN)
    write("own_words.py", "WORD = 1\n")
    keys = {"kb_path": "kb", "ers_wikipedia_dump": "wikipedia.db", "ers_passage_index": "passages",
            "qu_rewriter": "model", "ha_ranker": "answers"}  # fmt: skip
    paths = {key: str(folder / name) for key, name in keys.items()}
    return {**paths, "ha": "own:Own", "custom": {"lists": [{"path": str(folder / "list.txt")}, "no file", "x" * 5000]}}


def made_from(keys):
    sys.modules.pop("own", None), sys.modules.pop("own_words", None)  # as another process would read them
    with Pipeline(parse_config(keys)) as pipeline:
        return origins(pipeline.config, pipeline.resources, (pipeline.qu, pipeline.ers, pipeline.ha))


def rebuilt_kb(folder):
    more = document("Q999", "a new item", claim("P31", q("Q5")))
    build(write_documents(folder / "dump.json", [*world(), more]), folder / "kb")


def rebuilt_passages(folder):
    build_index(
        write_lines("passages.jl", {"id": "a", "text": "one three"}), folder / "passages", force=True, quiet=True
    )


def longer(path):
    write(path, path.read_text() + "\n")


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (rebuilt_kb, "knowledge base"),
        (lambda folder: write_dump(folder / "wikipedia.db", [("Q1", [evidence("eight")])]), "Wikipedia dump"),
        (rebuilt_passages, "passages"),
        (lambda folder: longer(folder / "model" / "referents.json"), "models"),
        (lambda folder: longer(folder / "answers" / "answers.json"), "models"),
        (lambda folder: longer(folder / "list.txt"), "files below custom"),
        (lambda folder: longer(folder.with_name("own.py")), "modules of your own"),
        (lambda folder: longer(folder.with_name("own_words.py")), "modules of your own"),
    ],
)
def test_a_changed_input_is_another_run(data, workdir, change, name):
    before = made_from(data)
    assert before == made_from(data)
    change(workdir / "data")
    after = made_from(data)
    assert [key for key in before if before[key] != after[key]] == [name]


def test_a_knowledge_base_of_the_same_dump_is_the_same(data, workdir):
    before = made_from(data)
    build(workdir / "data" / "dump.json", workdir / "data" / "kb")
    assert made_from(data) == before


def test_a_missing_file_is_no_error_before_it_is_needed(data):
    missing = dict.fromkeys(("ers_wikipedia_dump", "ers_passage_index"), "nowhere")
    ids = made_from({**data, **missing, "qu_model": "org/on-a-hub", "qu": "nc_init"})
    assert (ids["Wikipedia dump"], ids["passages"]) == ("none", "none")


@pytest.fixture
def package(workdir, monkeypatch):
    """A copy of the package's code; a function that gives the id of what it is now."""
    copy = workdir / "convinse"
    shutil.copytree(Path(support.__file__).parents[1], copy, ignore=shutil.ignore_patterns("snapshot", "__pycache__"))
    monkeypatch.setattr(program, "__file__", str(copy / "support" / "program.py"))
    program.program_id.cache_clear()
    yield copy
    program.program_id.cache_clear()


def now():
    program.program_id.cache_clear()
    return program.program_id()


@pytest.mark.parametrize("name", ["pipeline.py", "language/english/words.txt"])
def test_the_program_is_another_where_a_line_of_it_is(package, name):
    before = now()
    assert before == now()
    longer(package / name)
    assert now() != before


def test_the_program_id_does_not_depend_on_its_folder_or_other_files(package, monkeypatch):
    before = now()
    write(package / "__pycache__" / "pipeline.cpython-311.py", "x")
    write(package / "snapshot" / "kb.txt", "x")
    write(package / "notes.md", "x")
    assert now() == before
    package.rename(moved := package.with_name("installed"))
    monkeypatch.setattr(program, "__file__", str(moved / "support" / "program.py"))
    assert now() == before
    monkeypatch.setattr(program, "__version__", f"{__version__}.1")
    assert now() != before


def test_a_run_that_was_stopped_before_the_program_changed_begins_anew(workdir, monkeypatch, capsys):
    write("my.yml", "name: mine\nqu: slots\nha: entity_voting\nevs: bm25\n")
    assert main(["pipeline", "kb", "my.yml", "--limit", "1", "--quiet"]) == 0
    monkeypatch.setattr("convinse.experiment.identity.program_id", lambda: "another")
    assert main(["pipeline", "kb", "my.yml", "--limit", "2"]) == 0
    logged = capsys.readouterr().err
    assert "(changed since: program)\n" in logged and "finished already" not in logged
