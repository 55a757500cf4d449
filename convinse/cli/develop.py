"""Commands for work on the project: bench, test, docs. They need a checkout, and are listed only in one."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from ..support.errors import ConfigError, missing_extra, nearest
from .arguments import Commands, port

# what a step frees is kept for the next: giving it back to the system took a tenth of a training's time
_KEEP_MEMORY = MappingProxyType(
    {"MALLOC_TRIM_THRESHOLD_": "10000000000", "MALLOC_TOP_PAD_": "500000000", "MALLOC_MMAP_THRESHOLD_": "10000000000"}
)
_BENCHES, _TESTS, _PAGES, _SITE = "scripts/bench", "tests", "docs", "build/site"
_PORT = 8000  # of the documentation on this machine
_MOST_WORKERS = 4  # each process imports PyTorch: more take more memory than they save time


def add(commands: Commands) -> None:
    """Add `bench`, `test`, `docs`."""
    text = "a benchmark: prints a table and writes JSON; further arguments go to it"
    sub = commands.add("bench", _bench, text, listed=in_checkout(_BENCHES))
    sub.add_argument("name", help="such as pipeline")
    sub.set_defaults(takes_more=True)

    text = "run the test suite, with --all its slow tests, too; from the first option on, arguments go to pytest"
    sub = commands.add("test", _test, text, listed=in_checkout(_TESTS))
    sub.add_argument("files", nargs="*", metavar="FILE")
    sub.set_defaults(takes_more=True)

    text = f"build the documentation site in {_SITE}; a broken link, a page in no list or an old table fails"
    interrupted = "what was built stays"
    sub = commands.add("docs", _docs, text, interrupted, listed=in_checkout(f"{_PAGES}/conf.py"))
    sub.add_argument(
        "--output", type=Path, metavar="FOLDER", help=f"where the site goes (default: {_SITE} of the checkout)"
    )
    sub.add_argument(
        "--serve", type=port, nargs="?", const=_PORT, metavar="PORT", help=f"serve it on this machine (default {_PORT})"
    )
    sub.add_argument(
        "--write", action="store_true", help="first write what the pages show of the program and of docs/figures"
    )


def in_checkout(place: str = _BENCHES) -> bool:
    """Return True if the package lies in a checkout of the project, with its scripts and tests."""
    return os.path.exists(root() / place)  # noqa: PTH110 - False if another user may not look


def root() -> Path:
    """Return the folder that the package lies in, as `config.project_root`, which is slow to load for a help text."""
    return Path(__file__).resolve().parents[2]


def _bench(options: argparse.Namespace) -> int:
    scripts = _checkout("bench", _BENCHES) / "scripts"
    names = benches(scripts / "bench")
    if options.name not in names:
        raise ConfigError(f"bench: unknown name '{options.name}'; {nearest(options.name, names)}")
    return _run_module(scripts, f"bench.{options.name}", options.rest)


def benches(folder: Path) -> list[str]:
    """Return the benches in a folder: modules and packages that can be run."""
    files = [*folder.glob("*.py"), *folder.glob("*/__main__.py")]
    runs = [file for file in files if '__name__ == "__main__"' in file.read_text(encoding="utf-8")]
    return sorted(file.parent.name if file.stem == "__main__" else file.stem for file in runs)


def train_embedded(options: argparse.Namespace) -> int:
    """Run the recipe of the model that ships with the project."""
    scripts = _checkout("train embedded", "scripts/recipes") / "scripts"
    return _run_module(scripts, "recipes.embedded", options.rest, _KEEP_MEMORY)


def _test(options: argparse.Namespace) -> int:
    import importlib.util
    import subprocess
    from itertools import takewhile

    folder = _checkout("test", _TESTS)
    if importlib.util.find_spec("pytest") is None:
        raise missing_extra("pytest is not installed", "test")
    words = options.arguments[1:]
    files = [str(Path(file).resolve()) for file in takewhile(lambda word: not word.startswith("-"), words)]
    # the whole suite in several processes; what is named is soon done in one. The user's options come last and win
    processes = min(
        _MOST_WORKERS, os.cpu_count() or 1
    )  # each imports all tests and PyTorch, which one more does not save
    parallel = (f"--numprocesses={processes}", "--dist=worksteal")
    workers = parallel if not files and importlib.util.find_spec("xdist") else ()
    command = [sys.executable, "-m", "pytest", *workers, *(files or [str(folder / _TESTS)]), *words[len(files) :]]
    return subprocess.call(command, cwd=folder)


def _docs(options: argparse.Namespace) -> int:
    import importlib.util

    checkout = _checkout("docs", f"{_PAGES}/conf.py")
    needed = ("sphinx", "myst_parser", "furo", "sphinx_copybutton", "sphinx_external_toc")
    if any(importlib.util.find_spec(name) is None for name in needed):
        raise missing_extra("what builds the site is not installed (it needs Python 3.11 or newer)", "docs")
    site = (options.output or checkout / _SITE).resolve()
    status = _run_module(checkout / "scripts", "website.write_pages", [] if options.write else ["--check"])
    status = status or build_site(checkout / _PAGES, site)
    if status == 0 and not options.quiet:
        print(site / "index.html")
    if status == 0 and options.serve is not None:
        from contextlib import suppress
        from functools import partial
        from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

        handler = partial(SimpleHTTPRequestHandler, directory=str(site))
        with ThreadingHTTPServer(("127.0.0.1", options.serve), handler) as server, suppress(KeyboardInterrupt):
            print(f"http://127.0.0.1:{server.server_port}  (Ctrl-C ends it)", flush=True)
            server.serve_forever()
    return status


def build_site(pages: Path, site: Path) -> int:
    """Build the whole site in a separate process, as the sources of a page may have changed anywhere.

    Raises:
        ConfigError: there is something else in the folder.
    """
    import shutil
    import subprocess
    import tempfile

    if (site / ".buildinfo").is_file():
        shutil.rmtree(site)  # pages that are no more go with it
    elif site.exists() and (not site.is_dir() or any(site.iterdir())):
        raise ConfigError(f"{site}: holds something else than a site; give an empty or a new folder")
    site.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="convinse-docs-") as read:
        options = ("-W", "--keep-going", "-n", "-q", "-b", "html", "-d", read)
        return 1 if subprocess.call([sys.executable, "-m", "sphinx", *options, str(pages), str(site)]) else 0


def _checkout(command: str, folder: str) -> Path:
    if not in_checkout(folder):
        raise ConfigError(f"{command} needs a checkout of the project, which an installed package is not: no {folder}")
    return root()


def _run_module(
    scripts: Path, module: str, arguments: list[str], environment: Mapping[str, str] = MappingProxyType({})
) -> int:
    """Run a module of the folder `scripts` in a separate process, as its names are common ones."""
    import subprocess

    path = os.pathsep.join(filter(None, [str(scripts), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.call(command, env={**environment, **os.environ, "PYTHONPATH": path})
