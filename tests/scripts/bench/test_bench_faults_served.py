"""The servers of the campaign, each in a process of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from bench.harness import SCRIPTS

BENCH = """
import time
from pathlib import Path
from bench.faults.served import running

with running("plain api", Path()) as server:
    print(server.process.pid, server.port, flush=True)
    time.sleep(60)
"""


def is_open(port):
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
        return True
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends the server")
def test_a_bench_that_is_killed_leaves_no_server():
    paths = os.pathsep.join([str(SCRIPTS), str(SCRIPTS.parent)])
    bench = subprocess.Popen(
        [sys.executable, "-c", BENCH], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}
    )
    server = None
    try:
        server, port = map(int, bench.stdout.readline().split())
        assert is_open(port)
        bench.kill()
        end = time.monotonic() + 20
        while is_open(port) and time.monotonic() < end:
            time.sleep(0.05)
        assert not is_open(port)
    finally:
        bench.kill()
        bench.communicate()
        if server is not None:
            with suppress(ProcessLookupError):
                os.kill(server, signal.SIGKILL)
