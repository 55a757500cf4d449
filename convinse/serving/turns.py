"""The turns of a service: a queue in front of the pipeline, and a turn as server-sent events."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import ExitStack
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ..dialogue.session import NextQuestion, Session, ask_together
from ..pipeline import Pipeline
from ..records.conversation import Turn
from .app import as_http_error
from .batch_queue import BatchQueue
from .metrics import ServiceMetrics

# called in the event loop with a stage, and with what the turn has by it
StageListener = Callable[[str, dict[str, Any]], None]
# from the kind of an event (`begin`, `stage`, `turn`, `error`) and its value to lines
EventWriter = Callable[[str, Any], Iterable[bytes]]

_STAGE_KEYS = {
    "qu": ("structured_representation", "representation", "resolved_question", "history_used"),
    "ers": (),
    "ha": ("pred_answers", "abstained"),
}
_MOST_TURNS = 8  # of a batch: all of them wait for the slowest, and the memory of a batch grows with it
_MOST_CHARACTERS = 2_000  # of the questions of a batch: a long one shares it with few
_STREAM_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}  # the second: nginx passes events on at once


class TurnQueue(BatchQueue[NextQuestion, Turn]):
    """Answers turns of sessions, those that wait together.

    A turn whose client is gone ends before its next stage; its session is as it was.
    """

    def __init__(self, pipeline: Pipeline, metrics: ServiceMetrics, seconds: float, most_waiting: int) -> None:
        super().__init__(
            self._answer_together,
            lambda next_: len(next_.question),
            _MOST_CHARACTERS,
            _MOST_TURNS,
            seconds,
            most_waiting,
        )
        self._pipeline, self._metrics = pipeline, metrics
        self._is_closed = False
        metrics.add_gauge("waiting", "Turns that wait.", self.__len__)

    def close(self) -> None:
        """Wait until nothing uses the pipeline; a turn that is under way ends before its next stage."""
        self._is_closed = True
        super().close()

    async def ask(self, session: Session, question: str, listener: StageListener | None = None) -> Turn:
        """Return the next turn of a session, which has no other under way; a listener hears of each stage. Raises as `answer`."""
        loop, given_up = asyncio.get_running_loop(), threading.Event()

        def report(stage: str, turn: Turn) -> None:
            if given_up.is_set() or self._is_closed:
                raise ClientDisconnect
            if listener is not None:
                part: dict[str, Any] = {key: turn[key] for key in _STAGE_KEYS[stage] if key in turn}  # type: ignore[literal-required]
                if stage == "ers":
                    part = {"evidences": Counter(evidence["source"] for evidence in turn["top_evidences"])}
                loop.call_soon_threadsafe(listener, stage, part)

        start, outcome = time.perf_counter(), "failed"
        try:
            turn = await self.answer(NextQuestion(session, question, report))
            outcome = "abstained" if "abstained" in turn else "answered"
            return turn
        except asyncio.CancelledError:
            outcome = "given_up"
            raise
        finally:
            given_up.set()
            self._metrics.count_turn(outcome, time.perf_counter() - start)

    def _answer_together(self, questions: list[NextQuestion]) -> list[Turn | Exception]:
        before = dict(self._pipeline.seconds)
        turns = ask_together(questions)
        seconds = {stage: value - before[stage] for stage, value in self._pipeline.seconds.items()}
        self._metrics.count_batch(len(questions), seconds)
        return turns


class TurnStream(StreamingResponse):
    """A turn as server-sent events, the first of them at once; it is given up when its client goes away.

    `write` gives the form of the events; `held` belongs to the turn, and is closed at its end.
    """

    def __init__(
        self, answer: Callable[[StageListener], Awaitable[Turn]], write: EventWriter, held: ExitStack | None = None
    ) -> None:
        self._answer, self._write, self._held = answer, write, held or ExitStack()
        self._stages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._turn: asyncio.Future[Turn] | None = None
        super().__init__(self._lines(), media_type="text/event-stream", headers=_STREAM_HEADERS)

    async def _lines(self) -> AsyncIterator[bytes]:
        yield b"".join(self._write("begin", None))
        # begun when the first event is out: the thread of the pipeline would keep it waiting
        self._turn = asyncio.ensure_future(
            self._answer(lambda stage, part: self._stages.put_nowait({"stage": stage, **part}))
        )
        self._turn.add_done_callback(lambda _: self._stages.put_nowait(None))
        while (stage := await self._stages.get()) is not None:
            yield b"".join(self._write("stage", stage))
        try:
            last = self._write("turn", self._turn.result())
        except Exception as error:
            last = self._write("error", as_http_error(error))
        for line in last:
            yield line

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, and give the turn up if it is not there at the end."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._turn is not None:
                self._turn.cancel()
            self._held.close()


def event(value: Any, name: str = "") -> bytes:
    """Write a value as an event; JSON has no line breaks."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + msgspec.json.encode(value) + b"\n\n"


def named_events(kind: str, value: Any) -> Iterable[bytes]:
    """Write the events of a turn of a conversation: `waiting`, `stage`, `turn`, `error`."""
    if kind == "begin":
        return [event({}, "waiting")]
    if isinstance(value, HTTPException):
        return [event({"error": value.detail, "status": value.status_code}, "error")]
    return [event(value, kind)]
