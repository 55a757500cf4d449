"""What all benches share: options, sizes and parts; systems in turn; tables; the file of figures.

A bench is a `Spec`: parts that each measure something, show it and return their figures. `run` reads the arguments,
runs the parts, and writes results/bench/NAME.json: of each part the machine, the commit, the arguments, its figures and the tables that
were printed. The site shows such tables from docs/figures/NAME.json.
Parts of earlier runs that were not measured now stay in the file.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import logging
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from rich.console import Console
from rich.table import Table

from convinse.cli.arguments import positive
from convinse.support.errors import ConvinseError
from convinse.support.files import replacing
from recipes.sources import BASE_INSTALL, BASE_PACKAGE, needed, shared_data

# what benches compare with, or need besides the project's own: to import -> to install
PACKAGES = {
    "bm25s": "bm25s numba",
    "bs4": "beautifulsoup4",
    "haystack_integrations.components.readers.transformers": "haystack-ai transformers-haystack",
    "lxml": "lxml",
    "onnx": "onnx",
    "rank_bm25": "rank_bm25==0.2.2",
    "scipy": "scipy",
    "sentence_transformers": "sentence-transformers==6.2.0",
    "tantivy": "tantivy",
    "torch": "torch",
    "transformers": "transformers",
    BASE_PACKAGE: BASE_INSTALL,
}
MODELS = ("onnx", "torch", "transformers")
_SETTINGS = {"HF_HUB_OFFLINE": "1", "HAYSTACK_TELEMETRY_ENABLED": "False", "TOKENIZERS_PARALLELISM": "true"}
_DATA = "The data lies in ../shared/data or CONVINSE_DATA."
SCRIPTS = Path(__file__).resolve().parents[1]

W = TypeVar("W")
R = TypeVar("R")
Figures = dict[str, Any]
Row = Sequence[str]
Columns = Mapping[str, tuple[str, str]]  # header -> name of a figure, how it is written
Systems = Mapping[Any, Figures]  # name, or its cells -> figures


class Figure(NamedTuple):
    """A row of a list of figures, and how its value is written."""

    label: str
    value: float
    form: str = "{:.1f}"


@dataclass
class Bench:
    options: argparse.Namespace
    size: Any  # how much is measured; a record of the bench's own
    rounds: int  # how often systems are timed that are timed as a whole
    work: Path  # a temporary folder
    kept: Path  # of what is expensive to build: `--work`, or a temporary one
    console: Console = field(default_factory=lambda: Console(width=140, highlight=False))
    tables: list[Figures] = field(
        default_factory=list
    )  # what was printed: title, columns, how many of them are words, rows
    state: Any = None  # what the parts of one bench share; of `Spec.prepare`
    _told: set[str] = field(default_factory=set)

    @property
    def folder(self) -> Path:
        return shared_data()

    def data(self, *names: str) -> Path:
        """A file of the shared data. Raises `DataError` where it is missing."""
        return needed(self.folder, *names)

    def has(self, package: str) -> bool:
        """Whether a peer can be measured; says once how to install it where it is missing."""
        if importable(package):
            return True
        if package not in self._told:
            self._told.add(package)
            self.console.print(f"{package.split('.')[0]} is not measured: pip install {PACKAGES[package]}")
        return False

    def compare(self, title: str, words: Row, columns: Columns, groups: Mapping[str | Row, Systems]) -> None:
        """Print groups of systems with their figures, a row each; what names a group stands in its first row only."""
        table = Table(title=title, title_justify="left")
        printed: list[list[str]] = []
        rows = [figures for systems in groups.values() for figures in systems.values()]
        columns = {head: own for head, own in columns.items() if any(row.get(own[0]) is not None for row in rows)}
        for place, column in enumerate((*words, *columns)):
            table.add_column(column, justify="left" if place < len(words) else "right")
        for group, systems in groups.items():
            start = _named(group)
            for name, figures in systems.items():
                values = ((figures.get(key), form) for key, form in columns.values())
                numbers = ("" if value is None else form.format(value) for value, form in values)
                printed.append([*start, *_named(name), *numbers])
                table.add_row(*printed[-1])
                start = [""] * len(start)
            table.add_section()
        self.console.print(table)
        self.tables.append({"title": title, "columns": [*words, *columns], "words": len(words), "rows": printed})

    def report(self, title: str, figures: Iterable[Figure]) -> None:
        """Print a list of figures."""
        rows = {figure.label: {"value": figure.form.format(figure.value)} for figure in figures}
        self.compare(title, ("figure",), {"measured": ("value", "{}")}, {(): rows})


def _named(name: str | Row) -> list[str]:
    return [name] if isinstance(name, str) else list(name)


@dataclass(frozen=True)
class Spec:
    """A bench; triples are for `--quick`, the default and `--full`."""

    name: str  # of the command and of the file of figures
    about: str
    parts: Mapping[str, Callable[[Bench], Figures]]  # in the order in which they are measured
    sizes: tuple[Any, Any, Any] = (None, None, None)
    rounds: tuple[int, int, int] | None = None  # None: nothing is measured in rounds
    options: Callable[[argparse.ArgumentParser], object] = lambda parser: None  # adds arguments
    prepare: Callable[[Bench], Any] = lambda bench: None  # makes what the parts share
    needs: Mapping[str, Sequence[str]] = field(default_factory=dict)  # packages that a part cannot do without
    peers: Sequence[str] = ()  # distributions whose versions are told beside the figures
    long: Sequence[str] = ()  # parts that are measured with `--full`, or when they are named


def run(spec: Spec, arguments: Sequence[str] | None = None) -> None:
    """Measure the parts of a bench, print, and write; ends the program with one line where that cannot be."""
    parser = argparse.ArgumentParser(prog=f"bench {spec.name}", description=spec.about.split("\n")[0], epilog=_DATA)
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--quick", action="store_true", help="a trial in seconds; its figures say little")
    amount.add_argument("--full", action="store_true", help="all there is, however long it takes")
    if spec.rounds is not None:
        parser.add_argument("--rounds", type=positive, metavar="N", help=f"default: {spec.rounds[1]}")
    parser.add_argument("--output", type=Path, default=Path(f"results/bench/{spec.name}.json"), metavar="FILE")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep what is built here")
    if len(spec.parts) > 1:
        parser.add_argument("--parts", "--only", metavar="PART", help=f"of {','.join(spec.parts)}")
    spec.options(parser)
    options = parser.parse_args(arguments)
    chosen = getattr(options, "parts", None)
    parts = chosen.split(",") if chosen else [part for part in spec.parts if options.full or part not in spec.long]
    if unknown := [part for part in parts if part not in spec.parts]:
        parser.error(f"--parts: unknown part '{unknown[0]}'; valid: {', '.join(spec.parts)}")
    options.parts = parts = [part for part in spec.parts if part in parts]
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    logging.basicConfig(format="%(message)s")
    logging.getLogger("convinse").setLevel(logging.INFO)
    level = 0 if options.quick else 2 if options.full else 1
    rounds = (options.rounds or spec.rounds[level]) if spec.rounds else 1
    try:
        needs = dict.fromkeys(name for part in parts for name in spec.needs.get(part, ()))
        if missing := [PACKAGES.get(name, name) for name in needs if not importable(name)]:
            raise ConvinseError(f"packages are missing; run pip install {' '.join(missing)}")
        written = earlier(options.output)
        options.output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="convinse-bench-") as name:
            work = Path(name)
            kept = options.work or work / "kept"
            kept.mkdir(parents=True, exist_ok=True)
            bench = Bench(options, spec.sizes[level], rounds, work, kept)
            bench.state = spec.prepare(bench)
            for part in parts:
                bench.tables = []
                load = round(os.getloadavg()[0], 2)  # that of others: the bench itself has not begun
                note(f"measuring {part} ...")
                seconds, figures = timed(partial(spec.parts[part], bench))
                written[part] = {
                    "arguments": _repeated(arguments), "commit": commit(),
                    "machine": {**machine(spec.peers), "load": load},
                    "seconds": round(seconds, 1), "rounds": bench.rounds, "tables": bench.tables, "figures": figures,
                }  # fmt: skip
                with replacing(options.output) as temporary:
                    temporary.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
                note(f"{part}: {seconds:.1f} seconds")
    except ConvinseError as error:
        raise SystemExit(f"bench {spec.name}: {error}") from None
    print(options.output)


def _repeated(arguments: Sequence[str] | None) -> list[str]:
    """The arguments without those that say where files go: what repeats the measurement."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for name in ("--output", "--work"):
        places = [place for place, word in enumerate(words) if word == name]
        for place in reversed(places):
            del words[place : place + 2]
    return [word for word in words if not word.startswith(("--output=", "--work="))]


def commit() -> str | None:
    """The commit that is measured, with `+` where files were changed since; None outside of a checkout with git."""
    call = ("git", "-C", str(SCRIPTS.parent))
    try:
        name = subprocess.run(
            [*call, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
        ).stdout
        code = ("--", "convinse", "scripts", "config")
        changed = subprocess.run(
            [*call, "status", "--porcelain", *code], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return name.strip() + ("+" if changed else "")


def earlier(output: Path) -> Figures:
    """The parts of earlier runs. Raises `ConvinseError` for a file of something else, which is to be kept."""
    if not output.exists():
        return {}
    try:
        parts = json.loads(output.read_text(encoding="utf-8"))
        if not isinstance(parts, dict):
            raise ValueError("no object")
    except ValueError as error:
        raise ConvinseError(f"{output}: is no file of figures ({error}); move it away") from None
    return parts


def importable(name: str) -> bool:
    """Whether a module is there; it is not imported."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def note(text: str) -> None:
    """Say on standard error what is done now."""
    print(text, file=sys.stderr, flush=True)


def machine(peers: Iterable[str] = ()) -> Figures:
    """What figures depend on besides the code and the load: the processor, Python, versions of packages, the date."""
    told: Figures = {
        "date": time.strftime("%Y-%m-%d"), "cores": os.cpu_count(),
        "architecture": platform.machine(), "python": platform.python_version(),
    }  # fmt: skip
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        values = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
        told["processor"] = values.get("model name", "")
    for name in peers:
        with contextlib.suppress(metadata.PackageNotFoundError):
            told[name] = metadata.version(name)
    if (torch := sys.modules.get("torch")) is not None:
        told["threads"] = torch.get_num_threads()
        if torch.cuda.is_available():
            told["gpu"] = torch.cuda.get_device_name()
    return told


class Spread(NamedTuple):
    """Of some values; as text the median, and the others in brackets."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values))

    def __format__(self, form: str) -> str:
        return f"{self.median:{form}} ({self.least:{form}}-{self.most:{form}})"


def in_turn(
    systems: Mapping[str, Callable[[W], R]], works: Iterable[W], clock: Callable[[], float] = time.perf_counter
) -> Iterator[tuple[str, W, float, R]]:
    """(system, work, seconds, result): all systems do a piece of work before the next; every other one backwards."""
    for number, work in enumerate(works):
        for name in list(systems) if number % 2 == 0 else reversed(list(systems)):
            start = clock()
            result = systems[name](work)
            yield name, work, clock() - start, result


def interleaved(systems: Mapping[str, Callable[[], R]], rounds: int) -> tuple[dict[str, list[float]], dict[str, R]]:
    """Each system once a round: the seconds of all rounds, the results of the last."""
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    results: dict[str, R] = {}
    calls = {name: lambda _, call=call: call() for name, call in systems.items()}
    for name, _, spent, result in in_turn(calls, range(rounds)):
        seconds[name].append(spent)
        results[name] = result
    return seconds, results


def timed(call: Callable[[], R]) -> tuple[float, R]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def percentile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
