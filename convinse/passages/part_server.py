"""A passage index, or a part of one, over HTTP: what `retrieve serve` serves to `part_client`.

`GET /` says which part of what it is; `POST /search` (`questions`, `top`) answers the best passages of each as number, id and
score; `POST /passages` (`numbers`) answers these. Every answer names the index by its build id. The server reads only, and knows no users.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from ..support.http_limits import Limits
from ..support.http_server import JsonEndpoint, answer, parse, refusing
from ..support.http_work import RefusedError, WorkQueue
from .blocks import Passage
from .index import Hit
from .layout import Parameters, PartOfIndex
from .parts import MOST_PASSAGES

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from .parts import AnyIndex

LIMITS = Limits()
_LONGEST = 10_000  # characters of a question


class PartSearch(msgspec.Struct):
    """A request of `/search`."""

    questions: Annotated[
        list[Annotated[str, msgspec.Meta(max_length=_LONGEST)]], msgspec.Meta(max_length=MOST_PASSAGES)
    ]
    top: Annotated[int, msgspec.Meta(ge=1, le=MOST_PASSAGES)] = 10


class PartNumbers(msgspec.Struct):
    """A request of `/passages`."""

    numbers: Annotated[list[Annotated[int, msgspec.Meta(ge=0)]], msgspec.Meta(max_length=MOST_PASSAGES)]


class PartAnswer(msgspec.Struct):
    """The answer of any path; `GET /` has none of the lists."""

    part: PartOfIndex
    parameters: Parameters
    hits: list[list[Hit]] = []
    passages: list[Passage] = []


def create_app(index: AnyIndex, limits: Limits = LIMITS) -> Starlette:
    """The ASGI application; see `http_server.run`."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.routing import Route

    endpoint, queue = JsonEndpoint(limits), WorkQueue(limits)
    own = functools.partial(PartAnswer, index.part, index.parameters)

    async def about(_: Request) -> Response:
        return answer(own())

    def search(request: PartSearch) -> PartAnswer:
        if len(request.questions) * request.top > MOST_PASSAGES:
            raise RefusedError(f"questions: {MOST_PASSAGES} passages at most, as many as `top` for each of them")
        return own(hits=index.search_all(request.questions, request.top))

    def passages(request: PartNumbers) -> PartAnswer:
        if any(number >= len(index) for number in request.numbers):
            raise RefusedError(f"numbers: there are {len(index)} passages, from 0")
        return own(passages=index.passages(request.numbers))

    def in_thread(shape: type, function: Callable[[Any], PartAnswer]) -> Callable[[bytes], Awaitable[Any]]:
        def work(body: bytes) -> msgspec.Raw:
            return msgspec.Raw(msgspec.json.encode(function(parse(body, shape))))

        return functools.partial(queue.run, work)

    routes = [
        Route("/", about, methods=["GET"]),
        Route("/search", endpoint(in_thread(PartSearch, search)), methods=["POST"]),
        Route("/passages", endpoint(in_thread(PartNumbers, passages)), methods=["POST"]),
    ]
    refuse = refusing({404: "unknown path; known: /, /search, /passages", 405: "wrong method; use POST (GET for /)"})
    return Starlette(routes=routes, exception_handlers={HTTPException: refuse})
