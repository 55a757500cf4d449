"""Commands for who works on the project: bench, test."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..support.errors import ConfigError
from .arguments import Commands

if TYPE_CHECKING:
    from pathlib import Path

# what a step frees is kept for the next: giving it back to the system took a tenth of a training's time
_KEEP_MEMORY = MappingProxyType(
    {"MALLOC_TRIM_THRESHOLD_": "10000000000", "MALLOC_TOP_PAD_": "500000000", "MALLOC_MMAP_THRESHOLD_": "10000000000"}
)
# each process imports PyTorch: more than four take more memory than they save time
_WORKERS = ("--numprocesses=auto", "--maxprocesses=4", "--dist=worksteal")


def add(commands: Commands) -> None:
    """`bench`, `test`."""
    sub = commands.add("bench", _bench, "a benchmark: prints a table and writes JSON; further arguments go to it")
    sub.add_argument("name", help="such as pipeline")
    sub.set_defaults(takes_more=True)

    sub = commands.add("test", _test, "run the test suite; from the first option on, arguments go to pytest")
    sub.add_argument("files", nargs="*", metavar="FILE")
    sub.set_defaults(takes_more=True)


def _bench(options: argparse.Namespace) -> int:
    from ..config import project_root

    return _run_script(project_root() / "scripts" / f"bench_{options.name}.py", "bench", options.name, options.rest)


def train_embedded(options: argparse.Namespace) -> int:
    """`train embedded`: the recipe of the model that ships with the project."""
    from ..config import project_root

    if options.data is None or options.output is None:
        raise ConfigError("train embedded needs --data DIR (the shared data) and --output FOLDER")
    if options.words:
        raise ConfigError(f"train embedded takes its settings by --config FILE, not '{options.words[0]}'")
    given = ("data", "output", "config", "base", "work", "trunk")
    arguments = [
        word for name in given if getattr(options, name) is not None for word in (f"--{name}", getattr(options, name))
    ]
    script = project_root() / "scripts" / "train_embedded.py"
    return _run_script(script, "train", "embedded", [*arguments, *(["--quick"] if options.quick else [])], _KEEP_MEMORY)


def _test(options: argparse.Namespace) -> int:
    import importlib.util
    import subprocess
    from itertools import takewhile
    from pathlib import Path

    from ..config import project_root

    tests = project_root() / "tests"
    if not tests.is_dir():
        raise ConfigError(f"{tests}: no tests here; they belong to a checkout of the project")
    if importlib.util.find_spec("pytest") is None:
        raise ConfigError("pytest is not installed; run pip install 'convinse[test]'")
    words = options.arguments[1:]
    files = [str(Path(file).resolve()) for file in takewhile(lambda word: not word.startswith("-"), words)]
    # the whole suite in several processes; what is named is soon done in one. The user's options come last and win
    workers = _WORKERS if not files and importlib.util.find_spec("xdist") else ()
    command = [sys.executable, "-m", "pytest", *workers, *(files or [str(tests)]), *words[len(files) :]]
    return subprocess.call(command, cwd=project_root())


def _run_script(
    script: Path, kind: str, name: str, arguments: list[str], environment: Mapping[str, str] = MappingProxyType({})
) -> int:
    import os
    import subprocess

    if not script.is_file():
        from ..support.errors import nearest

        known = [path.stem.removeprefix(f"{kind}_") for path in script.parent.glob(f"{kind}_*.py")]
        raise ConfigError(f"{kind}: unknown name '{name}'; {nearest(name, known)}")
    return subprocess.call([sys.executable, str(script), *arguments], env={**environment, **os.environ})
