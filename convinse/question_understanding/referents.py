"""Referents of a follow-up: a logit over the things that its conversation spoke of."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
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
_NEIGHBORS = 1000  # items beside an item that are read
_CACHED = 256  # items whose neighbours stay in memory: 90 KB for a thousand neighbours
_WORD = re.compile(r"\w+")
# the kinds that a pronoun of a kind may mean: a band is an "it" and a "they", several people are "they"
_KINDS = {"thing": ("thing", "group"), "group": ("group", "person")}


class ReferentFeatures(NamedTuple):
    """The features of a thing that was spoken of, from 0 to 1, except `pointed` and `fits`.

    Attributes:
        pointed: the logarithm of the share of the rewrite head's pointers that its name has, from -1 (no pointer) to 0.
        last_answer, last_asked: it answered the turn before; the turn before was about it.
        first_asked: the first turn was about it.
        asked: the share of the turns that were about it.
        fits: 1 if it has the kind and the gender of the question's pronouns, -1 if it has another, 0 without a pronoun.
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
    """The features of a question without referent.

    Attributes:
        alone: the question names an item itself, and has no pronoun.
        fits: the question names an item before its pronoun that the pronoun may stand for.
    """

    alone: float
    fits: float


class ReferentWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A conditional logit: the odds of a thing are the exponential of its weighted features.

    Attributes:
        format: of the file.
        features, nothing: weights, in the order of `ReferentFeatures` and `NoneFeatures`; `bias` is added to those of "nothing".
        trained_on: number of training questions.
    """

    format: int
    features: list[FeatureWeight]
    nothing: list[FeatureWeight]
    bias: float
    trained_on: int

    def probabilities(self, features: Sequence[ReferentFeatures], nothing: NoneFeatures) -> np.ndarray:
        """Return the probabilities [n] that a question is about n things; the remainder to 1 is that of "nothing"."""
        odds = np.append(scores(self.features, features), scores(self.nothing, [nothing]) + self.bias)
        shares = np.exp(odds - odds.max())
        chances: np.ndarray = (shares / shares.sum())[:-1]
        return chances


def read_weights(folder: Path, key: str) -> ReferentWeights:
    """Read the weights of a model folder. Raises `ModelError` if they are missing, damaged, or of other features."""
    path = folder / FILE
    weights = read_model(path, ReferentWeights, FORMAT, key, _REMEDY)
    check_names(weights.features, ReferentFeatures._fields, f"{key}: {path}", _REMEDY)
    check_names(weights.nothing, NoneFeatures._fields, f"{key}: {path}", _REMEDY)
    return weights


class Spoken(NamedTuple):
    """A thing that a conversation spoke of; its words are the id if it is not an item."""

    entity: Entity
    questions: tuple[int, ...]  # turns about it
    answers: tuple[int, ...]  # turns that it answers


def spoken_of(history: Sequence[Turn]) -> list[Spoken]:
    """Return the things that a conversation asked about or had as answers, except dates and numbers."""
    questions: dict[str, list[int]] = {}
    answers: dict[str, list[int]] = {}
    entities: dict[str, Entity] = {}
    for number, turn in enumerate(history):
        representation = turn.get("representation")
        topics = representation["entities"] if representation else ()
        for numbers, things in ((questions, topics), (answers, turn.get("answers") or ())):
            for entity in things:
                if not entity["id"][:1].isdigit() and entity["id"] not in ("Yes", "No"):
                    entities[entity["id"]] = entity
                    numbers.setdefault(entity["id"], []).append(number)
    return [
        Spoken(entity, tuple(questions.get(name, ())), tuple(answers.get(name, ())))
        for name, entity in entities.items()
    ]


class FeatureReader:
    """Reads the features of things in a question.

    Args:
        kb: with the items.
        language: of the question.
    """

    def __init__(self, kb: KnowledgeBase, language: Language) -> None:
        self._kb, self._language = kb, language
        self._near = lru_cache(maxsize=_CACHED)(lambda item: kb.neighbors(item, _NEIGHBORS))

    def read(
        self, question: str, spoken: Sequence[Spoken], turns: int, pointed: Sequence[float], named: Mapping[str, int]
    ) -> list[ReferentFeatures]:
        """Return the features of the things.

        Args:
            question: as typed.
            spoken: the things.
            turns: the number of earlier turns.
            pointed: the shares of the pointers, for the things.
            named: the places of the items that the question names itself, by their ids.
        """
        types, definite = self._language.answer_types, self._language.words.definite
        words = _WORD.findall(question.casefold())
        pronouns = self.pronouns(question)
        # the classes of nouns behind "the", "that" and the like
        nouns = (noun for before, noun in zip(words, words[1:], strict=False) if before in definite)
        classes = frozenset[str]().union(*(types.noun_types(noun) for noun in nouns if types.names_class(noun)))
        features = []
        for thing, share in zip(spoken, pointed, strict=True):
            item = thing.entity["id"]
            kinds = [self.may_mean(pronoun, item) for pronoun in pronouns]
            is_item = item.startswith("Q")
            heads = types.heads(self._kb.types(item)) if is_item else frozenset()
            is_beside = item in named or (is_item and bool(named) and not named.keys().isdisjoint(self._near(item)))
            features.append(
                ReferentFeatures(
                    pointed=math.log(max(share, _LEAST_SHARE)) / -math.log(_LEAST_SHARE),
                    last_answer=float(turns - 1 in thing.answers),
                    last_asked=float(turns - 1 in thing.questions),
                    first_asked=float(0 in thing.questions),
                    asked=len(thing.questions) / max(1, turns),
                    fits=0.0 if not kinds else 1.0 if any(kinds) else -1.0,
                    of_class=float(not classes.isdisjoint(heads)),
                    apart=float(bool(named) and not is_beside),
                )
            )
        return features

    def read_nothing(self, question: str, named: Mapping[str, int]) -> NoneFeatures:
        """Return the features of a question without referent; `named` as for `read`."""
        words = self._language.words.personal
        pronouns = [match for match in _WORD.finditer(question) if match[0].casefold() in words]
        fits = any(
            place < pronoun.start() and self.may_mean(pronoun[0].casefold(), item)
            for item, place in named.items()
            for pronoun in pronouns
        )
        alone = bool(named) and not self.pronouns(question)
        return NoneFeatures(float(alone), float(fits))

    def pronouns(self, question: str) -> list[str]:
        """Return the words (lower case) of a question that refer to the history: "he", "that one", "that" at its end."""
        words = self._language.words
        personal = [word for word in _WORD.findall(question.casefold()) if word in words.personal]
        return personal + [match[1].casefold() for match in words.pointing_phrase.finditer(question)]

    def may_mean(self, pronoun: str, item: str) -> bool:
        """Return True if a pronoun (lower case) may stand for a thing, by its kind and gender."""
        words, types = self._language.words, self._language.answer_types
        if not item.startswith("Q"):
            return pronoun not in words.pronouns["thing"]
        if not self._kb.has_facts:
            return True  # the kind of a thing is unknown
        kind = types.entity_kind(item, self._kb.types(item))
        named = next(name for name, forms in words.pronouns.items() if pronoun in forms)
        if kind not in _KINDS.get(named, (named,)):
            return False
        genders = {gender for gender, forms in words.genders.items() if pronoun in forms}
        item_genders = {_GENDERS[value] for value in self._kb.objects(item, _GENDER) if value in _GENDERS}
        return not genders or not item_genders or not genders.isdisjoint(item_genders)
