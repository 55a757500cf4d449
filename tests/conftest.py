"""Every test runs in an empty working directory of its own, so that none touches the checkout's cache/ or results/."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from types import SimpleNamespace

import pytest
from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir

from convinse.cli import main
from convinse.knowledge_base.build import build
from convinse.knowledge_base.index import KnowledgeBase
from convinse.support import web, web_attempt
from handmade import world, write

# the same examples in every run, and no database: the suite is deterministic and leaves nothing behind
settings.register_profile("convinse", deadline=None, derandomize=True, database=None, max_examples=60)
settings.load_profile("convinse")
HYPOTHESIS_HOME = tempfile.mkdtemp(prefix="hypothesis-")  # it writes while tests are collected, else into the checkout
set_hypothesis_home_dir(HYPOTHESIS_HOME)


def pytest_configure():
    """One thread for each test process: several at once would get in one another's way."""
    os.environ["OMP_NUM_THREADS"] = "1"


def pytest_unconfigure():
    shutil.rmtree(HYPOTHESIS_HOME, ignore_errors=True)


@pytest.fixture(autouse=True)
def workdir(tmp_path_factory, monkeypatch):
    path = tmp_path_factory.mktemp("work")
    monkeypatch.chdir(path)
    monkeypatch.setattr(sys, "path", list(sys.path))  # what a test adds goes with it
    return path


@pytest.fixture(autouse=True)
def network(monkeypatch):
    """Short pauses between attempts, and nothing from the environment."""
    monkeypatch.setattr(web, "_BACK_OFF", 0.01)
    for name in ("CONVINSE_OFFLINE", "CONVINSE_CONTACT", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def pauses(monkeypatch):
    """The pauses that sessions make between attempts: they take no time, but their clock goes on."""
    made, now = [], [1000.0]

    def sleep(seconds):
        made.append(seconds)
        now[0] += seconds

    for module in (web, web_attempt):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    return made


@pytest.fixture(scope="session")
def world_index(tmp_path_factory):
    """The folder of the index of `handmade.world()`; not to be written to."""
    folder = tmp_path_factory.mktemp("world")
    build(write(folder / "dump.json", world()), folder / "kb")
    return folder / "kb"


@pytest.fixture
def world_kb(world_index):
    kb = KnowledgeBase(world_index)
    yield kb
    kb.close()


@pytest.fixture
def corpus(tmp_path):
    """A function that writes passages: (id, text) or (id, text, title)."""

    def write(rows, name="passages.jl"):
        path = tmp_path / name
        lines = [
            json.dumps(
                {"id": row[0], "text": row[1], **({"title": row[2]} if len(row) > 2 else {})}, ensure_ascii=False
            )
            for row in rows
        ]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return write


@pytest.fixture
def kb_of(tmp_path_factory):
    """Build and open the index of some entity documents."""
    opened = []

    def make(*documents, **options):
        folder = tmp_path_factory.mktemp("kb")
        build(write(folder / "dump.json", documents), folder / "kb", **options)
        opened.append(KnowledgeBase(folder / "kb"))
        return opened[-1]

    yield make
    for kb in opened:
        kb.close()


@pytest.fixture
def command(capsys):
    """Run `convinse ARGUMENTS` in this process, which must end well; returns what it prints."""

    def run(*arguments):
        capsys.readouterr()
        assert main([str(argument) for argument in arguments]) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def command_error(capsys):
    """Run `convinse ARGUMENTS`, which must end with status 1; returns the one line on standard error."""

    def run(*arguments):
        capsys.readouterr()
        assert main([str(argument) for argument in arguments]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("convinse: ")
        return line.removeprefix("convinse: ")

    return run


@pytest.fixture
def start(workdir):
    """Start Python code in a process of its own; whatever still runs at the end of the test is killed."""
    processes = []

    def start_process(code, *arguments):
        command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
        process = subprocess.Popen(
            command, cwd=workdir, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        processes.append(process)
        return process

    yield start_process
    for process in processes:
        process.kill()
        process.communicate()


@pytest.fixture
def run_python(start):
    """Run Python code in a process of its own to its end; returns its standard output."""

    def run(code, *arguments):
        process = start(code, *arguments)
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        return output

    return run
