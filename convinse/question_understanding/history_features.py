"""What tells whether a question is about something that was talked about: named features of the two."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ..knowledge_base.index import KnowledgeBase
from ..language.language import Language, english
from ..language.text import Words, fold
from ..records.conversation import Turn
from ..support.recently_used import RecentlyUsed
from .referents import Asked, ChosenReferents, Focus, Referent, may_mean, recent

if TYPE_CHECKING:
    import numpy as np

_FACTS = 300  # of an item that are looked at
_VALUES = 5  # of a property of an item that are looked at
_OWN_TYPES = 2  # the nearest classes of an item; classes above them are shared too widely
_KEPT_ITEMS = 256  # whose neighbors stay in memory, as in `slots`
_KEPT_TEXTS = 2_000  # whose embeddings stay in memory, as they are given: 2 MB of float16, full after some 1,200 turns


class Embedder(Protocol):
    """Embeds texts; see `encoder.bi_encoder.KeptEmbeddings`."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """[n, d] floats of distinct texts, each row of about length 1."""


class ReferentFeatures(NamedTuple):
    """Of a question and one referent; each is 0 where it does not apply. The order is that of the model's weights.

    Attributes:
        rules_entity, rules_context: the rules of `slots` take it as what the question is about, or as its context.
        answered_last, asked_last: the turn before was answered with it, or asked about it.
        answered_before, asked_before: an earlier turn was.
        first_topic: it is the first thing that the conversation asked about.
        turns_since: turns between the last turn that talked about it and this turn.
        times: turns that talked about it, less one.
        agrees, disagrees: the question has a personal pronoun that may mean it (0.5: "they" for a person), or only
            pronouns that may not.
        pointed_at: the question points ("who wrote that one?"), and the turn before was about it.
        class_named, class_missed: the question says "the film", and it is a film, or it is no film.
        names_item: the question names an item itself.
        complete: the question names an item, has no personal pronoun and leans on no other question.
        near_named: an item that the question names shares a fact with it.
        rival_of_named: an item that the question names is of its class and shares no fact with it: a new topic.
        elliptical, elliptical_last: the question leans on the question before, and that question asked about it.
        may_answer: how well it fits the type that the question asks for; what is asked for is not what is asked about.
        has_property: share of the question's words in the names of its best property in the knowledge base.
        has_answer: the same, times how well that property's values fit the wanted type; of the best property.
        has_most: it has the highest `has_answer` (above 0) of all that was talked about.
        alike: cosine of the question and the most similar earlier question about it.
        property_alike: cosine of what is asked and the name of its most similar property.
        property_lead: `property_alike` less that of the best other referent.
    """

    rules_entity: float
    rules_context: float
    answered_last: float
    asked_last: float
    answered_before: float
    asked_before: float
    first_topic: float
    turns_since: float
    times: float
    agrees: float
    disagrees: float
    pointed_at: float
    class_named: float
    class_missed: float
    names_item: float
    complete: float
    near_named: float
    rival_of_named: float
    elliptical: float
    elliptical_last: float
    may_answer: float
    has_property: float
    has_answer: float
    has_most: float
    alike: float
    property_alike: float
    property_lead: float


class _Profile(NamedTuple):
    properties: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]


class _Match(NamedTuple):
    has_property: float
    has_answer: float
    alike: float
    property_alike: float


class FeatureReader:
    """Reads the features of a question and everything that was talked about before it.

    Args:
        kb: the knowledge base.
        embedder: embeds questions and names of properties.
        language: of the questions and the knowledge base; English by default.
    """

    def __init__(self, kb: KnowledgeBase, embedder: Embedder, language: Language | None = None) -> None:
        self._language = language or english()
        self._kb = kb
        self._embedder = embedder
        self._profile = lru_cache(maxsize=4096)(self._read_profile)
        self._neighbors = lru_cache(maxsize=_KEPT_ITEMS)(kb.neighbors)
        stems = self._language.words.stems
        self._names = {
            entity_id: frozenset(stems(" ".join((label, *aliases)))) for entity_id, label, aliases in kb.properties()
        }
        self._vectors: RecentlyUsed[str, np.ndarray] = RecentlyUsed(_KEPT_TEXTS)

    @staticmethod
    def referents(asked: Asked, foci: Sequence[Focus]) -> list[Referent]:
        """The items talked about that the question does not name itself, the latest first."""
        return [referent for referent in recent(foci) if referent.id.startswith("Q") and referent not in asked.named]

    def read(
        self, asked: Asked, rules: ChosenReferents, foci: Sequence[Focus], history: Sequence[Turn]
    ) -> list[ReferentFeatures]:
        """The features of each of the `referents`, in their order."""
        referents = self.referents(asked, foci)
        if not referents:
            return []
        matches = self._matches(asked, referents, foci, history)
        topic = next((item for focus in foci for item in focus.asked), None)
        most = max(match.has_answer for match in matches)
        personal = self._language.words.personal.intersection(fold(asked.question).split())
        complete = bool(asked.named) and not personal and not asked.elliptical
        points = bool(self._language.conversation.pointing_phrase.search(asked.question))
        rows = []
        for place, (referent, match) in enumerate(zip(referents, matches, strict=True)):
            rivals = [match.property_alike for at, match in enumerate(matches) if at != place]
            talked = [at for at, focus in enumerate(foci) if referent in focus.asked or referent in focus.answered]
            asked_last = referent in foci[-1].asked
            agrees, disagrees = _agreement(personal, referent, self._language.words)
            class_named, class_missed = self._class_agreement(asked.question, referent)
            near = any(referent.id in self._neighbors(item.id) for item in asked.named if item.id.startswith("Q"))
            rows.append(
                ReferentFeatures(
                    rules_entity=float(referent in rules.entities),
                    rules_context=float(referent in rules.context),
                    answered_last=float(referent in foci[-1].answered),
                    asked_last=float(asked_last),
                    answered_before=float(any(referent in focus.answered for focus in foci[:-1])),
                    asked_before=float(any(referent in focus.asked for focus in foci[:-1])),
                    first_topic=float(referent == topic),
                    turns_since=float(len(foci) - 1 - talked[-1]),
                    times=float(len(talked) - 1),
                    agrees=agrees,
                    disagrees=disagrees,
                    pointed_at=float(points and talked[-1] == len(foci) - 1),
                    class_named=class_named,
                    class_missed=class_missed,
                    names_item=float(bool(asked.named)),
                    complete=float(complete),
                    near_named=float(near),
                    rival_of_named=float(not near and self._is_rival(referent, asked.named)),
                    elliptical=float(asked.elliptical),
                    elliptical_last=float(asked.elliptical and asked_last),
                    may_answer=self._fit(asked, referent.id),
                    has_property=match.has_property,
                    has_answer=match.has_answer,
                    has_most=float(match.has_answer == most > 0),
                    alike=match.alike,
                    property_alike=match.property_alike,
                    property_lead=round(match.property_alike - max(rivals), 3) if rivals else 0.0,
                )
            )
        return rows

    def _class_agreement(self, question: str, referent: Referent) -> tuple[float, float]:
        """Whether the question's "the film", if it has such words, may mean a referent, and whether it may not."""
        low = re.findall(r"\w+", question.lower())
        types, definite = self._language.answer_types, self._language.words.definite
        nouns = {noun for before, noun in pairwise(low) if before in definite and types.names_class(noun)}
        own = types.heads(self._kb.types(referent.id)) if nouns else frozenset()
        named = any(types.noun_types(noun) & own for noun in nouns)
        return float(named), float(bool(nouns) and not named)

    def _is_rival(self, referent: Referent, named: Sequence[Referent]) -> bool:
        own = set(self._kb.types(referent.id)[:_OWN_TYPES])
        return any(own & set(self._kb.types(item.id)[:_OWN_TYPES]) for item in named if item.id.startswith("Q"))

    # -- facts ---------------------------------------------------------------------------------------------------------

    def _matches(
        self, asked: Asked, referents: Sequence[Referent], foci: Sequence[Focus], history: Sequence[Turn]
    ) -> list[_Match]:
        wanted = frozenset(self._language.words.stems(" ".join(asked.predicate)))
        query = " ".join((*asked.predicate, asked.answer_type.label)) or asked.question
        profiles = [self._profile(referent.id) for referent in referents]
        embedded = self._embedded(
            [query, asked.question, *(turn["question"] for turn in history)]
            + [self._kb.label(name) for profile in profiles for name in profile.properties]
        )
        matches = []
        for referent, profile in zip(referents, profiles, strict=True):
            shares = [len(wanted & self._names.get(name, frozenset())) for name in profile.properties]
            part = 1 / max(1, len(wanted))
            held = ((share, values) for share, values in zip(shares, profile.values, strict=True) if share)
            answers = [share * part * self._best_fit(asked, values) for share, values in held]
            turns = zip(history, foci, strict=True)
            about = [turn["question"] for turn, focus in turns if referent in focus.by_salience]
            matches.append(
                _Match(
                    has_property=max(shares, default=0) * part,
                    has_answer=max(answers, default=0.0),
                    alike=self._cosine(asked.question, about, embedded),
                    property_alike=self._cosine(query, [self._kb.label(name) for name in profile.properties], embedded),
                )
            )
        return matches

    def _best_fit(self, asked: Asked, values: Sequence[str]) -> float:
        return max((self._fit(asked, value) for value in values), default=0.0)

    def _fit(self, asked: Asked, entity_id: str) -> float:
        if asked.likely is not None:
            return asked.likely.fit(entity_id)
        types = self._kb.types(entity_id) if entity_id.startswith("Q") else ()
        return self._language.answer_types.fit(asked.answer_type, entity_id, types)

    def _read_profile(self, entity_id: str) -> _Profile:
        properties: dict[str, dict[str, None]] = {}
        for fact in self._kb.first_facts(entity_id, _FACTS):
            ids = [entity["id"] for entity in fact]
            for name in ids[1::2]:
                values = properties.setdefault(name, {})
                if len(values) < _VALUES:
                    values.update((value, None) for value in ids[::2] if value != entity_id)
        return _Profile(tuple(properties), tuple(tuple(values) for values in properties.values()))

    # -- embeddings ----------------------------------------------------------------------------------------------------

    def _embedded(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        vectors = self._vectors.of(texts, lambda new: (row.copy() for row in self._embedder.embed(new)))
        return dict(zip(texts, vectors, strict=True))

    @staticmethod
    def _cosine(query: str, texts: Sequence[str], embedded: Mapping[str, np.ndarray]) -> float:
        """The highest cosine; rounded, so that it does not depend on what was embedded together."""
        import numpy as np

        if not texts:
            return 0.0
        vectors = np.stack([embedded[text] for text in (*texts, query)]).astype("f4")
        return round(float((vectors[:-1] @ vectors[-1]).max()), 3)


def _agreement(pronouns: Set[str], referent: Referent, words: Words) -> tuple[float, float]:
    """How well some pronouns may mean a referent (1, or 0.5), and whether all of them mean something else."""
    fitting = {pronoun for pronoun in pronouns if may_mean(pronoun, referent, words)}
    if fitting and referent.kind == "person" and fitting <= words.pronouns["group"]:
        return 0.5, 0.0
    return float(bool(fitting)), float(bool(pronouns) and not fitting)
