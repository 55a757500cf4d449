"""The search space of a question: its items, and the facts around them."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from ..config import ClocqParams
from ..language.language import Language, english
from ..records.evidence import Entity
from ..records.facts import fact_text
from ..records.representation import QuestionEntity
from .index import FactEntities, KnowledgeBase
from .linking import EntityLinker

_MAX_NAMED = 4  # items whose neighbours are compared
_MAX_BRIDGES = 3


class SpaceFact(NamedTuple):
    """A fact and the question entity that it was retrieved for."""

    fact: FactEntities
    entity: Entity


class SearchSpace:
    """CLOCQ's search space retrieval over the embedded knowledge base.

    Args:
        kb: the knowledge base.
        params: see `ClocqParams`.
        p: facts of an item that are looked at, at most.
        language: of the texts and the knowledge base; English by default.
    """

    def __init__(self, kb: KnowledgeBase, params: ClocqParams, p: int, language: Language | None = None) -> None:
        self.kb = kb
        self._language = language or english()
        self.linker = EntityLinker(kb, params, self._language)
        self._params = params
        self._limit = min(p, params.p_setting)

    def search(self, text: str) -> tuple[list[SpaceFact], list[QuestionEntity]]:
        """The facts around the items that `text` mentions, and these items, best first."""
        entities = self.question_entities(text)
        facts: dict[str, SpaceFact] = {}
        for question_entity in filter(is_named, entities):
            item = question_entity["item"]
            for fact in self.kb.neighborhood(item["id"], self._limit):
                facts.setdefault(" ".join(entity["id"] for entity in fact), SpaceFact(fact, item))
        kept = list(facts.values())
        if self._params.bm25_limit and len(kept) > self._params.bm25_limit:
            order = self._language.bm25.order(text, [fact_text(fact.fact) for fact in kept])
            kept = [kept[place] for place, _ in order[: self._params.bm25_limit]]
        return kept, entities

    def question_entities(self, text: str) -> list[QuestionEntity]:
        """The items of the mentions in `text`, best first; an item of two mentions counts once."""
        entities: dict[str, QuestionEntity] = {}
        for mention in self.linker.link(text, classes=True):
            for rank, candidate in enumerate(mention.candidates):
                item: Entity = {"id": candidate.id, "label": candidate.label}
                new = QuestionEntity(item=item, question_word=mention.surface, score=candidate.score, rank=rank)
                old = entities.get(candidate.id)
                if old is None or old["score"] < candidate.score:
                    entities[candidate.id] = new
        ranked = sorted(entities.values(), key=lambda e: (e["rank"], -e["score"], e["item"]["id"]))
        return ranked + self._bridges(text, ranked)

    def _bridges(self, text: str, entities: list[QuestionEntity]) -> list[QuestionEntity]:
        """Items that the question means without naming them: of the asked class, in facts with two items that it names.

        "Which film stars Jim Carrey and Laura Linney?" is about a film that both share a fact with.
        """
        types = self._language.answer_types
        nouns = (noun for noun in text.lower().split() if types.names_class(noun.strip("?,.!")))
        wanted = frozenset().union(*map(types.noun_types, nouns))
        named = [entity for entity in entities if entity["rank"] == 0][:_MAX_NAMED]
        if not wanted or len(named) < 2:
            return []
        own = {entity["item"]["id"] for entity in entities}
        times = Counter(
            item for entity in named for item in self.kb.neighbors(entity["item"]["id"], self._limit) if item not in own
        )
        shared = [item for item, count in times.items() if count > 1 and types.heads(self.kb.types(item)) & wanted]
        shared.sort(key=lambda item: (-times[item], -self.kb.frequency(item), int(item[1:])))
        score = min(entity["score"] for entity in named)
        return [
            QuestionEntity(item=self.kb.entity(item), question_word="", score=score, rank=rank)
            for rank, item in enumerate(shared[:_MAX_BRIDGES], 1)
        ]


def is_named(entity: QuestionEntity) -> bool:
    """Whether words of the question name an entity; else it is a bridge, whose facts are among those of the others."""
    return bool(entity["question_word"])
