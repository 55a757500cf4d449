"""Every test runs in an empty working directory of its own, so that none touches the checkout's cache/ or results/."""

import gc
import gettext
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.internal.conjecture import providers

from convinse import Pipeline, load_config
from convinse.cli import main
from convinse.encoder.onnx_backend import runtime
from convinse.knowledge_base.build import build
from convinse.knowledge_base.index import KnowledgeBase
from convinse.passages.build import build_index as build_passages
from convinse.support import web
from convinse.wikipedia.dump import write_dump
from evidences import evidence
from handmade import world, write
from patience import PATIENCE
from perturbed import perturb
from places import SNAPSHOT
from written import write_lines

# the same examples in every run, and no database: the suite is deterministic and leaves nothing behind
settings.register_profile("convinse", deadline=None, derandomize=True, database=None, max_examples=60)
settings.load_profile("convinse")
# no constants of the sources among the examples, which it would parse in each run, and which would change with any line
providers.is_local_module_file = lambda path: False
SLOW = "slow: runs with --all"
PASSED = "convinse/passed"  # in pytest's cache
HYPOTHESIS_HOME = tempfile.mkdtemp(prefix="hypothesis-")  # it writes while tests are collected, else into the checkout
set_hypothesis_home_dir(HYPOTHESIS_HOME)


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write the files of tests/golden anew")
    parser.addoption(
        "--golden-all", action="store_true", help="compare the answers to all embedded questions, which takes minutes"
    )
    parser.addoption("--perturb", type=int, metavar="SEED", help="quantised models compute as on another processor")
    parser.addoption("--all", action="store_true", help="run the slow tests, too")
    parser.addoption("--rest", action="store_true", help="leave out what passed in the run before")


def pytest_configure(config):
    """One thread for each test process: several at once would get in one another's way. Commands that are started hear Ctrl-C.

    No cache is the user's own.
    """
    config.addinivalue_line("markers", "slow: runs with --all only, as `.ci/run` does")
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # it is read when Haystack is imported
    os.environ["XDG_CACHE_HOME"] = HYPOTHESIS_HOME
    if (
        signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    ):  # a shell in the background has it ignored, and that is inherited
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--all"):
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason=SLOW))
    if config.getoption("--rest"):
        passed = set(config.cache.get(PASSED, []))
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
        items[:] = [item for item in items if item.nodeid not in passed]


def pytest_terminal_summary(terminalreporter, config):
    """Note what passed, for --rest; a skipped test did not pass, and is run when what it asks for is there."""
    if config.pluginmanager.has_plugin("cacheprovider"):
        config.cache.set(PASSED, sorted({test.nodeid for test in terminalreporter.getreports("passed")}))


def pytest_collection_finish():
    """What is imported stays: the garbage collector need not look through it again and again (an eighth of the time)."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.hookimpl(trylast=True)  # when its fixtures are closed
def pytest_runtest_teardown(item, nextitem):
    """Collect garbage at the end of each file: the models that it opened would fill gigabytes. Later collections skip what is left."""
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


def pytest_unconfigure():
    shutil.rmtree(HYPOTHESIS_HOME, ignore_errors=True)


@pytest.fixture(autouse=True)
def workdir(tmp_path_factory, monkeypatch):
    path = tmp_path_factory.mktemp("work")
    monkeypatch.chdir(path)
    monkeypatch.setenv("XDG_CACHE_HOME", f"{path}.cache")  # a cache of its own, which is there when it is used
    monkeypatch.setattr(sys, "path", list(sys.path))  # what a test adds goes with it
    return path


@pytest.fixture(autouse=True)
def network(monkeypatch):
    """Short pauses between attempts, and nothing from the environment."""
    monkeypatch.setattr(web, "BACK_OFF", 0.01)
    for name in ("CONVINSE_OFFLINE", "CONVINSE_CONTACT", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def pauses(monkeypatch):
    """The pauses that sessions make between attempts: they take no time, but their clock goes on."""
    made, now = [], [1000.0]

    def sleep(seconds):
        made.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(web, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    return made


@pytest.fixture(scope="session", autouse=True)
def processor(request):
    """The processor of this machine, or another one."""
    seed = request.config.getoption("--perturb")
    if seed is not None:
        perturb(seed)


@pytest.fixture(scope="session", autouse=True)
def sessions():
    """The graphs of the snapshot, each loaded once for all pipelines of this process; a session has no state."""
    onnxruntime, opened = runtime(), {}
    load = onnxruntime.InferenceSession

    def shared(path, *arguments, **options):
        if SNAPSHOT not in Path(path).parents:
            return load(path, *arguments, **options)
        key = path, *options["providers"]
        if key not in opened:
            opened[key] = load(path, *arguments, **options)
        return opened[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onnxruntime, "InferenceSession", shared)
        patch.setattr(gettext, "find", cache(gettext.find))  # argparse looks for translations of all its words
        patch.setattr(os, "fsync", lambda file: None)  # 6 ms each, for a loss of power, which no test has
        yield


@pytest.fixture(scope="session")
def shipped():
    """The pipeline of `config.yml` without a cache on disk, for tests that ask and change nothing."""
    with Pipeline(load_config(ers_use_cache=False)) as pipeline:
        yield pipeline


@pytest.fixture(scope="session")
def lexical():
    """The same of `lexical.yml`."""
    with Pipeline(load_config("lexical.yml", ers_use_cache=False)) as pipeline:
        yield pipeline


@pytest.fixture(scope="session")
def world_index(tmp_path_factory):
    """The folder of the index of `handmade.world()`; not to be written to."""
    folder = tmp_path_factory.mktemp("world")
    build(write(folder / "dump.json", world()), folder / "kb")
    return folder / "kb"


@pytest.fixture
def world_kb(world_index, closed):
    return closed(KnowledgeBase(world_index))


@pytest.fixture
def own_world(world_index, workdir):
    """A folder of one of each that is built, which a test may change: `kb`, `wikipedia.db` and `passages`."""
    folder = shutil.copytree(world_index.parent, workdir / "data")
    write_dump(folder / "wikipedia.db", [("Q1", [evidence("seven", "text", ("seven", "Q7"))])])
    build_passages(write_lines(folder / "passages.jl", {"id": "a", "text": "one two"}), folder / "passages", quiet=True)
    return folder


@pytest.fixture
def corpus(tmp_path):
    """A function that writes passages: (id, text) or (id, text, title)."""

    def write(rows, name="passages.jl"):
        records = (dict(zip(("id", "text", "title"), row, strict=False)) for row in rows)
        return write_lines(tmp_path / name, *(json.dumps(record, ensure_ascii=False) for record in records))

    return write


@pytest.fixture
def closed():
    """A function that gives back what it is given, whose `close` (or another method) is called at the test's end."""
    with ExitStack() as stack:

        def keep(thing, method="close"):
            stack.callback(getattr(thing, method))
            return thing

        yield keep


@pytest.fixture
def kb_of(tmp_path_factory, closed):
    """Build and open the index of some entity documents."""

    def make(*documents, **options):
        folder = tmp_path_factory.mktemp("kb")
        build(write(folder / "dump.json", documents), folder / "kb", **options)
        return closed(KnowledgeBase(folder / "kb"))

    return make


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
def start_together(start):
    """Start processes whose code prints "ready" and reads a line; they go on when all of them are there."""

    def start_all(code, *all_arguments):
        processes = [start(code, *arguments) for arguments in all_arguments]
        for process in processes:
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        return processes

    return start_all


@pytest.fixture
def run_python(start):
    """Run Python code in a process of its own to its end; returns its standard output."""

    def run(code, *arguments):
        process = start(code, *arguments)
        output, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
        return output

    return run
