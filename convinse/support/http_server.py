"""What the project's HTTP servers share: JSON by POST with limits, errors as JSON, a socket, a stop in order.

The servers know no users, and so listen on this machine unless told otherwise. A request that cannot be understood
gets 400 and `{"error": "..."}`, one that is too large 413; what fails inside of the server is told to its log only.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import msgspec

from .addresses import is_loopback
from .errors import ConvinseError, NetworkError, one_line

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

LOGGER = logging.getLogger(__name__)
_DISCARDED = 20  # times the limit are read of a body that is too large, so that its sender gets to read the answer
_BODY_TIMEOUT = 30.0  # seconds for a request's body to arrive


class BadRequestError(Exception):
    """The text says what is wrong with a request; `status` is 400, or 413 for one that asks for too much."""

    def __init__(self, text: str, status: int = 400) -> None:
        super().__init__(text)
        self.status = status


def json_endpoint(work: Callable[[bytes], Awaitable[Any]], most: int) -> Callable[[Request], Awaitable[Response]]:
    """An ASGI endpoint: reads a body, answers JSON.

    Args:
        work: from a body to a value that `msgspec` can encode; raises `BadRequestError` for what is wrong with it.
        most: bytes of a body.
    """
    from starlette.requests import ClientDisconnect

    async def endpoint(request: Request) -> Response:
        from starlette.responses import Response

        try:
            body = await asyncio.wait_for(_body(request, most), _BODY_TIMEOUT)
        except (asyncio.TimeoutError, TimeoutError):  # not yet the same in Python 3.10
            return answer({"error": f"no whole body within {_BODY_TIMEOUT:.0f} s"}, 408, {"Connection": "close"})
        except ClientDisconnect:
            return Response(status_code=400)
        if body is None:
            return answer({"error": f"the body is larger than {most} bytes"}, 413, {"Connection": "close"})
        try:
            return answer(await work(body))
        except BadRequestError as error:
            return answer({"error": str(error)}, error.status)
        except ConvinseError as error:
            LOGGER.error("%s", one_line(error))
            return answer({"error": one_line(error)}, 500)
        except Exception:  # whatever it is: the client gets no traceback, and the server goes on
            LOGGER.exception("a request failed")
            return answer({"error": "the server failed; its log says why"}, 500)

    return endpoint


async def _body(request: Request, most: int) -> bytes | None:
    """The body, or None when it is too large."""
    blocks = []
    size = 0
    async for block in request.stream():
        size += len(block)
        if size <= most:
            blocks.append(block)
        elif size > _DISCARDED * most:
            break
    return b"".join(blocks) if size <= most else None


def parse(body: bytes, shape: type) -> Any:
    """A body as a `msgspec` type. Raises `BadRequestError`, which says which key is wrong."""
    try:
        return msgspec.json.decode(body, type=shape)
    except msgspec.ValidationError as error:
        text, _, place = str(error).partition(" - at `$.")
        raise BadRequestError(f"{place.rstrip('`')}: {text}" if place else text) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise BadRequestError(f"the body is not JSON: {one_line(error)}") from None


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
    app: Starlette, host: str, port: int, ready: Callable[[str], None] | None = None, *, patience: float = 5
) -> None:
    """Serve until Ctrl-C or SIGTERM; requests that are being answered get some time to end.

    Args:
        app: the application.
        host: the address to listen on; others than loopback are warned of, as everyone there may ask.
        port: the port; 0 takes a free one.
        ready: called with the server's URL once it answers, and a signal ends it in order.
        patience: seconds for requests in flight.

    Raises:
        NetworkError: `host` is no address of this machine, or the port is taken.
    """
    with closing(listen(host, port)) as listener:
        address = url_of(listener)
        if not is_loopback(host):
            LOGGER.warning("%s: reachable from other machines; the server asks nobody for a password", address)
        server = uvicorn_server(app, ready and functools.partial(ready, address), patience)
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


def uvicorn_server(app: Starlette, started: Callable[[], None] | None = None, patience: float = 5) -> Any:
    """A `uvicorn.Server` for the application, with settings that do not depend on what else is installed."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, *arguments: Any, **options: Any) -> None:
            await super().startup(*arguments, **options)
            if started is not None:
                started()

    return Server(
        uvicorn.Config(
            app,
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=patience,  # type: ignore[arg-type]  # it goes to asyncio, which takes fractions
        )
    )


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
