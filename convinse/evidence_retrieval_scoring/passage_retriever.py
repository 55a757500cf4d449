"""Evidences from an index of plain passages, for a corpus without Wikidata."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ..language.language import Language, english
from ..records.evidence import Entity, Evidence, unique_entities
from ..records.written_values import find_literals
from .bm25 import BM25Scorer

if TYPE_CHECKING:
    from ..knowledge_base.spotting import LinkedMention
    from ..passages.index import PassageIndex

_REMEMBERED = 4096  # passages whose entities are cached


class PassageRetriever:
    """The best passages of an index as `text` evidences.

    The entities of an evidence are the linked items of the passage, its dates and numbers, and the title: the item that it links
    to, else an entity whose id is the title in double quotes. A passage without entities is an evidence, too; the `evr_*` filters
    are for Wikipedia pages and do not apply.

    Args:
        index: the passages; None to find nothing.
        most: passages for a question at most.
        link: returns the items in a text, see `EntityLinker.link`; None to link nothing.
        language: of questions and passages; English by default.
    """

    def __init__(
        self,
        index: PassageIndex | None,
        most: int,
        link: Callable[[str], list[LinkedMention]] | None = None,
        language: Language | None = None,
    ) -> None:
        self.index = index
        self._most = most
        self._link = link
        self._language = language or english()
        self._annotated = lru_cache(maxsize=_REMEMBERED)(self._annotate)

    def retrieve_passages(self, text: str) -> list[Evidence]:
        """Return the best passages for a question or representation, best first.

        `retrieved_for_entity` is set if `text` has the title: then the question is about it, and it is not an answer.
        """
        if self.index is None:
            return []
        numbers = [hit.number for hit in self.index.search(text, self._most)]
        stems = self._language.words.stems
        query = set(stems(text, keep_stop_words=True))
        evidences = []
        for number, passage in zip(numbers, self.index.passages(numbers), strict=True):
            evidence, title = copy.deepcopy(self._annotated(number, passage.title or "", passage.text))
            words = [] if title is None else stems(title["label"], keep_stop_words=True)
            if title is not None and words and query.issuperset(words):
                evidence["retrieved_for_entity"] = title
            evidences.append(evidence)
        return evidences

    def _annotate(self, number: int, title: str, text: str) -> tuple[Evidence, Entity | None]:
        """Return the evidence of a passage and the entity of its title; `number` is a part of the cache's key."""
        from ..passages.search import passage_text

        whole = passage_text(title, text)
        lead = len(whole) - len(text)
        spans: list[tuple[int, int, Entity]] = [(span.start, span.end, span.entity) for span in find_literals(text)]
        spans += [
            span for span in self._linked(text) if all(end <= span[0] or span[1] <= start for start, end, _ in spans)
        ]
        spans = sorted(((lead + start, lead + end, entity) for start, end, entity in spans), key=lambda span: span[:2])
        topic: Entity | None = None
        name = title.strip()
        if name:
            named = [entity for start, end, entity in self._linked(name) if (start, end) == (0, len(name))]
            topic = named[0] if named else {"id": f'"{name}"', "label": name}
            start = whole.index(name)
            spans.insert(0, (start, start + len(name), topic))
        evidence: Evidence = {
            "evidence_text": whole,
            "source": "text",
            "disambiguations": [[whole[start:end], entity["id"]] for start, end, entity in spans],
            "wikidata_entities": unique_entities(entity for _, _, entity in spans),
            "mentions": [{"start": start, "end": end, "id": entity["id"]} for start, end, entity in spans],
        }
        return evidence, topic

    def _linked(self, text: str) -> list[tuple[int, int, Entity]]:
        spans = []
        for mention in self._link(text) if self._link is not None else ():
            if mention.candidates and text[mention.start : mention.end].startswith(mention.surface):
                spans.append((mention.start, mention.end, mention.candidates[0].entity))
        return spans


class IndexScores(BM25Scorer):
    """The scores that passages have from their index."""

    def scores(self, query: str, evidences: Sequence[Evidence]) -> list[float]:
        """Return the scores of evidences, in their order."""
        return [evidence["score"] for evidence in evidences]
