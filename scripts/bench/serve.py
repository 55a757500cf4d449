"""The service under load: a turn, the first byte of a stream, many clients.

bash run.sh bench serve [--config CONFIG] [--parts turn,stream,clients]

The server is a process of its own, begun in an empty folder, with an empty cache; so are the clients that load it. They ask the
questions of the embedded dev conversations, each client conversation after conversation.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from convinse import load_config
from convinse.formats.conversations.benchmark import read_benchmark

from .harness import Bench, Figure, Figures, Spec, Spread, percentile, run
from .processes import ChildError, apart

_PATIENCE = 120  # seconds that a client waits for anything
_EVENTS = {"Accept": "text/event-stream"}
_KEPT = 100  # conversations, of those that are opened
_ONE_MB = 10**6


class Amounts(NamedTuple):
    turns: int  # in one conversation after another
    streams: int  # of which the first byte is timed
    clients: int
    seconds: float  # that the clients ask


class Served(NamedTuple):
    port: int
    process: subprocess.Popen[str]

    @property
    def memory(self) -> float:
        """MB of the process that no other has."""
        return psutil.Process(self.process.pid).memory_full_info().uss / _ONE_MB


@contextmanager
def server(bench: Bench, name: str, *arguments: str) -> Iterator[Served]:
    """A server in a folder of its own, which has answered a question. Raises `ChildError` where it does not begin."""
    folder = bench.work / name
    (folder / "cache").mkdir(parents=True, exist_ok=True)  # the default takes it where it is there
    command = [sys.executable, "-m", "convinse", "serve", "api", "--port", "0", "--config", bench.options.config]
    with (
        (folder / "errors").open("w+") as errors,
        subprocess.Popen(
            [*command, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        try:
            told = re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())  # type: ignore[union-attr]
            if told is None:
                errors.seek(0)
                raise ChildError(f"serve api: {(errors.read().strip().splitlines() or ['it ended'])[-1]}")
            own = Served(int(told[1]), process)
            with Client(own.port) as client:
                client.turn(client.begin(), "who directed Titanic?")  # loads the models
            yield own
        finally:
            process.kill()


class Client:
    """One connection. Every answer is read; one that is refused raises `ChildError`."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def begin(self) -> str:
        """The path of a new conversation."""
        return f"/v1/conversations/{json.loads(self._asked('POST', '/v1/conversations', {}))['id']}"

    def turn(self, path: str, question: str) -> Any:
        return json.loads(self._asked("POST", f"{path}/turns", {"question": question}))

    def first_byte(self, path: str, question: str) -> float:
        """Seconds until something of a stream is there; the rest is read, too."""
        start = time.perf_counter()
        response = self._response("POST", f"{path}/turns", {"question": question}, _EVENTS)
        response.read(1)
        seconds = time.perf_counter() - start
        response.read()
        return seconds

    def waiting(self) -> int:
        """Turns that wait."""
        return int(re.findall(rb"^convinse_waiting (\d+)", self._asked("GET", "/metrics"), re.MULTILINE)[0])

    def _asked(self, method: str, path: str, value: Any = None) -> bytes:
        return self._response(method, path, value).read()

    def _response(self, method: str, path: str, value: Any, headers: Any = None) -> http.client.HTTPResponse:
        body = None if value is None else json.dumps(value)
        self._connection.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})
        response = self._connection.getresponse()
        if response.status >= 300:
            raise ChildError(f"{method} {path}: {response.status} {response.read()[:200]!r}")
        return response


def questions(config: str) -> list[list[str]]:
    """The questions of the dev conversations."""
    settings = load_config(config)
    conversations = read_benchmark(settings.input_path("dev"), settings.benchmark)
    return [[turn["question"] for turn in conversation["questions"]] for conversation in conversations]


# -- parts -------------------------------------------------------------------------------------------------------------


def turn(bench: Bench) -> Figures:
    """Turns in one conversation after another: those that begin it, whose pages are new, those after them, and all asked again."""
    seconds: dict[str, list[float]] = {"first of a conversation": [], "later in it": [], "asked before": []}
    pairs = [(place, question) for conversation in bench.state for place, question in enumerate(conversation)]
    with server(bench, "turn") as own, Client(own.port) as client:
        for again in (False, True):
            path = ""
            for place, question in pairs[: bench.size.turns]:
                if place == 0:
                    path = client.begin()
                start = time.perf_counter()
                client.turn(path, question)
                kind = "asked before" if again else "later in it" if place else "first of a conversation"
                seconds[kind].append(time.perf_counter() - start)
    figures = {kind: _spread(values) for kind, values in seconds.items()}
    bench.compare("a turn", ("question",), _COLUMNS, {(): figures})
    return figures


def stream(bench: Bench) -> Figures:
    """The first byte of a stream: alone, and beside clients that ask all the time."""
    amounts, figures = bench.size, {}
    asked = list(itertools.chain.from_iterable(bench.state))

    def timed_streams(port: int) -> list[float]:
        with Client(port) as client:
            return [client.first_byte(client.begin(), asked[n % len(asked)]) for n in range(amounts.streams)]

    with server(bench, "stream") as own, ThreadPoolExecutor(1) as pool:
        figures["idle"] = _spread(timed_streams(own.port))
        loading = pool.submit(_loaded, bench, own.port)
        with Client(own.port) as client:
            while not loading.done() and not client.waiting():
                time.sleep(0.05)
        seconds = []
        while not loading.done() and len(seconds) < amounts.streams:
            with Client(own.port) as client:
                seconds.append(client.first_byte(client.begin(), random.choice(asked)))
        loading.result()
        figures[f"beside {amounts.clients} clients"] = _spread(seconds)
    bench.compare("first byte of a stream", ("",), _COLUMNS, {(): figures})
    return figures


def clients(bench: Bench) -> Figures:
    """Many clients at once."""
    with server(bench, "clients") as own:
        result = _loaded(bench, own.port)
        memory = own.memory
    amounts, seconds = bench.size, result["seconds"]
    figures = {**_spread(seconds), "turns": len(seconds), "errors": len(result["errors"]), "first_errors": result["errors"][:3], "mb": memory}  # fmt: skip
    rows = [
        Figure("turns", len(seconds), "{:.0f}"),
        Figure("turns a second", len(seconds) / amounts.seconds),
        Figure("errors", figures["errors"], "{:.0f}"),
        Figure("median, ms", figures["ms"].median, "{:.0f}"),
        Figure("95 %, ms", figures["high"], "{:.0f}"),
        Figure("server, MB", memory, "{:.0f}"),
    ]
    bench.report(f"{amounts.clients} clients for {amounts.seconds:g} s", rows)
    return figures


# -- load --------------------------------------------------------------------------------------------------------------


def _loaded(bench: Bench, port: int) -> Figures:
    """What `load` gives, in a process of its own."""
    amounts = bench.size
    result: Figures = apart(load, port, amounts.clients, amounts.seconds, bench.state).result
    return result


def load(port: int, number: int, seconds: float, conversations: Sequence[Sequence[str]]) -> Figures:
    """Clients that ask one conversation after another: the seconds of all turns, and the errors."""
    end = time.monotonic() + seconds
    spent: list[float] = []
    errors: list[str] = []

    def ask(own: int) -> None:
        order = random.Random(own)
        with Client(port) as client:
            while time.monotonic() < end:
                try:
                    path = client.begin()
                    for question in order.choice(conversations):
                        if time.monotonic() > end:
                            break
                        start = time.perf_counter()
                        client.turn(path, question)
                        spent.append(time.perf_counter() - start)
                except (OSError, http.client.HTTPException, ChildError) as error:
                    errors.append(str(error))
                    return

    with ThreadPoolExecutor(number) as pool:
        list(pool.map(ask, range(number)))
    return {"seconds": spent, "errors": errors}


_COLUMNS = {"median ms (least-most)": ("ms", "{:.1f}"), "95 %": ("high", "{:.1f}"), "number": ("number", "{}")}


def _spread(seconds: Sequence[float]) -> Figures:
    if not seconds:
        raise ChildError("no turn was answered")
    milliseconds = [1000 * value for value in seconds]
    return {"ms": Spread.of(milliseconds), "high": percentile(milliseconds, 0.95), "number": len(seconds)}


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", default="config.yml", help="the configuration of the server (default config.yml)")


def _prepared(bench: Bench) -> list[list[str]]:
    if Path(bench.options.config).exists():  # servers begin in folders of their own
        bench.options.config = str(Path(bench.options.config).resolve())
    return questions(bench.options.config)


SPEC = Spec(
    "serve", __doc__,
    {"turn": turn, "stream": stream, "clients": clients},
    sizes=(Amounts(20, 10, 8, 2), Amounts(200, 50, 50, 20), Amounts(500, 200, 50, 60)),
    options=_options, prepare=_prepared, peers=("onnxruntime", "starlette", "uvicorn"),
)  # fmt: skip


if __name__ == "__main__":
    run(SPEC)
