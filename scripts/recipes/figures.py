"""Tables of figures that recipes write, as benches write theirs."""

import json
from collections.abc import Sequence

from bench.machine import commit
from convinse.config import project_root


def write_table(name: str, command: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str) -> None:
    """Write docs/figures/NAME.json, as benches write theirs: a table whose first column is words, with its command."""
    table = {"title": title, "columns": list(columns), "words": 1, "rows": rows}
    part = {"command": command, "commit": commit(), "tables": [table]}
    path = project_root() / "docs" / "figures" / f"{name}.json"
    path.write_text(json.dumps({name: part}, indent=1) + "\n", encoding="utf-8")
