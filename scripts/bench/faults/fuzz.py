"""Fuzzed files: every reader, on files with damaged structure, bytes or packing, ends well or with one line that says why."""

from __future__ import annotations

import shutil
from functools import partial

from ..harness import Bench, Figures
from .campaign import Trial, measured
from .fuzz_formats import FORMATS, FuzzedFormat
from .fuzz_mutations import put
from .fuzz_run import ended, inside

_FILES = (8, 60, 250)  # of a format: a quarter of a minute, some minutes, 10,000 files in all


def fuzz(bench: Bench) -> Figures:
    """Files of each format in `FORMATS`, damaged by chance, read as the commands read them."""
    groups = {name: partial(_tried, name, of) for name, of in FORMATS.items()}
    return measured(bench, "fuzz", groups, _FILES[bench.size])


def _tried(name: str, of: FuzzedFormat, trial: Trial) -> str:
    """Damage one file of a format and read it; what is wrong with how that ended."""
    valid = trial.kept / name.replace(" ", "-")
    if not valid.exists():
        of.make(valid)
    work = trial.work / "files"
    shutil.copytree(valid, work, symlinks=True)
    target = trial.random.choice(list(of.targets))
    put(trial.random, next(work.glob(target)), of.targets[target])
    with inside(work):
        return next((ending.fault for ending in map(ended, trial.random.choice(of.ways)) if ending.fault), "")
