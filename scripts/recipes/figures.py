"""Tables of recipes for the pages: docs/figures/NAME.json, as benches write theirs."""

import json
from collections.abc import Sequence

from bench.machine import commit
from convinse.config import project_root


def write_table(
    name: str, command: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str, words: int = 1
) -> None:
    """Write a table, whose first columns are words, with the command that measures it."""
    table = {"title": title, "columns": list(columns), "words": words, "rows": [list(row) for row in rows]}
    part = {"command": command, "commit": commit(), "tables": [table]}
    path = project_root() / "docs" / "figures" / f"{name}.json"
    path.write_text(json.dumps({name: part}, indent=1) + "\n", encoding="utf-8")
