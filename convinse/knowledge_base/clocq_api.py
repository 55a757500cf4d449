"""The CLOCQ API over an embedded knowledge base: requests and their answers.

Each path takes one JSON object and answers JSON. As in CLOCQ, an unknown item has its id as label and alias, `"None"` as
description, no facts, no types and frequencies of 0. An invalid request raises `DataError`.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from ..config import ClocqParams
from ..records.evidence import Entity
from ..records.literals import date_entity, is_date
from ..records.representation import QuestionEntity
from ..support.errors import DataError
from .items import INSTANCE_OF, OCCUPATION
from .linking import EntityLinker
from .relations import Embedding, RelationLinker
from .search_space import SearchSpace, is_named

if TYPE_CHECKING:
    from .index import KnowledgeBase
    from .items import FactEntities

LOGGER = logging.getLogger(__name__)
_ENGINES = 16  # search spaces in memory, one for each set of parameters
_ID = re.compile(r"[QP][1-9][0-9]{0,17}")
_MONTHS = 12  # a time stamp with a larger number is a literal
_LONGEST_QUESTION = 10_000  # characters
_MOST_FACTS = 1_000_000  # the largest `p`, which also stands for all facts: CLOCQ's 0
_P = 1000  # CLOCQ's default
_FactCount = Annotated[int, msgspec.Meta(ge=0, le=_MOST_FACTS)]


class ItemRequest(msgspec.Struct):
    """A request about an item, a property or a literal: `item`, or about two, `item1` and `item2`."""

    item: str | None = None
    item1: str | None = None
    item2: str | None = None


class NeighborhoodRequest(ItemRequest):
    """A request for facts."""

    p: int | str | bool | None = None
    include_labels: bool | None = None
    include_type: bool | None = None


class QuestionRequest(msgspec.Struct):
    """A request about a question; a key of `parameters` overrides the same key beside it."""

    question: Annotated[str, msgspec.Meta(max_length=_LONGEST_QUESTION)]
    parameters: dict[str, Any] | None = None
    k: int | str | None = None
    p: int | str | bool | None = None
    p_setting: int | str | bool | None = None
    top_ranked: bool | None = None
    include_labels: bool | None = None
    include_type: bool | None = None

    @property
    def params(self) -> ClocqParams:
        """The parameters with their defaults; `p` is an alias of `p_setting`. Raises `DataError`."""
        values = {key: value for key, value in (self.parameters or {}).items() if value is not None}
        numbers = values.pop("p_setting", None), values.pop("p", None), self.p_setting, self.p
        if p := [number for number in numbers if number is not None]:
            values["p_setting"] = _number_of_facts(p[0])
        if (k := values.pop("k", self.k)) is not None:
            values["k"] = "AUTO" if str(k).upper() == "AUTO" else k
        try:
            params = msgspec.convert(values, ClocqParams, strict=False)
        except msgspec.ValidationError as error:
            text, _, place = str(error).partition(" - at `$.")
            raise DataError(f"parameters.{place.rstrip('`')}: {text}" if place else f"parameters: {text}") from None
        if params.bm25_limit is True:
            raise DataError("parameters.bm25_limit: give a number of facts, or false for no limit")
        return params


def _number_of_facts(p: Any) -> int:
    """Return `p` as a number; 0 and false, as in CLOCQ, prune nothing."""
    try:
        number = 0 if p is False else msgspec.convert(p, _FactCount, strict=False)
    except msgspec.ValidationError:
        expected = f"give one from 1 to {_MOST_FACTS}, or 0 for all"
        raise DataError(f"p: {str(p)[:50]!r} is not a number of facts; {expected}") from None
    return number or _MOST_FACTS


class ClocqService:
    """The functions of the API, from checked requests to plain values; safe to call from several threads."""

    def __init__(self, kb: KnowledgeBase, embed: Embedding | None = None) -> None:
        self._kb, self._embed = kb, embed
        self._engine = functools.lru_cache(maxsize=_ENGINES)(lambda params: SearchSpace(kb, params, params.p_setting))
        self._engine(ClocqParams())  # ready before the first request

    @property
    def functions(self) -> dict[str, tuple[type[msgspec.Struct], Callable[[Any], Any]]]:
        """The shape of each path's request, and the function that answers it."""
        kb = self._kb

        def search_space(request: QuestionRequest) -> dict[str, Any]:
            facts, entities = self._engine(request.params).search(request.question)
            return search_space_answer(self._facts([fact for fact, _ in facts], request), entities)

        def entity_linking(request: QuestionRequest) -> dict[str, Any]:
            entities = filter(is_named, self._engine(request.params).question_entities(request.question))
            return linking_answer([(entity["item"], entity["question_word"]) for entity in entities])

        def relation_linking(request: QuestionRequest) -> dict[str, Any]:
            _ = request.params  # only checked; the relation linker has its own parameters
            return linking_answer(self._relations.link(request.question, request.top_ranked is not False))

        def connectivity(first: str, second: str) -> float:
            distance = kb.connectivity(first, second)
            return 0.5 if distance == 0.5 else int(distance)  # 1, not 1.0, as CLOCQ writes it

        return {
            "/search_space": (QuestionRequest, search_space),
            "/entity_linking": (QuestionRequest, entity_linking),
            "/relation_linking": (QuestionRequest, relation_linking),
            "/neighborhood": (NeighborhoodRequest, lambda r: self._neighborhood(r, kb.neighborhood)),
            "/two_hop_neighborhood": (NeighborhoodRequest, lambda r: self._neighborhood(r, kb.two_hop_neighborhood)),
            "/connect": (ItemRequest, lambda r: self._pair(r, lambda first, second: kb.connect(first, second) or None)),
            "/connectivity_check": (ItemRequest, lambda r: self._pair(r, connectivity)),
            "/item_to_label": (ItemRequest, lambda r: self._label(_item(r))),
            "/item_to_labels": (ItemRequest, lambda r: [self._label(_item(r))]),
            "/item_to_aliases": (ItemRequest, lambda r: kb.aliases(_item(r)) or [_item(r)]),
            "/item_to_description": (ItemRequest, lambda r: kb.description(_item(r)) or "None"),
            "/item_to_types": (ItemRequest, lambda r: None if r.item is None else self._types(r.item)),
            "/item_to_type": (ItemRequest, lambda r: None if r.item is None else self._type(r.item)),
            "/frequency": (ItemRequest, lambda r: list(kb.frequencies(_item(r)))),
        }

    @functools.cached_property
    def _relations(self) -> RelationLinker:
        return RelationLinker(self._kb, EntityLinker(self._kb, ClocqParams()), self._embed)

    def _neighborhood(
        self, request: NeighborhoodRequest, look_up: Callable[[str, int], list[FactEntities]]
    ) -> list[Any]:
        if request.item is None:
            return []
        return self._facts(look_up(request.item, _P if request.p is None else _number_of_facts(request.p)), request)

    def _pair(self, request: ItemRequest, relate: Callable[[str, str], Any]) -> Any:
        return None if request.item1 is None or request.item2 is None else relate(request.item1, request.item2)

    def _label(self, item: str) -> str:
        if is_date(bare := item.strip('"')):
            year, month, day = (int(part) for part in bare.removesuffix("T00:00:00Z").rsplit("-", 2))
            if month <= _MONTHS:
                whole_year = month == day == 1
                return date_entity(year, *(() if whole_year else (month, day)))["label"]
        return self._kb.label(item) if _ID.fullmatch(item) else item  # a literal is its own label

    def _types(self, item: str) -> list[Entity]:
        classes = [*self._kb.objects(item, INSTANCE_OF), *self._kb.objects(item, OCCUPATION)]
        return [self._kb.entity(item) for item in dict.fromkeys(classes)]

    def _type(self, item: str) -> Entity | None:
        return max(self._types(item), key=lambda kind: self._kb.frequency(kind["id"]), default=None)

    def _facts(self, facts: list[FactEntities], request: NeighborhoodRequest | QuestionRequest) -> list[Any]:
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
    """Return the answer of `/search_space`."""
    return {"kb_item_tuple": entities, "search_space": facts}


def linking_answer(linkings: Iterable[tuple[Entity, str]]) -> dict[str, Any]:
    """Return the answer of `/entity_linking` and `/relation_linking`."""
    linked = [{"item": item, "mention": mention} for item, mention in linkings]
    return {"linkings": linked, "mentions": list(dict.fromkeys(linking["mention"] for linking in linked))}


def _item(request: ItemRequest) -> str:
    if request.item is None:
        raise DataError("item: missing or null; give an id such as Q42 or P31, or a literal")
    return request.item
