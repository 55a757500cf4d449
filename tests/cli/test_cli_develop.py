"""`test`: what pytest is started with; `docs`: what is built and served."""

import importlib.util
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from convinse.cli import main
from patience import PATIENCE
from places import ROOT

TESTS = str(ROOT / "tests")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], [TESTS]),
        (["-x", "-k", "some words"], [TESTS, "-x", "-k", "some words"]),
        (["-n", "0"], [TESTS, "-n", "0"]),
        (["a.py", "b.py::test_b", "-q"], ["{here}/a.py", "{here}/b.py::test_b", "-q"]),
    ],
)
def test_pytest_gets_files_and_options_as_they_are_given(workdir, monkeypatch, words, expected):
    calls = []
    monkeypatch.setattr(subprocess, "call", lambda command, **options: calls.append((command, options)) or 5)
    assert main(["test", *words]) == 5
    ((command, options),) = calls
    workers = [word for word in command if word.startswith(("--numprocesses=", "--dist="))]
    assert len(workers) == (2 if TESTS in expected else 0)  # one file is soon done in one process
    here = str(Path().resolve())
    assert command == [sys.executable, "-m", "pytest", *workers, *(word.format(here=here) for word in expected)]
    assert options == {"cwd": ROOT}


@pytest.fixture
def built(monkeypatch):
    """Calls of other programs, which do nothing; what `docs` needs is there."""
    calls = []
    monkeypatch.setattr(subprocess, "call", lambda command, **options: calls.append(command) or 0)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    return calls


@pytest.mark.parametrize(("words", "mode"), [([], ["--check"]), (["--write"], [])])
def test_the_pages_are_up_to_date_before_the_site_is_built_strictly(built, capsys, words, mode):
    assert main(["docs", "--output", "site", *words]) == 0
    (_, *pages), (_, *site) = built
    assert pages == ["-m", "website.write_pages", *mode]
    assert site[:5] == ["-m", "sphinx", "-W", "--keep-going", "-n"] and site[-2] == str(ROOT / "docs")
    assert capsys.readouterr().out == f"{Path('site/index.html').resolve()}\n"


def test_a_folder_of_other_files_is_not_replaced(built, command_error):
    Path("mine").mkdir()
    Path("mine/thesis.tex").touch()
    assert "mine: holds something else than a site" in command_error("docs", "--output", "mine")
    Path("site").mkdir()
    Path("site/.buildinfo").touch()
    Path("site/gone.html").touch()
    assert main(["docs", "--output", "site"]) == 0 and not Path("site/gone.html").exists()


def test_without_the_extra_docs_it_is_named(monkeypatch, command_error):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "[docs]" in command_error("docs")


def test_the_site_is_served_on_this_machine(start, workdir):
    for name in ("sphinx", "myst_parser", "furo", "sphinx_external_toc"):
        pytest.importorskip(name)
    Path("site").mkdir()
    Path("site/index.html").write_text("<h1>start</h1>")
    process = start(
        "import sys; from convinse.cli import develop; develop.build_site = lambda *_: 0\n"
        "from convinse.cli import main; sys.exit(main(['docs', '--output', 'site', '--serve', '0', '--quiet']))"
    )
    url = process.stdout.readline().split()[0]
    assert url.startswith("http://127.0.0.1:")
    assert urllib.request.urlopen(url, timeout=PATIENCE).read() == b"<h1>start</h1>"
    for path in ("nowhere.html", "../setup.cfg", "%2e%2e/setup.cfg"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{url}/{path}", timeout=PATIENCE)
