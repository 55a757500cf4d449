"""Calls that wait for a server, several at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, TypeVar

W = TypeVar("W")
R = TypeVar("R")


def in_flight(work: Sequence[W], call: Callable[[W], R], parallel: int, done: Callable[[int, R], None]) -> None:
    """Call a function for each piece of work, at most `parallel` at once, in threads that end with the program.

    After an error nothing more is begun; what is under way comes to its end and is handed over, then the error is raised. So
    what was paid for is kept. Ctrl-C waits for nothing.

    Args:
        work: the pieces.
        call: waits for a server; called in a thread of the pool.
        parallel: threads at most.
        done: called with the place of a piece and its result, as soon as it is there, in the thread of the caller.
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
