"""Candidates for an answer, with their roles in the evidences, scores of a reader, and computations that give them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ..language.property_names import PropertyLabel
from ..records.conversation import Extent
from ..records.evidence import Entity, Evidence
from ..records.periods import Agreement

RoleKind = Literal["subject", "object", "qualifier", "row", "box", "text"]


class EntityRole(NamedTuple):
    """The role of an entity in the evidence at a place, and the labels that it has there (properties, headers, a unit)."""

    place: int
    kind: RoleKind
    entity: Entity
    labels: tuple[PropertyLabel, ...] = ()


class Computed(NamedTuple):
    """The result of a computation over tables or facts: an answer, and the evidences that show it.

    Attributes:
        rivals: the places of evidences with other values of the same property, which are not the answer.
        members: all answers of a list, each with the evidence of its row; `entity` is the first of them.
        extent: how many rows a list, a count or a sum is of.
        is_named: a list whose things a question calls as their table does, so that no other answer is as good.
    """

    entity: Entity
    operation: str
    places: tuple[int, ...]
    rivals: frozenset[int] = frozenset()
    members: tuple[tuple[Entity, Evidence | None], ...] = ()
    extent: Extent | None = None
    is_named: bool = False


@dataclass
class EntityCandidate:
    """A candidate: its entity, its roles, its normalised score by the reader (`read`), and the computation that gives it."""

    entity: Entity
    roles: list[EntityRole] = field(default_factory=list)
    read: float = 0.0
    best_places: tuple[int, ...] = ()  # of the evidences that a computation or the reader used
    computed: Computed | None = None
    agreement: Agreement = Agreement.UNKNOWN  # with the time of the question

    @property
    def places(self) -> tuple[int, ...]:
        """The places of the supporting evidences, the best first."""
        return tuple(dict.fromkeys((*self.best_places, *(role.place for role in self.roles))))

    @property
    def reasons(self) -> tuple[str, ...]:
        """The origins of the candidate, as in `RankedAnswer`."""
        computed = (self.computed.operation,) if self.computed else ()
        return (*computed, *(("reader",) if self.read else ())) or ("evidences",)
