"""The search space of a question: its items, and the facts around them."""

from __future__ import annotations

from typing import NamedTuple, TypedDict

from ..config import ClocqParams
from ..evidence import Entity
from ..ranking import bm25_order
from .index import Fact, KnowledgeBase
from .linking import EntityLinker


class QuestionEntity(TypedDict):
    """An item that a mention of the question stands for, in CLOCQ's shape."""

    item: Entity
    question_word: str
    score: float
    rank: int


class SpaceFact(NamedTuple):
    """A fact and the question entity that it was retrieved for."""

    fact: Fact
    entity: Entity


class SearchSpace:
    """CLOCQ's search space retrieval over the embedded knowledge base."""

    def __init__(self, kb: KnowledgeBase, params: ClocqParams, p: int) -> None:
        self.kb = kb
        self.linker = EntityLinker(kb, params)
        self._params = params
        self._limit = min(p, params.p_setting)

    def search(self, text: str) -> tuple[list[SpaceFact], list[QuestionEntity]]:
        """The facts around the items that `text` mentions, and these items, best first."""
        entities = self.question_entities(text)
        facts: dict[str, SpaceFact] = {}
        for question_entity in entities:
            item = question_entity["item"]
            for fact in self.kb.neighborhood(item["id"], self._limit):
                facts.setdefault(" ".join(entity["id"] for entity in fact), SpaceFact(fact, item))
        found = list(facts.values())
        if self._params.bm25_limit and len(found) > self._params.bm25_limit:
            order = bm25_order(text, [fact_text(fact.fact) for fact in found])
            found = [found[place] for place, _ in order[: self._params.bm25_limit]]
        return found, entities

    def question_entities(self, text: str) -> list[QuestionEntity]:
        """The items of the mentions in `text`, best first; an item of two mentions counts once."""
        entities: dict[str, QuestionEntity] = {}
        for mention in self.linker.link(text):
            for rank, candidate in enumerate(mention.candidates):
                item: Entity = {"id": candidate.id, "label": candidate.label}
                new = QuestionEntity(item=item, question_word=mention.surface, score=candidate.score, rank=rank)
                old = entities.get(candidate.id)
                if old is None or old["score"] < candidate.score:
                    entities[candidate.id] = new
        return sorted(entities.values(), key=lambda e: (e["rank"], -e["score"], e["item"]["id"]))


def fact_text(fact: Fact) -> str:
    """A fact in words: subject, predicate, object, qualifier predicate, qualifier object ..."""
    return ", ".join(entity["label"] for entity in fact)
