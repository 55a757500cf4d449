"""A client of the CLOCQ HTTP API: of the public server, or of `convinse kb serve`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from ..config import ClocqParams
from ..records.evidence import Entity
from ..records.literals import is_date, is_number
from ..records.representation import QuestionEntity
from ..support.errors import ConfigError, NetworkError, one_line
from ..support.mediawiki import check_addresses
from ..support.web import WebSession
from .items import FactEntities
from .search_space import SpaceFact, to_space_facts

_REMEDY = "check clocq_host and clocq_port, or use the embedded engine (clocq_use_api: false)"


class _LabelledItem(msgspec.Struct):
    id: str | None = None
    label: str | None = None


class _MentionedItem(msgspec.Struct):
    item: _LabelledItem | None = None
    question_word: str | None = None
    score: float | None = None
    rank: int | None = None


_Fact = list[_LabelledItem | None]


class _SpaceAnswer(msgspec.Struct):
    kb_item_tuple: list[_MentionedItem | None]
    search_space: list[_Fact | None]


class ClocqApi:
    """The functions of the CLOCQ HTTP API that retrieval needs. No request is sent before the first call.

    Args:
        host: address of the server, such as `https://clocq.mpi-inf.mpg.de/api` or `http://localhost`.
        port: appended to `host`, except 443, as in CLOCQ's client.
    """

    def __init__(self, host: str, port: int | str) -> None:
        if not str(port).isascii() or not str(port).isdigit() or not 0 < int(port) < 65536:
            raise ConfigError(f"clocq_port: '{port}' is not a port; give a number from 1 to 65535")
        address = host.strip().rstrip("/")
        address = address if "://" in address else f"http://{address}"
        self.address = address if int(port) == 443 else f"{address}:{int(port)}"
        check_addresses({"clocq_host": self.address})
        self._web = WebSession(remedy=_REMEDY)

    def search_space(self, question: str, params: ClocqParams, p: int) -> tuple[list[SpaceFact], list[QuestionEntity]]:
        """Return the facts of a question's search space, pruned at `p`, and its items, without the server's padding."""
        parameters = msgspec.to_builtins(params)
        parameters["p_setting"] = min(p, params.p_setting)
        answer = self._post("/search_space", _SpaceAnswer, question=question, parameters=parameters,
                           include_labels=True, include_type=False)  # fmt: skip
        facts: dict[tuple[str, ...], FactEntities] = {}
        for fact in _facts(answer.search_space):  # the public API repeats facts of two items
            facts.setdefault(tuple(entity["id"] for entity in fact), fact)
        entities: dict[str, QuestionEntity] = {}
        for mentioned in filter(None, answer.kb_item_tuple):
            item = _entity(mentioned.item)
            if item is not None:
                word, score, rank = mentioned.question_word or "", mentioned.score or 0.0, mentioned.rank or 0
                entity = QuestionEntity(item=item, question_word=word, score=score, rank=rank)
                entities.setdefault(item["id"], entity)
        question_entities = list(entities.values())
        return to_space_facts(facts.values(), question_entities), question_entities

    def neighborhood(self, item_id: str, p: int) -> list[FactEntities]:
        """Return the facts that an item occurs in, pruned at `p`. Raises `NetworkError` as `search_space` does."""
        facts = self._post("/neighborhood", list[_Fact | None], item=item_id, p=p,
                           include_labels=True, include_type=False)  # fmt: skip
        return list(_facts(facts))

    def close(self) -> None:
        """Close the connections."""
        self._web.close()

    def _post(self, path: str, shape: Any, **request: Any) -> Any:
        answer = self._web.post_json(self.address + path, request)
        try:
            return msgspec.convert(answer, shape)
        except msgspec.ValidationError as error:
            raise NetworkError(
                f"{self.address}{path}: not an answer of the CLOCQ API ({one_line(error)}); {_REMEDY}"
            ) from None


def _facts(facts: Iterable[_Fact | None]) -> Iterator[FactEntities]:
    # padding has no ids, and a qualifier needs both of its parts
    for fact in facts:
        entities = [None if item is None else _entity(item) for item in fact or ()]
        whole = [entity for entity in entities[:3] if entity is not None]
        if len(whole) < 3:
            continue
        for pair in zip(entities[3::2], entities[4::2], strict=False):
            whole += [entity for entity in pair if None not in pair and entity is not None]
        yield whole


def _entity(item: _LabelledItem | None) -> Entity | None:
    if item is None or not item.id:
        return None
    bare = item.id.strip('"')  # the public API puts the ids of dates and numbers in quotes
    if bare != item.id and (is_date(bare) or is_number(bare)):
        return {"id": bare, "label": (item.label or bare).strip('"')}
    return {"id": item.id, "label": item.label or item.id}
