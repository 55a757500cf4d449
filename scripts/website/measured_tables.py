"""Tables of figures, from what a bench has written: the command, commit, machine and load beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .markdown import escaped, table

_QUIET = 0.5  # load of others for each core, up to which figures are those of the machine


def markdown(path: Path, name: str, parts: list[str]) -> str:
    """The tables of some parts of a bench, of all where none is named, with what they depend on.

    Raises:
        LookupError: the file is missing, is none of a bench, or lacks a part.
    """
    again = f"run bash run.sh bench {name} --output docs/figures/{name}.json"
    try:
        measured = json.loads(path.read_text(encoding="utf-8"))
        chosen = [measured[part] for part in parts or measured]
        texts = [_table(shown) for part in chosen for shown in part["tables"]]
        told = dict.fromkeys(_told(name, part) for part in chosen if part["tables"])
    except OSError as error:
        raise LookupError(f"{path}: cannot be read ({error.strerror}); {again}") from None
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise LookupError(f"{path}: lacks {error}; {again}") from None
    return "\n".join([*texts, *told])


def _told(name: str, part: Mapping[str, Any]) -> str:
    """What the figures of a part depend on."""
    machine = part["machine"]
    load, cores = float(machine["load"]), int(machine["cores"])
    busy = " The machine was busy with other work: quiet, it is faster." if load > _QUIET * cores else ""
    rounds = f", medians of {part['rounds']} rounds" if part["rounds"] > 1 else ""
    words = " ".join(["bash run.sh bench", name, *part["arguments"]])
    where = f"{cores} cores of {machine.get('processor') or machine['architecture']}, Python {machine['python']}"
    return f"`{words}`{rounds}; commit `{part['commit']}`, {machine['date']}, {escaped(where)}.{busy}\n"


def _table(shown: Mapping[str, Any]) -> str:
    rows = [_cells(row) for row in shown["rows"]]
    return f"**{escaped(shown['title'])}**\n\n{table(_cells(shown['columns']), rows, shown['words'])}"


def _cells(row: list[str]) -> list[str]:
    return [escaped(cell) for cell in row]
