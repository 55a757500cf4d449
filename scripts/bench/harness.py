"""The parts that all benches share: options, sizes and parts; tables; the file of figures.

A bench is a `Spec`: parts that each measure something, show it and return their figures. `run` reads the arguments, runs the parts, and
writes results/bench/NAME.json: of each part the machine, the commit, the arguments, its figures and the tables that were printed. The
site shows such tables from docs/figures/NAME.json. Parts of earlier runs that were not measured now stay in the file.
"""

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from convinse.cli.arguments import positive
from convinse.support.errors import ConvinseError
from convinse.support.files import replacing
from recipes.sources import needed, shared_data

from .machine import PACKAGES, commit, machine
from .processors import as_avx2, has_avx2_alone
from .timing import timed

_SETTINGS = {"HF_HUB_OFFLINE": "1", "HAYSTACK_TELEMETRY_ENABLED": "False", "TOKENIZERS_PARALLELISM": "true"}

Figures = dict[str, Any]
Row = Sequence[str]
Columns = Mapping[str, tuple[str, str]]  # header -> name of a figure, its format
Systems = Mapping[Any, Figures]  # name, or its cells -> figures


@dataclass
class Bench:
    options: argparse.Namespace
    size: Any  # how much is measured; a record of the bench's own
    rounds: int  # of systems that are timed as a whole
    work: Path  # a temporary folder
    cache: Path  # of what is expensive to build: `--work`, or a temporary one
    console: Console = field(default_factory=lambda: Console(width=140, highlight=False))
    tables: list[Figures] = field(default_factory=list)  # as printed: title, columns, number of those of words, rows
    state: Any = None  # of `Spec.prepare`

    @property
    def folder(self) -> Path:
        return shared_data()

    def data(self, *names: str) -> Path:
        """A file of the shared data. Raises `DataError` if it is missing."""
        return needed(self.folder, *names)

    def has(self, package: str) -> bool:
        """Whether a peer can be measured; says how to install it if it is missing."""
        if missing := _missing(package):
            self.console.print(f"{package} is not measured: {_installing(missing)}", soft_wrap=True)
        return not missing

    def need(self, *packages: str) -> None:
        if missing := _missing(*packages):
            raise ConvinseError(f"packages are missing; run {_installing(missing)}")

    def compare(self, title: str, words: Row, columns: Columns, groups: Mapping[str | Row, Systems]) -> None:
        """Print groups of systems with their figures, a row each; the name of a group stands in its first row only."""
        table = Table(title=title, title_justify="left")
        printed: list[list[str]] = []
        rows = [figures for systems in groups.values() for figures in systems.values()]
        columns = {head: pair for head, pair in columns.items() if any(row.get(pair[0]) is not None for row in rows)}
        for place, column in enumerate((*words, *columns)):
            table.add_column(column, justify="left" if place < len(words) else "right")
        for group, systems in groups.items():
            start = [group] if isinstance(group, str) else list(group)
            for name, figures in systems.items():
                values = ((figures.get(key), form) for key, form in columns.values())
                numbers = ("" if value is None else form.format(value) for value, form in values)
                printed.append([*start, *([name] if isinstance(name, str) else name), *numbers])
                table.add_row(*printed[-1])
                start = [""] * len(start)
            table.add_section()
        self.console.print(table)
        self.tables.append({"title": title, "columns": [*words, *columns], "words": len(words), "rows": printed})

    def report(self, title: str, figures: Mapping[str, tuple[float, str]]) -> None:
        rows = {label: {"value": form.format(value)} for label, (value, form) in figures.items()}
        self.compare(title, ("figure",), {"measured": ("value", "{}")}, {(): rows})


def _installing(packages: Sequence[str]) -> str:
    """What to type to install packages beside the project."""
    python = Path(sys.executable)
    shown = python.relative_to(Path.cwd()) if python.is_relative_to(Path.cwd()) else python
    return f"{shown} -m pip install {' '.join(packages)}"


def _missing(*packages: str) -> list[str]:
    return [PACKAGES.get(name, name) for name in packages if find_spec(name.split(".")[0]) is None]


@dataclass(frozen=True)
class Spec:
    """A bench; triples are for `--quick`, the default and `--full`."""

    name: str  # of the command and of the file of figures
    about: str
    parts: Mapping[str, Callable[[Bench], Figures]]  # in the order in which they are measured
    sizes: tuple[Any, Any, Any] = (None, None, None)
    rounds: tuple[int, int, int] = (1, 1, 1)
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # further options, as argparse takes them
    prepare: Callable[[Bench], Any] = lambda bench: None  # makes what the parts share


def _read_options(spec: Spec) -> argparse.Namespace:
    about = spec.about.split("\n")[0]
    parser = argparse.ArgumentParser(
        prog=f"bench {spec.name}", description=about, epilog="The data lies in ../shared/data or CONVINSE_DATA."
    )
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--quick", action="store_true", help="a trial in seconds; its figures say little")
    amount.add_argument("--full", action="store_true", help="all there is, however long it takes")
    parser.add_argument("--rounds", type=positive, metavar="N", help=f"of timed systems (default: {spec.rounds[1]})")
    parser.add_argument("--output", type=Path, default=Path(f"results/bench/{spec.name}.json"), metavar="FILE")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep what is built here")
    parser.add_argument("--parts", metavar="PART", help=f"of {','.join(spec.parts)}")
    parser.add_argument("--processor", choices=["avx2"], help="compute as a processor without AVX-512 and VNNI does")
    for name, settings in spec.options.items():
        parser.add_argument(name, **settings)
    options = parser.parse_args()
    chosen = options.parts.split(",") if options.parts else list(spec.parts)
    if unknown := [part for part in chosen if part not in spec.parts]:
        parser.error(f"--parts: unknown part '{unknown[0]}'; valid: {', '.join(spec.parts)}")
    # for the file of figures: what differs from the defaults and changes them
    options.arguments = []
    for name, value in vars(options).items():
        if name not in ("output", "work", "arguments") and value != parser.get_default(name):
            options.arguments += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    options.parts = [part for part in spec.parts if part in chosen]
    return options


def run(spec: Spec) -> None:
    """Measure the parts of a bench, print, and write; ends the program with one line if that cannot be."""
    options = _read_options(spec)
    if options.processor and not has_avx2_alone():
        sys.exit(_with_avx2(spec))
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    logging.basicConfig(format="%(message)s")
    logging.getLogger("convinse").setLevel(logging.INFO)
    level = 0 if options.quick else 2 if options.full else 1
    try:
        written = json.loads(options.output.read_text(encoding="utf-8")) if options.output.exists() else {}
        options.output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="convinse-bench-") as name:
            cache = options.work or Path(name, "kept")
            cache.mkdir(parents=True, exist_ok=True)
            bench = Bench(options, spec.sizes[level], options.rounds or spec.rounds[level], Path(name), cache)
            bench.state = spec.prepare(bench)
            for part in options.parts:
                bench.tables = []
                load = round(os.getloadavg()[0], 2)  # that of others: the bench itself has not begun
                note(f"measuring {part} ...")
                seconds, figures = timed(partial(spec.parts[part], bench))
                written["-".join(filter(None, [part, options.processor]))] = {
                    "arguments": options.arguments, "commit": commit(), "machine": {**machine(), "load": load},
                    "seconds": round(seconds, 1), "rounds": bench.rounds, "tables": bench.tables, "figures": figures,
                }  # fmt: skip
                with replacing(options.output) as temporary:
                    temporary.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
                note(f"{part}: {seconds:.1f} seconds")
    except ConvinseError as error:
        raise SystemExit(f"bench {spec.name}: {error}") from None
    print(options.output)


def _with_avx2(spec: Spec) -> int:
    """Run this bench once more in a process whose models compute with AVX2 alone; return its status."""
    with tempfile.TemporaryDirectory(prefix="convinse-avx2-") as folder:
        try:
            settings = as_avx2(Path(folder))
        except ConvinseError as error:
            raise SystemExit(f"bench {spec.name}: {error}") from None
        return subprocess.run([sys.executable, *sys.orig_argv[1:]], env={**os.environ, **settings}).returncode


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
