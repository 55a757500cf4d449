"""Whether a change made anything slower: this checkout beside another commit, in turn.

    bash run.sh bench speed [--against COMMIT] [--rounds N]

Both versions rank, read, answer, build a knowledge base and search passages, each time in a new process, the other one first in every
second round. The table has the ratio of the seconds (below 1: faster than before) with an interval of 95 % over the rounds.
"""

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from convinse.support.errors import ConvinseError
from recipes.sources import wikidata_27k
from recipes.synthetic_passages import write

from .harness import Bench, Figures, Spec, note, run
from .timing import Spread, interleaved, timed

_ROOT = Path(__file__).resolve().parents[2]
_TASKS = Path(__file__).with_name("speed_tasks.py")
_NOW, _BEFORE = "now", "before"
_QUESTIONS = (
    "Who directed Titanic?",
    "And how long is it?",
    "Who played Rose in it?",
    "When was she born?",
    "Who wrote Dracula?",
)


def prepare(bench: Bench) -> Path:
    """The folder of the other commit's files."""
    folder = bench.work / _BEFORE
    folder.mkdir()
    archive = subprocess.run(["git", "-C", str(_ROOT), "archive", bench.options.against], capture_output=True)
    if archive.returncode:
        raise ConvinseError(f"--against {bench.options.against}: {archive.stderr.decode().strip().splitlines()[0]}")
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


def speed_part(bench: Bench) -> Figures:
    """The tasks of both versions: those of `speed_tasks.py`, and two commands."""
    texts = [line for page in sorted(_ROOT.glob("docs/*.md")) for line in page.read_text(encoding="utf-8").split("\n")]
    texts = [text[:300] for text in dict.fromkeys(texts) if len(text) > 60][: 2 * bench.size]
    inputs = {"questions": _QUESTIONS, "texts": texts[::2], "warm": {"questions": _QUESTIONS[:1], "texts": texts[1::2]}}
    (bench.work / "inputs.json").write_text(json.dumps(inputs), encoding="utf-8")
    write(bench.work / "passages", 20 * bench.size, bench.size, seed=1)
    dump = wikidata_27k(bench.folder)
    tasks: dict[str, Callable[[Path], float]] = {
        name: partial(_task, bench, name) for name in ("rerank", "read", "turn")
    }
    tasks["build"] = partial(_command, bench, ["kb", "build", str(dump), "--output", "built"])
    passages = bench.work / "passages"
    index = ["retrieve", "index", str(passages / "passages.jl"), "--output", "index", "--language", "pl"]
    search = ["retrieve", "search", "index", str(passages / "questions.jl"), "--output", "run.trec", "--format", "trec"]
    tasks["search"] = partial(_command, bench, search, before=index)
    rows = {}
    for name, task in tasks.items():
        note(f"{name} ...")
        seconds: dict[str, list[float]] = {_NOW: [], _BEFORE: []}
        systems = {_NOW: partial(task, _ROOT), _BEFORE: partial(task, bench.state)}
        for _ in range(bench.rounds):
            for version, spent in interleaved(systems, 1)[1].items():
                seconds[version].append(spent)
            systems = dict(reversed(systems.items()))
        rows[name] = _compared(seconds[_NOW], seconds[_BEFORE])
    columns = {
        "seconds now": ("now", "{:.2f}"), "seconds before": ("before", "{:.2f}"), "ratio": ("ratio", "{:.2f}"), "95 %": ("interval", "{}"),
    }  # fmt: skip
    bench.compare(f"beside {bench.options.against}", ("task",), columns, {(): rows})
    return rows


def _compared(now: list[float], before: list[float]) -> Figures:
    """The median ratio of the rounds, and an interval of the mean of their logarithms, normally distributed."""
    ratios = [math.log(one / other) for one, other in zip(now, before, strict=True)]
    error = 1.96 * statistics.stdev(ratios) / math.sqrt(len(ratios)) if len(ratios) > 1 else math.inf
    middle = statistics.fmean(ratios)
    low, high = math.exp(middle - error), math.exp(middle + error)
    return {
        "now": Spread.of(now), "before": Spread.of(before), "ratio": math.exp(statistics.median(ratios)), "interval": f"{low:.2f}-{high:.2f}",
    }  # fmt: skip


def _task(bench: Bench, name: str, version: Path) -> float:
    return float(_run(bench, [str(_TASKS), name, str(bench.work / "inputs.json")], version))


def _command(bench: Bench, arguments: list[str], version: Path, before: list[str] | None = None) -> float:
    for made in ("built", "run.trec") if before is None else ("index", "run.trec"):
        path = bench.work / made
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    if before is not None:
        _run(bench, ["-m", "convinse", *before, "--quiet"], version)
    return timed(partial(_run, bench, ["-m", "convinse", *arguments, "--quiet"], version))[0]


def _run(bench: Bench, arguments: list[str], version: Path) -> str:
    path = os.pathsep.join(filter(None, [str(version), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=bench.work,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise ConvinseError(f"{version.name}: {' '.join(arguments)[:80]}: {lines[-1]}")
    return done.stdout


_OPTIONS = {
    "--against": {
        "default": "HEAD",
        "metavar": "COMMIT",
        "help": "the other version (default: HEAD, for changes not committed)",
    }
}
# questions, and texts that are ranked and read
SPEC = Spec("speed", __doc__, {"speed": speed_part}, (20, 400, 1000), (1, 7, 15), _OPTIONS, prepare)

if __name__ == "__main__":
    run(SPEC)
