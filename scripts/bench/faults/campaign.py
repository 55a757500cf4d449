"""What the parts of the campaign share: trials, how many of which group, what became of them, the command that repeats one."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..harness import Bench, Figures, note

_SHOWN = 20  # failures of a part that are told on standard error; the file of figures has all


@dataclass
class Trial:
    """An attempt to break something: all chance in it comes from `random`, so that its seed repeats it.

    work: an empty folder of its own; kept: what all trials of the part share, such as an index that is built once.
    """

    group: str
    seed: int
    work: Path
    kept: Path
    random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = random.Random(f"{self.group} {self.seed}")


Attempt = Callable[[Trial], str]  # what did not hold, in one line; nothing where all held


def measured(bench: Bench, part: str, groups: Mapping[str, Attempt], amount: int) -> Figures:
    """Try each group with `amount` seeds, or what `--group` and `--seed` name; print a table of tried, held, failed.

    Args:
        bench: its options say what is chosen.
        part: the name of the part, as `--parts` takes it.
        groups: rows of the table, such as a command or a format, and what is tried.
        amount: trials of a group.
    """
    chosen = {name: attempt for name, attempt in groups.items() if bench.options.group in (None, name)}
    first = bench.options.seed
    seeds = range(amount) if first is None else range(first, first + 1)
    kept = bench.kept / part
    kept.mkdir(exist_ok=True)
    rows: dict[str, Figures] = {}
    failures: list[Figures] = []
    for name, attempt in chosen.items():
        bad = 0
        for number, trial in enumerate(_trials(bench, part, name, seeds, kept)):
            if reason := attempt(trial):
                bad += 1
                repeat = f"bash run.sh bench faults --parts {part} --group '{name}' --seed {seeds[number]}"
                failures.append({"group": name, "reason": reason, "repeat": repeat})
                if len(failures) <= _SHOWN:
                    note(f"{part}, {name}: {reason}\n  {repeat}")
        rows[name] = {"tried": len(seeds), "held": len(seeds) - bad, "failed": bad}
    columns = {head: (head, "{}") for head in ("tried", "held", "failed")}
    bench.compare(part, ("what",), columns, {(): rows})
    bench.want(f"{part}: failed", len(failures), 0, at_least=False)
    return {"groups": rows, "failures": failures}


def _trials(bench: Bench, part: str, group: str, seeds: range, kept: Path) -> Iterator[Trial]:
    """A trial for each seed; its folder is removed after it, as far as one may."""
    for seed in seeds:
        with tempfile.TemporaryDirectory(prefix=f"{part}-", dir=bench.work, ignore_cleanup_errors=True) as name:
            yield Trial(group, seed, Path(name), kept)
