"""README.md and docs/ say what is true: their modules and programs run as shown, their files, links, commands, keys and names exist."""

import ast
import importlib
import io
import json
import re
import shlex
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from convinse.cli import build_parser, main
from convinse.config import Config, load_config
from convinse.knowledge_base.index import KnowledgeBase
from convinse.pipeline import Pipeline
from convinse.records.facts import fact_evidence
from convinse.support.errors import DependencyError
from convinse.support.registry import module_names
from convinse.wikipedia.dump import WikipediaDump
from documentation import PAGES, anchors, block, blocks, code, commands, inline_code, links, page
from places import ROOT, SNAPSHOT
from website import write_pages

OWN_MODULE = "docs/your-own-module.md"
ROOMS = tuple(
    f"{name}/" for name in (".ci", ".github", *"bash cache config convinse docs examples scripts tests".split())
)


# -- what the pages show, run ------------------------------------------------------------------------------------------


def test_the_module_of_ones_own_runs_in_the_pipeline(workdir):
    source = block(OWN_MODULE, "python", after="## A whole stage")
    assert len([line for line in source.splitlines() if line.strip()]) <= 15
    Path("my_module.py").write_text(source)
    Path("my_config.yml").write_text(block(OWN_MODULE, "yaml", after="## A whole stage"))
    (command,) = (words for words in commands(OWN_MODULE) if "my_config.yml" in words and words[0] == "pipeline")
    assert main([*command, "--quiet"]) == 0
    lines = Path("results/mine/kb_text/turns.jsonl").read_text().splitlines()
    turns = [turn for line in lines for turn in json.loads(line)["questions"]]
    assert len(turns) == 5 and any(turn["answer_presence"] for turn in turns)
    # the score of the module, not that of BM25
    assert all(isinstance(evidence["score"], int) for turn in turns for evidence in turn["top_evidences"])


def test_the_examples_of_evidences_are_embedded_ones():
    _, *shown = map(json.loads, blocks("docs/evidences.md", "json"))
    with closing(KnowledgeBase(SNAPSHOT / "kb")) as kb, closing(WikipediaDump(SNAPSHOT / "wikipedia.db")) as dump:
        facts = [fact_evidence(fact, fact[0]) for fact in kb.neighborhood("Q44578", 1000)]
        embedded_evidences = {evidence["evidence_text"]: evidence for evidence in [*facts, *dump.get("Q299194")]}
    assert [evidence["source"] for evidence in shown] == ["kb", "table", "info"]
    for evidence in shown:
        embedded = embedded_evidences[evidence["evidence_text"]]
        assert evidence == {key: embedded[key] for key in evidence}
        assert set(embedded) - set(evidence) <= {"disambiguations", "wikidata_entities", "retrieved_for_entity"}


@pytest.mark.slow
def test_the_contract_test_of_ones_own_module_passes(workdir):
    Path("my_module.py").write_text(block(OWN_MODULE, "python", after="## A whole stage"))
    Path("test_mine.py").write_text(block(OWN_MODULE, "python", after="a test can tell"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py"],
        capture_output=True, text=True, env={"PYTHONPATH": f"{ROOT}:{workdir}", "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b7 passed", done.stdout)


def test_the_conversations_of_the_readme_are_what_ask_prints(workdir, capsys):
    Path("examples").symlink_to(ROOT / "examples")
    for conversation in blocks("README.md", "")[:2]:
        first, *lines = conversation.splitlines()
        assert main(shlex.split(first.removeprefix("$ bash run.sh "))) == 0
        printed = iter(capsys.readouterr().out.splitlines())
        # the order is that of the page; the last digits of scores and probabilities depend on the processor
        shown = [re.split(r"  0\.|, 0\.", line)[0] for line in lines if line.strip() not in ("", "...")]
        assert len(shown) > 5 and not [line for line in shown if not any(text.startswith(line) for text in printed)]


@pytest.mark.slow
def test_the_conversations_about_follow_ups_are_answered_as_shown(workdir):
    text = page("docs/understanding.md").partition("## Conversations")[2].partition("\n## ")[0]
    with Pipeline(load_config("config.yml")) as pipeline:
        for table in text.split("| typed | read as | answer |\n")[1:]:
            rows = [line.strip("|").split("|") for line in table.splitlines()[1:] if line.startswith("|")]
            session = pipeline.session()
            for typed, in_full, answer in (map(str.strip, row) for row in rows):
                turn = session.ask(typed)
                assert turn["resolved_question"] == (in_full or typed)
                if answer.startswith("not known"):
                    assert "abstained" in turn, typed
                else:
                    labels = ", ".join(ranked["answer"]["label"] for ranked in turn["pred_answers"])
                    assert labels.startswith(answer.removesuffix(" ...")), typed


def test_the_python_example_runs(workdir, capsys):
    exec(
        compile(block("docs/python.md", "python", after="A conversation, and retrieval"), "docs/python.md", "exec"), {}
    )
    assert "16 August 1954" in capsys.readouterr().out


def test_the_questions_over_files_of_the_python_page(workdir, capsys):
    (workdir / "contracts").symlink_to(ROOT / "examples/contracts")
    exec(block("docs/python.md", "python", after="A question over a folder"), {})
    first, second, _ = capsys.readouterr().out.splitlines()
    assert first.startswith("6 months ") and "Contract with Acker and Contract with Dunmore" in second


def test_the_session_of_the_python_page_goes_on(workdir, capsys):
    exec(compile(block("docs/python.md", "python", after="is a session"), "docs/python.md", "exec"), {})
    printed = capsys.readouterr().out
    assert [line.split()[0] for line in printed.splitlines()[:3]] == ["qu", "ers", "ha"]
    assert "\n16 August 1954 / " in printed


@pytest.mark.parametrize("name", ["docs/ask.md", "docs/index.md"])
def test_the_chat_of_the_page_is_what_is_printed(name, workdir, capsys, monkeypatch):
    question, answer, *rest = block(name, "text").splitlines()
    monkeypatch.setattr(sys, "stdin", io.StringIO(question.removeprefix("> ")))
    assert main(["chat", "--quiet"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith(answer.split("  ")[0]) and printed[1:] == rest


def test_the_program_of_convinse_runs(workdir):
    names = {}
    exec(compile(block("docs/coming-from.md", "python"), "docs/coming-from.md", "exec"), names)
    assert names["page"] and names["answering"] and len(names["answering"]) < len(names["evidences"])


# -- names -------------------------------------------------------------------------------------------------------------


def test_every_configuration_key_is_on_its_page_once():
    shown = re.findall(r"^- `(\w+)`: ", page("docs/configuration.md"), re.MULTILINE)
    assert sorted(shown) == sorted(Config.__struct_fields__)


@pytest.mark.parametrize("stage", ["qu", "ers", "ha"])
def test_every_module_name_is_in_the_table(stage):
    shown = inline_code("docs/modules.md")
    assert not [name for name in module_names(stage) if name not in shown and name != "naive_concat"]


@pytest.mark.parametrize("name", [name for name in PAGES if blocks(name, "python")])
def test_the_programs_import_existing_names(name):
    statements = [statement for source in blocks(name, "python") for statement in ast.walk(ast.parse(source))]
    imports = [statement for statement in statements if isinstance(statement, ast.ImportFrom)]
    missing = [
        (statement.module, alias.name)
        for statement in imports
        if statement.module.split(".")[0] == "convinse"
        for alias in statement.names
        if not offers(statement.module, alias.name)
    ]
    assert not missing


def offers(module, name):
    """Whether a module of the project has a name; of one whose optional tool is missing the source is read."""
    try:
        return hasattr(importlib.import_module(module), name)
    except DependencyError:
        source = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
        return name in {getattr(statement, "name", None) for statement in source.body}


# -- commands ----------------------------------------------------------------------------------------------------------


def arguments(words):
    """Words as a page shows them -> words that can be parsed: `[--limit N]` is given, of `train|dev` the first.

    A command that is only named, such as `bash run.sh ask`, is asked for its help.
    """
    typed = [word.strip("[]").split("|")[0] for word in words if word != "..."]
    return ["1" if word == "N" else word for word in typed] if words[1:] else [*typed, "--help"]


@pytest.mark.parametrize("name", [name for name in PAGES if commands(name)])
def test_every_command_can_be_parsed(name, capsys):
    refused = []
    for words in commands(name):
        if words[0] == "COMMAND":
            continue  # stands for any of them
        try:
            options, rest = build_parser().parse_known_args(arguments(words))
        except SystemExit as end:
            if end.code:
                refused.append((words, capsys.readouterr().err))
            continue
        if rest and not options.takes_more:
            refused.append((words, rest))
    assert not refused


def test_every_bench_that_is_named_exists():
    names = {words[1] for name in PAGES for words in commands(name) if words[0] == "bench"} - {"NAME"}
    places = [(ROOT / "scripts/bench" / f"{name}.py", ROOT / "scripts/bench" / name / "__main__.py") for name in names]
    assert len(names) > 4 and not [files for files in places if not any(file.is_file() for file in files)]


# -- pages, links, paths -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_to_a_file_and_a_heading(name):
    broken = []
    for link in links(name):
        if "://" in link:
            continue  # no network here
        target, _, anchor = link.partition("#")
        path = (ROOT / name).parent.joinpath(target).resolve() if target else ROOT / name
        if not path.exists() or (anchor and anchor not in anchors(path.relative_to(ROOT).as_posix())):
            broken.append(link)
    assert not broken


@pytest.mark.parametrize("name", PAGES)
def test_every_path_of_the_repository_exists(name):
    paths = [word for word in code(name).split() if word.startswith(ROOMS)]
    missing = [word for word in paths if not re.search(r"[*{$]|NAME", word) and not (ROOT / word).exists()]
    assert not missing


def the_map():
    """The rooms of each row of the map, and the files and folders that it names in them."""
    text = page("CONTRIBUTING.md")
    rows = re.findall(
        r"^\| (`.*?) \| (.*) \|$", text[text.index("## The map") : text.index("## How to add")], re.MULTILINE
    )
    for rooms, contents in rows:
        yield re.findall(r"`([^`]+)`", rooms), re.findall(r"`([^`]+(?:/|\.py|\.md))`", contents)


def test_every_place_of_the_map_exists():
    rows = list(the_map())
    assert not [room for rooms, _ in rows for room in rooms if not (ROOT / room).exists()]
    named = [(rooms[0], name) for rooms, contents in rows for name in contents]
    assert len(named) > 20
    assert not [(room, name) for room, name in named if not ((ROOT / room / name).exists() or (ROOT / name).exists())]


def test_every_room_is_on_the_map():
    text = page("CONTRIBUTING.md")
    modules = (path for path in (ROOT / "convinse").iterdir() if path.suffix == ".py" or [*path.glob("*.py")])
    rooms = [path for path in modules if not path.name.startswith("_")]
    assert len(rooms) > 18
    assert not [room.name for room in rooms if f"`convinse/{room.name}{'/' if room.is_dir() else ''}`" not in text]


def test_the_index_leads_to_every_page():
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")} - {"index.md"}
    assert set(links("docs/index.md")) >= pages


def test_the_generated_parts_of_the_pages_are_up_to_date():
    assert write_pages.main(["--check"]) == 0


def test_the_navigation_of_the_site_has_every_page_once():
    toc = yaml.safe_load((ROOT / "docs/_toc.yml").read_text(encoding="utf-8"))
    listed = [toc["root"], *(entry["file"] for tree in toc["subtrees"] for entry in tree["entries"])]
    pages = [path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(listed) == sorted(pages)


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("docs/")])
def test_each_page_says_first_what_it_is_for(name):
    title, first, *_ = page(name).split("\n\n")
    assert title.startswith("# ")
    assert first[0] not in "`|#-<!"


def test_the_readme_fits_a_screen_and_leads_on():
    assert len((ROOT / "README.md").read_bytes()) <= 6144
    assert {"docs/index.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"} <= set(links("README.md"))


def test_the_size_of_the_snapshot_is_what_its_manifest_says():
    manifest = json.loads((ROOT / "convinse/snapshot/kb/manifest.json").read_text())
    assert f"{manifest['items']:,} Wikidata items with {manifest['facts']:,} facts" in page("docs/results.md")
