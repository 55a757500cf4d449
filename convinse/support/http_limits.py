"""What the project's HTTP servers take at most: of connections, bodies, time and work at once."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

LOGGER = logging.getLogger(__name__)
_SPARE = 96  # file handles for all that is no connection: files that are opened, threads, connections that are refused
_FEWEST = 8  # connections, however few handles there are


@dataclass(frozen=True)
class Limits:
    """Limits of a server; a client that goes beyond one gets an error as JSON where it can still read it.

    Attributes:
        body: bytes of a request's body; 413 above.
        bodies: bytes of the bodies that are held at the same time, whole or in part; 429 above.
        connections: open at the same time. A further one takes the place of the one that has kept the server waiting
            longest; where none does, it gets 503.
        header_seconds: for the headers of a request, from its first byte or from the connection; 408, or closed where nothing came.
        body_seconds: for its body; 408.
        idle_seconds: between two requests over a connection; closed then.
        answer_seconds: in which a client reads nothing of its answer; closed then.
        work_seconds: for the work of a request, time in the queue counted; 503.
        at_once: requests that are worked on at the same time.
        queue: requests that wait for that; 429 with Retry-After above.
        drained_bytes, drained_seconds: what is read and thrown away of a request that is refused, so that its sender gets
            to read why.
    """

    body: int = 1_000_000
    bodies: int = 100_000_000
    connections: int = 512
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    idle_seconds: float = 20.0
    answer_seconds: float = 30.0
    work_seconds: float = 60.0
    at_once: int = 32
    queue: int = 256
    drained_bytes: int = 256_000_000
    drained_seconds: float = 10.0

    def within_handles(self) -> Limits:
        """With as many connections as this process may have file handles for; the process gets more where it may."""
        most = _handles(self.connections + _SPARE + _open_handles())
        room = max(_FEWEST, most - _SPARE - _open_handles())
        if room >= self.connections:
            return self
        LOGGER.warning("only %d connections at once: the system allows %d open files (ulimit -n)", room, most)
        return replace(self, connections=room)


def _handles(wanted: int) -> int:
    """The file handles that this process may have; the soft limit is raised up to what is wanted."""
    try:
        import resource
    except ImportError:  # of Unix only
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft == unlimited or soft >= wanted:
        return wanted
    raised = wanted if hard == unlimited else min(wanted, hard)
    with suppress(OSError, ValueError):  # a sandbox may refuse it
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _open_handles() -> int:
    folder = Path("/proc/self/fd") if Path("/proc/self/fd").is_dir() else Path("/dev/fd")
    try:
        return sum(1 for _ in folder.iterdir())
    except OSError:
        return _SPARE
