"""Full disks under every command that writes: one line says so, the older output is whole, and with room again all is well.

A disk is a small file system in memory where one may mount that, or a limit on the size of files.
"""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from ..harness import Bench, Figures
from ..harness import disk as bytes_of
from .campaign import Trial, measured
from .commands import OLDER, Prepared, attempts, to_its_end

_AMOUNTS = (1, 2, 20)
_MORE = 1.2  # times the output: commands write more than stays


def disks(bench: Bench) -> Figures:
    return measured(bench, "disks", attempts(bench, _filled), _AMOUNTS[bench.size])


def _filled(name: str, trial: Trial) -> str:
    prepared = Prepared(trial.kept, name)
    work = trial.work / "disk"
    work.mkdir()
    with _mounted(work) if trial.random.random() < 0.5 else _nothing() as is_mounted:
        prepared.put_older(work)
        options: dict[str, Any] = {}
        if is_mounted:
            room = _blocks(work) + trial.random.randrange(int(_MORE * prepared.size))
            _mount("-o", f"remount,size={room}", str(work))
        else:
            limit = trial.random.randrange(prepared.largest_file)
            options["preexec_fn"] = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        ended = to_its_end(prepared.start(work, **options))
        if ended.status not in (0, 1):
            return f"it ends with {ended.status}: {ended.errors.strip()}"
        lines = ended.errors.splitlines()
        if ended.status and (len(lines) != 1 or not lines[0].startswith("convinse: ")):
            return f"{len(lines)} lines instead of one: {' / '.join(lines[-3:])}"
        reason = prepared.is_whole(work) or prepared.leftovers(work)
        if (
            not reason
            and ended.status
            and not prepared.command.appends
            and prepared.content(work) != prepared.contents[OLDER]
        ):
            reason = "it ends with 1, but the older output is gone"
        if is_mounted:
            _mount("-o", "remount,size=0", str(work))  # no limit
        return reason or prepared.again(work)


def _blocks(folder: Path) -> int:
    """Bytes that the files of a file system in memory take there, which are whole pages."""
    page = os.sysconf("SC_PAGE_SIZE")
    return page + sum(-(-bytes_of(path) // page) * page for path in folder.rglob("*") if path.is_file())


@contextmanager
def _nothing() -> Iterator[bool]:
    yield False


@contextmanager
def _mounted(folder: Path) -> Iterator[bool]:
    """A file system in memory at a folder; false where one may not mount it."""
    is_mounted = _mount("-t", "tmpfs", "convinse-bench", str(folder))
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _mount(*arguments: str) -> bool:
    try:
        return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0
    except OSError:
        return False
