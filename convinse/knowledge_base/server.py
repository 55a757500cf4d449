"""The CLOCQ HTTP API over an embedded knowledge base, for CLOCQ's own Python client and for others.

Every path takes one JSON object by POST and answers JSON; `/test` takes GET. What is unknown gets a neutral answer, as
in CLOCQ: its id as label, no facts, no types, frequencies of 0. A request that cannot be understood gets 400 and
`{"error": "..."}`. The server reads only; it knows no users, and so listens on this machine unless told otherwise.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from ..config import ClocqParams
from ..records.evidence import Entity
from ..records.literals import date_entity, is_date
from ..records.representation import QuestionEntity
from ..support.http_server import BadRequestError, json_endpoint, parse, refusing
from .search_space import SearchSpace

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from .index import FactEntities, KnowledgeBase

_MAX_BODY = 1_000_000  # bytes
_MAX_QUESTION = 10_000  # characters
_MAX_FACTS = 1_000_000
_ENGINES = 16  # search spaces that are kept ready, one for each set of parameters
_ID = re.compile(r"[QP][1-9][0-9]{0,17}")

Limit = Annotated[int, msgspec.Meta(ge=1, le=_MAX_FACTS)]


class _ItemRequest(msgspec.Struct):
    item: str


class _PairRequest(msgspec.Struct):
    item1: str
    item2: str


class _NeighborhoodRequest(msgspec.Struct):
    item: str
    p: Limit | None = None
    include_labels: bool | None = None
    include_type: bool | None = None


class _QuestionRequest(msgspec.Struct):
    question: Annotated[str, msgspec.Meta(max_length=_MAX_QUESTION)]
    parameters: ClocqParams | None = None
    include_labels: bool | None = None
    include_type: bool | None = None


class ClocqService:
    """The functions of the CLOCQ API, from checked requests to plain values; safe to call from several threads."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self._engine = functools.lru_cache(maxsize=_ENGINES)(lambda params: SearchSpace(kb, params, params.p_setting))
        self._engine(ClocqParams())  # ready before the first request

    @property
    def functions(self) -> dict[str, tuple[type[msgspec.Struct], Callable[[Any], Any]]]:
        """Path -> the shape of its request, and what answers it."""
        kb = self._kb
        return {
            "/search_space": (_QuestionRequest, self._search_space),
            "/entity_linking": (_QuestionRequest, lambda r: self._search(r)[1]),
            "/neighborhood": (_NeighborhoodRequest, lambda r: self._neighborhood(r, kb.neighborhood)),
            "/two_hop_neighborhood": (_NeighborhoodRequest, lambda r: self._neighborhood(r, kb.two_hop_neighborhood)),
            "/connect": (_PairRequest, lambda r: kb.connect(_checked(r.item1, "item1"), _checked(r.item2, "item2"))),
            "/connectivity_check": (_PairRequest, self._connectivity),
            "/item_to_label": (_ItemRequest, lambda r: self._label(_checked(r.item))),
            "/item_to_labels": (_ItemRequest, lambda r: [self._label(_checked(r.item))]),
            "/item_to_aliases": (_ItemRequest, lambda r: kb.aliases(_checked(r.item))),
            "/item_to_description": (_ItemRequest, lambda r: kb.description(_checked(r.item))),
            "/item_to_types": (_ItemRequest, lambda r: kb.types_of(_checked(r.item))),
            "/item_to_type": (_ItemRequest, lambda r: self._type(_checked(r.item))),
            "/frequency": (_ItemRequest, lambda r: list(kb.frequencies(_checked(r.item)))),
        }

    def _search_space(self, request: _QuestionRequest) -> dict[str, Any]:
        facts, entities = self._search(request)
        return search_space_answer(self._facts([fact.fact for fact in facts], request), entities)

    def _search(self, request: _QuestionRequest) -> tuple[list[Any], list[QuestionEntity]]:
        params = request.parameters or ClocqParams()
        if params.bm25_limit is True:
            raise BadRequestError("parameters.bm25_limit: give a number of facts, or false for no limit")
        return self._engine(params).search(request.question)

    def _neighborhood(
        self, request: _NeighborhoodRequest, look_up: Callable[[str, int], list[FactEntities]]
    ) -> list[Any]:
        limit = 1000 if request.p is None else request.p
        return self._facts(look_up(_checked(request.item), limit), request)

    def _connectivity(self, request: _PairRequest) -> float:
        distance = self._kb.connectivity(_checked(request.item1, "item1"), _checked(request.item2, "item2"))
        return 0.5 if distance == 0.5 else int(distance)  # 1, not 1.0, as CLOCQ writes it

    def _label(self, entity_id: str) -> str:
        if is_date(entity_id):
            year, month, day = (int(part) for part in entity_id.removesuffix("T00:00:00Z").rsplit("-", 2))
            whole_year = month == day == 1
            return date_entity(year, *(() if whole_year else (month, day)))["label"]
        return self._kb.label(entity_id)

    def _type(self, entity_id: str) -> Entity | None:
        return next(iter(self._kb.types_of(entity_id)), None)

    def _facts(self, facts: list[FactEntities], request: _NeighborhoodRequest | _QuestionRequest) -> list[Any]:
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


def search_space_answer(facts: list[Any], entities: list[QuestionEntity]) -> dict[str, Any]:
    """What `/search_space` answers."""
    return {"kb_item_tuple": entities, "search_space": facts}


def _checked(entity_id: str, key: str = "item") -> str:
    """An id as it is. Dates pass, too: CLOCQ counts them as items, and they stand in facts."""
    if not _ID.fullmatch(entity_id) and not is_date(entity_id):
        raise BadRequestError(f"{key}: {entity_id[:50]!r} is no id; give one such as Q42 or P31")
    return entity_id


def create_app(kb: KnowledgeBase) -> Starlette:
    """The ASGI application; see `http_server.run`, or run it in any ASGI server."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    service = ClocqService(kb)
    known = ", ".join(sorted(service.functions))
    refuse = refusing({404: f"unknown path; known: {known}, /test", 405: "wrong method; use POST (GET for /test)"})

    async def test(_: Request) -> Response:
        return PlainTextResponse("Test successful!")

    routes = [Route(path, _endpoint(shape, function), methods=["POST"]) for path, (shape, function) in service.functions.items()]  # fmt: skip
    return Starlette(routes=[*routes, Route("/test", test)], exception_handlers={HTTPException: refuse})


def _endpoint(shape: type[msgspec.Struct], function: Callable[[Any], Any]) -> Callable[..., Any]:
    """An ASGI endpoint: the body is read in the event loop, the work is done in a thread."""
    from starlette.concurrency import run_in_threadpool

    def work(body: bytes) -> msgspec.Raw:
        return msgspec.Raw(msgspec.json.encode(function(parse(body, shape))))

    async def in_thread(body: bytes) -> msgspec.Raw:
        return await run_in_threadpool(work, body)

    return json_endpoint(in_thread, _MAX_BODY)
