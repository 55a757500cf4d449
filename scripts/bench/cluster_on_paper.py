"""Clusters that nobody here has: what 10, 100 and 1,000 nodes would take, computed from what one machine takes.

Constants are measured in processor time, so that other work on the machine changes them little. What is assumed, not measured,
stands in capitals below and in the tables.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from convinse import Pipeline, load_config
from convinse.cluster.ray_crew import RayCrew
from convinse.data_store import DataStore
from convinse.experiment import read_part
from convinse.formats.run_folder import RunFolder
from convinse.passages.build import build_index
from convinse.passages.layout import Parameters
from convinse.passages.opening import open_index
from convinse.support.jsonlines import read_documents

from .engines import LANGUAGE, TOP, write_corpus
from .harness import Bench, Figure, Figures, apart

NODES, CORES = (10, 100, 1_000), 16  # machines, and the cores of each
LINE = 1.25e9  # bytes a second of the line of a server that all nodes ask: 10 Gbit/s
CONVERSATIONS, COMBINATIONS = 2_240, 20  # of ConvMix, with 11,200 questions; combinations of sources
WIKIDATA = 54e9  # bytes of the index of all of Wikidata
PASSAGES = 100_000_000
CONNECTIONS = 10_000  # that Redis takes unless it is told otherwise
_SIZES = (20_000, 100_000)  # passages, from which the time of a part is taken to grow evenly
_SENT = 64 << 20  # bytes that are fetched to know how fast that is


def constants(bench: Bench, slept: Callable[[Any, int, bytes], Iterable[Any]], ray: Any) -> Figures:
    """What one machine takes for each thing."""
    known = _conversations(bench)
    known |= _writer(bench, slept, ray, known.pop("finished"))
    known |= _passages(bench) | _fetching(bench)
    bench.report("Measured, in processor time", [
        Figure("s for a conversation of five turns, without a cache", known["conversation"], "{:.2f}"),
        Figure("s for one whose scores and embeddings are all in a shared cache", known["cached"], "{:.2f}"),
        Figure("commands of a conversation to the shared cache", known["commands"], "{:.0f}"),
        Figure("kB that it keeps there", known["kept"] / 1e3, "{:,.0f}"),
        Figure("kB that it gets from there", known["got"] / 1e3, "{:,.0f}"),
        Figure("ms of the Redis server for a conversation", 1e3 * known["redis"], "{:.2f}"),
        Figure("ms of the writer for a conversation", 1e3 * known["writer"], "{:.1f}"),
        Figure("MB of its memory for a conversation that is finished", known["held"] / 1e6, "{:.2f}"),
        Figure("MB/s that a node fetches and checks", known["fetched"] / 1e6, "{:,.0f}"),
        Figure("ms for a question in a part of no passages", 1e3 * known["question"], "{:.2f}"),
        Figure("ms more for each million of passages", 1e3 * known["question_million"], "{:.2f}"),
        Figure("ms of its server beside that", 1e3 * known["served"], "{:.2f}"),
        Figure("ms of who asks, for a question and a part", 1e3 * known["asked"], "{:.3f}"),
        Figure("bytes of an index for a passage", known["passage_bytes"], "{:,.0f}"),
    ])  # fmt: skip
    return known


def computed(bench: Bench, known: Figures) -> None:
    """The tables on paper."""
    nodes = {f"{number:,}": number for number in NODES}
    title = f"Computed: ConvMix, {CONVERSATIONS:,} conversations, {COMBINATIONS} combinations, {CORES} cores a node"
    runs = {name: _run(known, number) for name, number in nodes.items()}
    bench.compare(title, ("nodes",), {
        "min of computing": ("computing", "{:,.1f}"), "of the writer": ("writing", "{:,.1f}"),
        "all found in the cache": ("cached", "{:,.1f}"), "limit": ("limit", "{}"),
        "Redis, of a core": ("redis", "{:.2f}"), "of its line": ("line", "{:.2f}"),
        "connections": ("connections", "{:,}"), "GB of it": ("kept", "{:.1f}"), "GB of the writer": ("held", "{:.2f}"),
    }, {(): runs})  # fmt: skip
    title = f"Computed: {WIKIDATA / 1e9:.0f} GB of Wikidata to each node, a store of {8 * LINE / 1e9:.0f} Gbit/s"
    fetches = {
        name: {"one": WIKIDATA / known["fetched"] / 60, "store": number * WIKIDATA / LINE / 60}
        for name, number in nodes.items()
    }
    columns = {
        "min, if the node were the limit": ("one", "{:,.1f}"),
        "min, as the store's line is": ("store", "{:,.0f}"),
    }
    bench.compare(title, ("nodes",), columns, {(): fetches})
    title = f"Computed: {PASSAGES:,} passages, a part on each node, {CORES} cores a node"
    searches = {name: _search(known, number) for name, number in nodes.items()}
    bench.compare(title, ("nodes",), {
        "GB of a part": ("disk", "{:.2f}"), "ms of a question in it": ("part", "{:.2f}"),
        "questions/s of the parts": ("parts", "{:,.0f}"), "of one who asks": ("client", "{:,.0f}"),
        "limit": ("limit", "{}"),
    }, {(): searches})  # fmt: skip


def _run(known: Figures, nodes: int) -> Figures:
    number, cores = CONVERSATIONS * COMBINATIONS, nodes * CORES
    computing, writing, cached = (
        number * known[key] / share for key, share in (("conversation", cores), ("writer", 1), ("cached", cores))
    )
    rate = number / max(computing, writing)
    return {
        "computing": computing / 60, "writing": writing / 60, "cached": max(cached, writing) / 60,
        "limit": "the writer" if writing > computing else "the cores",
        "redis": rate * known["redis"], "line": rate * (known["got"] + known["kept"]) / LINE, "connections": cores,
        "kept": number * known["kept"] / 1e9, "held": CONVERSATIONS * known["held"] / 1e9,
    }  # fmt: skip


def _search(known: Figures, nodes: int) -> Figures:
    part = known["question"] + known["question_million"] * PASSAGES / nodes / 1e6
    parts, client = CORES / (part + known["served"]), 1 / (known["asked"] * nodes)
    return {
        "disk": known["passage_bytes"] * PASSAGES / nodes / 1e9, "part": 1e3 * part, "parts": parts, "client": client,
        "limit": "who asks" if client < parts else "the parts",
    }  # fmt: skip


def _conversations(bench: Bench) -> Figures:
    """Without a cache; and with one on a server, the second time."""
    plain = load_config("config.yml", ers_use_cache=False)
    conversations = read_part(plain, "test")[: 2 if bench.options.quick else 16]

    def run(pipeline: Pipeline) -> tuple[float, list[Any]]:
        start = time.process_time()
        done = pipeline.run(conversations, "kb_text_table_info", True)
        return (time.process_time() - start) / len(conversations), done

    with Pipeline(plain) as pipeline:
        run(pipeline)  # models are loaded
        seconds, done = run(pipeline)
    with _redis(bench.work) as (address, told):
        config = load_config("config.yml", ers_cache_path=address)
        with Pipeline(config) as pipeline:
            run(pipeline)
        before = told()
        with Pipeline(config) as pipeline:
            pipeline.run(conversations[:1], "kb_text_table_info", True)
            begun = told()
            cached, again = run(pipeline)
        after = told()
    assert again == done
    count = len(conversations)
    busy = sum(after[f"used_cpu_{kind}"] - begun[f"used_cpu_{kind}"] for kind in ("user", "sys"))
    return {
        "conversation": seconds, "cached": cached, "redis": busy / count, "finished": msgspec.json.encode(done[0]),
        "commands": (after["total_commands_processed"] - begun["total_commands_processed"]) / count,
        "kept": before["total_net_input_bytes"] / count,
        "got": (after["total_net_output_bytes"] - begun["total_net_output_bytes"]) / count,
    }  # fmt: skip


@contextmanager
def _redis(work: Path) -> Iterator[tuple[str, Callable[[], Figures]]]:
    """A server of this machine; its address, and what it tells of itself."""
    import redis
    from redis.backoff import ConstantBackoff
    from redis.retry import Retry

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(work)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            with redis.Redis(port=port, retry=Retry(ConstantBackoff(0.1), 300)) as client:
                client.ping()
                yield f"redis://127.0.0.1:{port}", client.info
        finally:
            process.kill()


def _writer(bench: Bench, slept: Callable[[Any, int, bytes], Iterable[Any]], ray: Any, finished: bytes) -> Figures:
    count = 20 if bench.options.quick else 200
    with closing(RayCrew(ray, 2)) as crew, RunFolder(bench.work / "written", {"bench": "paper"}) as output:
        list(slept(crew, 4, finished))  # every worker has begun
        memory, start = _memory(), time.process_time()
        for done in slept(crew, count, finished):
            output.add(done)
        return {"writer": (time.process_time() - start) / count, "held": (_memory() - memory) / count}


def _memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def _passages(bench: Bench) -> Figures:
    seconds, sizes = [], tuple(size // 10 for size in _SIZES) if bench.options.quick else _SIZES
    for size in sizes:
        folder = bench.work / str(size)
        apart(write_corpus, folder, size)
        questions = [question["text"] for _, question in read_documents(folder / "questions.jl")]
        build_index(folder / "passages.jl", folder / "index", Parameters(LANGUAGE))
        index = open_index(folder / "index")
        index.search_all(questions, TOP)
        seconds.append(
            _busy(lambda index=index, questions=questions: index.search_all(questions, TOP)) / len(questions)
        )  # type: ignore[misc]
    slope = (seconds[1] - seconds[0]) / (sizes[1] - sizes[0])
    bytes_ = sum(file.stat().st_size for file in (folder / "index").rglob("*") if file.is_file())
    command = [sys.executable, "-m", "convinse", "retrieve", "serve", str(folder / "index"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process, ExitStack() as opened:
        opened.callback(process.terminate)
        url = process.stdout.readline().partition(" is at ")[2].split()[0]  # type: ignore[union-attr]
        served = opened.enter_context(closing(open_index(url)))
        served.search_all(questions, TOP)
        before = _spent(process.pid)
        asked = _busy(lambda: served.search_all(questions, TOP)) / len(questions)
        there = (_spent(process.pid) - before) / len(questions)
    return {
        "question": max(0.0, seconds[0] - slope * sizes[0]), "question_million": slope * 1e6,
        "served": max(0.0, there - seconds[1]), "asked": asked, "passage_bytes": bytes_ / sizes[1],
    }  # fmt: skip


def _fetching(bench: Bench) -> Figures:
    folder = bench.work / "fetched"
    folder.mkdir()
    block = bytes(range(256)) * 4096
    with (folder / "file").open("wb") as file:
        for _ in range(_SENT // len(block)):
            file.write(block)
    store = DataStore(str(bench.work / "store"))
    pushed = store.push(folder)
    seconds = _busy(lambda: store.pull(pushed.id, bench.work / "pulled"))
    shutil.rmtree(bench.work / "store")
    return {"fetched": _SENT / seconds}


def _busy(function: Callable[[], object]) -> float:
    """Seconds of processor time of this process."""
    start = time.process_time()
    function()
    return time.process_time() - start


def _spent(process: int) -> float:
    """Seconds of processor time of another process until now."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
