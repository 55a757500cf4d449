"""Facts of the knowledge base, as evidences carry them."""

from __future__ import annotations

from typing import NamedTuple

from .evidence import Entity, Evidence


class Fact(NamedTuple):
    """A fact of the knowledge base, read from its evidence; `more` are the qualifiers' values."""

    subject: Entity
    predicate: str
    object: Entity
    more: tuple[Entity, ...]

    @property
    def entities(self) -> tuple[Entity, ...]:
        """Subject, object and the values of qualifiers."""
        return (self.subject, self.object, *self.more)


def fact_of(evidence: Evidence) -> Fact | None:
    """The fact that an evidence of the source kb is; None for others, and for one about a thing and itself."""
    entities = evidence["wikidata_entities"]
    if evidence["source"] != "kb" or len(entities) < 2:
        return None
    first, second, *more = entities
    text = evidence["evidence_text"].removeprefix(f"{first['label']}, ")
    predicate, separator, _ = text.partition(f", {second['label']}")
    return Fact(first, predicate, second, tuple(more)) if separator else None
