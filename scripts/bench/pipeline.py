"""Whole commands, timed from outside: start-up, a cold and a warm cache, no cache; medians of interleaved runs.

bash run.sh bench pipeline [--rounds N]
"""

from __future__ import annotations

import shutil

from .harness import Bench, Figures, Spec, commands, run

CASES = {
    "convinse --help": ["--help"],
    "ask, one question": ["ask", "Who directed Titanic?"],
    "pipeline, cold cache": ["pipeline", "kb_text_table_info", "bench.yml", "--quiet"],
    "pipeline, warm cache": ["pipeline", "kb_text_table_info", "bench.yml", "--quiet", "--restart"],
    "pipeline, no cache": ["pipeline", "kb_text_table_info", "nocache.yml", "--quiet", "--restart"],
}


def pipeline(bench: Bench) -> Figures:
    """In every round the first command with a cache finds none."""
    (bench.work / "bench.yml").write_text("name: bench\n")
    (bench.work / "nocache.yml").write_text("name: nocache\ners_use_cache: false\n")

    def forget() -> None:
        for rest in ("cache", "results"):
            shutil.rmtree(bench.work / rest, ignore_errors=True)

    return commands(bench, f"{bench.rounds} interleaved runs", CASES, forget)


SPEC = Spec("pipeline", __doc__, {"commands": pipeline}, rounds=(1, 5, 5))


if __name__ == "__main__":
    run(SPEC)
