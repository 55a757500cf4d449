"""Calls that wait for a server, several at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

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
    waiting: SimpleQueue[int] = SimpleQueue()
    answered: SimpleQueue[tuple[int, R | None, BaseException | None]] = SimpleQueue()
    stopped = threading.Event()
    for place in range(len(work)):
        waiting.put(place)

    def serve() -> None:
        while not stopped.is_set():
            try:
                place = waiting.get_nowait()
            except Empty:
                break
            try:
                result = call(work[place])
            except BaseException as error:  # the caller's to raise
                stopped.set()
                answered.put((place, None, error))
            else:
                answered.put((place, result, None))
        answered.put((-1, None, None))

    threads = [threading.Thread(target=serve, daemon=True) for _ in range(min(parallel, len(work)))]
    fault: BaseException | None = None
    try:
        for thread in threads:
            thread.start()
        left = len(threads)
        while left:
            place, result, error = answered.get()
            if place < 0:
                left -= 1
            elif error is not None:
                fault = fault or error
            else:
                done(place, result)  # type: ignore[arg-type]
    finally:
        stopped.set()
    if fault is not None:
        raise fault
