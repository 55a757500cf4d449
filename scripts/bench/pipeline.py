"""Whole commands, timed from outside: start-up, a cold and a warm cache, no cache; medians of interleaved runs.

bash run.sh bench pipeline
"""

from __future__ import annotations

import json
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

RUNS = 5
CASES = {
    "convinse --help": ["--help"],
    "ask, one question": ["ask", "Who directed Titanic?"],
    "pipeline, cold cache": ["pipeline", "kb_text_table_info", "bench.yml", "--quiet"],
    "pipeline, warm cache": ["pipeline", "kb_text_table_info", "bench.yml", "--quiet", "--restart"],
    "pipeline, no cache": ["pipeline", "kb_text_table_info", "nocache.yml", "--quiet", "--restart"],
}


def timed(arguments: list[str], folder: Path) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "convinse", *arguments], cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    seconds: dict[str, list[float]] = {name: [] for name in CASES}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bench.yml").write_text("name: bench\n")
        (folder / "nocache.yml").write_text("name: nocache\ners_use_cache: false\n")
        for _ in range(RUNS):
            for rest in ("cache", "results"):
                shutil.rmtree(folder / rest, ignore_errors=True)
            for case, arguments in CASES.items():
                seconds[case].append(timed(arguments, folder))
    table = Table(
        title=f"seconds of {RUNS} interleaved runs, {platform.machine()}, Python {platform.python_version()}",
        title_justify="left",
    )
    for column in ("command", "median", "least", "most"):
        table.add_column(column, justify="left" if column == "command" else "right")
    for case, values in seconds.items():
        table.add_row(case, *(f"{value:.2f}" for value in (statistics.median(values), min(values), max(values))))
    Console(width=100).print(table)
    output = Path("results/bench/pipeline.json")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(
        json.dumps({case: {"median": statistics.median(v), "runs": v} for case, v in seconds.items()}, indent=2) + "\n"
    )
    print(output)


if __name__ == "__main__":
    main()
