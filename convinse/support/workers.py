"""Processes that work on the pieces of something large, by `concurrent.futures`.

A worker dies with its parent, however that dies; a worker that dies is an error of one line; Ctrl-C ends all at once.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar

from .errors import DataError

P = TypeVar("P")
R = TypeVar("R")

_FAREWELL = 5.0  # seconds for a killed process to be gone
# a forked worker shares what the parent has read, and starts at once; where the system's libraries are not made for it, it is started anew
_PROCESSES = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
_function: Callable[[], Callable[[Any], Any]]  # of a worker: makes what works on pieces, once


def in_order(
    pieces: Iterable[P],
    make: Callable[..., Callable[[P], R]],
    arguments: tuple[Any, ...],
    workers: int,
    about: str,
    remedy: str,
) -> Generator[R, None, None]:
    """Yield what a function makes of each piece, in their order; a few are under way at once.

    Each of the processes calls `make(*arguments)` once, for the function; pieces and results travel as pickles. The processes end when the
    iterator is used up, closed or left by an error. `about` and `remedy` are for messages.
    Raises `DataError` if a process died, and whatever the function raises.
    """
    pool = ProcessPoolExecutor(workers, _PROCESSES, _begin, (make, arguments))
    waiting: deque[Future[R]] = deque()
    try:
        for piece in pieces:
            with _uninterrupted():
                waiting.append(pool.submit(_work, piece))
            if len(waiting) > workers + 1:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
        pool.shutdown()
    except BrokenProcessPool as error:
        raise DataError(f"{about}: a worker process was killed, perhaps for its memory; {remedy}") from error
    except MemoryError as error:
        raise DataError(f"{about}: a worker process ran out of memory; {remedy}") from error
    finally:
        _end(pool)


def _end(pool: ProcessPoolExecutor) -> None:
    """End a pool without waiting for the pieces under way: `kill_workers` of Python 3.14."""
    processes = list((pool._processes or {}).values())
    for process in processes:
        process.kill()
    queue = getattr(pool, "_call_queue", None)
    if sys.version_info < (3, 11, 5) and queue is not None:
        queue._reader.close()  # else a thread waits for ever to send a piece (python/cpython#94777)
    pool.shutdown(wait=False, cancel_futures=True)
    end = time.monotonic() + _FAREWELL
    for process in processes:  # a thread of the pool may wait for it, too, and then `join` returns at once
        while process.is_alive() and time.monotonic() < end:
            process.join(0.05)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the end; processes that are started meanwhile never hear of it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(make: Callable[..., Callable[[Any], Any]], arguments: tuple[Any, ...]) -> None:
    global _function
    threading.Thread(target=_outlive, daemon=True).start()
    _function = lru_cache(maxsize=1)(lambda: make(*arguments))  # an error of it is raised with the first piece


def _work(piece: Any) -> Any:
    return _function()(piece)


def _outlive() -> None:
    """Wait for the parent's end, which closes a pipe, and end."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
