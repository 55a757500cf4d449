"""The work of one worker of a cluster, and how its results and errors travel."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from typing import Any, cast

from ..support.errors import DataError, one_line

_DONE, _FAILED = b"\0", b"\1"  # what an answer begins with


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
