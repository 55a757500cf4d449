"""Processes that work on the pieces of something large: the one pool of the builders.

A worker dies with its parent, however that dies; a worker that dies is an error of one line; nothing waits without a limit.
Workers may also be elsewhere: whoever hands out pieces can be given a `Crew`, such as that of a cluster.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeAlias, TypeVar, cast

from .errors import DataError, one_line

P = TypeVar("P")
R = TypeVar("R")
# for what becomes of a piece; unlike a future's, its lock (in C) is not left held where Ctrl-C comes in between
_Box: TypeAlias = "SimpleQueue[tuple[Any, BaseException | None]]"

_LOOKS = 1800  # of a second each, at a piece that is not done; a stopped process (Ctrl-Z) looks but once
_DONE, _FAILED = b"\0", b"\1"  # what an answer begins with
_FAREWELL = 5.0  # seconds for a killed process to be gone
_PR_SET_PDEATHSIG = 1  # of Linux' prctl
_IS_LINUX = sys.platform == "linux"
# a forked worker shares what the parent has read, and starts at once; where the system's libraries are not made for it, it is started anew
_PROCESSES = multiprocessing.get_context("fork" if _IS_LINUX else "spawn")
_starting = threading.RLock()  # a process forked between the two would hold the other's end of a pipe open


class Crew(Protocol):
    """Workers that are not processes of this one."""

    @property
    def size(self) -> int:
        """How many pieces they work on at once, at least 1."""

    def in_order(
        self,
        pieces: Iterable[P],
        make: Callable[..., Callable[[P], R]],
        arguments: tuple[Any, ...],
        about: str,
        remedy: str,
    ) -> Generator[R, None, None]:
        """What a function makes of each piece, in their order; see the function `in_order`.

        A worker makes the function anew when `make` or `arguments` change, and calls the `close` of the one before, if it has one.
        """


def in_order(
    pieces: Iterable[P],
    make: Callable[..., Callable[[P], R]],
    arguments: tuple[Any, ...],
    workers: int,
    about: str,
    remedy: str,
) -> Generator[R, None, None]:
    """What a function makes of each piece, in their order; a few are under way at once.

    Processes end when the iterator is used up, closed or left by an error. The thread that begins it goes on to use it:
    on Linux the workers end with that thread.

    Args:
        pieces: what is worked on; they go to the processes, and the results come back, as pickles.
        make: makes the function, once in every process.
        arguments: of `make`.
        workers: processes.
        about: what the pieces are of, for messages.
        remedy: what to do when a process is killed.

    Raises:
        DataError: a process died, or does not come to an end; and whatever the function raises.
    """
    pool: list[_Worker] = []
    threads: list[threading.Thread] = []
    todo: SimpleQueue[tuple[P, _Box] | None] = SimpleQueue()
    waiting: deque[_Box] = deque()

    def work(worker: _Worker) -> None:
        while (task := todo.get()) is not None:
            piece, box = task
            try:
                box.put((worker.result(piece, about, remedy), None))
            except BaseException as error:  # whatever it is, it is the caller's
                box.put((None, error))

    try:
        with _uninterrupted():  # else a process or a thread that has just been started would be in no list
            for _ in range(workers):
                pool.append(_Worker(make, arguments))
            # a thread for each process: it takes in the result while the caller is busy with the one before
            for worker in pool:
                threads.append(threading.Thread(target=work, args=(worker,), name="worker", daemon=True))
                threads[-1].start()
        for piece in pieces:
            waiting.append(SimpleQueue())
            todo.put((piece, waiting[-1]))
            if len(waiting) > workers + 1:
                yield _done(waiting.popleft(), about)
        while waiting:
            yield _done(waiting.popleft(), about)
    finally:
        for worker in pool:
            worker.process.kill()
            todo.put(None)
        for thread in threads:  # what waits at the pipes ends with the processes
            thread.join(_FAREWELL)
        for worker in pool:
            worker.process.join(_FAREWELL)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the end; what is started meanwhile never hears of it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _done(box: _Box, about: str) -> Any:
    """The result of a piece, waited for with patience."""
    for _ in range(_LOOKS):
        try:
            value, error = box.get(timeout=1)
        except Empty:
            continue
        if error is not None:
            raise error
        return value
    raise DataError(
        f"{about}: a worker process made nothing of a piece of it in {_LOOKS // 60} minutes; is it stopped?"
    )


class _Worker:
    """A process and the pipe to it."""

    def __init__(self, make: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        with _starting:
            self._pipe, theirs = _PROCESSES.Pipe()
            given = (theirs, os.getpid(), make, arguments)
            # one that is daemonic is ended where the program ends with the iterator half used
            self.process = _PROCESSES.Process(target=_work, args=given, daemon=True)  # type: ignore[attr-defined]
            try:
                self.process.start()
            except OSError as error:
                raise DataError(f"a worker process cannot be started: {one_line(error)}; are there too many?") from None
            finally:
                theirs.close()  # so that its end shows when the process dies

    def result(self, piece: Any, about: str, remedy: str) -> Any:
        """What the process makes of a piece."""
        try:
            self._pipe.send_bytes(pickle.dumps(piece, pickle.HIGHEST_PROTOCOL))
            answer = self._pipe.recv_bytes()
        except (EOFError, OSError):
            self.process.join(_FAREWELL)
            raise DataError(f"{about}: a worker process {_end(self.process.exitcode)}; {remedy}") from None
        return result_of(answer, about, remedy)


def _end(status: int | None) -> str:
    """How a process ended, in words."""
    if status is None or status >= 0:
        return f"ended early (exit status {status})"
    if status == -signal.SIGKILL:
        return "was killed, perhaps for its memory (signal 9)"
    return f"was killed by signal {-status} ({signal.strsignal(-status)})"


def _work(pipe: Connection, parent: int, make: Callable[..., Callable[[Any], Any]], arguments: tuple[Any, ...]) -> None:
    """The life of a worker."""
    _die_with(parent)
    work = PieceWork(make, arguments)
    with suppress(EOFError, OSError):  # the parent has gone
        while True:
            pipe.send_bytes(work.answer(pipe.recv()))


class PieceWork:
    """The work of one worker: what a function makes of pieces, as `result_of` takes it.

    Args:
        make: makes the function, when the first piece comes.
        arguments: of `make`.
    """

    def __init__(self, make: Callable[..., Callable[[Any], Any]], arguments: tuple[Any, ...]) -> None:
        self._make, self._arguments = make, arguments
        self._function: Callable[[Any], Any] | None = None

    def answer(self, piece: Any) -> bytes:
        """What the function makes of a piece, or the error that it raises, on its way to whoever asked."""
        try:
            if self._function is None:
                self._function = self._make(*self._arguments)
            return _DONE + pickle.dumps(self._function(piece), pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # whatever it is, it is told where the work was asked for
            return _pickled(error)

    def close(self) -> None:
        """Call the `close` of the function, if it has one."""
        close = getattr(self._function, "close", None)
        if close is not None:
            close()


def result_of(answer: bytes, about: str, remedy: str) -> Any:
    """The result in an answer of a worker, or the error, which is raised; `about` and `remedy` as `in_order` has them."""
    error = error_of(answer)
    if isinstance(error, MemoryError):
        raise DataError(f"{about}: a worker process ran out of memory; {remedy}") from None
    if error is not None:
        raise error
    return pickle.loads(memoryview(answer)[1:])


def error_of(answer: bytes) -> Exception | None:
    """The error in an answer of a worker, whose cause is its traceback there; None where it is a result."""
    if not answer.startswith(_FAILED):
        return None
    error, trace = pickle.loads(memoryview(answer)[1:])
    error.__cause__ = RuntimeError(trace)
    return cast("Exception", error)


def _pickled(error: Exception) -> bytes:
    """An error on its way to the parent, with its traceback; in words where it cannot go as it is."""
    trace = traceback.format_exc()
    try:
        data = pickle.dumps((error, trace))
        pickle.loads(data)  # one that wants other arguments than it was given is found out here only
    except Exception:  # whatever its own pickling raises: its words go instead, and the traceback
        data = pickle.dumps((RuntimeError(one_line(error)), trace))
    return _FAILED + data


def _die_with(parent: int) -> None:
    """Have this process end when its parent does."""
    if not _IS_LINUX:
        threading.Thread(target=_outlive, daemon=True).start()
    else:
        kill_with(parent)


def kill_with(parent: int) -> None:
    """Have Linux kill this process when the thread that started it ends, such as with all of the process `parent`."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL):
        raise OSError(ctypes.get_errno(), "a process cannot be tied to its parent (prctl)")
    if os.getppid() != parent:  # it ended before
        os._exit(1)


def _outlive() -> None:
    """Wait for the parent's end, which closes a pipe, and end."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)
