"""What a conversation talks about, and which of it a pronoun may mean."""

from __future__ import annotations

from typing import NamedTuple

from ..answer_type import entity_kind
from ..knowledge_base.index import KnowledgeBase
from ..text import PRONOUNS

_GENDER = 21  # Wikidata's property "sex or gender"
_GENDERS = {"Q6581097": "male", "Q6581072": "female"}
_OF_GENDER = {
    **dict.fromkeys("he him his himself".split(), "male"),
    **dict.fromkeys("she her hers herself".split(), "female"),
}
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


def as_referent(kb: KnowledgeBase, entity_id: str, label: str) -> Referent:
    """An item as it may be referred to."""
    if not entity_id.startswith("Q"):
        return Referent(entity_id, label, entity_kind(entity_id, ()))
    kind = entity_kind(entity_id, kb.types(entity_id))
    gender = next(map(_GENDERS.get, kb.objects(entity_id, _GENDER)), None) if kind == "person" else None
    return Referent(entity_id, label, kind, gender or "")


def may_mean(pronoun: str, one: Referent) -> bool:
    """Whether a pronoun (lower case) may stand for a referent."""
    kind = next((kind for kind, forms in PRONOUNS.items() if pronoun in forms), None)
    if kind is None or one.kind not in _KINDS.get(kind, (kind,)):
        return False
    return not one.gender or _OF_GENDER.get(pronoun, one.gender) == one.gender
