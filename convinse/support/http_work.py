"""The work of requests: in threads, so many at once, so many that wait, each with an end."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from .http_limits import Limits

T = TypeVar("T")


class RefusedError(Exception):
    """A request is not answered, and the text says why; `status` is what HTTP calls it.

    400 is of what cannot be understood, 413 of what asks for too much, 429 and 503 of a server that has too much to do: they may
    be sent again after `retry_after` seconds.
    """

    def __init__(self, text: str, status: int = 400, retry_after: float | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        """Those that belong to the answer."""
        return {} if self.retry_after is None else {"Retry-After": str(math.ceil(self.retry_after))}


def too_much(limits: Limits) -> RefusedError:
    """What a request gets that finds the queue full."""
    return RefusedError(f"{limits.queue} requests wait already; try again later", 429, retry_after=1)


def too_late(limits: Limits) -> RefusedError:
    """What a request gets whose work takes too long."""
    text = f"no answer within {limits.work_seconds:g} s; ask for less, or later"
    return RefusedError(text, 503, retry_after=limits.work_seconds)


class WorkQueue:
    """Threads for the work of requests, and what waits for one; belongs to one event loop.

    Work that nobody waits for any more does not begin. What has begun keeps its thread until it ends.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(limits.at_once, "request")
        self._under_way = 0

    async def run(self, function: Callable[..., T], *arguments: object) -> T:
        """The value of a function. Raises `RefusedError` where too much waits already, and what the function raises."""
        if self._under_way >= self._limits.at_once + self._limits.queue:
            raise too_much(self._limits)
        loop = asyncio.get_running_loop()
        self._under_way += 1
        future = self._threads.submit(function, *arguments)

        def ended(_: Future[T]) -> None:
            with suppress(RuntimeError):  # the server has ended meanwhile
                loop.call_soon_threadsafe(self._leave)

        future.add_done_callback(ended)
        return await asyncio.wrap_future(future)

    def _leave(self) -> None:
        self._under_way -= 1
