"""HTTP connections that keep a deadline.

A timeout of requests and urllib3 bounds one read; a server that sends a byte now and then, of the headers or the body, is
never too slow for it.
"""

from __future__ import annotations

import http.client
import io
import time
from contextvars import ContextVar
from typing import Any, NamedTuple

import requests
import urllib3


class Deadline(NamedTuple):
    """The end of a request on the monotonic clock, its seconds in all, and the seconds of silence to accept before."""

    end: float
    seconds: float
    silence: float

    @property
    def left(self) -> float:
        """Seconds until the end; negative if it is over."""
        return self.end - time.monotonic()


deadline: ContextVar[Deadline] = ContextVar("deadline")  # of the request under way


class _PacedReader(io.RawIOBase):
    def __init__(self, sock: Any, raw: io.RawIOBase) -> None:
        self._sock, self._raw = sock, raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        now = deadline.get()
        if now.left <= 0:
            raise TimeoutError("the deadline is over")
        self._sock.settimeout(min(now.silence, now.left))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _PacedResponse(http.client.HTTPResponse):
    def __init__(self, sock: Any, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_PacedReader(sock, self.fp.detach()))


class _Connection(urllib3.connection.HTTPConnection):
    response_class = _PacedResponse


class _SecureConnection(urllib3.connection.HTTPSConnection):
    response_class = _PacedResponse


_PACED: dict[Any, Any] = {
    urllib3.HTTPConnectionPool.ConnectionCls: _Connection,
    urllib3.HTTPSConnectionPool.ConnectionCls: _SecureConnection,
}


class PacedAdapter(requests.adapters.HTTPAdapter):
    """The adapter of a session whose requests end at their `deadline`."""

    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
        """The pool of an address."""
        pool: Any = super().get_connection_with_tls_context(*args, **options)
        pool.ConnectionCls = _PACED.get(pool.ConnectionCls, pool.ConnectionCls)
        return pool
