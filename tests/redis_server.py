"""A Redis server of Debian's package, started and ended by a test."""

import subprocess
import time
from contextlib import contextmanager
from types import SimpleNamespace

import redis

from loopback import free_port


@contextmanager
def running(folder, *options):
    """A server of Debian's package, empty, on a free port."""
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder), *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            client = redis.Redis(port=port, protocol=2, password="secret" if "--requirepass" in options else None)
            for _ in range(600):
                try:
                    client.ping()
                    break
                except redis.ConnectionError:
                    time.sleep(0.1)
            yield SimpleNamespace(url=f"redis://127.0.0.1:{port}", process=process, client=client, port=port)
            client.close()
        finally:
            process.kill()
