"""Calls that wait for a server, several at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, TypeVar

W = TypeVar("W")
R = TypeVar("R")


def in_flight(work: Sequence[W], call: Callable[[W], R], parallel: int, done: Callable[[int, R], None]) -> None:
    """Call a function for each piece of work in at most `parallel` threads, and `done` with its place and result in this one.

    After an error nothing more is begun; what is under way is handed to `done`, since it was paid for, then the error is
    raised. Ctrl-C waits for nothing: the threads are daemons, which those of `concurrent.futures` are not.
    """
    answered: SimpleQueue[tuple[int, Any] | None] = SimpleQueue()
    stopped = threading.Event()
    places = iter(range(len(work)))  # of all threads: each place is taken once

    def serve() -> None:
        while not stopped.is_set() and (place := next(places, None)) is not None:
            try:
                answered.put((place, call(work[place])))
            except BaseException as error:  # the caller raises it
                stopped.set()
                answered.put((place, error))
        answered.put(None)

    faults = []
    try:
        threads = min(parallel, len(work))
        for _ in range(threads):
            threading.Thread(target=serve, daemon=True).start()
        while threads:
            if (answer := answered.get()) is None:
                threads -= 1
            elif isinstance(answer[1], BaseException):
                faults.append(answer[1])
            else:
                done(*answer)
    finally:
        stopped.set()
    if faults:
        raise faults[0]
