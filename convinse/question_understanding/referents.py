"""Referents of a follow-up: a conditional logit over the entities that its conversation was about."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ..knowledge_base.items import Items
from ..language.answer_types import NAMED_KINDS
from ..language.language import Language
from ..records.conversation import Turn
from ..records.evidence import Entity
from ..records.literals import is_document_item, is_item
from ..support.logit import Logit, feature_names, read_logit
from ..wikipedia.pages import Pages

FILE = "referents.json"
_REMEDY = "train it again (scripts/recipes/referents.py)"
_GENDER = 21  # Wikidata's property "sex or gender"
_GENDERS = {"Q6581097": "male", "Q6581072": "female"}
_MIN_PROBABILITY = 1e-6  # of a pointer, so that the logarithm is finite
_NEIGHBORS = 1000  # items beside an item that are read
_CACHED = 256  # items whose neighbours stay in memory: 90 KB for a thousand neighbours
_WORD = re.compile(r"\w+")
# kinds of entities by the kind of pronoun, if not the same: a band is an "it" and a "they", a person may be "they"
_KINDS = {"thing": ("thing", "group"), "group": ("group", "person", "place")}


class ReferentFeatures(NamedTuple):
    """The features of an entity that the conversation was about, from 0 to 1, except `pointed`, `fits` and `of_class`.

    Attributes:
        pointed: logarithm of the probability that the rewrite head points at its name, scaled to -1 (no pointer) to 0.
        last_answer, last_asked: it was an answer of the last turn; the last turn was about it.
        first_asked: the first turn of the present topic was about it.
        asked: the share of the turns of the present topic that were about it.
        fits: 1 if a pronoun of the question may stand for it, by kind and gender, -1 if no pronoun may, 0 without a pronoun.
        of_class: 1 if the question has a noun for its class ("the film"), -1 if only for other classes, 0 without such a noun.
        apart: the question names items itself; the entity is not one of them, not in a fact with one, and neither page names the other.
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
    """The features of "nothing": the question has no referent in the history.

    Attributes:
        alone: the question names an item itself, and has no pronoun.
        fits: the question names an item before a pronoun that the pronoun may stand for.
    """

    alone: float
    fits: float


NAMES = feature_names(ReferentFeatures._fields, NoneFeatures._fields)


def read_weights(folder: Path, key: str) -> Logit:
    """Read the logit of a model folder. Raises `ModelError` if it is missing, damaged, or of other features."""
    return read_logit(folder / FILE, key, _REMEDY, NAMES)


class EarlierEntity(NamedTuple):
    """An entity that earlier turns were about or had as an answer; its text is its id if it is not an item."""

    entity: Entity
    questions: tuple[int, ...]  # turns about it
    answers: tuple[int, ...]  # turns that have it as an answer
    is_person: bool  # it answered a question for a person
    is_thing: bool = (
        False  # it answered a question for a thing of a class ("which album"), or was described ("the 1992 film")
    )

    @property
    def is_nameless(self) -> bool:
        """True for a thing without an item, which "it" may mean: an album that only a table has, "the 1992 film"."""
        return self.is_thing and not is_item(self.entity["id"])

    def is_in(self, turns: range) -> bool:
        """Return True if one of the turns is about the entity or has it as an answer."""
        return any(turn in turns for turn in (*self.questions, *self.answers))


def earlier_entities(history: Sequence[Turn]) -> list[EarlierEntity]:
    """Return the entities that earlier turns were about or had as answers, except dates, numbers, yes and no.

    Words that answer "when" or "how many", such as "twice a year", do not count.
    """
    questions: dict[str, list[int]] = {}
    answers: dict[str, list[int]] = {}
    entities: dict[str, Entity] = {}
    people: set[str] = set()
    things: set[str] = set()
    for number, turn in enumerate(history):
        representation = turn.get("representation")
        topics = representation["entities"] if representation else ()
        found = turn.get("answers") or ()
        if representation and representation.get("answer_type") in ("date", "number"):
            found = [entity for entity in found if is_item(entity["id"])]
        if representation and representation.get("answer_type") == "person":
            people.update(entity["id"] for entity in found)
        elif representation and representation.get("answer_type", "") not in ("", *NAMED_KINDS):
            # what the last turn found, or was about: "who produced it?" of an album, and "when was it released?"
            things.update(
                entity["id"]
                for entity in found
                if "abstained" not in turn
                and (turn is history[-1] or entity["label"] in history[-1].get("resolved_question", ""))
            )
        for numbers, turn_entities in ((questions, topics), (answers, found)):
            for entity in turn_entities:
                if not entity["id"][:1].isdigit() and entity["id"] not in ("Yes", "No"):
                    entities[entity["id"]] = entity
                    numbers.setdefault(entity["id"], []).append(number)
    return [
        EarlierEntity(
            entity,
            tuple(questions.get(entity_id, ())),
            tuple(answers.get(entity_id, ())),
            entity_id in people,
            entity_id in things,
        )
        for entity_id, entity in entities.items()
    ]


def _goes_on(turn: Turn) -> bool:
    """Return True if a turn has words of the history in its question in full."""
    full, typed = (
        {word for word in _WORD.findall(text.casefold()) if len(word) > 1}  # not the "s" of "Coldplay's"
        for text in (turn.get("resolved_question", ""), turn["question"])
    )
    return not full <= typed


class FeatureReader:
    """A reader of the features of questions, in a language, and of entities, with their facts and pages."""

    def __init__(self, kb: Items, pages: Pages, language: Language) -> None:
        self._kb, self._pages, self._language = kb, pages, language
        self._neighbors = lru_cache(maxsize=_CACHED)(lambda item: kb.neighbors(item, _NEIGHBORS))
        self._mentions = lru_cache(maxsize=_CACHED)(self._items_on_page)

    def present_topic(self, history: Sequence[Turn]) -> range:
        """Return the turns of the present topic: nothing in the turn before them is near what has been spoken of since.

        A turn that was understood with words of the history ("and Zidane?") does not begin a topic.
        """
        begin, since = len(history), dict[str, int]()
        for turn in reversed(history):
            representation = turn.get("representation")
            entities = [*representation["entities"], *representation["context"]] if representation else []
            items = [entity["id"] for entity in (*entities, *turn.get("answers", ())) if is_item(entity["id"])]
            is_near = not items or not since or any(self._is_near(item, since) for item in items)
            if not is_near and not _goes_on(history[begin]):
                break
            since |= dict.fromkeys(items, 0)
            begin -= 1
        return range(begin, len(history))

    def read(
        self,
        question: str,
        entities: Sequence[EarlierEntity],
        present: range,
        pointed: Sequence[float],
        named: Mapping[str, int],
    ) -> list[ReferentFeatures]:
        """Return the features of the entities.

        Args:
            question: the question as typed.
            entities: the entities of earlier turns.
            present: the earlier turns of the present topic, see `present_topic`.
            pointed: for each entity the probability that the rewrite head points at its name.
            named: the items that the question names itself, by id: where each name starts.
        """
        types, definite = self._language.answer_types, self._language.words.definite
        words = _WORD.findall(question.casefold())
        pronouns = self.pronouns(question)
        # the classes of nouns behind "the", "that" and the like
        nouns = (noun for before, noun in zip(words, words[1:], strict=False) if before in definite)
        classes = frozenset[str]().union(*(types.noun_types(noun) for noun in nouns if types.names_class(noun)))
        fits = self._fits(pronouns, entities)
        features = []
        for earlier, fit, probability in zip(entities, fits, pointed, strict=True):
            item = earlier.entity["id"]
            is_linked = is_item(item)
            heads = types.heads(self._kb.types(item)) if is_linked else frozenset()
            features.append(
                ReferentFeatures(
                    pointed=math.log(max(probability, _MIN_PROBABILITY)) / -math.log(_MIN_PROBABILITY),
                    last_answer=float(present.stop - 1 in earlier.answers),
                    last_asked=float(present.stop - 1 in earlier.questions),
                    first_asked=float(present.start in earlier.questions),
                    asked=sum(turn in present for turn in earlier.questions) / max(1, len(present)),
                    fits=fit,
                    of_class=0.0 if not classes or not heads else -1.0 if classes.isdisjoint(heads) else 1.0,
                    apart=float(bool(named) and not (is_linked and self._is_near(item, named))),
                )
            )
        return features

    def _is_near(self, item: str, named: Mapping[str, int]) -> bool:
        """Return True if an item is named, is in a fact with a named one, or the page of one of the two names the other."""
        beside = (self._neighbors(item), self._mentions(item))
        return (
            item in named
            or not all(map(named.keys().isdisjoint, beside))
            or any(item in self._mentions(other) for other in named)
        )

    def _items_on_page(self, item: str) -> frozenset[str]:
        evidences = self._pages.get(item) or ()
        return frozenset(entity["id"] for evidence in evidences for entity in evidence["wikidata_entities"])

    def _fits(self, pronouns: Sequence[str], entities: Sequence[EarlierEntity]) -> list[float]:
        if not pronouns:
            return [0.0] * len(entities)
        fits, is_known, things = [], [], self._language.words.pronouns["thing"]
        for earlier in entities:
            item = earlier.entity["id"]
            fits.append(1.0 if any(self.may_mean(pronoun, earlier) for pronoun in pronouns) else -1.0)
            # of a turn about a name without an item, "who is flarbo mint?", the next "he" means that name
            is_unknown_name = bool(earlier.questions) and not is_item(item)
            is_thing = earlier.is_thing and not things.isdisjoint(pronouns)
            is_known.append(earlier.is_person or is_thing or is_unknown_name or self._is_of_known_kind(item))
        if any(fit > 0 for fit, has_kind in zip(fits, is_known, strict=True) if has_kind):
            # the kind of other words, or of a document's thing, is unknown: what is known to fit comes before it
            return [fit if has_kind else 0.0 for fit, has_kind in zip(fits, is_known, strict=True)]
        return fits

    def _is_of_known_kind(self, item: str) -> bool:
        return is_item(item) and not is_document_item(item) and bool(self._kb.types(item))

    def read_nothing(self, question: str, named: Mapping[str, int]) -> NoneFeatures:
        """Return the features of "nothing" for a question; `named` as for `read`."""
        words = self._language.words.personal
        pronouns = [match for match in _WORD.finditer(question) if match[0].casefold() in words]
        fits = any(
            place < pronoun.start() and self.may_be_item(pronoun[0].casefold(), item)
            for item, place in named.items()
            for pronoun in pronouns
        )
        alone = bool(named) and not self.pronouns(question)
        return NoneFeatures(float(alone), float(fits))

    def pronouns(self, question: str) -> list[str]:
        """Return the words (lower case) of a question that refer to the history: "he", "that one", "that" at its end."""
        phrases = self._language.words.pointing_phrase.finditer(question)
        return [match[0].casefold() for match in self.personal(question)] + [match[1].casefold() for match in phrases]

    def personal(self, question: str) -> list[re.Match[str]]:
        """Return the places of personal pronouns; "there" of "were there" and "it" of "is it true that" point at nothing."""
        words, verbs = self._language.words, self._language.answer_types.existential
        forms = [*_WORD.finditer(question)]
        before = ["", *(match[0].casefold() for match in forms)]
        return [
            match
            for match, word in zip(forms, before, strict=False)
            if match[0].casefold() in words.personal
            and not words.expletive.match(question, match.start())
            and not (match[0].casefold() in words.pronouns["place"] and word in verbs)
        ]

    def may_mean(self, pronoun: str, earlier: EarlierEntity) -> bool:
        """Return True if a pronoun (lower case) may stand for an entity, by its kind and gender.

        An entity of an unknown kind is a person or a thing if it answered a question for one.
        """
        words, item = self._language.words, earlier.entity["id"]
        if earlier.is_person and not self._is_of_known_kind(item):
            return pronoun in words.pronouns["person"] | words.pronouns["group"] and self._may_be(pronoun, item)
        if earlier.is_thing and not self._is_of_known_kind(item) and pronoun in words.pronouns["thing"]:
            return True
        return self.may_be_item(pronoun, item)

    def may_be_item(self, pronoun: str, item: str) -> bool:
        """Return True if a pronoun (lower case) may stand for an item, by its kind and gender; other words are no thing."""
        words, types = self._language.words, self._language.answer_types
        if not is_item(item):
            return pronoun not in words.pronouns["thing"] and self._may_be(pronoun, item)
        if is_document_item(item):
            return self._may_be(pronoun, item)  # kinds are unknown
        kind = types.entity_kind(item, self._kb.types(item))
        pronoun_kind = next(name for name, forms in words.pronouns.items() if pronoun in forms)
        return kind in _KINDS.get(pronoun_kind, (pronoun_kind,)) and self._may_be(pronoun, item)

    def _may_be(self, pronoun: str, person: str) -> bool:
        """Return True unless a person is known to be of another gender than a pronoun, by its facts or its name."""
        pronoun_genders = {gender for gender, forms in self._language.words.genders.items() if pronoun in forms}
        genders = {_GENDERS[value] for value in self._kb.objects(person, _GENDER) if value in _GENDERS}
        if not genders and (gender := self._language.names.gender(self._kb.label(person))):
            genders = {gender}
        return not pronoun_genders or not genders or not genders.isdisjoint(pronoun_genders)
