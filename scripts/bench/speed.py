"""Whether a change made anything slower: this checkout beside another commit, in turn.

    bash run.sh bench speed [--against COMMIT] [--rounds N]

Both versions rank, read, answer, build a knowledge base and search passages, each time in a new process, the other one first in every
second round. The table has the ratio of the seconds (below 1: faster than before) with an interval of 95 % over the rounds.
"""

import json
import math
import shutil
import statistics
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

from convinse.support.errors import ConvinseError
from recipes.sources import wikidata_27k

from .harness import Bench, Figures, Spec, note, run
from .synthetic_passages import write
from .timing import Spread, command, in_turn, python

_ROOT = Path(__file__).resolve().parents[2]
_TASKS = Path(__file__).with_name("speed_tasks.py")
_QUESTIONS = (
    "Who directed Titanic?",
    "And how long is it?",
    "Who played Rose in it?",
    "When was she born?",
    "Who wrote Dracula?",
)


def prepare(bench: Bench) -> Path:
    """The folder of the other commit's files."""
    folder = bench.work / "before"
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
        seconds: dict[Path, list[float]] = {_ROOT: [], bench.state: []}
        for version, _, _, spent in in_turn(
            {root: partial(_spent, task, root) for root in seconds}, range(bench.rounds)
        ):
            seconds[version].append(spent)
        rows[name] = _compared(*seconds.values())
    columns = {
        "seconds now": ("now", "{:.2f}"), "seconds before": ("before", "{:.2f}"), "ratio": ("ratio", "{:.2f}"), "95 %": ("interval", "{}"),
    }  # fmt: skip
    bench.compare(f"beside {bench.options.against}", ("task",), columns, {(): rows})
    return rows


def _compared(now: list[float], before: list[float]) -> Figures:
    """The median ratio of the rounds, and an interval of the mean of their logarithms, normally distributed; none of one round."""
    ratios = [math.log(one / other) for one, other in zip(now, before, strict=True)]
    figures: Figures = {
        "now": Spread.of(now),
        "before": Spread.of(before),
        "ratio": math.exp(statistics.median(ratios)),
    }
    if len(ratios) > 1:
        error = 1.96 * statistics.stdev(ratios) / math.sqrt(len(ratios))
        low, high = (math.exp(statistics.fmean(ratios) + side * error) for side in (-1, 1))
        figures["interval"] = f"{low:.2f}-{high:.2f}"
    return figures


def _spent(task: Callable[[Path], float], root: Path, _: int) -> float:
    return task(root)


def _task(bench: Bench, name: str, root: Path) -> float:
    return float(python([str(_TASKS), name, str(bench.work / "inputs.json")], bench.work, root).result)


def _command(bench: Bench, arguments: list[str], root: Path, before: list[str] | None = None) -> float:
    """The seconds of a command, behind another one that makes what it needs; both find nothing that was made before."""
    for folder in ("built", "index"):
        shutil.rmtree(bench.work / folder, ignore_errors=True)
    (bench.work / "run.trec").unlink(missing_ok=True)
    if before is not None:
        command([*before, "--quiet"], bench.work, root)
    return command([*arguments, "--quiet"], bench.work, root).seconds


_HELP = "the other version (default: HEAD, for changes that are not committed)"
_OPTIONS = {"--against": {"default": "HEAD", "metavar": "COMMIT", "help": _HELP}}
# texts that are ranked and read, and questions to a twentieth of as many passages
SPEC = Spec("speed", __doc__, {"speed": speed_part}, (20, 400, 1000), (1, 7, 15), _OPTIONS, prepare)

if __name__ == "__main__":
    run(SPEC)
