"""Tables of figures, from what a bench has written: the command, commit, machine and load beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bench
from convinse.cli.develop import benches

from .markdown import escaped, table

_QUIET = 0.5  # load of others for each core, up to which figures are those of the machine


def markdown(path: Path, name: str, parts: list[str]) -> str:
    """The tables of some parts of a bench, of all where none is named, with what they depend on.

    What was not measured yet is said, with the command that measures it: no figure stands on a page that no bench has written.

    Raises:
        LookupError: there is no such bench, or the file cannot be read, or is none of figures.
    """
    if name not in (known := benches(Path(bench.__file__).parent)):
        raise LookupError(f"no such bench: {name}; valid: {', '.join(known)}")
    try:
        measured = dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}
        chosen = [measured[part] for part in parts or measured if part in measured]
        texts = [_table(shown) for part in chosen for shown in part["tables"]]
        told = dict.fromkeys(_told(name, part) for part in chosen if part["tables"])
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        again = f"move it away and run bash run.sh docs --measure {name}"
        raise LookupError(f"{path}: is no file of figures ({error!r}); {again}") from None
    missing = [f"{name}/{part}" for part in parts if part not in measured] if measured else [name]
    waiting = [f"*Not measured yet: `bash run.sh docs --measure {','.join(missing)}`*\n"] if missing else []
    return "\n".join([*texts, *told, *waiting])


def _told(name: str, part: Mapping[str, Any]) -> str:
    """What the figures of a part depend on."""
    machine = part["machine"]
    load, cores = float(machine["load"]), int(machine["cores"])
    busy = " The machine was busy with other work: quiet, it takes less time." if load > _QUIET * cores else ""
    rounds = f", medians of {part['rounds']} rounds" if part["rounds"] > 1 else ""
    words = " ".join(["bash run.sh bench", name, *part["arguments"]])
    where = f"{cores} cores of {machine.get('processor') or machine['architecture']}, Python {machine['python']}"
    return f"`{words}`{rounds}; commit `{part['commit']}`, {machine['date']}, {escaped(where)}.{busy}\n"


def _table(shown: Mapping[str, Any]) -> str:
    rows = [_cells(row) for row in shown["rows"]]
    return f"**{escaped(shown['title'])}**\n\n{table(_cells(shown['columns']), rows, shown['words'])}"


def _cells(row: list[str]) -> list[str]:
    return [escaped(cell) for cell in row]
