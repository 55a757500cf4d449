"""The CLOCQ HTTP API over an embedded knowledge base, for CLOCQ's own Python client and for others.

Every path takes one JSON object by POST and answers JSON; `/test` takes GET. What is unknown gets what CLOCQ gives: its id
as label and alias, `"None"` as description, no facts, no types, frequencies of 0. A request that cannot be understood gets
400 and `{"error": "..."}`. The server reads only; it knows no users, and so listens on this machine unless told otherwise.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from ..config import ClocqParams
from ..records.evidence import Entity
from ..records.literals import date_entity, is_date
from ..records.representation import QuestionEntity
from ..support.http_limits import Limits
from ..support.http_server import JsonEndpoint, parse, refusing
from ..support.http_work import RefusedError, WorkQueue
from .clocq_requests import ItemRequest, NeighborhoodRequest, PairRequest, QuestionRequest
from .linking import EntityLinker
from .relations import Embedding, RelationLinker
from .search_space import SearchSpace, is_named

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from .index import FactEntities, KnowledgeBase

LIMITS = Limits()
_ENGINES = 16  # search spaces that are kept ready, one for each set of parameters
_ID = re.compile(r"[QP][1-9][0-9]{0,17}")
_INSTANCE_OF, _OCCUPATION = 31, 106  # what CLOCQ calls types
_MONTHS = 12
_PREFIXES = ("", "/api", "/linking_api")  # the public server's: its client asks for linkings below the second


class ClocqService:
    """The functions of the CLOCQ API, from checked requests to plain values; safe to call from several threads.

    Args:
        kb: the knowledge base.
        embed: the model of relation linking; see `RelationLinker`.
    """

    def __init__(self, kb: KnowledgeBase, embed: Embedding | None = None) -> None:
        self._kb, self._embed = kb, embed
        self._engine = functools.lru_cache(maxsize=_ENGINES)(lambda params: SearchSpace(kb, params, params.p_setting))
        self._engine(ClocqParams())  # ready before the first request

    @property
    def functions(self) -> dict[str, tuple[type[msgspec.Struct], Callable[[Any], Any]]]:
        """Path -> the shape of its request, and what answers it."""
        kb = self._kb
        return {
            "/search_space": (QuestionRequest, self._search_space),
            "/entity_linking": (QuestionRequest, self._entity_linking),
            "/relation_linking": (QuestionRequest, self._relation_linking),
            "/neighborhood": (NeighborhoodRequest, lambda r: self._neighborhood(r, kb.neighborhood)),
            "/two_hop_neighborhood": (NeighborhoodRequest, lambda r: self._neighborhood(r, kb.two_hop_neighborhood)),
            "/connect": (PairRequest, lambda r: self._pair(r, lambda first, second: kb.connect(first, second) or None)),
            "/connectivity_check": (PairRequest, lambda r: self._pair(r, self._connectivity)),
            "/item_to_label": (ItemRequest, lambda r: self._label(_item(r))),
            "/item_to_labels": (ItemRequest, lambda r: [self._label(_item(r))]),
            "/item_to_aliases": (ItemRequest, lambda r: kb.aliases(_item(r)) or [_item(r)]),
            "/item_to_description": (ItemRequest, lambda r: kb.description(_item(r)) or "None"),
            "/item_to_types": (ItemRequest, lambda r: None if r.item is None else self._types(r.item)),
            "/item_to_type": (ItemRequest, lambda r: None if r.item is None else self._type(r.item)),
            "/frequency": (ItemRequest, lambda r: list(kb.frequencies(_item(r)))),
        }

    def _search_space(self, request: QuestionRequest) -> dict[str, Any]:
        facts, entities = self._engine(request.params).search(request.question)
        return search_space_answer(self._facts([fact.fact for fact in facts], request), entities)

    def _entity_linking(self, request: QuestionRequest) -> dict[str, Any]:
        entities = filter(is_named, self._engine(request.params).question_entities(request.question))
        return linking_answer([(entity["item"], entity["question_word"]) for entity in entities])

    def _relation_linking(self, request: QuestionRequest) -> dict[str, Any]:
        _ = request.params  # its faults are told, too; CLOCQ links relations with parameters of its own
        return linking_answer(self._relations.link(request.question, request.top_ranked is not False))

    @functools.cached_property
    def _relations(self) -> RelationLinker:
        return RelationLinker(self._kb, EntityLinker(self._kb, ClocqParams()), self._embed)

    def _neighborhood(
        self, request: NeighborhoodRequest, look_up: Callable[[str, int], list[FactEntities]]
    ) -> list[Any]:
        return [] if request.item is None else self._facts(look_up(request.item, request.pruned_at), request)

    def _pair(self, request: PairRequest, relate: Callable[[str, str], Any]) -> Any:
        return None if request.item1 is None or request.item2 is None else relate(request.item1, request.item2)

    def _connectivity(self, first: str, second: str) -> float:
        distance = self._kb.connectivity(first, second)
        return 0.5 if distance == 0.5 else int(distance)  # 1, not 1.0, as CLOCQ writes it

    def _label(self, item: str) -> str:
        if is_date(bare := item.strip('"')):
            year, month, day = (int(part) for part in bare.removesuffix("T00:00:00Z").rsplit("-", 2))
            if month <= _MONTHS:
                whole_year = month == day == 1
                return date_entity(year, *(() if whole_year else (month, day)))["label"]
        return self._kb.label(item) if _ID.fullmatch(item) else item  # a literal is its own label

    def _types(self, item: str) -> list[Entity]:
        classes = [*self._kb.objects(item, _INSTANCE_OF), *self._kb.objects(item, _OCCUPATION)]
        return [self._kb.entity(own) for own in dict.fromkeys(classes)]

    def _type(self, item: str) -> Entity | None:
        return max(self._types(item), key=lambda own: self._kb.frequency(own["id"]), default=None)

    def _facts(self, facts: list[FactEntities], request: NeighborhoodRequest | QuestionRequest) -> list[Any]:
        """Facts as ids, as entities, or as entities with their types: dates, numbers and words have none."""
        if request.include_labels is False:
            return [[entity["id"] for entity in fact] for fact in facts]
        if not request.include_type:
            return facts
        types: dict[str, Entity | None] = {}
        for fact in facts:
            for entity in fact:
                if entity["id"] not in types:
                    types[entity["id"]] = self._type(entity["id"])
        return [[{**entity, "type": types[entity["id"]]} for entity in fact] for fact in facts]


def search_space_answer(facts: list[Any], entities: list[QuestionEntity]) -> dict[str, Any]:
    """What `/search_space` answers."""
    return {"kb_item_tuple": entities, "search_space": facts}


def linking_answer(linkings: Iterable[tuple[Entity, str]]) -> dict[str, Any]:
    """What `/entity_linking` and `/relation_linking` answer."""
    linked = [{"item": item, "mention": mention} for item, mention in linkings]
    return {"linkings": linked, "mentions": list(dict.fromkeys(linking["mention"] for linking in linked))}


def _item(request: ItemRequest) -> str:
    if request.item is None:
        raise RefusedError("item: missing or null; give an id such as Q42 or P31, or a literal")
    return request.item


def create_app(kb: KnowledgeBase, limits: Limits = LIMITS, embed: Embedding | None = None) -> Starlette:
    """The ASGI application; see `http_server.run`, or run it in any ASGI server; `embed` as of `ClocqService`."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    service, endpoint, queue = ClocqService(kb, embed), JsonEndpoint(limits), WorkQueue(limits)
    known = ", ".join(sorted(service.functions))
    refuse = refusing({404: f"unknown path; known: {known}, /test", 405: "wrong method; use POST (GET for /test)"})

    async def test(_: Request) -> Response:
        return PlainTextResponse("Test successful!")

    def in_thread(shape: type[msgspec.Struct], function: Callable[[Any], Any]) -> Callable[[bytes], Awaitable[Any]]:
        """The body is read in the event loop, the work is done in a thread."""

        def work(body: bytes) -> msgspec.Raw:
            return msgspec.Raw(msgspec.json.encode(function(parse(body, shape))))

        return functools.partial(queue.run, work)

    routes = [
        Route(prefix + path, endpoint(in_thread(shape, function)), methods=["POST"])
        for path, (shape, function) in service.functions.items()
        for prefix in _PREFIXES
    ]
    tests = [Route(f"{prefix}/test", test) for prefix in _PREFIXES]
    return Starlette(routes=[*routes, *tests], exception_handlers={HTTPException: refuse})
