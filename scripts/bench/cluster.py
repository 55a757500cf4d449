"""What a Ray cluster costs: a run on two workers of this machine beside the plain run, and how a stage of known length scales.

    bash run.sh bench cluster [--parts overhead,scaling,paper]

`overhead` runs the embedded conversations, repeated under new names, without a cache. `scaling` has workers sleep in place of
computing and give back a finished conversation, so that what is left is the cost of handing out, taking in and writing; more
workers than cores are as good as as many machines there. `paper` computes what larger clusters would take; it starts `redis-server`.
"""

from __future__ import annotations

import gc
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path

import msgspec

from convinse import Pipeline, load_config
from convinse.cluster.ray_crew import RayCrew
from convinse.experiment import read_part
from convinse.formats.run_folder import FinishedConversation, RunFolder
from convinse.support.errors import ConvinseError

from . import cluster_on_paper
from .cluster_work import Sleeper
from .harness import Bench, Figures, Spec, Spread, run

WORKERS = (1, 2, 4, 8)
MOST_OVERHEAD = 0.15
_ALLOCATIONS = 100_000
_SLEEP = 0.1  # seconds that a piece takes


def overhead(bench: Bench) -> Figures:
    """Seconds of whole commands and of their runs, in turn."""
    own = read_part(load_config("config.yml"), "test")
    many = [
        {**conversation, "conv_id": str(number)} for number, conversation in enumerate(islice(cycle(own), bench.size))
    ]
    (bench.work / "many.json").write_bytes(msgspec.json.encode(many))
    cases = {"plain": [], "on 2 workers": ["--on", "ray", "--workers", "2"]}
    for name in cases:
        config = load_config(
            "config.yml", name=name, benchmark_path=".", test_input_path="many.json", ers_use_cache=False
        )
        (bench.work / f"{name}.yml").write_bytes(msgspec.json.encode(config))  # which is YAML, too
    runs: dict[str, list[float]] = {name: [] for name in cases}
    before: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(bench.rounds):
        for name, options in cases.items():
            start = time.perf_counter()
            line = [sys.executable, "-m", "convinse", "pipeline", f"{name}.yml", "--restart", "--quiet", *options]
            done = subprocess.run(line, cwd=bench.work, capture_output=True, text=True)
            if done.returncode:
                raise ConvinseError(f"{name}: {done.stderr.strip()}")
            whole = time.perf_counter() - start
            folder = bench.work / "results" / name / "kb_text_table_info"
            runs[name].append(msgspec.json.decode((folder / "metrics.json").read_bytes())["seconds"]["total"])
            before[name].append(whole - runs[name][-1])
    files = {(bench.work / "results" / name / "kb_text_table_info" / "turns.jsonl").read_bytes() for name in cases}
    if len(files) > 1:
        raise ConvinseError("the two runs differ; they must be equal byte for byte")
    systems = {name: {"run": Spread.of(runs[name]), "start": Spread.of(before[name])} for name in cases}
    columns = {"seconds of the run": ("run", "{:.1f}"), "before and after it": ("start", "{:.1f}")}
    bench.compare(f"{bench.size} conversations, {bench.rounds} rounds", ("command",), columns, {(): systems})
    plain, clustered = (systems[name]["run"].median for name in cases)
    bench.want("overhead of two workers over the plain run", clustered / plain - 1, MOST_OVERHEAD, at_least=False)
    return {"conversations": bench.size, "runs": runs, "before_and_after": before, "overhead": clustered / plain - 1}


def scaling(bench: Bench) -> Figures:
    """Finished conversations a second, and the seconds of this process for each of them."""
    with Pipeline(load_config("config.yml", ers_use_cache=False)) as pipeline:
        (finished,) = pipeline.run(read_part(pipeline.config, "test")[:1], "kb_text_table_info", True)
    conversation = msgspec.json.encode(finished)
    count = max(WORKERS) * (5 if bench.options.quick else 50)
    systems = {}
    gc.set_threshold(_ALLOCATIONS)  # as the command line has it
    with _ray() as ray:
        for workers in WORKERS:
            crew = RayCrew(ray, workers)
            folder = bench.work / f"sleeping-{workers}"
            try:
                list(_slept(crew, 2 * workers, conversation))  # every worker has begun
                with RunFolder(folder, {"bench": str(workers)}) as output:
                    start, busy = time.perf_counter(), time.process_time()
                    for done in _slept(crew, count, conversation):
                        output.add(done)
                    seconds, busy = time.perf_counter() - start, time.process_time() - busy
            finally:
                crew.close()
            systems[str(workers)] = {
                "seconds": seconds, "a_second": count / seconds, "of_ideal": count * _SLEEP / workers / seconds,
                "driver_ms": 1000 * busy / count,
            }  # fmt: skip
    columns = {
        "seconds": ("seconds", "{:.2f}"), "conversations a second": ("a_second", "{:.1f}"),
        "of the ideal": ("of_ideal", "{:.3f}"), "ms of the writer for each": ("driver_ms", "{:.2f}"),
    }  # fmt: skip
    title = f"{count} conversations of {len(conversation) / 1000:.0f} kB, {_SLEEP:g} s of sleep each"
    bench.compare(title, ("workers",), columns, {(): systems})
    return {"conversations": count, "bytes": len(conversation), "sleep": _SLEEP, "workers": systems}


def paper(bench: Bench) -> Figures:
    """What clusters of many nodes would take, computed from what this machine takes."""
    gc.set_threshold(_ALLOCATIONS)  # as the command line has it
    with _ray() as ray:
        known = cluster_on_paper.constants(bench, _slept, ray)
    cluster_on_paper.computed(bench, known)
    return known


def _slept(crew: RayCrew, count: int, conversation: bytes) -> Iterator[FinishedConversation]:
    return crew.in_order(range(count), Sleeper, (_SLEEP, conversation), "sleeping", "try again")


@contextmanager
def _ray() -> Iterator[object]:
    """A cluster of this machine that takes it for one of many cores; its workers find this module."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    scripts = str(Path(__file__).resolve().parents[1])
    os.environ["PYTHONPATH"] = os.pathsep.join([scripts, *filter(None, [os.environ.get("PYTHONPATH")])])
    import ray

    ray.init(
        "local", num_cpus=max(WORKERS), object_store_memory=256 << 20, include_dashboard=False, log_to_driver=False,
        logging_level=logging.CRITICAL,
    )  # fmt: skip
    try:
        yield ray
    finally:
        ray.shutdown()


SPEC = Spec(
    "cluster", __doc__, {"overhead": overhead, "scaling": scaling, "paper": paper}, (8, 500, 500), rounds=(1, 1, 3),
    needs={"overhead": ["ray"], "scaling": ["ray"], "paper": ["ray", "fsspec", "redis"]}, peers=("ray", "redis"),
)  # fmt: skip


if __name__ == "__main__":
    run(SPEC)
