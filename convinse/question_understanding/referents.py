"""What a follow-up is about: a logit over what its conversation spoke of."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from ..knowledge_base.index import KnowledgeBase
from ..language.language import Language
from ..records.conversation import Turn
from ..records.evidence import Entity
from ..support.weights import FeatureWeight, check_names, read_model, scores

FILE = "referents.json"
FORMAT = 1
_REMEDY = "train it again (scripts/recipes/referents.py)"
_GENDER = 21  # Wikidata's property "sex or gender"
_GENDERS = {"Q6581097": "male", "Q6581072": "female"}
_LEAST_SHARE = 1e-6
_NEIGHBORS = 1000  # items beside an item that are looked at
_KEPT = 256  # items whose neighbours stay in memory: 90 KB for one with a thousand
_WORD = re.compile(r"\w+")
# the kinds that a pronoun of a kind may mean: a band is an "it" and a "they", several people are "they"
_KINDS = {"thing": ("thing", "group"), "group": ("group", "person")}


class ReferentFeatures(NamedTuple):
    """What speaks for a thing that was spoken of: each from 0 to 1, but for `pointed` and `fits`.

    Attributes:
        pointed: the logarithm of the share of the rewrite head's pointers that its name has, from -1 (none) to 0.
        last_answer, last_asked: it answered the turn before; the turn before was about it.
        first_asked: the first turn was about it.
        asked: the share of the turns that were about it.
        fits: 1 if it is of the kind and the gender of the question's pronouns, -1 if it is of another one, 0 without a pronoun.
        of_class: the question has a noun for its class ("the film").
        apart: the question names items itself, and none of them is in a fact with it.
    """

    pointed: float
    last_answer: float
    last_asked: float
    first_asked: float
    asked: float
    fits: float
    of_class: float
    apart: float


class NoneFeatures(NamedTuple):
    """What speaks for "nothing of it".

    Attributes:
        alone: the question names an item itself, and has no pronoun.
        fits: it names one before its pronoun that the pronoun may stand for.
    """

    alone: float
    fits: float


class ReferentWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A conditional logit: the odds of a thing are the exponential of its weighted features.

    Attributes:
        format: of the file.
        features, nothing: weights, in the order of `ReferentFeatures` and `NoneFeatures`; `bias` is added to those of "nothing".
        trained_on: questions learned from.
    """

    format: int
    features: list[FeatureWeight]
    nothing: list[FeatureWeight]
    bias: float
    trained_on: int

    def probabilities(self, features: Sequence[ReferentFeatures], nothing: NoneFeatures) -> np.ndarray:
        """[n] how likely a question is about each of n things; what is missing to 1 is the probability of none."""
        odds = np.append(scores(self.features, features), scores(self.nothing, [nothing]) + self.bias)
        shares = np.exp(odds - odds.max())
        chances: np.ndarray = (shares / shares.sum())[:-1]
        return chances


def read_weights(folder: Path, key: str) -> ReferentWeights:
    """Read the weights of a model folder. Raises `ModelError`: they are missing, damaged, or of other features."""
    path = folder / FILE
    weights = read_model(path, ReferentWeights, FORMAT, key, _REMEDY)
    check_names(weights.features, ReferentFeatures._fields, f"{key}: {path}", _REMEDY)
    check_names(weights.nothing, NoneFeatures._fields, f"{key}: {path}", _REMEDY)
    return weights


class Spoken(NamedTuple):
    """A thing that a conversation spoke of; one that is no item has its words as id."""

    entity: Entity
    asked: tuple[int, ...]  # the turns that were about it
    answered: tuple[int, ...]


def spoken_of(history: Sequence[Turn]) -> list[Spoken]:
    """The things that a conversation asked about or had as answers, dates and numbers left out."""
    asked: dict[str, list[int]] = {}
    answered: dict[str, list[int]] = {}
    entities: dict[str, Entity] = {}
    for number, turn in enumerate(history):
        meant = turn.get("representation")
        for told, things in ((asked, meant["entities"] if meant else ()), (answered, turn.get("answers") or ())):
            for entity in things:
                if not entity["id"][:1].isdigit() and entity["id"] not in ("Yes", "No"):
                    entities[entity["id"]] = entity
                    told.setdefault(entity["id"], []).append(number)
    return [
        Spoken(entity, tuple(asked.get(name, ())), tuple(answered.get(name, ()))) for name, entity in entities.items()
    ]


class FeatureReader:
    """Reads the features of things in a question.

    Args:
        kb: knows the items.
        language: of the question.
    """

    def __init__(self, kb: KnowledgeBase, language: Language) -> None:
        self._kb, self._language = kb, language
        self._near = lru_cache(maxsize=_KEPT)(lambda item: kb.neighbors(item, _NEIGHBORS))

    def read(
        self, question: str, spoken: Sequence[Spoken], turns: int, pointed: Sequence[float], named: Mapping[str, int]
    ) -> list[ReferentFeatures]:
        """The features of each thing.

        Args:
            question: as typed.
            spoken: the things.
            turns: how many there were.
            pointed: of each thing the share of the pointers.
            named: where the question names items itself, by their ids.
        """
        words = _WORD.findall(question.casefold())
        pronouns = self.pronouns(question)
        nouns = self._nouns(words)
        return [
            ReferentFeatures(
                math.log(max(share, _LEAST_SHARE)) / -math.log(_LEAST_SHARE),
                float(turns - 1 in thing.answered),
                float(turns - 1 in thing.asked),
                float(0 in thing.asked),
                len(thing.asked) / max(1, turns),
                self._fits(thing.entity["id"], pronouns),
                float(not nouns.isdisjoint(self._heads(thing.entity["id"]))),
                float(bool(named) and not self._is_beside(thing.entity["id"], named.keys())),
            )
            for thing, share in zip(spoken, pointed, strict=True)
        ]

    def read_nothing(self, question: str, named: Mapping[str, int]) -> NoneFeatures:
        """The features of "nothing of it"; `named` as of `read`."""
        words = self._language.words.personal
        pronouns = [match for match in _WORD.finditer(question) if match[0].casefold() in words]
        fits = any(
            place < pronoun.start() and self.may_mean(pronoun[0].casefold(), item)
            for item, place in named.items()
            for pronoun in pronouns
        )
        alone = bool(named) and not self.pronouns(question)
        return NoneFeatures(float(alone), float(fits))

    def stands_alone(self, question: str) -> bool:
        """Whether a question has no pronoun where no facts could tell what it goes on about, as among documents."""
        return not self._kb.has_facts and not self.pronouns(question)

    def _nouns(self, words: Sequence[str]) -> Set[str]:
        """The classes that the nouns behind "the", "that" and the like name."""
        types, definite = self._language.answer_types, self._language.words.definite
        behind = (noun for before, noun in zip(words, words[1:], strict=False) if before in definite)
        return frozenset().union(*(types.noun_types(noun) for noun in behind if types.names_class(noun)))

    def _heads(self, item: str) -> Set[str]:
        return self._language.answer_types.heads(self._kb.types(item)) if item.startswith("Q") else frozenset()

    def _is_beside(self, item: str, named: Set[str]) -> bool:
        return item in named or (item.startswith("Q") and not named.isdisjoint(self._near(item)))

    def pronouns(self, question: str) -> list[str]:
        """The words (lower case) of a question that need something said before: "he", "that one", "that" at its end."""
        words = self._language.words
        own = [word for word in _WORD.findall(question.casefold()) if word in words.personal]
        return own + [match[1].casefold() for match in words.pointing_phrase.finditer(question)]

    def _fits(self, item: str, pronouns: Iterable[str]) -> float:
        kinds = [self.may_mean(pronoun, item) for pronoun in pronouns]
        return 0.0 if not kinds else 1.0 if any(kinds) else -1.0

    def may_mean(self, pronoun: str, item: str) -> bool:
        """Return True if a pronoun (lower case) may stand for a thing, by its kind and gender."""
        words, types = self._language.words, self._language.answer_types
        if not item.startswith("Q"):
            return pronoun not in words.pronouns["thing"]
        if not self._kb.has_facts:
            return True  # of what kind a thing is nobody knows
        kind = types.entity_kind(item, self._kb.types(item))
        named = next(name for name, forms in words.pronouns.items() if pronoun in forms)
        if kind not in _KINDS.get(named, (named,)):
            return False
        genders = {gender for gender, forms in words.genders.items() if pronoun in forms}
        own = {_GENDERS[value] for value in self._kb.objects(item, _GENDER) if value in _GENDERS}
        return not genders or not own or not genders.isdisjoint(own)
