"""The CLOCQ HTTP API of a knowledge base, for CLOCQ's own Python client and for others: JSON objects by POST."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from ..knowledge_base.clocq_api import ClocqService
from ..knowledge_base.relations import Embedding
from ..support.errors import DataError
from .app import build_app, json_response, parse

if TYPE_CHECKING:
    from ..knowledge_base.index import KnowledgeBase

_BODY = 1_000_000  # bytes: a hundred times the longest question
_PREFIXES = ("", "/api", "/linking_api")  # of the public server: its client asks for linkings below the last


def create_app(kb: KnowledgeBase, embed: Embedding | None = None, hosts: Sequence[str] = ()) -> Starlette:
    """Return the application; `embed` as of `ClocqService`, `hosts` as of `RequestGuard`."""
    functions = ClocqService(kb, embed).functions
    routes = [
        Route(prefix + path, _endpoint(shape, function), methods=["POST"])
        for path, (shape, function) in functions.items()
        for prefix in _PREFIXES
    ]
    tests = [Route(f"{prefix}/test", _answer_test) for prefix in _PREFIXES]
    paths = f"POST to {', '.join(sorted(functions))}, or GET /test"
    return build_app([*routes, *tests], paths, hosts, _BODY)


async def _answer_test(_: Request) -> Response:
    return PlainTextResponse("Test successful!")


def _endpoint(shape: type[msgspec.Struct], function: Callable[[Any], Any]) -> Callable[[Request], Awaitable[Response]]:
    def work(body: bytes) -> Response:
        try:
            return json_response(function(parse(body, shape)))
        except DataError as error:
            raise HTTPException(400, str(error)) from None

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(work, await request.body())

    return endpoint
