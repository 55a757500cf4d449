"""Connections with limits: uvicorn's own HTTP protocol, and what it leaves open: slow, idle, half-sent and too many of them.

A connection keeps the server waiting until a whole request is there, and while its client does not read the answer. Each such
wait has an end, and where all places are taken the longest one ends at once: who sends a whole request is served.
"""

from __future__ import annotations

import asyncio
import errno
import http
import logging
import os
import socket
import time
from contextlib import suppress
from typing import Any

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from .http_limits import Limits

LOGGER = logging.getLogger(__name__)
_QUIET = logging.getLogger(f"{__name__}.client")  # what clients do wrong is answered, and fills no log
_QUIET.setLevel(logging.ERROR)
_NO_RESOURCES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_REFUSED = 32  # connections beyond the limit that get to read why; those beyond them are closed at once
_EVERY = 60.0  # seconds between two lines of the log that say the same


class Places:
    """The connections of a server: how many there are, and which of them keep it waiting, the longest first."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.handed = 0  # sockets that were accepted and are not closed
        self.open = 0
        self.refused = 0
        self.waiting: dict[LimitedConnection, None] = {}

    def has_room(self) -> bool:
        """Whether a further connection may be taken; the one that has been waited for longest makes room for it."""
        if self.open < self.limits.connections:
            return True
        if not self.waiting:
            return False
        next(iter(self.waiting)).drop()
        return True


class HandedSocket(socket.socket):
    """A listening socket whose accept takes no more connections than there are file handles for, and never fails for want of one.

    The event loop asks again and again, and would write a line each time. Connections that cannot be taken are closed.
    """

    def __init__(self, listener: socket.socket, places: Places) -> None:
        super().__init__(listener.family, listener.type, listener.proto, fileno=os.dup(listener.fileno()))
        self._places = places
        self._spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        self._told = -_EVERY

    def accept(self) -> tuple[socket.socket, Any]:
        """As `socket.accept`; raises `BlockingIOError` where there is nothing that can be taken."""
        if self._places.handed >= self._places.limits.connections + 2 * _REFUSED:
            raise BlockingIOError(errno.EAGAIN, "those that were accepted are looked at first")
        try:
            accepted = super().accept()
        except OSError as error:
            if error.errno not in _NO_RESOURCES:
                raise
            self._refuse(error)
            raise BlockingIOError(errno.EAGAIN, "a connection was refused") from None
        self._places.handed += 1
        with suppress(OSError):  # its client is gone already
            # asyncio sets it for sockets that name their protocol only; without it what follows a header waits 40 ms
            accepted[0].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return accepted

    def _refuse(self, error: OSError) -> None:
        """Take a connection with the spare handle and close it, so that nobody waits for an answer."""
        if time.monotonic() > self._told + _EVERY:
            self._told = time.monotonic()
            LOGGER.warning("connections are refused: %s", error.strerror)
        self._give_spare()
        with suppress(OSError):
            super().accept()[0].close()
        with suppress(OSError):  # another thread has taken the handle: there is none to spare until the next time
            self._spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def _give_spare(self) -> None:
        """Close the spare handle, where there is one."""
        spare, self._spare = self._spare, -1
        if spare >= 0:
            os.close(spare)

    def close(self) -> None:
        """Close the socket and the spare handle."""
        self._give_spare()
        super().close()


class _Lingering:
    """A transport that is closed in order: what was written is sent, and what still comes is read and thrown away.

    A socket that is closed with unread data resets the connection, and the client loses the answer that says why.
    """

    def __init__(self, transport: Any, connection: LimitedConnection) -> None:
        self._transport, self._connection = transport, connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def close(self) -> None:
        self._connection.linger(self._transport)

    def is_closing(self) -> bool:
        return self._connection.is_lingering or bool(self._transport.is_closing())


class LimitedConnection(H11Protocol):
    """uvicorn's protocol with an end to each wait; see `Limits`."""

    def __init__(self, *arguments: Any, places: Places, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.logger = _QUIET
        self._places, self._limits = places, places.limits
        self._timer: asyncio.TimerHandle | None = None
        self._answer_timer: asyncio.TimerHandle | None = None
        self._is_counted = self._is_refused = self._has_begun = False
        self._drained = 0
        self.is_lingering = False

    # -- the life of a connection --------------------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        """Take a place, or refuse."""
        super().connection_made(_Lingering(transport, self))  # type: ignore[arg-type]
        if self._places.has_room():
            self._is_counted = True
            self._places.open += 1
            self._await_request()
        elif self._places.refused < _REFUSED:
            self._is_refused = True
            self._places.refused += 1
            self._say(503, f"the server has {self._limits.connections} connections; try again later", retry=True)
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self._places.handed -= 1
        self._leave()
        super().connection_lost(exc)  # closes the transport once more, which sets a timer
        self._stop_timer()
        self._stop_answer_timer()
        self._unset_keepalive_if_required()

    def _leave(self) -> None:
        self._places.waiting.pop(self, None)
        self._places.open -= self._is_counted
        self._places.refused -= self._is_refused
        self._is_counted = self._is_refused = False

    def drop(self) -> None:
        """End the connection at once: its place is needed."""
        self._leave()
        self._abandon()
        self.transport.abort()

    def _abandon(self) -> None:
        """Let what works for the request know that nobody waits for it."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    # -- requests ------------------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Read; the wait ends with the last byte of a request."""
        if self.is_lingering:
            self._drained += len(data)
            if self._drained > self._limits.drained_bytes:
                self.transport.abort()
            return
        self._has_begun = True
        super().data_received(data)
        self._look()

    def _look(self) -> None:
        """Note whether the server waits for its client now."""
        if self.transport.is_closing():
            return
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            if self.timeout_keep_alive_task is None and self._timer is None:
                self._await_request()
            return
        self._stop_timer()  # what works for a request has a limit for its body
        if cycle.more_body:
            self._places.waiting.setdefault(self)
        else:
            self._places.waiting.pop(self, None)

    def _await_request(self) -> None:
        self._places.waiting.setdefault(self)
        self._timer = self.loop.call_later(self._limits.header_seconds, self._no_request)

    def _no_request(self) -> None:
        self._timer = None
        if self._has_begun and (self.cycle is None or self.cycle.response_complete):
            self._say(408, f"no whole request within {self._limits.header_seconds:g} s")
        else:
            self.transport.close()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._has_begun = False
        self._places.waiting.pop(self, None)  # it comes last of those that are waited for
        self._places.waiting[self] = None
        super().on_response_complete()
        self._look()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that was idle."""
        self.timeout_keep_alive_task = None
        super().timeout_keep_alive_handler()

    # -- answers -------------------------------------------------------------------------------------------------------

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, as JSON."""
        self._say(400, f"{msg.rstrip('.')}")

    def _say(self, status: int, text: str, retry: bool = False) -> None:
        """Answer outside of a request, and close."""
        begun = self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        if not begun:  # else half of another answer stands before it
            self.transport.write(_raw_answer(status, text, retry))
        self._abandon()
        self.transport.close()

    def pause_writing(self) -> None:
        """The client does not read: it has some time to begin."""
        super().pause_writing()
        self._places.waiting.setdefault(self)
        self._watch_answer()

    def resume_writing(self) -> None:
        """The client reads."""
        super().resume_writing()
        self._stop_answer_timer()
        self._look()

    def _watch_answer(self) -> None:
        self._stop_answer_timer()
        left = self.transport.get_write_buffer_size()
        self._answer_timer = self.loop.call_later(self._limits.answer_seconds, self._is_read, left)

    def _is_read(self, left: int) -> None:
        """Go on where the client has read something of the answer meanwhile."""
        if self.transport.get_write_buffer_size() < left:
            self._watch_answer()
        else:
            self.drop()

    # -- the end -------------------------------------------------------------------------------------------------------

    def linger(self, transport: Any) -> None:
        """Close; where the client may still be sending, when it has done so, or has had the time to."""
        self._stop_timer()
        is_sending = self._is_refused or self.conn.their_state in (h11.SEND_BODY, h11.ERROR)
        is_sending = is_sending or (self.conn.their_state is h11.IDLE and self._has_begun)
        if self.is_lingering or not is_sending or transport.is_closing():
            transport.close()
            self._watch_answer()
            return
        self.is_lingering = True
        self._timer = self.loop.call_later(self._limits.drained_seconds, transport.abort)
        self.flow.resume_reading()
        try:
            transport.write_eof()
        except OSError:  # its client has gone
            transport.abort()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_answer_timer(self) -> None:
        if self._answer_timer is not None:
            self._answer_timer.cancel()
            self._answer_timer = None


def _raw_answer(status: int, text: str, retry: bool) -> bytes:
    body = msgspec.json.encode({"error": text})
    lines = [
        f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
    ]
    return "\r\n".join([*lines, *["retry-after: 1"] * retry, "", ""]).encode() + body
