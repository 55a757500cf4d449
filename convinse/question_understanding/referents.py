"""What a conversation talks about, and which of it a pronoun may mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import NamedTuple

from ..answer_typing import LikelyClasses
from ..knowledge_base.index import KnowledgeBase
from ..language.answer_types import AnswerType, AnswerTypes
from ..language.text import Words
from ..records.evidence import Entity

GENDER = 21  # Wikidata's property "sex or gender"
GENDERS = {"Q6581097": "male", "Q6581072": "female"}
# the kinds that a pronoun of a kind may mean: a band is an "it" and a "they", several people are "they"
_KINDS = {"thing": ("thing", "group"), "group": ("group", "person")}


class Referent(NamedTuple):
    """Something that was talked about.

    Attributes:
        id, label: of the item.
        kind: see `answer_type.entity_kind`.
        gender: of a person, where it is known: "male" or "female".
    """

    id: str
    label: str
    kind: str
    gender: str = ""

    @property
    def entity(self) -> Entity:
        """Id and label."""
        return {"id": self.id, "label": self.label}


class Focus(NamedTuple):
    """What a turn was about: the items of its question, then its answers; `told` are answers that are no items."""

    asked: tuple[Referent, ...]
    answered: tuple[Referent, ...]
    told: tuple[Referent, ...] = ()

    @property
    def by_salience(self) -> tuple[Referent, ...]:
        """The answers before what was asked about."""
        return (*self.answered, *self.asked)


class Asked(NamedTuple):
    """What a question says by itself.

    Attributes:
        question: as asked.
        named: the items that it names.
        predicate: its content words outside of names; in an ellipsis those of the question before, too.
        answer_type: that it asks for; in an ellipsis that of the question before.
        elliptical: whether it leans on the question before for what it asks.
        likely: the classes that its answer may have, where a model tells them.
    """

    question: str
    named: tuple[Referent, ...]
    predicate: tuple[str, ...]
    answer_type: AnswerType
    elliptical: bool
    likely: LikelyClasses | None = None


class ChosenReferents(NamedTuple):
    """What a question is about.

    Attributes:
        entities, context: as the slots of a representation.
        scores: the probability of those that a model chose, by their ids.
    """

    entities: tuple[Referent, ...]
    context: tuple[Referent, ...]
    scores: Mapping[str, float] = MappingProxyType({})


def recent(foci: Sequence[Focus]) -> Iterable[Referent]:
    """Everything talked about, the latest first, without repetition."""
    return dict.fromkeys(referent for focus in reversed(foci) for referent in focus.by_salience)


def as_referent(kb: KnowledgeBase, types: AnswerTypes, entity_id: str, label: str) -> Referent:
    """An item as it may be referred to."""
    if not entity_id.startswith("Q"):
        return Referent(entity_id, label, types.entity_kind(entity_id, ()))
    kind = types.entity_kind(entity_id, kb.types(entity_id))
    gender = next(map(GENDERS.get, kb.objects(entity_id, GENDER)), None) if kind == "person" else None
    return Referent(entity_id, label, kind, gender or "")


def kinds_of(pronoun: str, words: Words) -> tuple[str, ...]:
    """The kinds of referents that a pronoun (lower case) of a language may stand for; none of another word."""
    kind = next((kind for kind, forms in words.pronouns.items() if pronoun in forms), None)
    return () if kind is None else _KINDS.get(kind, (kind,))


def may_mean(pronoun: str, referent: Referent, words: Words) -> bool:
    """Whether a pronoun (lower case) of a language may stand for a referent."""
    return referent.kind in kinds_of(pronoun, words) and not is_excluded({pronoun}, referent, words)


def is_excluded(pronouns: Set[str], referent: Referent, words: Words) -> bool:
    """Whether a person is of another gender than all of the pronouns (lower case) that have a gender."""
    genders = {gender for gender, forms in words.genders.items() if not forms.isdisjoint(pronouns)}
    return bool(referent.gender and genders) and referent.gender not in genders
