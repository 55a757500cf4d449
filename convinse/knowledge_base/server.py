"""The CLOCQ HTTP API over an embedded knowledge base, for CLOCQ's own Python client and for others.

Every path takes one JSON object by POST and answers JSON; `/test` takes GET. What is unknown gets a neutral answer, as
in CLOCQ: its id as label, no facts, no types, frequencies of 0. A request that cannot be understood gets 400 and
`{"error": "..."}`. The server reads only; it knows no users, and so listens on this machine unless told otherwise.
"""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import logging
import os
import re
import socket
from collections.abc import Callable
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from ..config import ClocqParams
from ..errors import ConvinseError, NetworkError, one_line
from ..evidence import Entity
from ..literals import date_entity, is_date
from .search_space import QuestionEntity, SearchSpace

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from .index import Fact, KnowledgeBase

LOGGER = logging.getLogger(__name__)
_MAX_BODY = 1_000_000  # bytes
_MAX_DISCARDED = 20 * _MAX_BODY  # of a body that is too large: read on, so that its sender gets to read the answer
_BODY_TIMEOUT = 30.0  # seconds for a request's body to arrive
_MAX_QUESTION = 10_000  # characters
_MAX_FACTS = 1_000_000
_ENGINES = 16  # search spaces that are kept ready, one for each set of parameters
_ID = re.compile(r"[QP][1-9][0-9]{0,17}")
_LOOPBACK_NAMES = ("localhost", "ip6-localhost")

Limit = Annotated[int, msgspec.Meta(ge=1, le=_MAX_FACTS)]


class _Item(msgspec.Struct):
    item: str


class _Pair(msgspec.Struct):
    item1: str
    item2: str


class _Neighborhood(msgspec.Struct):
    item: str
    p: Limit | None = None
    include_labels: bool | None = None
    include_type: bool | None = None


class _Question(msgspec.Struct):
    question: Annotated[str, msgspec.Meta(max_length=_MAX_QUESTION)]
    parameters: ClocqParams | None = None
    include_labels: bool | None = None
    include_type: bool | None = None


class ClocqService:
    """The functions of the CLOCQ API, from checked requests to plain values; safe to call from several threads."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self._engine = functools.lru_cache(maxsize=_ENGINES)(self._new_engine)
        self._engine(ClocqParams())  # ready before the first request

    @property
    def functions(self) -> dict[str, tuple[type[msgspec.Struct], Callable[[Any], Any]]]:
        """Path -> the shape of its request, and what answers it."""
        kb = self._kb
        return {
            "/search_space": (_Question, self._search_space),
            "/entity_linking": (_Question, self._entity_linking),
            "/neighborhood": (_Neighborhood, lambda r: self._neighborhood(r, kb.neighborhood)),
            "/two_hop_neighborhood": (_Neighborhood, lambda r: self._neighborhood(r, kb.two_hop_neighborhood)),
            "/connect": (_Pair, lambda r: kb.connect(_checked(r.item1, "item1"), _checked(r.item2, "item2"))),
            "/connectivity_check": (_Pair, self._connectivity),
            "/item_to_label": (_Item, lambda r: self._label(_checked(r.item))),
            "/item_to_labels": (_Item, lambda r: [self._label(_checked(r.item))]),
            "/item_to_aliases": (_Item, lambda r: kb.aliases(_checked(r.item))),
            "/item_to_description": (_Item, lambda r: kb.description(_checked(r.item))),
            "/item_to_types": (_Item, lambda r: kb.types_of(_checked(r.item))),
            "/item_to_type": (_Item, lambda r: self._type(_checked(r.item))),
            "/frequency": (_Item, lambda r: list(kb.frequencies(_checked(r.item)))),
        }

    def _new_engine(self, params: ClocqParams) -> SearchSpace:
        return SearchSpace(self._kb, params, params.p_setting)

    def _search_space(self, request: _Question) -> dict[str, Any]:
        facts, entities = self._search(request)
        return search_space_answer(self._facts([fact.fact for fact in facts], request), entities)

    def _entity_linking(self, request: _Question) -> list[QuestionEntity]:
        return self._search(request)[1]

    def _search(self, request: _Question) -> tuple[list[Any], list[QuestionEntity]]:
        params = request.parameters or ClocqParams()
        if params.bm25_limit is True:
            raise _BadRequestError("parameters.bm25_limit: give a number of facts, or false for no limit")
        return self._engine(params).search(request.question)

    def _neighborhood(self, request: _Neighborhood, look_up: Callable[[str, int], list[Fact]]) -> list[Any]:
        limit = 1000 if request.p is None else request.p
        return self._facts(look_up(_checked(request.item), limit), request)

    def _connectivity(self, request: _Pair) -> float:
        found = self._kb.connectivity(_checked(request.item1, "item1"), _checked(request.item2, "item2"))
        return 0.5 if found == 0.5 else int(found)  # 1, not 1.0, as CLOCQ writes it

    def _label(self, entity_id: str) -> str:
        if is_date(entity_id):
            year, month, day = (int(part) for part in entity_id.removesuffix("T00:00:00Z").rsplit("-", 2))
            whole_year = month == day == 1
            return date_entity(year, *(() if whole_year else (month, day)))["label"]
        return self._kb.label(entity_id)

    def _type(self, entity_id: str) -> Entity | None:
        return next(iter(self._kb.types_of(entity_id)), None)

    def _facts(self, facts: list[Fact], request: _Neighborhood | _Question) -> list[Any]:
        """Facts as ids, as entities, or as entities with their types: dates, numbers and words have none."""
        if request.include_labels is False:
            return [[entity["id"] for entity in fact] for fact in facts]
        if not request.include_type:
            return facts
        types: dict[str, Entity | None] = {}
        for fact in facts:
            for entity in fact:
                if entity["id"] not in types:
                    known = _ID.fullmatch(entity["id"]) is not None
                    types[entity["id"]] = self._type(entity["id"]) if known else None
        return [[{**entity, "type": types[entity["id"]]} for entity in fact] for fact in facts]


class _BadRequestError(Exception):
    """The text says what is wrong with a request."""


def search_space_answer(facts: list[Any], entities: list[QuestionEntity]) -> dict[str, Any]:
    """What `/search_space` answers."""
    return {"kb_item_tuple": entities, "search_space": facts}


def _checked(entity_id: str, key: str = "item") -> str:
    """An id as it is. Dates pass, too: CLOCQ counts them as items, and they stand in facts."""
    if not _ID.fullmatch(entity_id) and not is_date(entity_id):
        raise _BadRequestError(f"{key}: {entity_id[:50]!r} is no id; give one such as Q42 or P31")
    return entity_id


def create_app(kb: KnowledgeBase) -> Starlette:
    """The ASGI application; run it in any ASGI server, or see `serve`."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    service = ClocqService(kb)

    async def test(_: Request) -> Response:
        return PlainTextResponse("Test successful!")

    async def refuse(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        known = ", ".join(sorted(service.functions))
        text = {404: f"unknown path; known: {known}, /test", 405: "wrong method; use POST (GET for /test)"}
        return _answer({"error": text.get(error.status_code, error.detail)}, error.status_code, error.headers)

    routes = [Route(path, _endpoint(shape, function), methods=["POST"]) for path, (shape, function) in service.functions.items()]  # fmt: skip
    return Starlette(routes=[*routes, Route("/test", test)], exception_handlers={HTTPException: refuse})


def _endpoint(shape: type[msgspec.Struct], function: Callable[[Any], Any]) -> Callable[..., Any]:
    """An ASGI endpoint: the body is read here, the work is done in a thread."""
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import ClientDisconnect

    def work(body: bytes) -> tuple[bytes, int]:
        try:
            return msgspec.json.encode(function(_parse(body, shape))), 200
        except _BadRequestError as error:
            return _error(str(error)), 400
        except ConvinseError as error:
            LOGGER.error("%s", one_line(error))
            return _error(one_line(error)), 500
        except Exception:  # whatever it is: the client gets no traceback, and the server goes on
            LOGGER.exception("a request failed")
            return _error("the server failed; its log says why"), 500

    async def endpoint(request: Request) -> Response:
        from starlette.responses import Response

        try:
            body = await asyncio.wait_for(_body(request), _BODY_TIMEOUT)
        except (asyncio.TimeoutError, TimeoutError):  # not yet the same in Python 3.10
            return _answer({"error": f"no whole body within {_BODY_TIMEOUT:.0f} s"}, 408, {"Connection": "close"})
        except ClientDisconnect:
            return Response(status_code=400)
        if body is None:
            return _answer({"error": f"the body is larger than {_MAX_BODY} bytes"}, 413, {"Connection": "close"})
        content, status = await run_in_threadpool(work, body)
        return Response(content, status, media_type="application/json")

    return endpoint


async def _body(request: Request) -> bytes | None:
    """The body, or None when it is too large."""
    blocks = []
    size = 0
    async for block in request.stream():
        size += len(block)
        if size <= _MAX_BODY:
            blocks.append(block)
        elif size > _MAX_DISCARDED:
            break
    return b"".join(blocks) if size <= _MAX_BODY else None


def _parse(body: bytes, shape: type[msgspec.Struct]) -> Any:
    try:
        return msgspec.json.decode(body, type=shape)
    except msgspec.ValidationError as error:
        text, _, place = str(error).partition(" - at `$.")
        raise _BadRequestError(f"{place.rstrip('`')}: {text}" if place else text) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise _BadRequestError(f"the body is not JSON: {one_line(error)}") from None


def _error(text: str) -> bytes:
    return msgspec.json.encode({"error": text})


def _answer(value: Any, status: int, headers: Any = None) -> Response:
    from starlette.responses import Response

    return Response(msgspec.json.encode(value), status, headers, media_type="application/json")


def serve(
    kb: KnowledgeBase, host: str = "127.0.0.1", port: int = 7777, ready: Callable[[str], None] | None = None
) -> None:
    """Serve until Ctrl-C or SIGTERM; requests that are being answered get a few seconds to end.

    Args:
        kb: the knowledge base.
        host: the address to listen on; others than loopback are warned of, as everyone there may ask.
        port: the port; 0 takes a free one.
        ready: called with the server's URL once it answers, and a signal ends it in order.

    Raises:
        NetworkError: `host` is no address of this machine, or the port is taken.
    """
    app = create_app(kb)
    with closing(_listen(host, port)) as listener:
        address = _url(listener)
        if not _is_loopback(host):
            LOGGER.warning("%s: reachable from other machines; the server asks nobody for a password", address)
        server = uvicorn_server(app, ready and functools.partial(ready, address))
        with suppress(KeyboardInterrupt):  # uvicorn ends in order first, then raises what it caught
            server.run(sockets=[listener])


def uvicorn_server(app: Starlette, started: Callable[[], None] | None = None) -> Any:
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
            timeout_graceful_shutdown=5,
        )
    )


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise NetworkError(f"{host}: cannot listen there ({one_line(error)}); choose another --host") from None
    try:
        if os.name == "posix":  # else a port stays taken for minutes after a server has ended
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise NetworkError(
            f"{host}:{port}: cannot listen there ({one_line(error)}); choose another --host or --port"
        ) from None
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _is_loopback(host: str) -> bool:
    if host in _LOOPBACK_NAMES:
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False
