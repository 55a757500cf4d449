"""Every command and program that README.md and the pages of docs/ show in a block is run, or says by which test, or why not.

A line above a block says it, as an HTML comment, which no reader of the page sees:

    <!-- tested: tests/FILE.py::TEST -->   that test runs it, or the same with other files
    <!-- not run: REASON -->               nothing runs it
    <!-- file: NAME -->                    the block is a file, which blocks behind it use
    <!-- printed: among other lines -->    what the blocks before it print, but for the digits of probabilities

All other blocks of bash and Python are run here as they stand, those of a page one after the other in one folder of a clone.
"""

import ast
import shlex
from pathlib import Path

import pytest

from case_tables import slow_but
from convinse.cli import main
from documentation import PAGES, marked_blocks
from places import DATA, ROOT

RUN = ("bash", "python")
SHARED = "../shared/data"
SHOWN = [name for name in PAGES if name in ("README.md", "CONTRIBUTING.md") or name.startswith("docs/")]


def unmarked(name):
    return [block for block in marked_blocks(name) if block.language in RUN and block.mark in ("", "file")]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """One cache for all pages: several ask the same."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def clone(workdir, cache, monkeypatch):
    """A folder that looks like a clone beside the shared data, as far as the pages need it."""
    folder = workdir / "clone"
    folder.mkdir()
    for name in ("config", "convinse", "examples", "scripts"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "cache").symlink_to(cache)
    if DATA.is_dir():
        (workdir / "shared").mkdir()
        (workdir / "shared/data").symlink_to(DATA.resolve())
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    return folder


FIRST = ("docs/start.md", "docs/your-own-files.md", "docs/python.md")


@pytest.mark.parametrize("name", slow_but(FIRST, [name for name in SHOWN if unmarked(name)]))
def test_the_blocks_of_a_page_run(name, clone, capsys):
    shown = [block for block in marked_blocks(name) if block.mark in ("file", "printed") or block in unmarked(name)]
    printed = set()
    if not DATA.is_dir() and any(SHARED in block.text for block in shown):
        pytest.skip("no shared data")
    for block in shown:
        if block.mark == "file":
            Path(block.said).write_text(block.text, encoding="utf-8")
        elif block.mark == "printed":
            printed |= lines(capsys.readouterr().out)
            assert not lines(block.text) - printed
        elif block.language == "python":
            exec(compile(block.text, f"{name}:{block.line}", "exec"), {"__name__": "shown"})
        else:
            for line in block.text.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                assert words[:2] in ([], ["bash", "run.sh"]), (
                    f"{name}:{block.line}: mark the block, only run.sh is run here: {line}"
                )
                assert not words or main(words[2:]) == 0, f"{name}:{block.line}: {line}"


def lines(text):
    """Lines up to a probability, whose last digits depend on the processor."""
    return {line.split("  0.")[0].rstrip() for line in text.splitlines()}


@pytest.mark.parametrize("name", SHOWN)
def test_a_block_that_is_not_run_here_says_why(name):
    blocks = [block for block in marked_blocks(name) if block.mark]
    wrong = [block.line for block in blocks if block.mark == "not run" and len(block.said.split()) < 4]
    wrong += [block.line for block in blocks if block.mark == "tested" and not is_test(block.said)]
    wrong += [block.line for block in blocks if block.mark == "file" and "/" in block.said]
    assert not wrong


def is_test(place):
    """Whether `tests/FILE.py::TEST` is there."""
    file, _, test = place.partition("::")
    path = ROOT / file
    if not (file.startswith("tests/") and path.is_file()):
        return False
    return test in {statement.name for statement in ast.parse(path.read_text()).body if hasattr(statement, "name")}


def test_marks_are_understood(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- not run: no -->\n```bash\na\n```\n\n<!-- tested: x -->\n\n```python\nb\n```\n```bash\nc\n```\n"
    )
    blocks = marked_blocks(str(page))
    assert [(block.mark, block.said, block.text) for block in blocks] == [
        ("not run", "no", "a\n"), ("", "", "b\n"), ("", "", "c\n"),
    ]  # fmt: skip
    assert is_test("tests/test_docs_blocks.py::test_marks_are_understood")
    assert not is_test("tests/test_docs_blocks.py::test_nothing") and not is_test("run.sh::x")
