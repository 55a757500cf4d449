"""A campaign against the project: kills, full disks, flipped bytes, fuzzed files, bad clients, and memory over a long time.

bash run.sh bench faults [--quick | --long] [--parts PART] [--group NAME] [--seed N]

Each part prints what it tried, what held and what failed; a failure prints the command that repeats it. By default the campaign
takes some minutes; with `--quick` three, with `--long` hours. The exit status is 1 where something failed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from ..harness import Bench, Figures, Spec, run
from .clients import clients
from .costs import costs
from .disks import disks
from .flips import flips
from .fuzz import fuzz
from .kills import kills
from .memory import memory
from .workers import workers

_PARTS: Mapping[str, Callable[[Bench], Figures]] = {
    "kills": kills,
    "disks": disks,
    "workers": workers,
    "costs": costs,
    "clients": clients,
    "memory": memory,
    "flips": flips,
    "fuzz": fuzz,
}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--long", dest="full", action="store_true", help="hours, with all trials that the bounds name")
    parser.add_argument("--group", metavar="NAME", help="one row of a part")
    parser.add_argument("--seed", type=int, metavar="N", help="one trial of each group")


SPEC = Spec("faults", __doc__ or "", _PARTS, (0, 1, 2), options=options)


def main() -> None:
    failed: list[str] = []

    def tried(part: str, bench: Bench) -> Figures:
        figures = _PARTS[part](bench)
        failed.extend(f"{part}: {failure['reason']}" for failure in figures.get("failures", ()))
        return figures

    run(replace(SPEC, parts={part: partial(tried, part) for part in SPEC.parts}))
    if failed:
        sys.exit(f"bench faults: {len(failed)} failed")


if __name__ == "__main__":
    main()
