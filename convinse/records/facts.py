"""Facts of the knowledge base, as evidences carry them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from .evidence import Entity, Evidence, Mention, Predicate, unique_entities

START_TIME, END_TIME, POINT_IN_TIME = "P580", "P582", "P585"
AWARD_RECEIVED = "P166"
_SEPARATOR = ", "


class Fact(NamedTuple):
    """A fact of the knowledge base; the predicate has the `rank` of its statement unless that is normal.

    `preferred`: before further facts of its subject and property. `former`: it has ended at an unknown time.
    """

    subject: Entity
    predicate: Predicate
    object: Entity
    qualifiers: tuple[tuple[Entity, Entity], ...] = ()  # predicates and values

    @classmethod
    def of(cls, entities: Sequence[Entity]) -> Fact:
        """Return the fact of subject, predicate, object, qualifier predicate, qualifier value ..."""
        subject, predicate, value, *more = entities
        return cls(subject, cast(Predicate, predicate), value, tuple(zip(more[::2], more[1::2], strict=False)))

    @property
    def entities(self) -> tuple[Entity, ...]:
        """Subject, object and the values of qualifiers."""
        return (self.subject, self.object, *(value for _, value in self.qualifiers))


def fact_of(evidence: Evidence) -> Fact | None:
    """Return the fact of an evidence; None if it has none."""
    entities = evidence.get("fact", ())
    return Fact.of(entities) if len(entities) > 2 else None


def fact_text(fact: Sequence[Entity]) -> str:
    """Return a fact in words: subject, predicate, object, qualifier predicate, qualifier object ..."""
    return _SEPARATOR.join(entity["label"] for entity in fact)


def fact_evidence(fact: Sequence[Entity], retrieved_for: Entity) -> Evidence:
    """Return a fact as evidence."""
    entities = unique_entities(fact[:1] + fact[2::2])  # type: ignore[operator]
    mentions: list[Mention] = []
    start = 0
    for place, entity in enumerate(fact):
        end = start + len(entity["label"])
        if place % 2 == 0:
            mentions.append({"start": start, "end": end, "id": entity["id"]})
        start = end + len(_SEPARATOR)
    return {
        "evidence_text": fact_text(fact),
        "source": "kb",
        "disambiguations": [[entity["label"], entity["id"]] for entity in entities],
        "wikidata_entities": entities,
        "retrieved_for_entity": retrieved_for,
        "fact": list(fact),
        "mentions": mentions,
    }
