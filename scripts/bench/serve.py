"""The service under load: a turn, the first byte of a stream, many clients.

    bash run.sh bench serve [--config CONFIG] [--parts turn,stream,clients]

The server is a process of its own, begun in an empty folder, with an empty cache; so are the clients that load it. They ask the
questions of the embedded dev conversations, each client conversation after conversation.
"""

import itertools
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import urllib3

from convinse import load_config
from convinse.formats.conversations.benchmark import read_benchmark

from .harness import Bench, Figures, Spec, run
from .timing import ChildError, Spread, apart, percentile

_PATIENCE = 120  # seconds that a client waits for anything
_COLUMNS = {"median ms (least-most)": ("ms", "{:.1f}"), "95 %": ("high", "{:.1f}"), "number": ("number", "{}")}


class Amounts(NamedTuple):
    turns: int  # in one conversation after another
    streams: int  # of which the first byte is timed
    clients: int
    seconds: float  # that the clients ask


@contextmanager
def server(bench: Bench, name: str) -> Iterator[tuple[int, psutil.Process]]:
    """Port and process of a server in a folder of its own, which has answered a question."""
    folder = bench.work / name
    (folder / "cache").mkdir(parents=True, exist_ok=True)  # the default takes it if it is there
    command = [sys.executable, "-m", "convinse", "serve", "api", "--port", "0", "--config", bench.options.config]
    with psutil.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())
            if address is None:
                raise ChildError("serve api: it ended")
            port = int(address[1])
            with closing(Client(port)) as client:
                client.turn(client.begin(), "who directed Titanic?")  # loads the models
            yield port, process
        finally:
            process.kill()


class Client:
    """One connection. Every answer is read; one that is refused raises `ChildError`."""

    def __init__(self, port: int) -> None:
        self._pool = urllib3.HTTPConnectionPool("127.0.0.1", port, timeout=_PATIENCE, retries=False)
        self.close = self._pool.close

    def request(self, method: str, path: str, value: Any = None, **options: Any) -> urllib3.BaseHTTPResponse:
        response = self._pool.request(method, path, json=value, **options)
        if response.status >= 300:
            raise ChildError(f"{method} {path}: {response.status} {response.data[:200]!r}")
        return response

    def begin(self) -> str:
        """The path of the turns of a new conversation."""
        return f"/v1/conversations/{self.request('POST', '/v1/conversations', {}).json()['id']}/turns"

    def turn(self, path: str, question: str) -> float:
        """Seconds of a turn."""
        start = time.perf_counter()
        self.request("POST", path, {"question": question})
        return time.perf_counter() - start

    def first_byte(self, question: str) -> float:
        """Seconds until the first byte of a stream in a new conversation; the rest is read, too."""
        path, headers = self.begin(), {"Accept": "text/event-stream", "Content-Type": "application/json"}
        start = time.perf_counter()
        response = self.request("POST", path, {"question": question}, headers=headers, preload_content=False)
        response.read(1)
        seconds = time.perf_counter() - start
        response.drain_conn()
        response.release_conn()
        return seconds


def turn(bench: Bench) -> Figures:
    """Turns in one conversation after another: those that begin it, whose pages are new, those after them, and all asked again."""
    seconds: dict[str, list[float]] = {"first of a conversation": [], "later in it": [], "asked before": []}
    pairs = [(place, question) for conversation in bench.state for place, question in enumerate(conversation)]
    with server(bench, "turn") as (port, _), closing(Client(port)) as client:
        for again in (False, True):
            path = ""
            for place, question in pairs[: bench.size.turns]:
                path = client.begin() if place == 0 else path
                kind = "asked before" if again else "later in it" if place else "first of a conversation"
                seconds[kind].append(client.turn(path, question))
    figures = {kind: _spread(values) for kind, values in seconds.items()}
    bench.compare("a turn", ("question",), _COLUMNS, {(): figures})
    return figures


def stream(bench: Bench) -> Figures:
    """The first byte of a stream: alone, and beside clients that ask all the time."""
    amounts, figures = bench.size, {}
    questions = list(itertools.chain.from_iterable(bench.state))[: amounts.streams]
    with server(bench, "stream") as (port, _), ThreadPoolExecutor(1) as pool, closing(Client(port)) as client:
        figures["idle"] = _spread([client.first_byte(question) for question in questions])
        loading = pool.submit(_loaded, bench, port)
        while not loading.done() and b"\nconvinse_waiting 0" in client.request("GET", "/metrics").data:
            time.sleep(0.05)
        seconds: list[float] = []
        while not loading.done() and len(seconds) < amounts.streams:
            seconds.append(client.first_byte(random.choice(questions)))
        loading.result()
        figures[f"beside {amounts.clients} clients"] = _spread(seconds)
    bench.compare("first byte of a stream", ("",), _COLUMNS, {(): figures})
    return figures


def clients(bench: Bench) -> Figures:
    amounts = bench.size
    with server(bench, "clients") as (port, process):
        result = _loaded(bench, port)
        memory = process.memory_full_info().uss / 1e6  # that no other process has
    seconds, errors = result["seconds"], result["errors"]
    figures = {**_spread(seconds), "errors": len(errors), "first_errors": errors[:3], "mb": memory}
    rows = {
        "turns": (len(seconds), "{:.0f}"),
        "turns a second": (len(seconds) / amounts.seconds, "{:.1f}"),
        "errors": (len(errors), "{:.0f}"),
        "median, ms": (figures["ms"].median, "{:.0f}"),
        "95 %, ms": (figures["high"], "{:.0f}"),
        "server, MB": (memory, "{:.0f}"),
    }
    bench.report(f"{amounts.clients} clients for {amounts.seconds:g} s", rows)
    return figures


def _loaded(bench: Bench, port: int) -> Figures:
    return apart(load, port, bench.size.clients, bench.size.seconds, bench.state).result


def load(port: int, number: int, seconds: float, conversations: Sequence[Sequence[str]]) -> Figures:
    """Clients that ask one conversation after another: the seconds of all turns, and the errors."""
    end = time.monotonic() + seconds
    spent: list[float] = []
    errors: list[str] = []

    def ask(seed: int) -> None:
        order = random.Random(seed)
        with closing(Client(port)) as client:
            try:
                while time.monotonic() < end:
                    path = client.begin()
                    for question in order.choice(conversations):
                        if time.monotonic() < end:
                            spent.append(client.turn(path, question))
            except (urllib3.exceptions.HTTPError, ChildError) as error:
                errors.append(str(error))

    with ThreadPoolExecutor(number) as pool:
        list(pool.map(ask, range(number)))
    return {"seconds": spent, "errors": errors}


def _spread(seconds: Sequence[float]) -> Figures:
    if not seconds:
        raise ChildError("no turn was answered")
    milliseconds = [1000 * value for value in seconds]
    return {"ms": Spread.of(milliseconds), "high": percentile(milliseconds, 0.95), "number": len(seconds)}


def _prepared(bench: Bench) -> list[list[str]]:
    if Path(bench.options.config).exists():  # servers begin in folders of their own
        bench.options.config = str(Path(bench.options.config).resolve())
    settings = load_config(bench.options.config)
    conversations = read_benchmark(settings.input_path("dev"), settings.benchmark)
    return [[turn["question"] for turn in conversation["questions"]] for conversation in conversations]


SPEC = Spec(
    "serve",
    __doc__,
    {"turn": turn, "stream": stream, "clients": clients},
    sizes=(Amounts(20, 10, 8, 2), Amounts(200, 50, 50, 20), Amounts(500, 200, 50, 60)),
    options={"--config": {"default": "config.yml", "help": "of the server (default config.yml)"}},
    prepare=_prepared,
)

if __name__ == "__main__":
    run(SPEC)
