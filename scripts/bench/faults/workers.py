"""Part `workers`: builds whose worker, or whose own process, is killed at a chance instant.

After a worker's end the command ends in time with one line and status 1, the older output is whole, nothing lies beside it, and
the same command again gives what it gives undisturbed. After the end of the command itself no process of it is left.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from convinse.support.files import hexdigest
from convinse.support.manifest import MANIFEST
from convinse.wikipedia.dump import WikipediaDump
from recipes.synthetic_dump import write_dump
from recipes.synthetic_passages import chunk_lines, make_plan

from ..harness import Bench, Figures
from .campaign import Trial, measured

_SECONDS = 20.0  # that a command may take to end after a worker was killed; far more than it does, for a busy machine
_LEFT = 5.0  # seconds after which no process is left
_TRIALS = (1, 4, 20)  # of a group, by size
_PAGES = Path(__file__).resolve().parents[3] / "convinse" / "snapshot" / "pages"


class Builder(NamedTuple):
    """A command that builds something in several processes.

    command: what stands before the input; options: behind it; write: makes an input of so many pieces;
    identity: what an output holds, in a word; pieces: of the older output and of the new one.
    """

    command: Sequence[str]
    options: Sequence[str]
    write: Callable[[Path, int], object]
    identity: Callable[[Path], str]
    pieces: tuple[int, int]

    def start(self, given: Path, output: Path, errors: Path) -> subprocess.Popen[bytes]:
        arguments = [*self.command, str(given), "--output", str(output), "--quiet", *self.options]
        with errors.open("wb") as file:
            return subprocess.Popen(
                [sys.executable, "-m", "convinse", *arguments], stdout=subprocess.DEVNULL, stderr=file
            )


class Prepared(NamedTuple):
    """Inputs and outputs that the trials of a builder share; `seconds` are those for which workers are at work."""

    given: Path
    older: Path
    identity: str
    seconds: float


def _write_items(path: Path, items: int) -> None:
    write_dump(path, items, 7 * items)


def _write_pages(path: Path, pages: int) -> None:
    texts = [page.read_text(encoding="utf-8") for page in sorted(_PAGES.glob("*.html"))]
    with path.open("w", encoding="utf-8") as file:
        for number in range(pages):
            page = {"title": f"Page {number}", "qid": f"Q{number + 1}", "html": texts[number % len(texts)]}
            file.write(json.dumps(page) + "\n")


def _write_passages(path: Path, passages: int) -> None:
    path.write_bytes(chunk_lines(make_plan(passages, 1), 0))


def _identity_of_folder(path: Path) -> str:
    """Of the arrays; the files of the search engine have names by chance."""
    manifest = json.loads((path / MANIFEST).read_bytes())
    files = {name: entry for name, entry in manifest["files"].items() if "/" not in name}
    for name, entry in files.items():
        if (path / name).stat().st_size != entry["size"]:
            return f"{name} is not whole"
    return json.dumps([manifest["build_id"], files], sort_keys=True)


def _identity_of_dump(path: Path) -> str:
    dump = WikipediaDump(path)
    try:
        return f"{dump.build_id} {dump.counts}"
    finally:
        dump.close()


BUILDERS = {
    "kb build": Builder(("kb", "build"), (), _write_items, _identity_of_folder, (200, 12_000)),
    "wikipedia build": Builder(("wikipedia", "build"), (), _write_pages, _identity_of_dump, (5, 400)),
    "retrieve index": Builder(
        ("retrieve", "index"), ("--force", "--memory", "64MB"), _write_passages, _identity_of_folder, (50, 10_000)
    ),
}


@lru_cache
def _prepared(kept: Path, name: str) -> Prepared:
    """The input, the older output and what the new one is; built once."""
    builder = BUILDERS[name]
    folder = kept / name.replace(" ", "-")
    folder.mkdir(exist_ok=True)
    older, given, new, errors = (folder / part for part in ("older", "input.json", "new", "errors"))
    for path, output, pieces in zip((folder / "small.json", given), (older, new), builder.pieces, strict=True):
        builder.write(path, pieces)
        process = builder.start(path, output, errors)
        begin = _with_children(process)
        end = time.monotonic()
        while process.poll() is None:
            end = time.monotonic() if processes_below(process.pid) else end
            time.sleep(0.005)
        if process.returncode:
            raise AssertionError(f"{name} fails undisturbed: {errors.read_text().strip()}")
    return Prepared(given, older, builder.identity(new), max(0.05, end - begin))


def processes_below(pid: int) -> list[int]:
    """The children of a process, alive or not; none where it has ended. Linux only."""
    try:
        children = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return []
    return sorted(int(child) for row in children for child in row)


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _with_children(process: subprocess.Popen[bytes]) -> float:
    """Wait until a process has children, or has ended; the time of it."""
    while process.poll() is None and len(processes_below(process.pid)) < 2:
        time.sleep(0.002)
    return time.monotonic()


def _state(path: Path) -> str:
    """All bytes of a file or folder."""
    digest = hashlib.sha256()
    for file in [path, *sorted(path.rglob("*"))]:
        digest.update(str(file.relative_to(path)).encode())
        if file.is_file():
            hexdigest(file, digest)
    return digest.hexdigest()


def attempt(name: str, of_parent: bool, trial: Trial) -> str:
    """Kill a worker of a build, or the build itself; what did not hold."""
    builder, prepared = BUILDERS[name], _prepared(trial.kept, name)
    folder = trial.work / "there"
    folder.mkdir()
    output, errors = folder / "output", trial.work / "errors"
    (shutil.copytree if prepared.older.is_dir() else shutil.copy)(prepared.older, output)
    before = _state(output)
    process = builder.start(prepared.given, output, errors)
    below: list[int] = []
    try:
        _with_children(process)
        time.sleep(trial.random.random() * prepared.seconds)
        below = processes_below(process.pid)
        if below:
            os.kill(process.pid if of_parent else trial.random.choice(below), signal.SIGKILL)
        try:
            status = process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            return f"runs on {_SECONDS:.0f} s after a worker was killed"
        if left := _left(below):
            return f"{len(left)} processes are left {_LEFT:.0f} s after the end"
    finally:
        for pid in {process.pid, *below, *processes_below(process.pid)}:
            if _is_alive(pid):
                os.kill(pid, signal.SIGKILL)
        process.wait()
    after = _after(status, errors.read_text(), output, before, builder.identity, prepared.identity, of_parent)
    return after or _again(builder, prepared, output, errors)


def _left(below: Sequence[int]) -> list[int]:
    end = time.monotonic() + _LEFT
    while (left := [pid for pid in below if _is_alive(pid)]) and time.monotonic() < end:
        time.sleep(0.02)
    return left


def _after(
    status: int, told: str, output: Path, before: str, identity: Callable[[Path], str], wanted: str, of_parent: bool
) -> str:
    """What does not hold of what is there when a command has ended, one way or the other."""
    if status == 0:  # the worker had nothing more to do
        return "" if identity(output) == wanted else "ended well, with another output"
    if _state(output) != before:
        return "the older output is not as it was"
    if of_parent:
        return ""
    if status != 1 or told.count("\n") != 1 or "worker process was killed" not in told:
        return f"status {status}: {told.strip()[-300:]!r}"
    leftovers = [path.name for path in output.parent.iterdir() if path != output]
    return f"{', '.join(leftovers)} is left beside the output" if leftovers else ""


def _again(builder: Builder, prepared: Prepared, output: Path, errors: Path) -> str:
    """What does not hold of the same command again."""
    if builder.start(prepared.given, output, errors).wait(60):
        return f"run again, it fails: {errors.read_text().strip()[-300:]!r}"
    if [path.name for path in output.parent.iterdir()] != [output.name]:
        return "run again, it leaves something beside the output"
    return "" if builder.identity(output) == prepared.identity else "run again, it gives something else"


def workers(bench: Bench) -> Figures:
    """Kill workers of each builder, and each builder."""
    groups = {
        f"{name}, {whom}": partial(attempt, name, whom == "parent")
        for name in BUILDERS
        for whom in ("worker", "parent")
    }
    return measured(bench, "workers", groups, _TRIALS[bench.size])
