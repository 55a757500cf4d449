"""What a user waits for at first: the first answer of `ask`, run.sh; memory, and the base install.

bash run.sh bench start [--rounds N] [--parts ask,run_sh,install]

Commands are processes of their own, in an empty folder each; systems take turns. `taskset -c 0 bash run.sh bench start` measures
one core. Of run.sh the figure is what it adds to the same command of its environment, which must be prepared.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import convinse
from convinse.cli.develop import root

from .harness import Bench, ChildError, Figure, Figures, Spec, Spread, disk, interleaved, note, run

QUESTION = "Who directed the film Titanic?"
CONVINSE = (sys.executable, "-m", "convinse")
ASK = (*CONVINSE, "ask", QUESTION, "--quiet")
_ANSWER = b"  1. "  # begins the line of the best answer
_CALLS = 10  # of run.sh, and without it, for one figure: each takes little time
_LARGEST = 10  # distributions that are shown
_ONE_MB = 10**6


class Asked(NamedTuple):
    """Seconds to the first answer and to the end of the process; bytes at the most."""

    first: float
    seconds: float
    peak: int


def started(arguments: Sequence[str], folder: Path, out: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """A process in a folder, whose errors are shown; what is compiled may be kept, as it is where the project is installed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.Popen(arguments, cwd=folder, stdout=out, env=environment)


def asked(arguments: Sequence[str], folder: Path) -> Asked:
    """Run `ask` in a folder. Raises `ChildError` where it fails, or answers nothing."""
    start = time.perf_counter()
    process = started(arguments, folder, subprocess.PIPE)
    first = 0.0
    with process.stdout:  # type: ignore[union-attr]
        for line in process.stdout:  # type: ignore[union-attr]
            if not first and line.startswith(_ANSWER):
                first = time.perf_counter() - start
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or not first:
        raise ChildError(f"{' '.join(arguments)}: status {process.returncode}, {'an' if first else 'no'} answer")
    return Asked(first, seconds, 1024 * used.ru_maxrss)


def ask(bench: Bench) -> Figures:
    """The default model with a warm and with an empty cache, and `lexical.yml`."""
    folder = {name: bench.work / name for name in ("warm cache", "empty cache", "lexical")}
    for own in folder.values():
        (own / "cache").mkdir(parents=True)  # the default takes it where it is there

    def cold() -> Asked:
        shutil.rmtree(folder["empty cache"] / "cache")
        (folder["empty cache"] / "cache").mkdir()
        return asked(ASK, folder["empty cache"])

    systems = {
        "warm cache": lambda: asked(ASK, folder["warm cache"]),
        "empty cache": cold,
        "lexical": lambda: asked((*ASK, "--config", "lexical.yml"), folder["lexical"]),
    }
    for call in systems.values():  # fills the caches
        call()
    runs: dict[str, list[Asked]] = {name: [] for name in systems}
    for _ in range(bench.rounds):
        for name, usage in interleaved(systems, 1)[1].items():
            runs[name].append(usage)
    figures = {
        name: {
            "first": Spread.of([usage.first for usage in own]),
            "seconds": Spread.of([usage.seconds for usage in own]),
            "peak_mb": max(usage.peak for usage in own) / _ONE_MB,
        }
        for name, own in runs.items()
    }
    columns = {
        "first answer, s": ("first", "{:.2f}"),
        "whole process, s": ("seconds", "{:.2f}"),
        "peak MB": ("peak_mb", "{:.0f}"),
    }
    bench.compare(f"ask, {bench.rounds} interleaved runs", ("",), columns, {(): figures})
    return figures


def run_sh(bench: Bench) -> Figures:
    """What run.sh adds to a command where there is nothing to prepare."""
    python = root() / ".venv/bin/python"
    if not python.exists():
        note("run.sh is not measured: no .venv; run the bench by run.sh")
        return {}
    commands = {"run.sh": ("bash", str(root() / "run.sh")), "python": (str(python), "-m", "convinse")}

    def calls(command: Sequence[str]) -> None:
        for _ in range(_CALLS):
            if status := started((*command, "--version"), bench.work).wait():
                raise ChildError(f"{' '.join(command)} --version: status {status}")

    calls(commands["run.sh"])  # prepares
    systems = {name: lambda command=command: calls(command) for name, command in commands.items()}
    seconds, _ = interleaved(systems, bench.rounds)
    added = [(a - b) / _CALLS for a, b in zip(seconds["run.sh"], seconds["python"], strict=True)]
    figures = {"seconds": Spread.of(added)}
    bench.compare(f"run.sh adds, {bench.rounds} rounds", ("",), {"s": ("seconds", "{:.3f}")}, {(): {"": figures}})
    return figures


def install(bench: Bench) -> Figures:
    """The size of what `pip install convinse` installs, without pip itself."""
    sizes = dict(sorted(installed(), key=lambda row: -row[1]))
    rows = {name: {"mb": size / _ONE_MB} for name, size in list(sizes.items())[:_LARGEST]}
    columns = {"MB": ("mb", "{:.1f}")}
    bench.compare(f"the largest of {len(sizes)} distributions", ("",), columns, {(): rows})
    total = sum(sizes.values()) / _ONE_MB
    bench.report("base install", [Figure("MB", total, "{:.0f}")])
    return {"distributions": {name: row["mb"] for name, row in rows.items()}, "total_mb": total}


def installed() -> Iterator[tuple[str, int]]:
    """The distributions of the base install, and their bytes on disk; the project's own is measured where it lies."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    waiting = [Requirement("convinse")]
    seen: set[tuple[str, str]] = set()
    sized: set[str] = set()
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        for extra in {"", *wanted.extras} - {known for own, known in seen if own == name}:
            seen.add((name, extra))
            needs = map(Requirement, metadata.requires(wanted.name) or ())
            waiting += [need for need in needs if need.marker is None or need.marker.evaluate({"extra": extra})]
        if name not in sized:
            sized.add(name)
            yield name, disk(Path(convinse.__file__).parent) if name == "convinse" else _size(wanted.name)


def _size(name: str) -> int:
    paths = (Path(str(file.locate())) for file in metadata.files(name) or ())
    return sum(path.stat().st_size for path in paths if path.is_file())


SPEC = Spec(
    "start", __doc__, {"ask": ask, "run_sh": run_sh, "install": install},
    rounds=(1, 5, 9), needs={"install": ("packaging",)}, peers=("onnxruntime", "tokenizers", "numpy"),
)  # fmt: skip


if __name__ == "__main__":
    run(SPEC)
