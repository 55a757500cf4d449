"""What the project's HTTP servers share: JSON by POST with limits, errors as JSON, a socket, a stop in order.

The servers know no users, and so listen on this machine unless told otherwise, and answer no page of another site
(`http_access`). A request that cannot be understood gets 400 and `{"error": "..."}`, one that is too large 413; what fails
inside of the server is told to its log only. `http_limits.Limits` has all limits.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from .addresses import is_loopback
from .errors import ConvinseError, NetworkError, one_line
from .http_access import AsgiApp, Scope, refusal
from .http_limits import Limits
from .http_work import RefusedError, too_late

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

LOGGER = logging.getLogger(__name__)
_CLOSE = {"Connection": "close"}
_LAST_ACCEPTED = 0.2  # seconds at the end in which what has arrived is taken in
_T = TypeVar("_T")
Refused = Callable[[Scope, int], None]


class JsonEndpoint:
    """ASGI endpoints that read a body and answer JSON, within the limits of one server.

    Args:
        limits: of bodies and of time; those of the work itself are in the hands of what does it.
        error_of: the value that tells of an error, from its text and status.
    """

    def __init__(self, limits: Limits, error_of: Callable[[str, int], Any] = lambda text, _: {"error": text}) -> None:
        self._limits = limits
        self._error_of = error_of
        self._held = 0  # bytes of bodies

    def __call__(self, work: Callable[[bytes], Awaitable[Any]]) -> Callable[[Request], Awaitable[Response]]:
        """An endpoint of a function from a body to a value that `msgspec` can encode, or to a response.

        The function raises `RefusedError` for what is wrong with a body. It is cancelled when the client goes away.
        """
        return self.of_request(lambda _, body: work(body))

    def of_request(self, work: Callable[[Request, bytes], Awaitable[Any]]) -> Callable[[Request], Awaitable[Response]]:
        """As the endpoint of a function of the body, for one that looks at the path or the headers, too."""

        async def endpoint(request: Request) -> Response:
            held = [0]
            try:
                return await self._answered(request, functools.partial(work, request), held)
            except RefusedError as error:
                return answer(self._error_of(str(error), error.status), error.status, error.headers)
            except Exception as error:  # whatever it is: the client gets no traceback, and the server goes on
                return answer(self._error_of(told_of(error), 500), 500)
            finally:
                self._held -= held[0]

        return endpoint

    async def _answered(self, request: Request, work: Callable[[bytes], Awaitable[Any]], held: list[int]) -> Response:
        from starlette.requests import ClientDisconnect
        from starlette.responses import Response

        limits = self._limits
        try:
            body = await asyncio.wait_for(self._body(request, held), limits.body_seconds)
        except (asyncio.TimeoutError, TimeoutError):  # not yet the same in Python 3.10
            text = f"no whole body within {limits.body_seconds:g} s"
            return answer(self._error_of(text, 408), 408, _CLOSE)
        except ClientDisconnect:
            return Response(status_code=400)
        if body is None:
            return answer(self._error_of(f"the body is larger than {limits.body} bytes", 413), 413, _CLOSE)
        try:
            value = await asyncio.wait_for(_while_wanted(request, work(body)), limits.work_seconds)
            return value if isinstance(value, Response) else answer(value)
        except (asyncio.TimeoutError, TimeoutError):
            raise too_late(limits) from None
        except ClientDisconnect:
            return Response(status_code=400)

    async def _body(self, request: Request, held: list[int]) -> bytes | None:
        """The body, or None when it is too large. Raises `RefusedError` where those of all requests are; `held` counts its bytes."""
        told = request.headers.get("content-length", "0")
        if not told.isdigit() or int(told) > self._limits.body:
            return None
        blocks = []
        async for block in request.stream():
            held[0] += len(block)
            self._held += len(block)
            if held[0] > self._limits.body:
                return None
            if self._held > self._limits.bodies:
                raise RefusedError("the server holds too many large requests; try again later", 429, retry_after=1)
            blocks.append(block)
        return b"".join(blocks)


async def _while_wanted(request: Request, work: Awaitable[_T]) -> _T:
    """What a work gives. It is cancelled when the client goes away, and `ClientDisconnect` is raised."""
    from starlette.requests import ClientDisconnect

    working, gone = asyncio.ensure_future(work), asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in (working, gone):
            task.cancel()


def told_of(error: Exception) -> str:
    """What a client is told of an error inside of the server; the log has all of it."""
    if isinstance(error, ConvinseError):
        LOGGER.error("%s", one_line(error))
        return one_line(error)
    LOGGER.error("a request failed", exc_info=error)
    return "the server failed; its log says why"


def parse(body: bytes, shape: type) -> Any:
    """A body as a `msgspec` type. Raises `RefusedError`, which says which key is wrong."""
    try:
        return msgspec.json.decode(body, type=shape)
    except msgspec.ValidationError as error:
        text, _, place = str(error).partition(" - at `$.")
        raise RefusedError(f"{place.rstrip('`')}: {text}" if place else text) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise RefusedError(f"the body is not JSON: {one_line(error)}") from None


def answer(value: Any, status: int = 200, headers: Any = None) -> Response:
    """A value as a JSON response; one that is encoded already (`msgspec.Raw`) as it is."""
    from starlette.responses import Response

    return Response(msgspec.json.encode(value), status, headers, media_type="application/json")


def refusing(texts: dict[int, str]) -> Callable[[Request, Exception], Awaitable[Response]]:
    """An exception handler for wrong paths (404) and methods (405): a JSON answer with these texts."""

    async def refuse(_: Request, error: Any) -> Response:
        return answer({"error": texts.get(error.status_code, error.detail)}, error.status_code, error.headers)

    return refuse


def run(
    app: AsgiApp,
    host: str,
    port: int,
    ready: Callable[[str], None] | None = None,
    *,
    limits: Limits | None = None,
    names: Sequence[str] = (),
    origins: Sequence[str] = (),
    patience: float = 5,
    asks_for_token: bool = False,
    refused: Refused | None = None,
) -> None:
    """Serve until Ctrl-C or SIGTERM; requests that are being answered get some time to end.

    Args:
        app: the application.
        host: the address to listen on; others than loopback are warned of, as everyone there may ask.
        port: the port; 0 takes a free one.
        ready: called with the server's URL once it answers, and a signal ends it in order.
        limits: of connections and time.
        names: by which the server may be asked, besides `host` and the names of this machine alone.
        origins: of other sites whose pages may ask.
        patience: seconds for requests in flight.
        asks_for_token: whether the application knows who may ask it; nobody is warned then.
        refused: called with each request that does not reach the application, and the status that it got.

    Raises:
        NetworkError: `host` is no address of this machine, or the port is taken.
    """
    with closing(listen(host, port)) as listener:
        address = url_of(listener)
        if not asks_for_token and not is_loopback(host):
            LOGGER.warning("%s: reachable from other machines; the server asks nobody for a password", address)
        started = ready and functools.partial(ready, address)
        server = uvicorn_server(
            app, started, patience, limits=limits, names=(host, *names), origins=origins, refused=refused
        )
        with suppress(KeyboardInterrupt), _survived(signal.SIGTERM):
            server.run(sockets=[listener])  # ends in order first, then raises the signals that it caught


@contextmanager
def _survived(number: signal.Signals) -> Iterator[None]:
    """A signal that would end the process at once does nothing of itself: the server has seen to it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(number, before)


def uvicorn_server(
    app: AsgiApp,
    started: Callable[[], None] | None = None,
    patience: float = 5,
    *,
    limits: Limits | None = None,
    names: Sequence[str] = (),
    origins: Sequence[str] = (),
    refused: Refused | None = None,
) -> Any:
    """A `uvicorn.Server` for the application, with settings that do not depend on what else is installed; see `run`."""
    import uvicorn

    from .http_connection import HandedSocket, LimitedConnection, Places

    limits = (limits or Limits()).within_handles()
    places = Places(limits)

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets=[HandedSocket(listener, places) for listener in sockets or ()])
            if started is not None:
                started()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await asyncio.sleep(_LAST_ACCEPTED)
            await super().shutdown(sockets)

    return Server(
        uvicorn.Config(
            _guarded(app, frozenset(name.lower() for name in names), frozenset(origins), refused),
            loop="asyncio",
            http=functools.partial(LimitedConnection, places=places),  # type: ignore[arg-type]  # it is called, no more
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=limits.idle_seconds,  # type: ignore[arg-type]  # as that below
            timeout_graceful_shutdown=patience,  # type: ignore[arg-type]  # it goes to asyncio, which takes fractions
        )
    )


def _guarded(app: AsgiApp, names: frozenset[str], origins: frozenset[str], refused: Refused | None) -> AsgiApp:
    """An application that answers only who may ask it, see `http_access`."""

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        reason = refusal(scope, names, origins)
        if reason is None:
            await app(scope, receive, send)
            return
        status, text = reason
        if refused is not None:
            refused(scope, status)
        await answer({"error": text}, status, _CLOSE)(scope, receive, send)

    return guarded


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises `NetworkError`."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError) as error:
        raise NetworkError(f"{host}: cannot listen there ({one_line(error)}); choose another --host") from None
    both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    try:
        return socket.create_server(address, family=family, backlog=2048, dualstack_ipv6=both)
    except OSError as error:
        raise NetworkError(
            f"{host}:{port}: cannot listen there ({one_line(error)}); choose another --host or --port"
        ) from None


def url_of(listener: socket.socket) -> str:
    """`http://HOST:PORT` of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
