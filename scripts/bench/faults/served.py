"""The project's servers, each in a process of its own, with the limits that a part of the campaign asks for."""

from __future__ import annotations

import http.client
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from convinse.config import load_config
from convinse.support.http_limits import Limits
from convinse.support.http_server import run
from convinse.support.workers import die_with_parent

from ..harness import SCRIPTS, ChildError, held_memory

_STARTED = re.compile(r"http://127\.0\.0\.1:(\d+)")
_ENDING = 90.0  # seconds for a server to end in order: the API answers for 60 what has arrived
_CONVERSATIONS = 50  # that the API keeps: so many are there soon


@dataclass
class RunningServer:
    """A server in a process: its port, what it has to limit, its log."""

    kind: str
    process: subprocess.Popen[str]
    port: int
    limits: Limits
    log: Path

    def ask(self, body: bytes, path: str, timeout: float = 30.0) -> tuple[int, Any]:
        """POST JSON; the status and the value."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)) as connection:
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, json.loads(response.read())

    def memory(self) -> int:
        """Bytes of the process that are in no file of a disk."""
        return held_memory(self.process.pid)

    def wrong(self) -> str:
        """What is wrong with the process or its log, in one line; nothing where all is well."""
        if self.process.poll() is not None:
            return f"the server ended with status {self.process.returncode}"
        log = self.log.read_text(encoding="utf-8", errors="replace")
        if "Traceback" in log:
            return f"a traceback in the log: {log.strip().splitlines()[-1]}"
        return f"the log has {len(log)} characters" if len(log) > 10_000 else ""


@contextmanager
def running(kind: str, work: Path, **changes: Any) -> Iterator[RunningServer]:
    """The server `kb`, `reader`, `api` or `plain api` (the pipeline without models) on a free port, its usual limits changed; killed where it does not end in order."""
    log = work / f"{kind.replace(' ', '-')}.log"
    program = "from bench.faults.served import serve; serve()"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", program, kind, json.dumps(changes), str(os.getpid())], stdout=subprocess.PIPE, stderr=errors, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SCRIPTS), os.environ.get("PYTHONPATH", "")])},
        )  # fmt: skip
        try:
            line = process.stdout.readline()  # type: ignore[union-attr]
            started = _STARTED.search(line)
            if started is None:
                raise ChildError(f"{kind}: the server did not start: {log.read_text().strip()[-200:]}")
            yield RunningServer(kind, process, int(started[1]), _limits(kind, changes), log)
            process.terminate()
            process.wait(_ENDING)
        finally:
            process.kill()
            process.communicate()


def _limits(kind: str, changes: dict[str, Any]) -> Limits:
    from convinse.knowledge_base import server
    from convinse.serving import api_server, reader_server

    usual = {"kb": server.LIMITS, "reader": reader_server.LIMITS}
    return replace(usual.get(kind, api_server.LIMITS), **changes)


def serve() -> None:
    """What the process does."""
    kind, changes = sys.argv[1], json.loads(sys.argv[2])
    if sys.platform == "linux":
        die_with_parent(int(sys.argv[3]))  # a bench that is killed leaves no server
    limits = _limits(kind, changes)
    logging.basicConfig(format="%(message)s")
    ready = partial(print, flush=True)
    if kind.endswith("api"):
        from convinse import Pipeline
        from convinse.serving import api_server

        settings = load_config("config.yml" if kind == "api" else "lexical.yml", ers_use_cache=False)
        with Pipeline(settings) as pipeline:
            options = api_server.ServiceOptions(most_conversations=_CONVERSATIONS, limits=limits)
            api_server.serve(pipeline, options, "127.0.0.1", 0, ready)
        return
    from convinse.resources import Resources

    config = load_config("config.yml")
    resources = Resources(config)
    if kind == "kb":
        from convinse.knowledge_base.server import create_app

        app = create_app(resources.kb, limits)
    else:
        from convinse.serving.reader_server import create_app as reader_app

        app = reader_app(resources.reader(config.ha_model, key="ha_model"), limits)
    run(app, "127.0.0.1", 0, ready, limits=limits)
