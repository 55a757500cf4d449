"""The one place that opens outgoing sockets: requests that wait, try again and give up in known time.

`CONVINSE_OFFLINE=1` refuses every request before a socket is opened. `CONVINSE_CONTACT` (a mail address or a URL) is
sent with the User-Agent, as Wikimedia asks of those who send many requests. Proxies and certificates come from the
usual environment variables (`HTTPS_PROXY`, `NO_PROXY`, `REQUESTS_CA_BUNDLE`); loopback addresses use no proxy.
"""

from __future__ import annotations

import logging
import os
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from .addresses import host_of, is_loopback
from .errors import NetworkError, one_line
from .partial_download import PartialDownload
from .web_attempt import EXCERPT, Deadline, PassingError, cause_of, is_refusal, retry_after, said_in, status_of

if TYPE_CHECKING:
    import requests

LOGGER = logging.getLogger(__name__)
_RETRIED = frozenset((429, 500, 502, 503, 504))
_RANGE_REFUSED = 416
_BACK_OFF = 0.5  # seconds before the second attempt; doubled for each further one
_LONGEST_BACK_OFF = 30.0
_CONNECT_TIMEOUT = 10.0  # seconds
_BLOCK = 1 << 16
_OFF = ("", "0", "false", "no", "off")


class WebAnswer(NamedTuple):
    """A successful answer: its body is whole, and within the size limit."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(kw_only=True, eq=False, repr=False)
class WebSession:
    """HTTP requests with timeouts, retries and limits; one session may serve several threads.

    An attempt that meets 429, 500, 502, 503, 504, a broken connection or silence is repeated after a growing pause, or
    after what `Retry-After` asks for; until then no other request of the session disturbs that host either. Requests
    must therefore be safe to repeat: look-ups, not changes.

    Args:
        read_timeout: seconds of silence to accept from the server.
        deadline: seconds for a request in all, its attempts and pauses included.
        attempts: how often a request is sent at most.
        max_bytes: the largest body to accept, unpacked.
        remedy: what to do when a host cannot be used; the end of an error's message.
        contact: whom to ask about these requests, sent with the User-Agent; None: what `CONVINSE_CONTACT` says.
        slots: bounds the requests under way at once; sessions may share one.
        passing: for a 2xx answer, why it is to be asked for again like a 503, or None (servers that say so in the body).
        connections: how many are kept open to a host.
        refusals: how often a request is sent at most where nobody listens.
    """

    read_timeout: float = 60.0
    deadline: float = 180.0
    attempts: int = 5
    max_bytes: int = 256 << 20
    remedy: str = "check the address and the network"
    contact: str | None = None
    slots: threading.Semaphore | None = None
    passing: Callable[[WebAnswer], str | None] | None = None
    connections: int = 10
    refusals: int = 5
    _resting: dict[str, float] = field(default_factory=dict, init=False)  # host -> when it wants to be asked again
    _sessions: dict[bool, requests.Session] = field(default_factory=dict, init=False)  # loopback or not -> session
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def get(
        self,
        url: str,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        until: float | None = None,
    ) -> WebAnswer:
        """GET an `http(s)` URL, following a few redirects; `until` (of `time.monotonic()`) shortens the deadline.

        Raises:
            NetworkError: offline, unreachable, too slow, too large, or a status other than 2xx.
        """
        return self._request("GET", url, until, params=params, headers=headers)

    def get_json(self, url: str, params: Mapping[str, Any] | None = None, until: float | None = None) -> Any:
        """The JSON value that GET answers. Raises `NetworkError` as `get` does, and for a body that is no JSON."""
        return self._json(self.get(url, params, {"Accept": "application/json"}, until))

    def post_json(self, url: str, value: Any, headers: Mapping[str, str] | None = None) -> Any:
        """The JSON value that a POST of a JSON value answers; redirects are errors. Raises `NetworkError`."""
        headers = {"Accept": "application/json", "Content-Type": "application/json", **(headers or {})}
        return self._json(self._request("POST", url, data=msgspec.json.encode(value), headers=headers))

    def download(self, url: str, path: Path, advance: Callable[[int, int | None], None] | None = None) -> None:
        """GET an `http(s)` URL into a file as it is stored there (packed files stay so); what `path` has is completed.

        The rest of an interrupted file is asked for with `Range`, and with `If-Range` where the server gave an entity
        tag (kept beside the file as `NAME.etag`); a server that answers with the whole file starts it anew. Attempts
        count from the beginning again whenever one has made the file longer. The size limit of the session does not
        count; its deadline does, from one interruption to the next.

        Args:
            url: the address.
            path: the file to complete; its folder must exist.
            advance: is called with the bytes that the file has and those it will have (None: not known).

        Raises:
            NetworkError: as `get`; what has arrived stays in `path`.
            OutputError: the file cannot be written.
        """
        file = PartialDownload(path, advance)
        restarted = False
        while True:
            before = file.size
            try:
                self._request("GET", url, headers=file.headers, receive=file.receive)
            except NetworkError as error:
                if error.status == _RANGE_REFUSED and before and not restarted:
                    file.forget()  # it is longer than the server's file: another one
                    restarted = True
                elif file.size <= before:
                    raise
            else:
                file.forget_tag()
                return

    def close(self) -> None:
        """Close the connections that are kept open; the next request opens them again."""
        with self._lock:
            for session in self._sessions.values():
                session.close()
            self._sessions.clear()

    def _json(self, answer: WebAnswer) -> Any:
        try:
            return msgspec.json.decode(answer.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            kind = answer.headers.get("Content-Type", "no content type")
            raise self._error(
                answer.url, f"answered something else than JSON ({kind}; {one_line(error)})", answer.status
            ) from None

    def _request(
        self,
        method: str,
        url: str,
        until: float | None = None,
        headers: Mapping[str, str] | Callable[[], Mapping[str, str]] | None = None,
        receive: Callable[[requests.Response, Deadline], bytes | None] | None = None,
        **options: Any,
    ) -> WebAnswer:
        """Send until an answer comes; `headers` may differ from attempt to attempt, `receive` may take the body."""
        host = host_of(url)
        if offline():
            raise NetworkError(f"{host}: not asked, as CONVINSE_OFFLINE is set; unset it to allow requests")
        now = time.monotonic()
        seconds = self.deadline if until is None else max(0.0, min(self.deadline, until - now))
        deadline = Deadline(now + seconds, seconds)
        if not seconds:
            raise self._error(url, "not asked, as no time is left")
        for attempt in range(1, self.attempts + 1):
            self._let_rest(url, host, deadline)
            try:
                with self._slot(url, deadline):
                    sent = headers() if callable(headers) else headers or {}
                    return self._attempt(method, url, deadline, sent, options, receive)
            except PassingError as fault:
                if attempt >= (min(self.refusals, self.attempts) if fault.is_refused else self.attempts):
                    raise self._error(url, f"{fault} ({_times(attempt)})", fault.status) from fault.__cause__
                pause = fault.retry_after
                if pause is None:
                    pause = min(_BACK_OFF * 2 ** (attempt - 1), _LONGEST_BACK_OFF) * random.uniform(0.5, 1.0)
                else:
                    self._resting[host] = max(self._resting.get(host, 0.0), time.monotonic() + pause)
                    pause += random.uniform(0.0, 0.1)  # clients that were sent away together do not come back together
                if pause >= deadline.left:
                    wish = f", asks to wait {fault.retry_after:.0f} s" if fault.retry_after is not None else ""
                    raise self._error(
                        url, f"{fault}{wish} ({_times(attempt)}, {deadline} in all)", fault.status
                    ) from fault.__cause__
                LOGGER.info("%s: %s; attempt %d of %d in %.1f s", host, fault, attempt + 1, self.attempts, pause)
                time.sleep(pause)
        raise AssertionError("no attempt was made")

    def _let_rest(self, url: str, host: str, deadline: Deadline) -> None:
        """Wait as long as the host asked a request of ours to, this one or another thread's."""
        while (pause := self._resting.get(host, 0.0) - time.monotonic()) > 0:
            if pause >= deadline.left:
                raise self._error(url, f"not asked, as it asked to wait {pause:.0f} s more and the limit is {deadline}")
            time.sleep(pause)

    @contextmanager
    def _slot(self, url: str, deadline: Deadline) -> Iterator[None]:
        """One of the places for requests under way."""
        if self.slots is None:
            yield
            return
        if not self.slots.acquire(timeout=max(deadline.left, 0.0)):
            raise self._error(url, f"not asked, as other requests took all of {deadline}")
        try:
            yield
        finally:
            self.slots.release()

    def _attempt(
        self,
        method: str,
        url: str,
        deadline: Deadline,
        headers: Mapping[str, str],
        options: dict[str, Any],
        receive: Callable[[requests.Response, Deadline], bytes | None] | None,
    ) -> WebAnswer:
        """Send once. Raises `PassingError` where another attempt may help, else `NetworkError`."""
        import http.client

        import requests
        import urllib3

        left = max(deadline.left, 0.001)
        connect, read = min(_CONNECT_TIMEOUT, left), min(self.read_timeout, left)
        try:
            with self._session(url).request(
                method,
                url,
                headers={"User-Agent": user_agent(self.contact), **headers},
                timeout=(connect, read),
                stream=True,
                allow_redirects=method == "GET",
                **options,
            ) as response:
                body = receive(response, deadline) if receive is not None else None
                if body is None:
                    body = self._body(response, deadline)
        except requests.exceptions.SSLError as error:
            raise self._error(url, f"no secure connection: {cause_of(error)}") from error
        except requests.exceptions.ConnectTimeout as error:
            raise PassingError(f"no connection within {connect:g} s") from error
        except (requests.exceptions.Timeout, urllib3.exceptions.TimeoutError) as error:
            raise PassingError(f"no answer within {round(read, 1):g} s") from error
        except (requests.exceptions.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
            raise PassingError(f"no connection: {cause_of(error)}", is_refused=is_refusal(error)) from error
        except (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError) as error:
            if isinstance(error, requests.exceptions.RequestException):  # an OSError, too: a bad URL, endless redirects
                raise self._error(url, one_line(error)) from error
            raise PassingError(f"the answer broke off: {cause_of(error)}") from error
        if response.status_code in _RETRIED:
            raise PassingError(f"answered {status_of(response)}", response.status_code, retry_after(response))
        if not 200 <= response.status_code < 300:
            text = body[: 4 * EXCERPT].decode("utf-8", "replace").strip()
            said = response.headers.get("Location") or said_in(text)
            raise self._error(url, f"answered {status_of(response)}{f': {said}' if said else ''}", response.status_code)
        answer = WebAnswer(response.url, response.status_code, response.headers, body)
        fault = self.passing(answer) if self.passing is not None else None
        if fault is not None:
            raise PassingError(fault, response.status_code, retry_after(response))
        return answer

    def _body(self, response: requests.Response, deadline: Deadline) -> bytes:
        """The unpacked body, read piece by piece, so that neither its size nor its slowness is the server's choice."""
        blocks = []
        size = 0
        while block := response.raw.read1(_BLOCK, decode_content=True):
            size += len(block)
            if size > self.max_bytes:
                raise self._error(response.url, f"answered more than {self.max_bytes >> 20} MiB", response.status_code)
            if deadline.left < 0:
                raise self._error(response.url, f"no whole answer within {deadline}")
            blocks.append(block)
        return b"".join(blocks)

    def _session(self, url: str) -> requests.Session:
        loopback = is_loopback(urlsplit(url).hostname or "")
        with self._lock:
            if loopback not in self._sessions:
                import requests

                session = requests.Session()
                session.trust_env = not loopback
                session.max_redirects = 5
                for scheme in ("http://", "https://"):
                    session.mount(scheme, requests.adapters.HTTPAdapter(pool_maxsize=self.connections))
                self._sessions[loopback] = session
            return self._sessions[loopback]

    def _error(self, url: str, text: str, status: int | None = None) -> NetworkError:
        return NetworkError(f"{host_of(url)}: {text}; {self.remedy}", status)


def check_listening(host: str, port: int, remedy: str) -> None:
    """Whether something listens at an address that a library will connect to: it may wait long, and say little.

    Raises:
        NetworkError: nothing does, or requests are forbidden.
    """
    if offline() and not is_loopback(host):
        raise NetworkError(f"{host}:{port}: not asked, as CONVINSE_OFFLINE is set; unset it to allow requests")
    try:
        socket.create_connection((host, port), _CONNECT_TIMEOUT).close()
    except (OSError, OverflowError) as error:
        raise NetworkError(f"{host}:{port}: cannot be reached ({one_line(error)}); {remedy}") from error


def offline() -> bool:
    """Whether `CONVINSE_OFFLINE` forbids requests."""
    return os.environ.get("CONVINSE_OFFLINE", "").strip().lower() not in _OFF


def user_agent(contact: str | None = None) -> str:
    """Who we are, for the logs of the servers that we ask; the contact is that of `CONVINSE_CONTACT` where none is given."""
    from ..version import __version__

    contact = (contact or os.environ.get("CONVINSE_CONTACT", "")).strip()
    printable = "".join(letter for letter in contact if " " <= letter <= "~")
    return f"convinse/{__version__} (question answering research{f'; {printable}' if printable else ''})"


def _times(attempts: int) -> str:
    return "1 attempt" if attempts == 1 else f"{attempts} attempts"
