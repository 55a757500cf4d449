"""What all benches share: options, sizes and parts; systems in turn; processes of their own; tables; the file of figures.

A bench is a `Spec`: parts that each measure something, show it and return their figures. `run` reads the arguments,
runs the parts, and writes results/bench/NAME.json: of each part the machine, the commit, the arguments, its figures and the tables that
were printed. The site shows such tables from docs/figures/NAME.json.
Parts of earlier runs that were not measured now stay in the file.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import json
import logging
import os
import platform
import resource
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
_CHILD = "from bench.harness import child; child()"
_NOT_HERE = (
    "import sys; sys.path = list(filter(None, sys.path)); "  # the code in the working directory is not that version's
)
_DATA = "The data lies in ../shared/data or CONVINSE_DATA."
_EVERY = 0.2  # seconds between two looks at the memory of a process
SCRIPTS = Path(__file__).resolve().parents[1]

W = TypeVar("W")
R = TypeVar("R")
Figures = dict[str, Any]
Row = Sequence[str]
Columns = Mapping[str, tuple[str, str]]  # header -> name of a figure, how it is written
Systems = Mapping[Any, Figures]  # name, or its cells -> figures


class ChildError(ConvinseError):
    """A process that a bench has started failed."""


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


def add_against(parser: argparse.ArgumentParser) -> None:
    """The option that compares with another version, see `other_version`."""
    parser.add_argument(
        "--against",
        type=Path,
        metavar="CHECKOUT",
        help="a folder with another version of the project, measured besides",
    )


def other_version(bench: Bench) -> Path | None:
    """The checkout of `--against`, or None. Raises `ConvinseError` where it is none of the project."""
    given: Path | None = getattr(bench.options, "against", None)
    if given is None:
        return None
    checkout = given.expanduser().resolve()
    if not all((checkout / part).is_dir() for part in ("convinse", "scripts/bench")):
        raise ConvinseError(
            f"--against {given}: no checkout of the project; make one with: git worktree add DIR COMMIT"
        )
    return checkout


def versions(bench: Bench) -> Iterator[list[Path | None]]:
    """For each round the versions to be measured in turn: this one (None), and that of `--against`."""
    own = dict.fromkeys((None, other_version(bench)))
    for number in range(bench.rounds):
        yield list(own) if number % 2 == 0 else list(reversed(own))


def commands(bench: Bench, title: str, cases: Mapping[str, Sequence[str]], prepare: Callable[[], object]) -> Figures:
    """Commands of the project timed in rounds, each begun by `prepare`, in the folder of the bench.

    With `--against` the commands of that version are timed in the same rounds.
    """
    usages: dict[Path | None, dict[str, list[Usage]]] = {}
    for checkouts in versions(bench):
        for checkout in checkouts:
            prepare()
            for name, arguments in cases.items():  # in this order: one may need what another has written
                usage = command(arguments, bench.work, checkout)
                usages.setdefault(checkout, {}).setdefault(name, []).append(usage)
    figures: dict[str, Figures] = {}
    for name, runs in usages.pop(None).items():
        seconds = Spread.of([usage.seconds for usage in runs])
        figures[name] = {"seconds": seconds, "peak_mb": max(usage.peak for usage in runs) / 1e6}
        for others in usages.values():
            theirs = Spread.of([usage.seconds for usage in others[name]])
            figures[name] |= {"theirs": theirs, "times": theirs.median / seconds.median}
    columns = {
        "seconds": ("seconds", "{:.2f}"), "peak MB": ("peak_mb", "{:.0f}"), "that version's": ("theirs", "{:.2f}"),
        "times faster": ("times", "{:.2f}"),
    }  # fmt: skip
    bench.compare(title, ("command",), columns, {(): figures})
    return figures


def timed(call: Callable[[], R]) -> tuple[float, R]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def percentile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Usage(NamedTuple):
    """What a call in a process of its own took: seconds, bytes at the most, what of them is no file; what it returned."""

    seconds: float
    peak: int
    anonymous: int
    result: Any


def apart(function: Callable[..., Any], *arguments: Any, tree: bool = False, checkout: Path | None = None) -> Usage:
    """Call a function of a module in a new process, with arguments and a result that JSON can hold (or paths).

    The seconds are those of the call. With `tree`, processes that it starts count, pages shared by them once. With
    `checkout` it is the function of that version's module. Raises `ChildError` with the last line that the process wrote to
    standard error.
    """
    module = function.__module__
    if module == "__main__":
        module = sys.modules[module].__spec__.name  # type: ignore[union-attr]
    call = json.dumps([module, function.__name__, arguments], default=str)
    program = _CHILD if checkout is None else _NOT_HERE + _CHILD
    usage = _process(["-c", program], f"{module}.{function.__name__}", call, tree=tree, checkout=checkout)
    seconds, peak, result = json.loads(usage.result.splitlines()[-1])
    # what is done before the next look at the tree knows its own peak
    return Usage(seconds, max(usage.peak, peak) if tree else peak, usage.anonymous, result)


def command(arguments: Sequence[str], folder: Path | None = None, checkout: Path | None = None) -> Usage:
    """Run a command of the project, of another version with `checkout`; the seconds are those of the whole process."""
    what = f"convinse {' '.join(arguments)}"
    return _process(["-m", "convinse", *arguments], what, folder=folder, checkout=checkout)


def _process(
    arguments: Sequence[str],
    what: str,
    given: str = "",
    folder: Path | None = None,
    tree: bool = False,
    checkout: Path | None = None,
) -> Usage:
    """Run Python; the result is what it writes. Without `tree` the memory is that of the process alone."""
    if checkout is None:
        code = {"PYTHONPATH": os.pathsep.join(filter(None, [str(SCRIPTS), os.environ.get("PYTHONPATH")]))}
    else:
        paths = (checkout / "scripts", checkout)
        code = {"PYTHONPATH": os.pathsep.join(map(str, paths)), "CONVINSE_ROOT": str(checkout)}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, *arguments], cwd=folder, stdin=subprocess.PIPE, stdout=out, stderr=errors, text=True,
            env={**os.environ, **code},
        )  # fmt: skip
        with process.stdin:  # type: ignore[union-attr]
            process.stdin.write(given)  # type: ignore[union-attr]
        peak = anonymous = pid = 0
        while not pid:
            if tree:
                total, own = tree_memory(process.pid)
                peak, anonymous = max(peak, total), max(anonymous, own)
                time.sleep(_EVERY)
            pid, status, used = os.wait4(process.pid, os.WNOHANG if tree else 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if status:
            errors.seek(0)
            last = (errors.read().strip().splitlines() or [f"status {process.returncode}"])[-1]
            raise ChildError(f"{what}{'' if checkout is None else f' of {checkout}'}: {last}")
        out.seek(0)
        return Usage(seconds, peak or 1024 * used.ru_maxrss, anonymous, out.read())


def tree_memory(root: int) -> tuple[int, int]:
    """Bytes in memory of a process and those below it: proportional set size, and what of it is no file; Linux only."""
    total = anonymous = 0
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        with contextlib.suppress(OSError, ValueError):
            children = (path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children"))
            waiting += [int(child) for row in children for child in row]
            for name, size in _sizes(Path(f"/proc/{pid}/smaps_rollup")):
                total += size if name == "Pss" else 0
                anonymous += size if name in ("Pss_Anon", "Pss_Shmem") else 0
    return total, anonymous


def own_memory(process: int | str = "self") -> dict[str, int]:
    """Bytes of a process now (`VmRSS`), of it no file (`RssAnon`), and at the most (`VmHWM`); by default of this one. Linux only."""
    status = Path(f"/proc/{process}/status")
    return dict(_sizes(status)) if status.exists() else {}


def _sizes(path: Path) -> Iterator[tuple[str, int]]:
    for line in path.read_text().splitlines():
        name, _, rest = line.partition(":")
        if rest.endswith(" kB"):
            yield name, int(rest.split()[0]) * 1024


def disk(path: Path) -> int:
    return sum(file.stat().st_size for file in [path, *path.rglob("*")] if file.is_file())


def child() -> None:
    module, name, arguments = json.loads(sys.stdin.read())
    seconds, result = timed(lambda: getattr(importlib.import_module(module), name)(*arguments))
    peak = own_memory().get("VmHWM") or 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"\n{json.dumps([seconds, peak, result])}")
