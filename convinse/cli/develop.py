"""Commands for who works on the project: bench, test."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ..errors import ConfigError
from .arguments import Commands

if TYPE_CHECKING:
    from pathlib import Path


def add(commands: Commands) -> None:
    """`bench`, `test`."""
    sub = commands.add("bench", _bench, "a benchmark: prints a table and writes JSON; further arguments go to it")
    sub.add_argument("name", help="such as pipeline")
    sub.set_defaults(takes_more=True)

    sub = commands.add("test", _test, "run the test suite; further arguments go to pytest")
    sub.add_argument("files", nargs="*", metavar="FILE")
    sub.set_defaults(takes_more=True)


def _bench(options: argparse.Namespace) -> int:
    from ..config import project_root

    return _run_script(project_root() / "scripts" / f"bench_{options.name}.py", "bench", options.name, options.rest)


def _test(options: argparse.Namespace) -> int:
    import importlib.util
    import subprocess
    from pathlib import Path

    from ..config import project_root

    tests = project_root() / "tests"
    if not tests.is_dir():
        raise ConfigError(f"{tests}: no tests here; they belong to a checkout of the project")
    if importlib.util.find_spec("pytest") is None:
        raise ConfigError("pytest is not installed; run pip install 'convinse[test]'")
    files = [str(Path(file).resolve()) for file in options.files] or [str(tests)]
    return subprocess.call([sys.executable, "-m", "pytest", *files, *options.rest], cwd=project_root())


def _run_script(script: Path, kind: str, name: str, arguments: list[str]) -> int:
    import subprocess

    if not script.is_file():
        from ..errors import nearest

        known = [path.stem.removeprefix(f"{kind}_") for path in script.parent.glob(f"{kind}_*.py")]
        raise ConfigError(f"{kind}: unknown name '{name}'; {nearest(name, known)}")
    return subprocess.call([sys.executable, str(script), *arguments])
