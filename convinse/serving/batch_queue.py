"""A queue in front of a model: one thread computes, in batches, what waits."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from .app import busy

MOST_WAITING = 256  # requests; a further one is refused with 429

Item = TypeVar("Item")
Result = TypeVar("Result")
_T = TypeVar("_T")


class BatchQueue(Generic[Item, Result]):
    """Computes items in one thread, those that wait at the same time together; belongs to one event loop.

    `work` gives for each item of a batch a result, or the exception to raise; a batch on which it raises is computed once more, item by
    item. A batch has at most some items of some size in all; a larger item is computed alone. An item whose caller is gone, or whose
    time is over, is not begun.
    """

    def __init__(
        self,
        work: Callable[[list[Item]], Sequence[Result | Exception]],
        size_of: Callable[[Item], int],
        most_size: int,
        most_items: int,
        seconds: float,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self._work, self._size_of = work, size_of
        self._most_size, self._most_items = most_size, most_items
        self._seconds, self._most_waiting = seconds, most_waiting
        self._thread = ThreadPoolExecutor(1, "batches")
        self._waiting: deque[tuple[Item, int, asyncio.Future[Result]]] = deque()
        self._functions = 0
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """Return the number of items that are not begun and of functions that are not finished."""
        return len(self._waiting) + self._functions

    def check_room(self) -> None:
        """Raise `HTTPException` (429) if the queue is full."""
        if len(self) >= self._most_waiting:
            raise busy(f"{self._most_waiting} requests wait already")

    async def answer(self, item: Item) -> Result:
        """Return the result of an item. Raises `HTTPException` (429: the queue is full; 503: too slow), and whatever the work raises."""
        self.check_room()
        result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, self._size_of(item), result))
        if self._task is None:
            self._task = asyncio.create_task(self._compute_waiting())
        return await self._in_time(result)

    async def run(self, function: Callable[[], _T]) -> _T:
        """Return the value of a function that is called in the thread. Raises as `answer`."""
        self.check_room()
        self._functions += 1
        try:
            return await self._in_time(asyncio.get_running_loop().run_in_executor(self._thread, function))
        finally:
            self._functions -= 1

    def close(self) -> None:
        """Wait for what is being computed; drop the rest."""
        self._thread.shutdown(cancel_futures=True)

    async def _in_time(self, result: asyncio.Future[_T]) -> _T:
        try:
            return await asyncio.wait_for(result, self._seconds)
        except (asyncio.TimeoutError, TimeoutError):  # two classes in Python 3.10
            raise busy(f"no answer within {self._seconds:g} s", 503, max(1, round(self._seconds))) from None

    async def _compute_waiting(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                batch: list[tuple[Item, asyncio.Future[Result]]] = []
                left = self._most_size
                while self._waiting and len(batch) < self._most_items:
                    item, size, future = self._waiting[0]
                    if not future.done():
                        left -= size
                        if batch and left < 0:
                            break
                        batch.append((item, future))
                    self._waiting.popleft()
                items = [item for item, _ in batch]
                results = await loop.run_in_executor(self._thread, self._compute, items)
                for (_, future), result in zip(batch, results, strict=True):
                    if future.done():
                        continue
                    if isinstance(result, Exception):
                        future.set_exception(result)
                    else:
                        future.set_result(result)
        finally:
            self._task = None

    def _compute(self, items: list[Item]) -> Sequence[Result | Exception]:
        try:
            return self._work(items)
        except Exception as error:  # the callers get it, whatever it is
            if len(items) <= 1:
                return [error] * len(items)
            return [self._compute([item])[0] for item in items]
