"""HTTP requests with retries and deadlines; the only module that opens outgoing sockets.

`CONVINSE_OFFLINE=1` refuses every request before a socket is opened. `CONVINSE_CONTACT` (a mail address or a URL) is
sent with the User-Agent, as Wikimedia asks of those who send many requests. Proxies and certificates come from the
usual environment variables (`HTTPS_PROXY`, `NO_PROXY`, `REQUESTS_CA_BUNDLE`); loopback addresses use no proxy.
"""

from __future__ import annotations

import itertools
import logging
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from .addresses import host_of, is_loopback
from .errors import NetworkError, one_line
from .files import writing_to
from .version import __version__

if TYPE_CHECKING:
    import requests

LOGGER = logging.getLogger(__name__)
_RETRIED = frozenset((429, 500, 502, 503, 504))
BACK_OFF = 0.5  # seconds before the second attempt at most; doubled for each further one
_MAX_BACK_OFF = 30.0  # seconds
_MAX_UNCONNECTED = 2  # attempts without a connection
_CONNECT_TIMEOUT = 10.0  # seconds
_BLOCK = 1 << 16  # bytes of a body that are read at once
_EXCERPT = 200  # characters of an error's body in a message
_OFF = ("", "0", "false", "no", "off")  # values of CONVINSE_OFFLINE that allow requests


class _TransientError(Exception):
    def __init__(self, text: str, response: requests.Response | None = None, is_connected: bool = True) -> None:
        super().__init__(text)
        self.is_connected = is_connected
        self.status = response.status_code if response is not None else None
        self.retry_after = _retry_after(response.headers) if response is not None else None


@dataclass(kw_only=True, eq=False, repr=False)
class WebSession:
    """HTTP requests with timeouts, retries and limits; one session may serve several threads.

    An attempt that meets 429, 500, 502, 503, 504, a broken connection or silence is repeated after a growing pause, or after what
    `Retry-After` asks for. Requests must therefore be safe to repeat: look-ups, not changes.

    Args:
        read_timeout: seconds of silence to accept from the server.
        deadline: seconds for a request in all, its attempts and pauses included.
        attempts: the most times that a request is sent.
        max_bytes: the largest body to accept, unpacked.
        remedy: advice for a host that cannot be used; the end of an error's message.
        passing: returns why a 2xx answer with a body must be retried like a 503, or None; for servers that report faults in the body.
        connections: the number of connections that are kept open to a host.
        redirects: whether GET follows a few redirects; if not, a redirect is an error that names its target.
    """

    read_timeout: float = 60.0
    deadline: float = 180.0
    attempts: int = 5
    max_bytes: int = 256 << 20
    remedy: str = "check the address and the network"
    passing: Callable[[bytes], str | None] | None = None
    connections: int = 10
    redirects: bool = True

    def get(self, url: str, until: float | None = None) -> bytes:
        """GET a URL and return the body; `until` (of `time.monotonic()`) shortens the deadline. Raises `NetworkError`."""
        return self._request("GET", url, until)[1]

    def get_json(self, url: str, params: Mapping[str, Any] | None = None, until: float | None = None) -> Any:
        """GET a URL and return the JSON value of the answer. Raises `NetworkError`, also for a body that is not JSON."""
        headers = {"Accept": "application/json"}
        return self._json(*self._request("GET", url, until, params=params, headers=headers))

    def post_json(self, url: str, value: Any, headers: Mapping[str, str] | None = None) -> Any:
        """POST a JSON value and return the JSON value of the answer; redirects are errors. Raises `NetworkError`."""
        headers = {"Accept": "application/json", "Content-Type": "application/json", **(headers or {})}
        return self._json(*self._request("POST", url, data=msgspec.json.encode(value), headers=headers))

    def download(self, url: str, path: Path, advance: Callable[[int], object] = lambda size: None) -> None:
        """GET a URL into a file: packed files stay packed, and the size limit does not apply.

        Raises `NetworkError` as `get`, and `OutputError`: the file cannot be written.
        """

        def receive(blocks: Iterator[bytes]) -> bytes:
            with writing_to(path):
                path.write_bytes(b"")
            for block in blocks:
                with writing_to(path), path.open("ab") as file:  # a full disk is no fault of the network
                    file.write(block)
                advance(len(block))
            return b""

        self._request("GET", url, receive=receive, headers={"Accept-Encoding": "identity"})

    def close(self) -> None:
        """Close the connections that are kept open; the next request opens them again."""
        if (session := vars(self).pop("_session", None)) is not None:
            session.close()

    def _json(self, response: requests.Response, body: bytes) -> Any:
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            kind = response.headers.get("Content-Type", "no content type")
            text = f"answered something else than JSON ({kind}; {one_line(error)})"
            raise self._error(response.url, text, response.status_code) from None

    def _request(
        self,
        method: str,
        url: str,
        until: float | None = None,
        receive: Callable[[Iterator[bytes]], bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        **options: Any,
    ) -> tuple[requests.Response, bytes]:
        """Return the answer and its whole body; send until an answer comes. `receive` takes the body of a 2xx answer as it is sent."""
        host = host_of(url)
        if os.environ.get("CONVINSE_OFFLINE", "").strip().lower() not in _OFF:
            raise NetworkError(f"{host}: not asked, as CONVINSE_OFFLINE is set; unset it to allow requests")
        now = time.monotonic()
        seconds = self.deadline if until is None else max(0.0, min(self.deadline, until - now))
        end = now + seconds
        if not seconds:
            raise self._error(url, "not asked, as no time is left")
        options["headers"] = {"User-Agent": user_agent(), **(headers or {})}
        for attempt in itertools.count(1):
            try:
                return self._attempt(method, url, end, receive, options)
            except _TransientError as fault:
                attempts = f"{attempt} attempt{'s' * (attempt > 1)}"
                left = end - time.monotonic()
                if left <= 0:
                    text = f"no whole answer within {_in_seconds(seconds)} ({attempts}; {fault})"
                    raise self._error(url, text, fault.status) from fault
                if attempt >= self.attempts or (attempt >= _MAX_UNCONNECTED and not fault.is_connected):
                    raise self._error(url, f"{fault} ({attempts})", fault.status) from fault.__cause__
                back_off = min(_MAX_BACK_OFF, BACK_OFF * 2 ** (attempt - 1)) * random.uniform(0.5, 1)
                pause = back_off if fault.retry_after is None else fault.retry_after
                if pause >= left:
                    wish = "" if fault.retry_after is None else f", asks to wait {pause:.0f} s"
                    text = f"{fault}{wish} ({attempts}, {_in_seconds(seconds)} in all)"
                    raise self._error(url, text, fault.status) from fault.__cause__
                LOGGER.info("%s: %s (%s of %d); again in %.1f s", host, fault, attempts, self.attempts, pause)
                time.sleep(pause)
        raise AssertionError

    def _attempt(
        self,
        method: str,
        url: str,
        end: float,
        receive: Callable[[Iterator[bytes]], bytes] | None,
        options: dict[str, Any],
    ) -> tuple[requests.Response, bytes]:
        """Send once. Raises `_TransientError` if another attempt may help, else `NetworkError`."""
        import http.client

        import requests
        import urllib3

        left = max(end - time.monotonic(), 0.001)
        connect, silence = min(_CONNECT_TIMEOUT, left), min(self.read_timeout, left)
        proxies = {"http": "", "https": ""} if is_loopback(urlsplit(url).hostname or "") else None
        try:
            with self._session.request(
                method, url, timeout=(connect, silence), stream=True, proxies=proxies,
                allow_redirects=self.redirects and method == "GET", **options,
            ) as response:  # fmt: skip
                if not 200 <= response.status_code < 300:
                    body = response.raw.read1(_BLOCK, decode_content=True)
                elif receive is None:
                    body = self._body(response, end)
                else:
                    body = receive(_blocks(response, end, decode=False))
        except requests.exceptions.SSLError as error:
            raise self._error(url, f"no secure connection: {_cause(error)}") from error
        except requests.exceptions.ConnectTimeout as error:
            raise _TransientError(f"no connection within {_in_seconds(connect)}", is_connected=False) from error
        except (requests.exceptions.Timeout, urllib3.exceptions.TimeoutError, TimeoutError) as error:
            raise _TransientError(f"no answer within {_in_seconds(silence)}") from error
        except requests.exceptions.ConnectionError as error:
            reason = getattr(error.args[0], "reason", None) if error.args else None
            is_connected = not isinstance(reason, urllib3.exceptions.NewConnectionError)
            raise _TransientError(f"no connection: {_cause(error)}", is_connected=is_connected) from error
        except (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError) as error:
            if isinstance(error, requests.exceptions.RequestException):  # an OSError, too: a bad URL, endless redirects
                raise self._error(url, one_line(error)) from error
            raise _TransientError(f"the answer broke off: {_cause(error)}") from error
        self._check(url, response, body)
        return response, body

    def _check(self, url: str, response: requests.Response, body: bytes) -> None:
        name = f"{response.status_code} {response.reason or ''}".strip()
        if response.status_code in _RETRIED:
            raise _TransientError(f"answered {name}", response)
        if not 200 <= response.status_code < 300:
            detail = response.headers.get("Location") or _message_in(body[: 4 * _EXCERPT].decode("utf-8", "replace"))
            raise self._error(url, f"answered {name}{f': {detail}' if detail else ''}", response.status_code)
        if self.passing is not None and (fault := self.passing(body)) is not None:
            raise _TransientError(fault, response)

    def _body(self, response: requests.Response, end: float) -> bytes:
        body = bytearray()
        for block in _blocks(response, end, decode=True):
            body += block
            if len(body) > self.max_bytes:
                raise self._error(response.url, f"answered more than {self.max_bytes >> 20} MiB", response.status_code)
        return bytes(body)

    @cached_property
    def _session(self) -> requests.Session:
        import requests

        session = requests.Session()
        session.max_redirects = 5
        for scheme in ("http://", "https://"):
            session.mount(scheme, requests.adapters.HTTPAdapter(pool_maxsize=self.connections))
        return session

    def _error(self, url: str, text: str, status: int | None = None) -> NetworkError:
        return NetworkError(f"{host_of(url)}: {text}; {self.remedy}", status)


def user_agent() -> str:
    """Return the User-Agent with the contact of `CONVINSE_CONTACT`, as Wikimedia asks for."""
    contact = os.environ.get("CONVINSE_CONTACT", "").strip()
    printable = "".join(letter for letter in contact if " " <= letter <= "~")
    return f"convinse/{__version__} (question answering research{f'; {printable}' if printable else ''})"


def _in_seconds(seconds: float) -> str:
    return f"{round(seconds, 1):g} s"


def _cause(error: BaseException) -> str:
    """Return the text of the innermost exception, which `requests` and `urllib3` wrap in their own."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return one_line(error)


def _blocks(response: requests.Response, end: float, decode: bool) -> Iterator[bytes]:
    while block := response.raw.read1(_BLOCK, decode_content=decode):
        if time.monotonic() > end:  # a timeout bounds one read, and a slow server sends a byte now and then
            raise _TransientError("it is too slow", response)
        yield block


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that `Retry-After` asks for; None if it is missing or malformed."""
    from urllib3 import Retry
    from urllib3.exceptions import HTTPError

    with suppress(KeyError, HTTPError, ValueError, OverflowError):
        return Retry().parse_retry_after(headers["Retry-After"])
    return None


def _message_in(text: str) -> str:
    """Return the `error` or `detail` of a JSON object, or the `message` in it; else the beginning of a text, empty for HTML."""
    with suppress(msgspec.DecodeError, RecursionError):
        value = msgspec.json.decode(text)
        error = value.get("error", value.get("detail")) if isinstance(value, dict) else None
        message = error.get("message") if isinstance(error, dict) else error
        text = message if isinstance(message, str) else text
    return "" if text.lstrip().startswith("<") else " ".join(text[:_EXCERPT].split())
