"""The embedded knowledge base: look-ups of labels, types, facts, connections and names in an index folder."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from ..language.text import fold
from ..records.evidence import Entity, Predicate
from ..support.errors import IndexFileError
from ..support.files import PieceReader, open_consistently, state_of
from ..support.full_text import FullText, open_same
from ..support.manifest import MANIFEST, check_folder, map_array
from .items import INSTANCE_OF, OCCUPATION, SUBCLASS_OF, Candidate, FactEntities, Items, Text
from .layout import (
    ARRAYS,
    LITERAL,
    NAMES,
    PROPERTIES,
    PROPERTY_MASK,
    RANK_SHIFT,
    RANKS,
    REMEDY,
    SEPARATOR,
    read_manifest,
    read_properties,
)
from .names import form_hash, other_forms, search_names
from .stored_facts import StoredFacts

_ITEM = re.compile(r"Q[1-9][0-9]{0,9}")
_PROPERTY = re.compile(r"P[1-9][0-9]{0,6}")
_MAX_ITEM = LITERAL - 1
_SUBCLASS_DEPTH, _FACTS_OF_CLASS = 2, 20  # levels of superclasses among types; facts searched for an instance
_HUB_FACTS = 5_000  # an item with more facts is a hub: its neighbours are too many to look through


class KnowledgeBase(Items):
    """The embedded knowledge base.

    Opening compares the files with their checksums unless that was done before; their pages are mapped into memory
    when they are needed, and shared between processes. Reading is safe from several threads.

    Args:
        path: the folder that `knowledge_base.build` wrote.

    Raises:
        IndexFileError: the folder is missing, truncated, altered or of another format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        open_consistently(path / MANIFEST, self._open)
        self._label = lru_cache(maxsize=500_000)(self._read_label)
        self._types = lru_cache(maxsize=100_000)(self._read_types)

    def _open(self) -> None:
        self.manifest = read_manifest(path := self.path)
        self.build_id = self.manifest.build_id  # results depend on it: the same for the same dump and format
        self._state = state_of(path / MANIFEST)
        check_folder(path, IndexFileError, remedy=REMEDY)
        self._items = self._map("items")
        self._text_start, self._text_size = self._map("text_start"), self._map("text_size")
        # read, not mapped: short pieces from all over the file would map all of its pages
        self._text, self._literals = PieceReader(path / "text"), PieceReader(path / "literals")
        self._property_data = (path / PROPERTIES).read_bytes()
        self._fact_count, self._inverse_start = self._map("fact_count"), self._map("inverse_start")
        arrays = self._map("fact_start"), self._map("fact_size"), self._map("tokens")
        postings = self._map("postings", "<u8" if self.manifest.wide_postings else None)
        self._stored_facts = StoredFacts(*arrays, self._inverse_start, postings)
        self._literal_start = self._map("literal_start")
        self._form_hash, self._form_item = self._map("form_hash"), self._map("form_item")

    def _map(self, name: str, kind: str | None = None) -> np.ndarray:
        return map_array(self.path / name, kind or ARRAYS[name], REMEDY)

    @property
    def has_changed(self) -> bool:
        """True if another index has replaced this one since it was opened."""
        return state_of(self.path / MANIFEST) not in (None, self._state)

    @cached_property
    def _names(self) -> FullText:
        return open_same(self.path / NAMES, self.path / MANIFEST, self._state)

    @cached_property
    def _properties(self) -> dict[str, tuple[str, list[str]]]:
        entries = read_properties(self.path, self._property_data)
        return {entry.id: (entry.label, entry.aliases) for entry in entries}

    def counts(self) -> dict[str, int]:
        """See the base class."""
        return {"items": self.manifest.items, "facts": self.manifest.facts}

    # -- items ---------------------------------------------------------------------------------------------------------

    def _place(self, entity_id: str) -> int | None:
        return self._place_of(_number(entity_id))

    def _place_of(self, number: int | None) -> int | None:
        if number is None:
            return None
        # of the array's type: numpy would convert the whole array for another type
        place = int(self._items.searchsorted(self._items.dtype.type(number)))
        return place if place < len(self._items) and self._items[place] == number else None

    def _stored_text(self, place: int) -> str:
        return self._text.read(int(self._text_start[place]), int(self._text_size[place])).decode()

    def _stored_literal(self, number: int) -> str:
        start, end = self._literal_start[number : number + 2].tolist()
        return self._literals.read(start, end - start).decode()

    def _text_at(self, place: int) -> Text:
        label, description, title, *aliases = self._stored_text(place).split(SEPARATOR)
        return Text(label, description, title, tuple(aliases))

    def text(self, entity_id: str) -> Text:
        """Return the texts of an item; the id as label and empty texts for an unknown item."""
        place = self._place(entity_id)
        return Text(entity_id, "", "", ()) if place is None else self._text_at(place)

    def has(self, entity_id: str) -> bool:
        """Return True if the index has an item or a property with this id."""
        return entity_id in self._properties if entity_id[:1] == "P" else self._place(entity_id) is not None

    def label(self, entity_id: str) -> str:
        """See the base class."""
        return self._label(entity_id)

    def types(self, entity_id: str) -> tuple[str, ...]:
        """See the base class."""
        return self._types(entity_id)

    def _read_label(self, entity_id: str) -> str:
        if entity_id[:1] == "P":
            return self._properties.get(entity_id, (entity_id, []))[0]
        return self.text(entity_id).label

    def aliases(self, entity_id: str) -> list[str]:
        """Return the aliases of an item or a property."""
        if entity_id[:1] == "P":
            return list(self._properties.get(entity_id, ("", []))[1])
        return list(self.text(entity_id).aliases)

    def titles(self) -> dict[str, str]:
        """Return the items by their Wikipedia titles; reads all texts."""
        titles = ((self._text_at(place).title, number) for place, number in enumerate(self._items.tolist()))
        return {title: f"Q{number}" for title, number in titles if title}

    def properties(self) -> Iterable[tuple[str, str, list[str]]]:
        """Yield id, label and aliases of every property."""
        for entity_id, (label, aliases) in self._properties.items():
            yield entity_id, label, aliases

    def frequencies(self, entity_id: str) -> tuple[int, int]:
        """Return the number of facts with an item as subject, and the number of its other facts; for a property 0 and its facts."""
        if _PROPERTY.fullmatch(entity_id):
            return 0, self._stored_facts.property_count(int(entity_id[1:]))
        place = self._place(entity_id)
        if place is None:
            return 0, 0
        return int(self._fact_count[place]), int(self._inverse_start[place + 1] - self._inverse_start[place])

    def frequency(self, entity_id: str) -> int:
        """Return the number of facts that an item occurs in."""
        return sum(self.frequencies(entity_id))

    def _values(self, number: int | None, properties: Sequence[int]) -> dict[int, list[int]]:
        place = self._place_of(number)
        values: dict[int, list[int]] = {prop: [] for prop in properties}
        for _, header, value, *_ in () if place is None else self._stored_facts.as_subject(place):
            prop = header & PROPERTY_MASK
            if prop in values:
                values[prop].append(value)
        return values

    def _objects(self, number: int | None, properties: Sequence[int]) -> list[int]:
        values = self._values(number, properties)
        return [value for prop in properties for value in values[prop] if value < LITERAL]

    def literals(self, entity_id: str, properties: Sequence[int]) -> dict[int, list[Entity]]:
        """Return the literal values of properties (numbers, 569 for P569) of an item, by property."""
        values = self._values(_number(entity_id), properties)
        return {prop: [self._literal(token) for token in tokens if token >= LITERAL] for prop, tokens in values.items()}

    def objects(self, entity_id: str, prop: int) -> list[str]:
        """Return the items that are values of a property (its number, 21 for P21) of an item."""
        return [f"Q{number}" for number in self._objects(_number(entity_id), (prop,))]

    def properties_of(self, entity_id: str) -> list[str]:
        """Return the properties that an item has values of, in the order of its facts."""
        facts = self._facts(entity_id, self.frequencies(entity_id)[0])  # facts with the item as subject come first
        return list(dict.fromkeys(f"P{tokens[1] & PROPERTY_MASK}" for tokens in facts))

    def _read_types(self, entity_id: str) -> tuple[str, ...]:
        # labels of the classes and occupations of an item and of the classes above, in lower case, nearest first
        level = self._objects(_number(entity_id), (INSTANCE_OF, OCCUPATION))
        classes = dict.fromkeys(level)
        for _ in range(_SUBCLASS_DEPTH):
            level = [above for number in level for above in self._objects(number, (SUBCLASS_OF,))]
            classes |= dict.fromkeys(level)
        return tuple(self.label(f"Q{number}").lower() for number in classes)

    def types_of(self, entity_id: str) -> list[Entity]:
        """Return the classes that an item is an instance of, the most frequent first."""
        classes = dict.fromkeys(self.objects(entity_id, INSTANCE_OF))
        return [self.entity(item) for item in sorted(classes, key=lambda item: (-self.frequency(item), int(item[1:])))]

    def is_class(self, entity_id: str) -> bool:
        """Return True if an item is a class: it has a superclass or an instance."""
        place = self._place(entity_id)
        if place is None:
            return False
        number = int(entity_id[1:])
        if self._objects(number, (SUBCLASS_OF,)):
            return True
        facts = self._stored_facts.as_other(place, _FACTS_OF_CLASS)
        return any(tokens[1] & PROPERTY_MASK == INSTANCE_OF and tokens[2] == number for tokens in facts)

    # -- facts ---------------------------------------------------------------------------------------------------------

    def neighborhood(self, entity_id: str, p: int = 1000) -> list[FactEntities]:
        """Return the facts that an item or a property occurs in: as subject first, then as object, then in qualifiers.

        As in CLOCQ, an item with more than `p` facts besides those with it as subject keeps only the latter.
        """
        return [self._fact(tokens) for tokens in self._pruned(entity_id, p)]

    def first_facts(self, entity_id: str, limit: int) -> list[FactEntities]:
        """Return the first `limit` facts that an item occurs in, in the order of `neighborhood`."""
        return [self._fact(tokens) for tokens in self._facts(entity_id, limit)]

    def _pruned(self, entity_id: str, p: int) -> list[list[int]]:
        if _PROPERTY.fullmatch(entity_id):
            return [self._stored_facts.at(at) for at in self._stored_facts.property_places(int(entity_id[1:]), p)]
        as_subject, as_other = self.frequencies(entity_id)
        return self._facts(entity_id, as_subject + (as_other if as_other <= p else 0))

    def _facts(self, entity_id: str, limit: int) -> list[list[int]]:
        place = self._place(entity_id)
        return [] if place is None else self._stored_facts.first(place, limit)

    def _fact(self, tokens: Sequence[int]) -> FactEntities:
        fact: FactEntities = []
        for place, token in enumerate(tokens):
            if place % 2:
                name = f"P{token & PROPERTY_MASK}"
                predicate: Predicate = {"id": name, "label": self.label(name)}
                if rank := RANKS[token >> RANK_SHIFT]:
                    predicate["rank"] = rank
                fact.append(predicate)
            elif token < LITERAL:
                fact.append(self.entity(f"Q{token}"))
            else:
                fact.append(self._literal(token))
        return fact

    def _literal(self, token: int) -> Entity:
        entity_id, *more = self._stored_literal(token - LITERAL).split(SEPARATOR)
        label = (more[0] if more else "") or entity_id
        unit = f" {self.label(more[1])}" if len(more) > 1 else ""
        return {"id": entity_id, "label": f"{label}{unit}"}

    def neighbors(self, entity_id: str, limit: int = 1000) -> set[str]:
        """Return the other items in the first `limit` facts of an item."""
        return {f"Q{number}" for number in _items_of(self._facts(entity_id, limit))} - {entity_id}

    def two_hop_neighborhood(self, entity_id: str, p: int = 1000) -> list[FactEntities]:
        """Return the facts of an item or a property, then the other facts of the items in them, each once.

        Items of the first hop with more than 5,000 facts besides those with them as subject (countries, classes) keep only the
        latter; `p` is as in `neighborhood`.
        """
        first_hop = self._pruned(entity_id, p)
        facts = dict.fromkeys(map(tuple, first_hop))
        number, is_property = int(entity_id[1:]) if first_hop else 0, entity_id[:1] == "P"
        for neighbor in _items_of(first_hop):
            if not is_property and neighbor == number:
                continue
            for tokens in self._pruned(f"Q{neighbor}", min(p, _HUB_FACTS)):
                named = [token & PROPERTY_MASK for token in tokens[1::2]] if is_property else tokens[::2]
                if number not in named:
                    facts.setdefault(tuple(tokens))
        return [self._fact(tokens) for tokens in facts]

    def _shared(self, first: str, second: str) -> list[list[int]]:
        # the facts of the rarer item are searched, but not those of an item without a document, which has 0
        first, second = sorted((first, second), key=lambda item: self.frequency(item) or math.inf)
        number = int(second[1:])
        return [tokens for tokens in self._facts(first, self.frequency(first)) if number in tokens[::2]]

    def connect(self, first: str, second: str) -> list[list[FactEntities]]:
        """Return the paths between two items: the facts with both, or else the pairs of facts through a third item.

        The paths of an item to itself are its `neighborhood` with `p` = 5,000.
        """
        if self._place(first) is None or self._place(second) is None:
            return []
        if first == second:
            return [[fact] for fact in self.neighborhood(first, _HUB_FACTS)]
        if direct := self._shared(first, second):
            return [[self._fact(tokens)] for tokens in direct]
        paths = []
        for middle in sorted(self._between(first, second), key=lambda item: int(item[1:])):
            to_middle, from_middle = self._shared(first, middle), self._shared(middle, second)
            paths += [[self._fact(a), self._fact(b)] for a in to_middle[:3] for b in from_middle[:3]]
        return paths

    def _between(self, first: str, second: str) -> set[str]:
        if self.frequency(first) > self.frequency(second):
            first, second = second, first
        near = self.neighbors(first, self.frequency(first) or 1) - {second}
        if self.frequency(second) <= _HUB_FACTS:
            return near & self.neighbors(second, self.frequency(second))
        # the facts of a hub are too many to read, so the facts of its possible neighbours are searched for it
        return {middle for middle in near if self._shared(middle, second)}

    def connectivity(self, first: str, second: str) -> float:
        """Return CLOCQ's connectivity: 1 for a shared fact, 0.5 for facts shared with a third item, else 0; with itself 1 if it has facts."""
        if self._place(first) is None or self._place(second) is None:
            return 0.0
        if first == second:
            return float(self.frequency(first) > 0)
        if self._shared(first, second):
            return 1.0
        return 0.5 if self._between(first, second) else 0.0

    # -- names ---------------------------------------------------------------------------------------------------------

    def candidates(self, form: str, limit: int = 50) -> list[Candidate]:
        """Return the items whose folded label or alias is `form`, at most `limit`: labels first, then by frequency."""
        hashed = np.uint64(form_hash(form))
        start, end = int(self._form_hash.searchsorted(hashed)), int(self._form_hash.searchsorted(hashed, "right"))
        owners = self._form_item[start:end]
        places = self._items.searchsorted(owners & _MAX_ITEM)
        as_other = (self._inverse_start[places + 1] - self._inverse_start[places]).astype("<i8")
        frequency = as_other + self._fact_count[places]
        candidates: dict[int, Candidate] = {}
        for at in np.lexsort((owners, -frequency, owners < LITERAL)).tolist():
            number = int(owners[at]) & _MAX_ITEM
            if number in candidates:
                continue
            text = self._text_at(int(places[at]))
            names = (text.label, *text.aliases, *other_forms(text.label))
            if any(fold(name) == form for name in names):  # names may differ though their hashes are equal
                candidates[number] = Candidate(f"Q{number}", text.label, int(owners[at]) >= LITERAL, int(frequency[at]))
            if len(candidates) == limit:
                break
        return list(candidates.values())

    def search_names(self, words: Sequence[str], limit: int, edits: int = 0) -> list[Candidate]:
        """Return the items with a name that has all folded `words`, each with at most `edits` edits; the most frequent first."""
        items = [f"Q{number}" for number in search_names(self._names, words, limit, edits)]
        candidates = [Candidate(item, self.label(item), False, self.frequency(item)) for item in items]
        return sorted(candidates, key=lambda candidate: (-candidate.frequency, int(candidate.id[1:])))

    def close(self) -> None:
        """Close the files, and release the mapped arrays."""
        self._text.close()
        self._literals.close()
        for name, value in list(vars(self).items()):
            if isinstance(value, np.ndarray | StoredFacts):
                delattr(self, name)


def _items_of(facts: Iterable[Sequence[int]]) -> list[int]:
    # the subjects, objects and values of qualifiers, each once
    return list(dict.fromkeys(token for tokens in facts for token in tokens[::2] if token < LITERAL))


def _number(entity_id: str) -> int | None:
    number = int(entity_id[1:]) if _ITEM.fullmatch(entity_id) else None
    return None if number is None or number > _MAX_ITEM else number
