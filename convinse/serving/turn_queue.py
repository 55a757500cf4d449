"""The pipeline behind the service: one thread has it, or as many as it has workers; turns that wait are computed together."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from ..pipeline import Pipeline
from ..records.conversation import Turn
from ..session import NextQuestion, Session, ask_together
from ..support.http_limits import Limits
from ..support.http_work import too_much
from .service_metrics import ServiceMetrics

StageTold = Callable[[str, dict[str, Any]], None]

_T = TypeVar("_T")
_STAGE_PARTS = {
    "qu": ("structured_representation", "representation", "resolved_question", "history_used"),
    "ha": ("pred_answers", "abstained"),
}
_TOGETHER = 8  # turns: all of them wait for the slowest, and the memory of a batch grows with it
_CHARACTERS_TOGETHER = 2_000  # of their questions: a long one shares its batch with few


class _WaitingTurn(NamedTuple):
    asked: NextQuestion
    answer: asyncio.Future[Turn]


class TurnQueue:
    """Answers turns of sessions; belongs to one event loop.

    A turn that nobody waits for any more is not begun, or given up before its next stage; its session is as it was.

    Args:
        pipeline: it is used by this queue only.
        limits: `queue` is how much may wait.
        metrics: counts.
    """

    def __init__(self, pipeline: Pipeline, limits: Limits, metrics: ServiceMetrics) -> None:
        self._pipeline, self._limits, self._metrics = pipeline, limits, metrics
        self._threads = ThreadPoolExecutor(pipeline.most_batches, "pipeline")
        self._waiting: deque[_WaitingTurn] = deque()
        self._functions = 0  # functions that wait for a thread
        self._working: set[asyncio.Task[None]] = set()
        self._computed = 0  # batches
        self._is_watched = False
        self._is_closed = False

    def __len__(self) -> int:
        """What waits."""
        return len(self._waiting) + self._functions

    def admit(self) -> None:
        """Raise `RefusedError` where too much waits already."""
        if len(self) >= self._limits.queue:
            raise too_much(self._limits)

    def close(self) -> None:
        """Wait for what has begun; it ends before its next stage, as its event loop has ended."""
        self._is_closed = True
        self._threads.shutdown(cancel_futures=True)

    async def run(self, function: Callable[[], _T]) -> _T:
        """The value of a function that uses the pipeline. Raises `RefusedError` where too much waits."""
        self.admit()
        self._functions += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, function)
        finally:
            self._functions -= 1

    async def answer(self, session: Session, question: str, told: StageTold | None = None) -> Turn:
        """The next turn of a session, which nobody else asks meanwhile.

        Args:
            session: of the queue's pipeline.
            question: checked.
            told: called in the event loop with `qu`, `ers` and `ha`, and with what the stage gave, see `stage_part`.

        Raises:
            RefusedError: too much waits already.
            Exception: whatever a stage raises.
        """
        self.admit()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Turn] = loop.create_future()

        def progress(stage: str, turn: Turn) -> None:
            if answer.done() or self._is_closed:
                raise _NobodyWaitsError
            if told is not None:
                loop.call_soon_threadsafe(told, stage, stage_part(stage, turn))

        self._waiting.append(_WaitingTurn(NextQuestion(session, question, progress), answer))
        if not self._is_watched:
            self._is_watched = True
            self._pipeline.watch(self.__len__, lambda: _told(loop, self._begin))
        self._begin()
        start = time.perf_counter()
        outcome = "failed"
        try:
            turn = await answer
            outcome = "abstained" if "abstained" in turn else "answered"
            return turn
        except asyncio.CancelledError:
            outcome = "given_up"
            raise
        finally:
            answer.cancel()
            self._metrics.turn(outcome, time.perf_counter() - start)

    def _begin(self) -> None:
        """Have as many batches under way as can be."""
        idle = self._pipeline.batches_at_once - len(self._working)
        for _ in range(min(idle, len(self._waiting))):
            self._working.add(asyncio.create_task(self._work()))

    async def _work(self) -> None:
        try:
            while self._waiting and len(self._working) <= self._pipeline.batches_at_once:
                if together := self._batch():
                    self._computed += 1
                    try:
                        await self._answer(together)
                    finally:
                        self._computed -= 1
        finally:
            self._working -= {asyncio.current_task()}

    def _batch(self) -> list[_WaitingTurn]:
        """What is computed next: what has waited longest, and what fits in with it."""
        together: list[_WaitingTurn] = []
        characters = 0
        shares = max(1, self._pipeline.batches_at_once - self._computed)
        most = min(_TOGETHER, math.ceil(len(self._waiting) / shares))  # what others can take at once is left to them
        while self._waiting and len(together) < most:
            waiting = self._waiting[0]
            characters += len(waiting.asked.question)
            if together and characters > _CHARACTERS_TOGETHER:
                break
            self._waiting.popleft()
            if not waiting.answer.done():
                together.append(waiting)
        return together

    async def _answer(self, together: list[_WaitingTurn]) -> None:
        self._metrics.batch(len(together))
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._threads, ask_together, [waiting.asked for waiting in together])
        results: list[Turn | Exception]
        try:
            results = await work
        except Exception as error:  # whatever it is: whoever waits must hear of it
            results = [error] * len(together)
        self._metrics.stages(self._pipeline.seconds)
        for waiting, result in zip(together, results, strict=True):
            if waiting.answer.done():
                continue
            if isinstance(result, Exception):
                waiting.answer.set_exception(result)
            else:
                waiting.answer.set_result(result)


def _told(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    """Have an event loop call a function, unless it has ended."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(function)


class _NobodyWaitsError(Exception):
    """The client of a turn is gone, or its time is over."""


def stage_part(stage: str, turn: Turn) -> dict[str, Any]:
    """What is told of a turn as soon as a stage has given its part.

    `qu`: what was understood. `ers`: how many evidences there are of each source. `ha`: the answers.
    """
    if stage == "ers":
        return {"evidences": Counter(evidence["source"] for evidence in turn["top_evidences"])}
    return {key: turn[key] for key in _STAGE_PARTS[stage] if key in turn}  # type: ignore[literal-required]
