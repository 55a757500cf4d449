"""A knowledge base in memory, over fetched entity documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from ..language.text import fold
from ..records.evidence import Entity, Origin
from .build import ParsedBlock
from .dump import EntityDocument
from .index import KnowledgeBase
from .items import INSTANCE_OF, OCCUPATION, Candidate, FactEntities
from .names import NamesInMemory
from .stored_facts import StoredFacts

_MOST_FACTS = 500  # of an item, whose parts get labels
_MOST_NAMESAKES = 1000  # candidates of a name that are put in order; each source knows a part of their frequencies
_WELL_KNOWN = 50  # facts
_ID = re.compile(r"[QP][1-9][0-9]*")


class FetchedDocuments:
    """Entity documents as growing arrays of an index."""

    def __init__(self) -> None:
        self.block = ParsedBlock()
        self.names = NamesInMemory()
        self.properties: dict[str, tuple[str, list[str]]] = {}
        self.origins: dict[str, Origin] = {}  # of items
        self.articles: dict[str, int] = {}  # item -> the number of Wikipedias with an article

    def add(self, document: EntityDocument, origin: Origin, articles: int) -> None:
        """Append a new document."""
        if document.kind == "property":
            self.properties[document.id] = document.label, document.aliases
            return
        self.block.add(document)
        self.origins[document.id], self.articles[document.id] = origin, articles
        for name in (document.label, *document.aliases):
            self.names.add(document.id, fold(name))


class FetchedKnowledgeBase(KnowledgeBase):
    """A snapshot of fetched documents; later documents are in the next snapshot.

    Items that were not fetched have the labels and classes of a knowledge base at hand. A fact is left out as long as a part of it
    has no label. `redirects` are merged items; `build_id` changes with the documents.
    """

    is_live = True

    def __init__(
        self, documents: FetchedDocuments, redirects: Mapping[str, str], at_hand: KnowledgeBase, build_id: str
    ) -> None:
        self.build_id = build_id
        self._documents, self._at_hand = documents, at_hand
        self._merged = {int(source[1:]): int(target[1:]) for source, target in redirects.items()}
        block = documents.block
        items, text_size = np.array(block.items, "<u4"), np.array(block.text_size, "<u4")
        order = np.argsort(items, kind="stable")
        self._items, self._text_size = items[order], text_size[order]
        self._text_start = (np.cumsum(text_size, dtype="<u8") - text_size)[order]
        self._fact_count = np.array(block.fact_count, "<u4")[order]
        self._texts, self._literal_texts = block.texts, list(block.literals)
        tokens = np.array(block.tokens, "<u4")
        fact_size = np.array(block.fact_size, "<u8")
        fact_start = (np.cumsum(fact_size) - fact_size)[order]
        inverse = np.array(block.inverse, "<u4").reshape(-1, 3)
        place = self._items.searchsorted(inverse[:, 0])
        is_fetched = place < len(self._items)
        is_fetched[is_fetched] = self._items[place[is_fetched]] == inverse[is_fetched, 0]
        place, inverse = place[is_fetched], inverse[is_fetched]
        counts = np.bincount(place, minlength=len(self._items))
        self._inverse_start = np.concatenate([[0], np.cumsum(counts)]).astype("<u8")
        postings = inverse[np.lexsort((inverse[:, 1], inverse[:, 2], place)), 1]
        self._stored_facts = StoredFacts(fact_start, fact_size[order], tokens, self._inverse_start, postings)
        forms = np.empty(len(block.form_hash), [("hash", "<u8"), ("item", "<u4")])
        forms["hash"], forms["item"] = np.array(block.form_hash, "<u8"), np.array(block.form_item, "<u4")
        forms.sort()
        self._form_hash, self._form_item = forms["hash"].copy(), forms["item"].copy()
        at_hand_properties = {prop: (label, aliases) for prop, label, aliases in at_hand.properties()}
        self._properties = at_hand_properties | documents.properties
        self._label = lru_cache(maxsize=500_000)(self._read_label)
        self._types = lru_cache(maxsize=100_000)(self._read_types)

    @property
    def has_changed(self) -> bool:
        """False: later documents are in another snapshot."""
        return False

    def counts(self) -> dict[str, int]:
        """Return nothing: all of Wikidata is behind it."""
        return {}

    def _stored_text(self, place: int) -> str:
        start = int(self._text_start[place])
        return self._texts[start : start + int(self._text_size[place])].decode()

    def _stored_literal(self, number: int) -> str:
        return self._literal_texts[number]

    def _place_of(self, number: int | None) -> int | None:
        return super()._place_of(number if number is None else self._merged.get(number, number))

    def _read_label(self, entity_id: str) -> str:
        label = super()._read_label(entity_id)
        return self._at_hand.label(entity_id) if label == entity_id else label

    def frequency(self, entity_id: str) -> int:
        """Return the number of available facts that an item occurs in, or of Wikipedias with an article about it if that is larger."""
        articles = self._documents.articles.get(entity_id, 0)
        return max(super().frequency(entity_id), self._at_hand.frequency(entity_id), articles)

    def candidates(self, form: str, limit: int = 50) -> list[Candidate]:
        """See the base class."""
        named = super().candidates(form, _MOST_NAMESAKES)
        named = [candidate._replace(frequency=self.frequency(candidate.id)) for candidate in named]
        return sorted(named, key=lambda item: (not item.is_label, -item.frequency, int(item.id[1:])))[:limit]

    def _objects(self, number: int | None, properties: Sequence[int]) -> list[int]:
        is_fetched = self._place_of(number) is not None
        return super()._objects(number, properties) if is_fetched else self._at_hand._objects(number, properties)

    def search_names(self, words: Sequence[str], limit: int, edits: int = 0) -> list[Candidate]:
        """See the base class."""
        items = filter(self.has, self._documents.names.search(words, edits))
        candidates = [Candidate(item, self.label(item), False, self.frequency(item)) for item in items]
        return sorted(candidates, key=lambda item: (-item.frequency, int(item.id[1:])))[:limit]

    def neighborhood(self, entity_id: str, p: int = 1000) -> list[FactEntities]:
        """See the base class; facts and qualifiers without a label are left out."""
        return list(_labelled(super().neighborhood(entity_id, p)))

    def first_facts(self, entity_id: str, limit: int) -> list[FactEntities]:
        """See the base class; facts and qualifiers without a label are left out."""
        return list(_labelled(super().first_facts(entity_id, limit)))

    def not_fetched(self, entity_id: str) -> Iterator[tuple[str, list[str], list[str]]]:
        """Yield the property of each of an item's first facts, with its parts that have no label, and a label but no document.

        Countries, classes and other well-known items need no document.
        """
        for fact in super().first_facts(entity_id, _MOST_FACTS):
            missing = [part["id"] for part in fact if not _has_label(part)]
            ids = [part["id"] for part in fact[::2] if _has_label(part) and _ID.fullmatch(part["id"])]
            rare = (item for item in ids if not self.has(item) and self._at_hand.frequency(item) < _WELL_KNOWN)
            yield fact[1]["id"], missing, [item for item in rare if not self._at_hand.is_class(item)]

    def classes(self, entity_id: str) -> list[str]:
        """Return the ids of an item's classes and occupations."""
        return [f"Q{number}" for number in self._objects(int(entity_id[1:]), (INSTANCE_OF, OCCUPATION))]

    def origin(self, fact: Sequence[Entity]) -> Origin | None:
        """See the base class; None if its item was not fetched."""
        origin = self._documents.origins.get(fact[0]["id"])
        return None if origin is None else {**origin, "url": f"{origin['url']}#{fact[1]['id']}"}

    def close(self) -> None:
        """Nothing is open."""


def _has_label(entity: Entity) -> bool:
    return entity["label"] != entity["id"] or _ID.fullmatch(entity["id"]) is None


def _labelled(facts: Iterable[FactEntities]) -> Iterator[FactEntities]:
    """The facts whose parts have labels, without qualifiers that have no label."""
    for fact in facts:
        if all(map(_has_label, fact)):
            yield fact
        elif all(map(_has_label, fact[:3])):
            pairs = (pair for pair in zip(fact[3::2], fact[4::2], strict=True) if all(map(_has_label, pair)))
            yield [*fact[:3], *(part for pair in pairs for part in pair)]
