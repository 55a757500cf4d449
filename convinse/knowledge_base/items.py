"""The interface to items, their names, classes and facts: a knowledge base, the names in documents, or both joined."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..records.evidence import Entity, Origin

FactEntities = list[Entity]
INSTANCE_OF, SUBCLASS_OF, OCCUPATION = 31, 279, 106  # properties by their numbers


class Candidate(NamedTuple):
    """An item that a surface form may mean."""

    id: str
    label: str
    is_label: bool  # the form is the label, not an alias
    frequency: int  # facts that the item occurs in

    @property
    def entity(self) -> Entity:
        """The id and label of the item."""
        return {"id": self.id, "label": self.label}


class Text(NamedTuple):
    """Label, description, Wikipedia title and aliases of an item."""

    label: str
    description: str
    title: str
    aliases: tuple[str, ...]


class Items(ABC):
    """The items of a source, by their ids; by default they have names and nothing else."""

    build_id: str  # results depend on it
    is_live = False  # looked up when a question is asked

    @property
    def has_changed(self) -> bool:
        """True if other items have replaced these on disk since they were opened."""
        return False

    def counts(self) -> dict[str, int]:
        """Return the numbers of `items` and `facts`, if all of them are at hand."""
        return {}

    def origin(self, fact: Sequence[Entity]) -> Origin | None:
        """Return the address, revision and date of a fact's statement, if it was looked up; else None."""
        return None

    @abstractmethod
    def text(self, entity_id: str) -> Text:
        """Return the texts of an item; the id as label and empty texts for an unknown item."""

    @abstractmethod
    def has(self, entity_id: str) -> bool:
        """Return True if there is an item or a property with this id."""

    @abstractmethod
    def candidates(self, form: str, limit: int = 50) -> list[Candidate]:
        """Return the items with a folded name `form`: labels before other names, then the most frequent first."""

    @abstractmethod
    def search_names(self, words: Sequence[str], limit: int, edits: int = 0) -> list[Candidate]:
        """Return the items with a name that has all folded `words`, each with at most `edits` edits; the most frequent first."""

    def label(self, entity_id: str) -> str:
        """Return the label of an item or a property; the id if it is unknown."""
        return self.text(entity_id).label

    def entity(self, entity_id: str) -> Entity:
        """Return the id and label of an item or a property."""
        return {"id": entity_id, "label": self.label(entity_id)}

    def aliases(self, entity_id: str) -> list[str]:
        """Return the aliases of an item or a property."""
        return list(self.text(entity_id).aliases)

    def description(self, entity_id: str) -> str:
        """Return the description of an item, or an empty string."""
        return self.text(entity_id).description

    def types(self, entity_id: str) -> tuple[str, ...]:
        """Return the labels of the classes and occupations of an item and of the classes above, in lower case, nearest first."""
        return ()

    def is_class(self, entity_id: str) -> bool:
        """Return True if an item is a class: it has a superclass or an instance."""
        return False

    def properties(self) -> Iterable[tuple[str, str, list[str]]]:
        """Yield id, label and aliases of every property."""
        return ()

    def properties_of(self, entity_id: str) -> list[str]:
        """Return the properties that an item has values of, in the order of its facts."""
        return []

    def objects(self, entity_id: str, prop: int) -> list[str]:
        """Return the items that are values of a property (its number, 21 for P21) of an item."""
        return []

    def literals(self, entity_id: str, properties: Sequence[int]) -> dict[int, list[Entity]]:
        """Return the literal values of properties (numbers, 569 for P569) of an item, by property."""
        return {prop: [] for prop in properties}

    def frequency(self, entity_id: str) -> int:
        """Return the number of facts that an item occurs in."""
        return int(self.has(entity_id))

    def neighbors(self, entity_id: str, limit: int = 1000) -> set[str]:
        """Return the other items in the first `limit` facts of an item."""
        return set()

    def neighborhood(self, entity_id: str, p: int = 1000) -> list[FactEntities]:
        """Return the facts that an item or a property occurs in: as subject first, then as object, then in qualifiers.

        As in CLOCQ, an item with more than `p` facts besides those with it as subject keeps only the latter.
        """
        return []

    @abstractmethod
    def close(self) -> None:
        """Close what is open."""
