"""The parts that all servers share: the guard in front of requests, errors as JSON, the run on uvicorn.

The servers know no users. They listen on this machine unless told otherwise, answer requests that name them, and refuse those
that a page of another site makes a browser send. Slow clients are the matter of a proxy, see `docs/serve.md`.
"""

from __future__ import annotations

import asyncio
import functools
import hmac
import ipaddress
import logging
import signal
import socket
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import closing, suppress
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Lifespan, Message, Receive, Scope, Send

from ..support.addresses import is_loopback
from ..support.errors import ConvinseError, NetworkError, one_line
from ..support.jsonlines import with_text_ids

LOGGER = logging.getLogger(__name__)
_CONNECTIONS = 512  # open at once; a request over a further one gets 503
_IDLE_SECONDS = 20  # until a connection without a request is closed
_HEADER_BYTES = 16_384  # of all headers of a request
_DRAINED = 10  # largest bodies that are read and thrown away, so that a client that still sends gets to read the answer
MOST_BYTES = 10_000_000  # of a body
PATIENCE = 60  # seconds for requests under way when the server is stopped: as long as a turn may take
_OPENAI_PATHS = ("/v1/chat/", "/v1/models")
_OPENAI_TYPES = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
_T = TypeVar("_T")


class RequestGuard:
    """Middleware that refuses requests before the application sees them.

    Starlette's `TrustedHostMiddleware` would take only a list of names: here any address is a good host, as DNS rebinding
    needs a name, so that a server on all interfaces can be asked by the address of each.

    Args:
        app: the application.
        hosts: names of the server in `Host`, besides addresses and the names of this machine.
        origins: other sites in `Origin`.
        token: of requests, as a bearer token; None if they need none.
        open_paths: paths that need no token.
        open_folder: the same, and all below it.
        most_bytes: of a body.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Sequence[str] = (),
        origins: Sequence[str] = (),
        token: str | None = None,
        open_paths: Sequence[str] = ("/healthz",),
        open_folder: str = "/healthz/",
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._app, self._hosts, self._origins = app, {host.lower() for host in hosts}, origins
        self._token, self._open_paths, self._open_folder = token, open_paths, open_folder
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        size, is_answered = 0, False
        most = self._most_bytes

        async def receive_counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > most:
                while message.get("more_body") and size < _DRAINED * most:
                    message = await receive()
                    size += len(message.get("body", b""))
                raise HTTPException(413, f"the body is larger than {most} bytes; send less", {"Connection": "close"})
            return message

        async def send_noted(message: Message) -> None:
            nonlocal is_answered
            is_answered = True
            await send(message)

        try:
            self._check(request)
            await self._app(scope, receive_counted, send_noted)
        except Exception as error:  # of a bug, too: the client gets no traceback, and the connection goes on
            if is_answered:
                raise
            await error_response(request, as_http_error(error))(scope, receive, send)

    def _check(self, request: Request) -> None:
        headers, token = request.headers, self._token
        host = headers.get("host", "")
        if not self._is_own(host):
            raise HTTPException(403, f"Host: {host[:100]!r} is not a name of this server; allow it with --allow-host")
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins and origin not in (f"http://{host}", f"https://{host}"):
            raise HTTPException(403, f"Origin: pages of {origin[:100]!r} are not answered; open the server's own page")
        path: str = request.scope["path"]  # not that of `request.url`, which a Host header can change
        is_open = path in self._open_paths or path.startswith(self._open_folder)
        if token is not None and not is_open:
            kind, _, word = headers.get("authorization", "").partition(" ")
            is_known = hmac.compare_digest(word.strip().encode(), token.encode())
            if kind.lower() != "bearer" or not is_known:
                text = "give the server's token, as 'Authorization: Bearer TOKEN'"
                raise HTTPException(401, text, {"WWW-Authenticate": "Bearer"})
        content = headers.get("content-type", "application/json").partition(";")[0].strip().lower()
        if request.method == "POST" and content != "application/json":
            raise HTTPException(
                415, f"Content-Type: {content[:100]!r} is not read; send application/json (curl: --json)"
            )

    def _is_own(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name = (parts.hostname or "").rstrip(".")
            if parts.netloc != host or parts.username is not None or parts.port == 0:
                return False
            if is_loopback(name) or name in self._hosts:
                return True
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


# -- answers -----------------------------------------------------------------------------------------------------------


def json_response(value: Any, status: int = 200, headers: Any = None) -> Response:
    """Encode a value as a JSON response."""
    return Response(msgspec.json.encode(value), status, headers, media_type="application/json")


def busy(reason: str, status: int = 429, seconds: int = 1) -> HTTPException:
    """Return the error of a request that may be tried again after some seconds."""
    return HTTPException(status, f"{reason}; try again later", {"Retry-After": str(seconds)})


def error_response(request: Request, error: HTTPException) -> Response:
    """Write an error as `{"error": TEXT}`, below the paths of OpenAI's API in its shape."""
    value: Any = {"error": error.detail}
    if request.scope["path"].startswith(_OPENAI_PATHS):
        value = openai_error(error)
    return json_response(value, error.status_code, error.headers)


def openai_error(error: HTTPException) -> dict[str, Any]:
    """Write an error as OpenAI's clients read it."""
    status = error.status_code
    kind = _OPENAI_TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": error.detail, "type": kind, "param": None, "code": None}}


def as_http_error(error: Exception) -> HTTPException:
    """Return what a client learns of an error; the log has all of a failure inside of the server."""
    if isinstance(error, HTTPException):
        return error
    if isinstance(error, ClientDisconnect):
        return HTTPException(400, "the client is gone")
    if isinstance(error, ConvinseError):
        LOGGER.error("%s", one_line(error))
        return HTTPException(500, one_line(error))
    LOGGER.error("a request failed", exc_info=error)
    return HTTPException(500, "the server failed; its log says why")


def error_handlers(paths: str) -> dict[Any, Callable[[Request, Any], Coroutine[Any, Any, Response]]]:
    """Return the exception handlers of an application; `paths` tells of its paths after an unknown one."""
    texts = {404: f"unknown path; {paths}", 405: f"wrong method; {paths}"}

    async def answer_error(request: Request, error: HTTPException) -> Response:
        if error.detail == HTTPStatus(error.status_code).phrase:
            error.detail = texts.get(error.status_code, error.detail)
        return error_response(request, error)

    return {HTTPException: answer_error}


def build_app(
    routes: Sequence[Route],
    paths: str,
    hosts: Sequence[str],
    most_bytes: int,
    lifespan: Lifespan[Starlette] | None = None,
) -> Starlette:
    """Return an application with `/healthz`; `paths` as of `error_handlers`, `hosts` and `most_bytes` as of `RequestGuard`."""
    guard = [Middleware(RequestGuard, hosts=hosts, most_bytes=most_bytes)]
    health = Route("/healthz", answer_health)
    return Starlette(
        routes=[*routes, health], middleware=guard, exception_handlers=error_handlers(paths), lifespan=lifespan
    )


async def answer_health(_: Request) -> Response:
    """Say that the server answers."""
    return json_response({"status": "ok"})


def parse(body: bytes, shape: type[_T]) -> _T:
    """Decode a body; ids may be numbers. Raises `HTTPException` (400) that names the wrong key."""
    try:
        return with_text_ids(msgspec.json.Decoder(shape).decode, body)
    except msgspec.ValidationError as error:
        text, _, place = str(error).partition(" - at `$.")
        raise HTTPException(400, f"{place.rstrip('`')}: {text}" if place else text) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise HTTPException(400, f"the body is not JSON: {one_line(error)}") from None


async def while_connected(request: Request, work: Awaitable[_T]) -> _T:
    """Return what a work gives; cancel it when its client goes away, and raise `ClientDisconnect`."""
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


# -- the run -----------------------------------------------------------------------------------------------------------


def run(
    app: ASGIApp,
    host: str,
    port: int,
    ready: Callable[[str], None] | None = None,
    *,
    patience: int = PATIENCE,
    has_token: bool = False,
) -> None:
    """Serve until Ctrl-C or SIGTERM; requests that are being answered get some seconds of `patience` to end.

    `ready` is called with the server's URL once it answers. The log warns of an address that others can reach without a token.
    Raises `NetworkError`: the host is not an address of this machine, or the port is taken.
    """
    with closing(listen(host, port)) as listener:
        address = url_of(listener)
        if not has_token and not is_loopback(host):
            LOGGER.warning("%s: reachable from other machines; the server asks nobody for a password", address)
        server = HttpServer(app, ready and functools.partial(ready, address), patience)
        # uvicorn raises the signals that it caught once more at the end
        before = signal.signal(signal.SIGTERM, lambda *_: None)
        try:
            with suppress(KeyboardInterrupt):
                server.run(sockets=[listener])
        finally:
            signal.signal(signal.SIGTERM, before)


class HttpServer(uvicorn.Server):
    """uvicorn with the limits of all servers; calls `started` once it answers."""

    def __init__(self, app: ASGIApp, started: Callable[[], None] | None = None, patience: int = PATIENCE) -> None:
        self._started = started
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # faults of clients fill no log
        config = uvicorn.Config(
            app,
            loop="asyncio",
            http="h11",
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=_CONNECTIONS,
            timeout_keep_alive=_IDLE_SECONDS,
            timeout_graceful_shutdown=patience,
            h11_max_incomplete_event_size=_HEADER_BYTES,
        )
        super().__init__(config)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and tell of it."""
        await super().startup(sockets)
        if self._started is not None:
            self._started()


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket. Raises `NetworkError`."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        listener = socket.create_server(address, family=family, backlog=2048, dualstack_ipv6=both)
    except (OSError, UnicodeError) as error:
        raise NetworkError(
            f"{host}:{port}: cannot listen there ({one_line(error)}); choose another --host or --port"
        ) from None
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # or each event of a stream waits 40 ms for the last
    return listener


def url_of(listener: socket.socket) -> str:
    """Return `http://HOST:PORT` of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
