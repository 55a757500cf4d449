"""Whole commands, timed from outside: start-up, a cold and a warm cache, no cache; medians of interleaved runs.

    bash run.sh bench pipeline [--rounds N]

`with the model` is the default
configuration, `without` are the defaults of all keys, which load no model.
"""

import shutil

from .harness import Bench, Figures, Spec, run
from .timing import Spread, Usage, command

COLD, WARM = "pipeline with the model, cold cache", "pipeline with the model, warm cache"
_ALL, _NO_CACHE, _OLD = "kb_text_table_info", "nocache.yml", ("cache", "lexical-cache", "results")


def pipeline(bench: Bench) -> Figures:
    """In every round the first command with a cache finds none."""
    (bench.work / "bench.yml").write_text("name: bench\ners_cache_path: lexical-cache\n")
    (bench.work / _NO_CACHE).write_text("name: nocache\ners_use_cache: false\n")
    end = ["--quiet", *([] if bench.size is None else ["--limit", str(bench.size)])]
    cases = {
        "convinse --help": ["--help"],
        "ask, one question": ["ask", "Who directed Titanic?"],
        COLD: ["pipeline", _ALL, "config.yml", *end],
        WARM: ["pipeline", _ALL, "config.yml", "--restart", *end],
        "pipeline without, cold cache": ["pipeline", _ALL, "bench.yml", *end],
        "pipeline without, warm cache": ["pipeline", _ALL, "bench.yml", "--restart", *end],
        "pipeline without, no cache": ["pipeline", _ALL, _NO_CACHE, "--restart", *end],
    }
    usages: dict[str, list[Usage]] = {name: [] for name in cases}
    for _ in range(bench.rounds):
        for rest in _OLD:
            shutil.rmtree(bench.work / rest, ignore_errors=True)
        (bench.work / "cache").mkdir()  # the default takes it if it is there
        for name, arguments in cases.items():  # in this order: one needs what another has written
            usages[name].append(command(arguments, bench.work))
    figures: Figures = {
        name: {"seconds": Spread.of([run.seconds for run in runs]), "peak_mb": max(run.peak for run in runs) / 1e6}
        for name, runs in usages.items()
    }
    columns = {"seconds": ("seconds", "{:.2f}"), "peak MB": ("peak_mb", "{:.0f}")}
    bench.compare(f"{bench.rounds} interleaved runs", ("command",), columns, {(): figures})
    return figures


SPEC = Spec("pipeline", __doc__, {"commands": pipeline}, (3, None, None), rounds=(1, 3, 5))

if __name__ == "__main__":
    run(SPEC)
