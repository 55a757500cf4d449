"""Whole commands, timed from outside: start-up, a cold and a warm cache, no cache; medians of interleaved runs.

bash run.sh bench pipeline [--rounds N]
"""

from __future__ import annotations

import shutil

from .harness import Bench, Figures, Spec, Spread, command, run

CASES = {
    "convinse --help": ["--help"],
    "ask, one question": ["ask", "Who directed Titanic?"],
    "pipeline, cold cache": ["pipeline", "kb_text_table_info", "bench.yml", "--quiet"],
    "pipeline, warm cache": ["pipeline", "kb_text_table_info", "bench.yml", "--quiet", "--restart"],
    "pipeline, no cache": ["pipeline", "kb_text_table_info", "nocache.yml", "--quiet", "--restart"],
}


def commands(bench: Bench) -> Figures:
    """Seconds of each command; in every round the first one with a cache finds none."""
    (bench.work / "bench.yml").write_text("name: bench\n")
    (bench.work / "nocache.yml").write_text("name: nocache\ners_use_cache: false\n")
    seconds: dict[str, list[float]] = {name: [] for name in CASES}
    for _ in range(bench.rounds):
        for rest in ("cache", "results"):
            shutil.rmtree(bench.work / rest, ignore_errors=True)
        for name, arguments in CASES.items():  # in this order: the warm cache is that of the cold one
            seconds[name].append(command(arguments, bench.work).seconds)
    figures = {name: {"seconds": Spread.of(values), "runs": values} for name, values in seconds.items()}
    bench.compare(f"{bench.rounds} interleaved runs", ("command",), {"seconds": ("seconds", "{:.2f}")}, {(): figures})
    return figures


SPEC = Spec("pipeline", __doc__, {"commands": commands}, rounds=(1, 5, 5))


if __name__ == "__main__":
    run(SPEC)
