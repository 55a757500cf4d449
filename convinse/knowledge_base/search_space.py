"""The search space of a question: its items and their facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ..config import ClocqParams
from ..language.language import Language, english
from ..records.evidence import Entity
from ..records.facts import fact_text
from ..records.representation import QuestionEntity
from .items import FactEntities, Items
from .linking import EntityLinker

_MAX_NAMED = 4  # items of the question whose neighbours are compared
_MAX_BRIDGES = 3  # items that connect these


SpaceFact = tuple[FactEntities, Entity]  # a fact, and the best item of the question in it


class SearchSpace:
    """CLOCQ's search spaces; an item with more than `p` (or `p_setting`) facts besides those as subject keeps only the latter."""

    def __init__(
        self,
        kb: Items,
        params: ClocqParams,
        p: int,
        language: Language | None = None,
        linker: EntityLinker | None = None,
    ) -> None:
        self.kb = kb
        self._language = language or english()
        self._linker = linker or EntityLinker(kb, params, self._language)
        self._params = params
        self._limit = min(p, params.p_setting)

    def search(
        self, text: str, entities: Sequence[QuestionEntity] | None = None
    ) -> tuple[list[SpaceFact], list[QuestionEntity]]:
        """Return the facts around the items of a text, and these items, best first.

        Without `entities`, the items that the text mentions are linked, and bridges between them are added without their facts.
        """
        items = self.question_entities(text) if entities is None else list(entities)
        facts = best_facts(text, facts_around(self.kb.neighborhood, items, self._limit), self._params, self._language)
        return facts, items + (self._bridges(text, items) if entities is None else [])

    def question_entities(self, text: str) -> list[QuestionEntity]:
        """Return the candidates of a text's mentions, best first; an item of several mentions counts once, with its best score."""
        entities: dict[str, QuestionEntity] = {}
        for mention in self._linker.link(text, classes=True):
            for entity in mention.meanings:
                before = entities.get(entity["item"]["id"])
                if before is None or before["score"] < entity["score"]:
                    entities[entity["item"]["id"]] = entity
        return sorted(entities.values(), key=lambda e: (e["rank"], -e["score"], e["item"]["id"]))

    def _bridges(self, text: str, entities: list[QuestionEntity]) -> list[QuestionEntity]:
        # the items that the question describes without a name: of the class it asks for, in facts with two items that it names;
        # "Which film stars Jim Carrey and Laura Linney?" is about a film that both share a fact with
        types = self._language.answer_types
        nouns = (noun for noun in text.lower().split() if types.names_class(noun.strip("?,.!")))
        classes = frozenset().union(*map(types.noun_types, nouns))
        named = [entity for entity in entities if entity["rank"] == 0][:_MAX_NAMED]
        if not classes or len(named) < 2:
            return []
        linked = {entity["item"]["id"] for entity in entities}
        neighbors = (item for entity in named for item in self.kb.neighbors(entity["item"]["id"], self._limit))
        counts = Counter(item for item in neighbors if item not in linked)
        shared = [item for item, count in counts.items() if count > 1 and types.heads(self.kb.types(item)) & classes]
        shared.sort(key=lambda item: (-counts[item], -self.kb.frequency(item), int(item[1:])))
        score = min(entity["score"] for entity in named)
        return [
            QuestionEntity(item=self.kb.entity(item), question_word="", score=score, rank=rank)
            for rank, item in enumerate(shared[:_MAX_BRIDGES], 1)
        ]


def is_named(entity: QuestionEntity) -> bool:
    """Return True if words of the question name an entity; else it is a bridge between entities that are named."""
    return bool(entity["question_word"])


def facts_around(
    neighborhood: Callable[[str, int], list[FactEntities]], entities: Sequence[QuestionEntity], limit: int
) -> list[SpaceFact]:
    """Return the facts that `neighborhood` finds for the entities with `limit` as its `p`, each once."""
    facts: dict[tuple[str, ...], FactEntities] = {}
    for entity in entities:
        for fact in neighborhood(entity["item"]["id"], limit):
            facts.setdefault(tuple(part["id"] for part in fact), fact)
    return to_space_facts(facts.values(), entities)


def to_space_facts(facts: Iterable[FactEntities], entities: Sequence[QuestionEntity]) -> list[SpaceFact]:
    """Return each fact with the best entity that is its subject, object or a qualifier's value, else a property in it; else with its subject."""
    ranks = {entity["item"]["id"]: rank for rank, entity in reversed(list(enumerate(entities)))}
    space: list[SpaceFact] = []
    for fact in facts:
        in_fact = [ranks[part["id"]] for part in fact[::2] if part["id"] in ranks]
        in_fact = in_fact or [ranks[part["id"]] for part in fact if part["id"] in ranks]
        space.append((fact, entities[min(in_fact)]["item"] if in_fact else fact[0]))
    return space


def best_facts(text: str, facts: list[SpaceFact], params: ClocqParams, language: Language) -> list[SpaceFact]:
    """Return the best facts for a text by BM25, at most `bm25_limit`; all facts without a limit."""
    if not params.bm25_limit or len(facts) <= params.bm25_limit:
        return facts
    order = language.bm25.order(text, [fact_text(fact) for fact, _ in facts])
    return [facts[place] for place, _ in order[: params.bm25_limit]]
