"""The features of a candidate, by which the ranking tells whether it answers a question, and those of "none of these"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import NamedTuple

from ..language.property_names import PropertyLabel
from ..records.literals import is_item, is_known
from ..records.periods import Agreement, Period
from ..records.written_values import kind_of_value
from .candidates import EntityCandidate
from .question import Question

_LEAST = 1e-4  # of a share, for its logarithm
_LEAST_FIT = 1e-3


class Features(NamedTuple):
    """The features of a candidate, between 0 and 1 unless they say otherwise.

    Attributes:
        read: logarithm of its share of what the reader marks.
        computed: how well it fits the expected type if a computation over tables or facts gives it, else 0.
        fit: logarithm of how well it fits the expected type.
        score: the best score of its evidences, as a share of the best score of all.
        covered: the largest share of the question's words that an evidence with it has.
        subjects: the share of the items that the question is about that an evidence with it names, the most of its evidences.
        best: the product of how much of the name of its property, header or unit the question has, the share of the question's
            words that the evidence has, and the share of its score; the most of its evidences.
        as_value, as_subject: its role in the best of its evidences (of a fact; else it is in a row, an infobox or a sentence).
        echoes: the share of its words that the question has.
        timely: 1 if an evidence of it holds at the time of the question, -1 if all contradict it; else one half if it existed then,
            minus one half if it did not, 0 if that is not known.
        is_date, is_number, is_words: its kind, if it is not an item.
        prior: logarithm of the number of its facts.
    """

    read: float
    computed: float
    fit: float
    score: float
    covered: float
    subjects: float
    best: float
    as_value: float
    as_subject: float
    echoes: float
    timely: float
    is_date: float
    is_number: float
    is_words: float
    prior: float


class QuestionFeatures(NamedTuple):
    """The features of a question, which tell whether any of its candidates is right.

    Attributes:
        candidates: logarithm of their number, plus one.
        score: the score of the best evidence.
        surest: the probability of the surest span of the reader.
        covered: the largest of all candidates.
        linked: an item that the question is about is known.
    """

    candidates: float
    score: float
    surest: float
    covered: float
    linked: float


class Measured(NamedTuple):
    """The candidates of a question with their features, and those of the question."""

    candidates: Sequence[EntityCandidate]
    features: list[Features]
    question: QuestionFeatures


def measure(question: Question, candidates: Sequence[EntityCandidate], surest: float = 0.0) -> Measured:
    """Measure the candidates of a question; `surest` is the probability of the reader's surest span."""
    measuring = _Measuring(question, candidates)
    rows = [measuring.features(candidate) for candidate in candidates]
    of_question = QuestionFeatures(
        candidates=math.log(1 + len(rows)),
        score=max((evidence.get("score", 0.0) for evidence in question.evidences), default=0.0),
        surest=surest,
        covered=max((row.covered for row in rows), default=0.0),
        linked=float(bool(question.about)),
    )
    return Measured(candidates, rows, of_question)


def score_shares(scores: Sequence[float]) -> list[float]:
    """Scores as shares of the best; all are 1 if none is above 0."""
    best = max(scores, default=0.0)
    return [max(0.0, score) / best if best > 0 else 1.0 for score in scores]


class _Measuring:
    """Measures the candidates of one question, with what they have in common."""

    def __init__(self, question: Question, candidates: Sequence[EntityCandidate]) -> None:
        self._question = question
        self._keywords = question.language.properties.keywords
        self._candidates = candidates
        self._words = self._keywords(question.in_full) | self._keywords(question.text)
        labels = {entity["label"] for evidence in question.evidences for entity in evidence["wikidata_entities"][:1]}
        labels |= {entity["label"] for entity in question.about}
        names = (name for label in labels if (name := self._keywords(label)) <= self._words)
        self._asking = self._words.difference(*names)  # the question without the names in it
        self._held = [self._keywords(evidence["evidence_text"]) for evidence in question.evidences]
        self._shares = score_shares([evidence.get("score", 1.0) for evidence in question.evidences])
        self._subjects = self._subject_shares()
        self._named: dict[PropertyLabel, tuple[float, AbstractSet[str]]] = {}

    def _subject_shares(self) -> list[float]:
        about = {entity["id"] for entity in self._question.about}
        shares = []
        for evidence in self._question.evidences:
            held = {entity["id"] for entity in evidence["wikidata_entities"]}
            if "retrieved_for_entity" in evidence:
                held.add(evidence["retrieved_for_entity"]["id"])
            shares.append(len(held & about) / len(about) if about else 0.0)
        return shares

    def _asked(self, label: PropertyLabel) -> tuple[float, AbstractSet[str]]:
        """How much of a name the question has, and the words that ask for it."""
        if label not in self._named:
            names = self._question.knowledge.properties
            self._named[label] = names.coverage(label, self._asking), names.asking(label, self._asking)
        return self._named[label]

    @cached_property
    def _existence(self) -> Period | None:
        """When the answer must have existed: the time that the question names, or that of what a clause of it is about."""
        question, times = self._question, self._question.language.times
        if question.expected.kind in ("date", "number"):
            return None
        named = times.named(question.in_full) or times.named(question.text)
        if named is not None:
            return named
        event = question.knowledge.lifetimes.common(entity["id"] for entity in question.about)
        return None if event is None else times.clause(question.in_full, event)

    def _covered(self, place: int, own: AbstractSet[str], *more: AbstractSet[str]) -> float:
        """The share of the question's words that an evidence has, or that ask for more, besides those of a candidate."""
        told = self._held[place].union(*more) - own
        return len(self._asking & told) / len(self._asking) if self._asking else 0.0

    def features(self, candidate: EntityCandidate) -> Features:
        """The features of a candidate."""
        entity, roles = candidate.entity, candidate.roles
        name, label = entity["id"], entity["label"]
        own_words = self._keywords(label)
        covered = best = 0.0
        for role in roles:
            asked = [self._asked(label) for label in role.labels]
            part = self._covered(role.place, own_words, *(words for _, words in asked))
            covered = max(covered, part)
            best = max(best, max((share for share, _ in asked), default=0.0) * part * self._shares[role.place])
        places = {role.place for role in roles} or set(
            candidate.best_places
        )  # words that the reader alone marks have no role
        if not roles:
            covered = max((self._covered(place, own_words) for place in places), default=0.0)
        kind = roles[0].kind if roles else ""
        value_kind = kind_of_value(name)
        fit = self._question.fit(entity)
        facts = self._question.knowledge.kb.frequency(name) if is_item(name) else 0
        return Features(
            read=math.log(candidate.read + _LEAST),
            computed=fit if candidate.computed else 0.0,
            fit=math.log(max(fit, _LEAST_FIT)),
            score=max((self._shares[place] for place in places), default=0.0),
            covered=covered,
            subjects=max((self._subjects[place] for place in places), default=0.0),
            best=best,
            as_value=float(kind in ("object", "qualifier")),
            as_subject=float(kind == "subject"),
            echoes=len(own_words & self._words) / len(own_words) if own_words else 0.0,
            timely=self._timeliness(candidate),
            is_date=float(value_kind == "date"),
            is_number=float(value_kind == "number"),
            is_words=float(not is_known(entity) and not value_kind),
            prior=math.log10(1 + facts) / 5,
        )

    def _timeliness(self, candidate: EntityCandidate) -> float:
        if candidate.agreement is not Agreement.UNKNOWN:
            return float(candidate.agreement.value)
        lifetime = self._question.knowledge.lifetimes.of(candidate.entity["id"])
        if self._existence is None or lifetime is None:
            return 0.0
        return 0.5 if lifetime.overlaps(self._existence) else -0.5
