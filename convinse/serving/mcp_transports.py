"""How the MCP server is reached: by the process that started it, over standard input and output, or over HTTP.

Over HTTP every request stands alone: no session of the protocol is kept, and conversations go on by their ids.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from ..pipeline import Pipeline
from ..support.http_access import AsgiApp
from ..support.http_limits import Limits
from ..support.http_server import JsonEndpoint, refusing, run
from .api_server import ServiceOptions
from .mcp_server import McpService
from .service_access import with_token

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

PATH = "/mcp"


def serve_stdio(pipeline: Pipeline, options: ServiceOptions) -> None:
    """Serve whoever has started this process, until standard input ends; standard output has the protocol, and nothing else.

    Raises:
        DependencyError: the SDK is not installed.
    """
    service = McpService(pipeline, options)
    server = service.server()

    async def serve() -> None:
        from mcp.server.stdio import stdio_server

        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    # a thread waits for the next line, and no exception ends that: Ctrl-C ends the process as SIGTERM does. Nothing is lost
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        with closing(service):
            asyncio.run(serve())
    finally:
        signal.signal(signal.SIGINT, before)


class HttpTransport:
    """The protocol over HTTP: each request stands alone, so that nothing is kept of clients that do not come back.

    Bodies are read within the limits of all servers; then the SDK answers. Its tasks live from the first request to the
    end of the event loop.
    """

    def __init__(self, server: Server[Any], limits: Limits) -> None:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        self._manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=limits.body)
        self._task: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()

    async def answer(self, _: Request, body: bytes) -> Any:
        """The response to a request whose body was read."""
        from starlette.responses import Response

        if self._task is None:
            self._task = asyncio.create_task(self._run())
        await self._ready.wait()
        manager = self._manager

        class Answered(Response):
            async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
                unread = [{"type": "http.request", "body": body, "more_body": False}]

                async def replayed() -> Any:
                    return unread.pop() if unread else await receive()

                await manager.handle_request(scope, replayed, send)

        return Answered()

    async def _run(self) -> None:
        with suppress(asyncio.CancelledError):  # the end of the event loop
            async with self._manager.run():
                self._ready.set()
                await asyncio.Event().wait()


def create_app(service: McpService) -> AsgiApp:
    """The ASGI application. Raises `DependencyError` where the SDK is not installed."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.routing import Route

    options = service.options
    transport = HttpTransport(service.server(), options.limits)
    answered = JsonEndpoint(options.limits).of_request(transport.answer)
    wrong = {404: f"unknown path; the server is at {PATH}", 405: "wrong method; messages come by POST"}
    refuse = {HTTPException: refusing(wrong)}
    app: AsgiApp = Starlette(routes=[Route(PATH, answered, methods=["POST"])], exception_handlers=refuse)
    return app if options.token is None else with_token(app, options.token)


def serve_http(
    pipeline: Pipeline,
    options: ServiceOptions,
    host: str,
    port: int,
    ready: Callable[[str], None] | None = None,
    *,
    names: tuple[str, ...] = (),
    lists: bool = True,
) -> None:
    """Serve over HTTP until Ctrl-C or SIGTERM; as `api_server.serve`.

    Raises:
        DependencyError: the SDK is not installed.
        NetworkError: `host` is no address of this machine, or the port is taken.
    """
    service = McpService(pipeline, options, lists)
    with closing(service):
        run(
            create_app(service),
            host,
            port,
            ready and (lambda address: ready(f"{address}{PATH}")),
            limits=options.limits,
            names=names,
            patience=options.limits.work_seconds,
            asks_for_token=options.token is not None,
        )
