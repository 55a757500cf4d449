"""Features of candidates and questions, from which the ranking computes probabilities."""

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
from .counts import COUNT
from .question import Question
from .spans import SPAN

_MIN_READ = 1e-4  # added to a score of the reader, so that its logarithm is finite
_MIN_FIT = 1e-3  # for the same reason
# normalised score by the reader of what is computed from a document, at least: one more of 234 and of 45 questions over files that
# were there to choose by
_COMPUTED_READ = 0.3


class Features(NamedTuple):
    """The features of a candidate, between 0 and 1, except `timely`, `prior` and logarithms.

    Attributes:
        read: logarithm of its normalised score by the reader.
        computed: how well it fits the expected type if a computation over tables or facts gives it (1 from a document), else 0.
        fit: logarithm of how well it fits the expected type.
        score: the best normalised score of its evidences; 1 if it is computed from all rows of documents, or held at the time asked for.
        covered: the largest share of the question's words in one of its evidences; likewise.
        subjects: the largest share of the question's items that one of its evidences names or was retrieved for.
        best: the maximum over its evidences of three factors: the share of the property, header or unit name found in the question,
            the share of the question's words found in the evidence, and the evidence's normalised score.
        as_value, as_subject: in the first of its evidences it is a value or the subject of a fact.
        echoes: the share of its words that the question has.
        timely: 1 if an evidence of it holds at the time of the question, -1 if all contradict it; else 0.5 if it existed then,
            -0.5 if it did not, 0 if unknown.
        is_date, is_number, is_words: its kind, if it is not an item.
        prior: log10(1 + number of its facts) / 5.
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
    """The features of a question, for the probability that none of its candidates is right.

    Attributes:
        candidates: logarithm of 1 plus their number.
        score: the score of the best evidence.
        surest: the probability of the surest span of the reader.
        covered: the largest `covered` of the candidates.
        linked: the question links to an item.
    """

    candidates: float
    score: float
    surest: float
    covered: float
    linked: float


def measure(
    question: Question, candidates: Sequence[EntityCandidate], surest: float = 0.0
) -> tuple[list[Features], QuestionFeatures]:
    """Return the features of candidates and of their question; `surest` is the probability of the reader's surest span."""
    measurement = _Measurement(question)
    rows = [measurement.features(candidate) for candidate in candidates]
    question_features = QuestionFeatures(
        candidates=math.log(1 + len(rows)),
        score=max((evidence.evidence.get("score", 0.0) for evidence in question.evidences), default=0.0),
        surest=surest,
        covered=max((row.covered for row in rows), default=0.0),
        linked=float(bool(question.about)),
    )
    return rows, question_features


class _Measurement:
    def __init__(self, question: Question) -> None:
        self._question = question
        self._keywords = question.language.properties.keywords
        self._words = self._keywords(question.in_full) | self._keywords(question.text)
        labels = {entity["label"] for evidence in question.evidences for entity in evidence.entities[:1]}
        labels |= {entity["label"] for entity in question.about}
        mentioned = (words for label in labels if (words := self._keywords(label)) <= self._words)
        self._asking = self._words.difference(*mentioned)  # the question without the names in it
        self._shares = question.shares
        about = {entity["id"] for entity in question.about}
        self._subjects = []
        for evidence in question.evidences:
            ids = {entity["id"] for entity in evidence.entities}
            if evidence.subject is not None:
                ids.add(evidence.subject["id"])
            self._subjects.append(len(ids & about) / len(about) if about else 0.0)
        self._matches: dict[PropertyLabel, tuple[float, AbstractSet[str]]] = {}

    @cached_property
    def _existence(self) -> Period | None:
        # the time at which an answer must have existed: the question names it, or it is that of an event in a clause
        question, times = self._question, self._question.language.times
        if question.expected.kind in ("date", "number"):
            return None
        time = times.named(question.in_full) or times.named(question.text)
        if time is not None:
            return time
        event = question.lifetimes.common(entity["id"] for entity in question.about)
        return None if event is None else times.clause(question.in_full, event)

    def _covered(self, place: int, excluded: AbstractSet[str], *further: AbstractSet[str]) -> float:
        covered = self._question.evidences[place].keywords.union(*further) - excluded
        return len(self._asking & covered) / len(self._asking) if self._asking else 0.0

    def features(self, candidate: EntityCandidate) -> Features:
        entity, roles = candidate.entity, candidate.roles
        entity_id, property_names = entity["id"], self._question.property_names
        words = self._keywords(entity["label"])
        covered = best = 0.0
        for role in roles:
            matches = []  # how much of a label the question has, and the words that ask for it
            for label in role.labels:
                if label not in self._matches:
                    coverage = property_names.coverage(label, self._asking)
                    self._matches[label] = coverage, property_names.asking(label, self._asking)
                matches.append(self._matches[label])
            role_covered = self._covered(role.place, words, *(asking for _, asking in matches))
            covered = max(covered, role_covered)
            label_coverage = max((coverage for coverage, _ in matches), default=0.0)
            best = max(best, label_coverage * role_covered * self._shares[role.place])
        # candidates that only the reader marked have no role
        places = {role.place for role in roles} or set(candidate.best_places)
        if not roles:
            covered = max((self._covered(place, words) for place in places), default=0.0)
        # cells of documents have no classes by which they fit, and a reader need not have seen the row that a computation gives;
        # of the values of a property at a time that a question names, the one that held then is the answer; likewise the row of a series,
        # and the number of what the question counts
        rivals, operation = (
            (candidate.computed.rivals, candidate.computed.operation) if candidate.computed else ((), "")
        )
        is_number = operation in (COUNT, SPAN)
        is_only = bool(rivals)
        computed = float(is_only or self._is_computed_from_document(candidate))
        is_whole = is_only or bool(computed and candidate.computed and candidate.computed.extent)
        if is_whole:  # the operation explains the question from all rows, whether or not they are among the evidences
            covered = 1.0
        kind = roles[0].kind if roles else ""
        value_kind = kind_of_value(entity_id)
        fit = 1.0 if is_only and (is_number or operation == "entry") else self._question.fit(entity)
        facts = self._question.items.frequency(entity_id) if is_item(entity_id) else 0
        return Features(
            read=math.log(max(candidate.read, float(is_only), _COMPUTED_READ * computed) + _MIN_READ),
            computed=computed or (fit if candidate.computed else 0.0),
            fit=math.log(max(fit, _MIN_FIT)),
            score=1.0 if is_whole else max((self._shares[place] for place in places), default=0.0),
            covered=covered,
            subjects=max((self._subjects[place] for place in places), default=0.0),
            best=best,
            as_value=float(kind in ("object", "qualifier")),
            as_subject=float(kind == "subject"),
            echoes=len(words & self._words) / len(words) if words else 0.0,
            timely=self._timeliness(candidate),
            is_date=float(value_kind == "date"),
            is_number=float(value_kind == "number"),
            is_words=float(not is_known(entity) and not value_kind),
            prior=math.log10(1 + facts) / 5,
        )

    def _is_computed_from_document(self, candidate: EntityCandidate) -> bool:
        computed = candidate.computed
        if computed is None:
            return False
        # rows of documents need not be among the evidences
        is_alone = computed.extent is not None and not computed.places
        return is_alone or any(self._question.evidences[place].is_of_document for place in computed.places)

    def _timeliness(self, candidate: EntityCandidate) -> float:
        if candidate.agreement is not Agreement.UNKNOWN:
            return float(candidate.agreement.value)
        lifetime = self._question.lifetimes.of(candidate.entity["id"])
        if self._existence is None or lifetime is None:
            return 0.0
        return 0.5 if lifetime.overlaps(self._existence) else -0.5
