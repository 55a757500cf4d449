"""The queue of the services: what is computed together, what is dropped."""

import asyncio
import threading

import pytest
from starlette.exceptions import HTTPException

from convinse.serving.batch_queue import BatchQueue
from patience import PATIENCE


class Work:
    """Doubles numbers, in batches that it notes; fails on 13; waits until it is let go."""

    def __init__(self):
        self.batches = []
        self.go = threading.Event()

    def __call__(self, numbers):
        self.batches.append(numbers)
        assert self.go.wait(PATIENCE)
        if 13 in numbers:
            raise ValueError("unlucky")
        return [2 * number for number in numbers]


def answers(numbers, meanwhile=None, **limits):
    """The batches, and the results or exceptions of numbers; the first is computed alone, while the others arrive."""
    work = Work()

    async def ask():
        queue = BatchQueue(work, int, **{"most_size": 100, "most_items": 8, "seconds": 30, **limits})
        tasks = []
        for number in numbers:
            tasks.append(asyncio.create_task(queue.answer(number)))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        if meanwhile is not None:
            meanwhile(tasks)
            await asyncio.sleep(0)
        work.go.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert len(queue) == 0
        queue.close()
        return results

    return work.batches, asyncio.run(ask())


@pytest.mark.parametrize(
    ("numbers", "limits", "batches", "results"),
    [
        ([1, 2, 3, 4], {}, [[1], [2, 3, 4]], [2, 4, 6, 8]),
        ([1, 2, 3, 4], {"most_items": 2}, [[1], [2, 3], [4]], [2, 4, 6, 8]),
        ([1, 50, 60, 200, 2], {}, [[1], [50], [60], [200], [2]], [2, 100, 120, 400, 4]),
        ([1, 2, 13, 3], {}, [[1], [2, 13, 3], [2], [13], [3]], [2, 4, ValueError, 6]),
        ([1, 2, "no size", 3], {}, [[1], [2, 3]], [2, 4, ValueError, 6]),
        ([1, 2, 3, 4], {"most_waiting": 2}, [[1], [2, 3]], [2, 4, 6, HTTPException]),  # a full queue
    ],
)
def test_waiting_items_are_computed_together_and_one_that_fails_fails_alone(numbers, limits, batches, results):
    computed, found = answers(numbers, **limits)
    assert computed == batches
    assert [type(result) if isinstance(result, Exception) else result for result in found] == results


def test_an_item_that_is_given_up_is_not_begun():
    batches, results = answers([1, 2, 3], lambda tasks: tasks[1].cancel())
    assert batches == [[1], [3]] and results[::2] == [2, 6] and isinstance(results[1], asyncio.CancelledError)


def test_time_is_over():
    async def ask():
        work = Work()
        queue = BatchQueue(work, int, 1, 1, seconds=0.05)
        with pytest.raises(HTTPException) as caught:
            await queue.answer(1)
        work.go.set()
        queue.close()
        return caught.value

    assert asyncio.run(ask()).status_code == 503
