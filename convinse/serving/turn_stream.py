"""A turn as server-sent events: what the stages give as soon as they give it, then the turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import ExitStack
from typing import Any

import msgspec
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ..records.conversation import Turn
from ..support.http_limits import Limits
from ..support.http_server import told_of
from ..support.http_work import RefusedError, too_late
from .turn_queue import StageTold

_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}  # the second: a proxy passes events on at once

# from the kind of an event and what it tells to lines; the kinds are `begin` (None), `stage`, `turn` and `error`
Rendered = Callable[[str, Any], Iterable[bytes]]


class TurnStream(StreamingResponse):
    """The response; the turn is given up when its client goes away.

    Args:
        answer: gives the turn, and tells of the stages.
        rendered: the form of the events; `begin` is sent at once.
        limits: `work_seconds` ends the turn with an event `error`.
        held: what belongs to the turn; closed at its end, whatever that is.
    """

    def __init__(
        self, answer: Callable[[StageTold], Awaitable[Turn]], rendered: Rendered, limits: Limits, held: ExitStack
    ) -> None:
        self._answer, self._rendered, self._limits, self._held = answer, rendered, limits, held
        self._stages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._work: asyncio.Future[Turn] | None = None
        super().__init__(self._lines(), media_type="text/event-stream", headers=_HEADERS)

    def _told(self, stage: str, part: dict[str, Any]) -> None:
        self._stages.put_nowait({"stage": stage, **part})

    async def _lines(self) -> AsyncIterator[bytes]:
        yield b"".join(self._rendered("begin", None))
        # from here on, when the first event is sent: the pipeline's thread would keep it waiting
        self._work = asyncio.ensure_future(asyncio.wait_for(self._answer(self._told), self._limits.work_seconds))
        self._work.add_done_callback(lambda _: self._stages.put_nowait(None))
        while (stage := await self._stages.get()) is not None:
            yield b"".join(self._rendered("stage", stage))
        kind, value = _ending(self._work, self._limits)
        for line in self._rendered(kind, value):
            yield line

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, and give the turn up where it is not yet there at the end."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._work is not None:
                self._work.cancel()
            self._held.close()


def _ending(work: asyncio.Future[Turn], limits: Limits) -> tuple[str, Any]:
    """The last event of a turn that is done."""
    try:
        return "turn", work.result()
    except RefusedError as error:
        refused = error
    except (asyncio.TimeoutError, TimeoutError):  # not yet the same in Python 3.10
        refused = too_late(limits)
    except Exception as error:  # whatever it is: the client gets no traceback, and the server goes on
        refused = RefusedError(told_of(error), 500)
    return "error", refused


def event(value: Any, name: str = "") -> bytes:
    """A value as an event; JSON has no line breaks."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + msgspec.json.encode(value) + b"\n\n"


def named_events(kind: str, value: Any) -> Iterable[bytes]:
    """The events of a turn of a conversation: `waiting`, `stage`, `turn`, `error`."""
    if kind == "begin":
        return [event({}, "waiting")]
    if kind == "error":
        return [event({"error": str(value), "status": value.status}, "error")]
    return [event(value, kind)]
