"""The features of a candidate, by which the ranking tells whether it answers a question, and those of "none of these"."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import NamedTuple

from ..language.property_names import PropertyLabel
from ..language.text import fold
from ..language.validity import judged_parts
from ..records.evidence import entities_within, normalize_source
from ..records.facts import END_TIME, START_TIME
from ..records.literals import is_date, is_item
from ..records.periods import Agreement, Boundary, Period
from ..records.written_values import kind_of_value
from .candidates import Candidate, EntityRole, parts_of_names, without_possessive
from .question import Question, is_known

_LEAST = 1e-4  # of a share, for its logarithm
_LEAST_FIT = 1e-3
_CLASSES = frozenset(("P31", "P279"))  # what a thing is
_CAPITAL = re.compile(r"(?<!^)(?<![.?!] )\b[A-Z][\w'’-]+")


class Features(NamedTuple):
    """The features of a candidate, between 0 and 1 unless they say otherwise.

    Attributes:
        read: logarithm of its share of what the reader marks.
        computed: how well it fits the expected type if a computation over tables or facts gives it, else 0.
        confirmed: how probably the reader marks it in the sentence of that computation.
        fit: logarithm of how well it fits the expected type.
        kind: logarithm of how probably the answer is of its kind: a date, a number, or neither.
        score: the best score of its evidences, as a share of the best score of all.
        first: 1 divided by the rank of its best evidence.
        support: logarithm of the number of its evidences.
        sources: the number of sources that have it, less one.
        named: how much of the property, header, attribute or unit that names it the question has, unless it is a subject.
        inverse: the same of the property whose subject it is.
        rest: the share of the question's words that ask for that name.
        covered: the largest share of the question's words that an evidence with it has.
        subjects: the share of the items that the question is about that an evidence with it names, the most of its evidences.
        best: the product of `named`, `covered` and the score, the best of its evidences.
        listed: all its evidences say what it is an instance or a subclass of.
        as_object, as_subject, as_qualifier, in_row, in_box, in_text: its role in the best of its evidences.
        crowd: logarithm of the number of candidates with the same property or header, of the least such name.
        foremost: its number of facts against the most in that crowd, as a logarithm.
        echoes: the share of its words that the question has.
        earliest, latest: the first, the last of the dates with the same property or header.
        holds, contradicts: all its evidences with a time hold at the time of the question; contradict it.
        existed: 1 if it existed at the time of the question, -1 if not, 0 if unknown.
        is_date, is_number, is_words: its kind, if it is not an item.
        lower: its label begins like that of a class ("rock music").
        part: it is words that are a part of another candidate's name.
        capitals: the share of its words that begin with a capital, if it is not an item.
        prior: logarithm of the number of its facts.
        length: the number of its words, less one.
        facts_read, facts_fit: `read` and `fit` if all evidences are facts, else 0.
    """

    read: float
    computed: float
    confirmed: float
    fit: float
    kind: float
    score: float
    first: float
    support: float
    sources: float
    named: float
    inverse: float
    rest: float
    covered: float
    subjects: float
    best: float
    listed: float
    as_object: float
    as_subject: float
    as_qualifier: float
    in_row: float
    in_box: float
    in_text: float
    crowd: float
    foremost: float
    echoes: float
    earliest: float
    latest: float
    holds: float
    contradicts: float
    existed: float
    is_date: float
    is_number: float
    is_words: float
    lower: float
    part: float
    capitals: float
    prior: float
    length: float
    facts_read: float
    facts_fit: float


class QuestionFeatures(NamedTuple):
    """The features of a question, which tell whether any of its candidates is right.

    Attributes:
        candidates: logarithm of their number, plus one.
        score: the score of the best evidence.
        surest: the probability of the surest span of the reader.
        fit, named, covered, subjects: the best of all candidates.
        linked: an item that the question is about is known.
        unknown: the number of capitalised words of the question that its evidences do not have.
        pages: there are evidences of pages, not of facts alone.
    """

    candidates: float
    score: float
    surest: float
    fit: float
    named: float
    covered: float
    subjects: float
    linked: float
    unknown: float
    pages: float


class Measured(NamedTuple):
    """The candidates of a question with their features, and those of the question."""

    candidates: Sequence[Candidate]
    features: list[Features]
    question: QuestionFeatures


def measure(question: Question, candidates: Sequence[Candidate], surest: float = 0.0) -> Measured:
    """Measure the candidates of a question; `surest` is the probability of the reader's surest span."""
    measuring = _Measuring(question, candidates)
    rows = [measuring.features(candidate) for candidate in candidates]
    texts = " ".join(evidence["evidence_text"] for evidence in question.evidences).casefold()
    names = map(without_possessive, _CAPITAL.findall(question.text))

    def best(name: str, least: float = 0.0) -> float:
        return max((getattr(row, name) for row in rows), default=least)

    of_question = QuestionFeatures(
        candidates=math.log(1 + len(rows)),
        score=max((evidence.get("score", 0.0) for evidence in question.evidences), default=0.0),
        surest=surest,
        fit=best("fit", math.log(_LEAST_FIT)),
        named=best("named"),
        covered=best("covered"),
        subjects=best("subjects"),
        linked=float(bool(question.about)),
        unknown=float(sum(name.casefold() not in texts for name in names)),
        pages=float(measuring.has_pages),
    )
    return Measured(candidates, rows, of_question)


def score_shares(scores: Sequence[float]) -> list[float]:
    """Scores as shares of the best; all are 1 if none is above 0."""
    best = max(scores, default=0.0)
    return [max(0.0, score) / best if best > 0 else 1.0 for score in scores]


class _Crowd(NamedTuple):
    """The candidates with the same property or header: how many, the most facts of one, the first and last of several dates."""

    size: int
    facts: int
    earliest: str
    latest: str


class _Measuring:
    """Measures the candidates of one question, with what they have in common."""

    def __init__(self, question: Question, candidates: Sequence[Candidate]) -> None:
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
        self._sources = [normalize_source(evidence["source"]) for evidence in question.evidences]
        self.has_pages = any(source != "kb" for source in self._sources)
        self._subjects = self._subject_shares()
        self._named: dict[PropertyLabel, tuple[float, AbstractSet[str]]] = {}
        self._facts = {own.entity["id"]: self._frequency(own.entity["id"]) for own in candidates}
        self._crowds = self._count_crowds()
        self._parts = parts_of_names(candidates)

    def _frequency(self, name: str) -> int:
        return self._question.knowledge.kb.frequency(name) if is_item(name) else 0

    def _subject_shares(self) -> list[float]:
        about = {entity["id"] for entity in self._question.about}
        shares = []
        for evidence in self._question.evidences:
            held = {entity["id"] for entity in evidence["wikidata_entities"]}
            if "retrieved_for_entity" in evidence:
                held.add(evidence["retrieved_for_entity"]["id"])
            shares.append(len(held & about) / len(about) if about else 0.0)
        return shares

    def _count_crowds(self) -> dict[PropertyLabel, _Crowd]:
        names: dict[PropertyLabel, dict[str, None]] = defaultdict(dict)
        for candidate in self._candidates:
            for role in candidate.roles:
                for label in role.labels:
                    names[label][candidate.entity["id"]] = None
        crowds = {}
        for label, own in names.items():
            dates = sorted(filter(is_date, own), key=lambda date: (int(date[: date.index("-", 1)]), date))
            ends = (dates[0], dates[-1]) if len(dates) > 1 else ("", "")
            crowds[label] = _Crowd(len(own), max(self._facts[name] for name in own), *ends)
        return crowds

    def _asked(self, label: PropertyLabel) -> tuple[float, AbstractSet[str]]:
        """How much of a name the question has, and the words that ask for it."""
        if label not in self._named:
            names = self._question.knowledge.properties
            self._named[label] = names.asked(label, self._asking), names.asking(label, self._asking)
        return self._named[label]

    @cached_property
    def _verdicts(self) -> dict[tuple[int, str], set[Agreement]]:
        """Whether the part of the evidence at a place that names an entity holds at the time of the question."""
        question = self._question
        verdicts: dict[tuple[int, str], set[Agreement]] = defaultdict(set)
        for place, part, verdict in judged_parts(question.in_full, question.evidences, question.language):
            for entity in entities_within(question.evidences[place], part.start, part.end):
                verdicts[place, entity["id"]].add(verdict)
        return verdicts

    @cached_property
    def _existence(self) -> Period | None:
        """When the answer must have existed: the time that the question names, or that of what a clause of it is about."""
        question, times = self._question, self._question.language.times
        named = times.named(question.in_full) or times.named(question.text)
        if named is not None or question.expected.kind in ("date", "number"):
            return named
        event = question.knowledge.lifetimes.common(entity["id"] for entity in question.about)
        return None if event is None else times.clause(question.in_full, event)

    @cached_property
    def _other_end(self) -> tuple[str, str] | None:
        """The property of the end of an interval that is asked for, and of the other end."""
        if self._question.expected.kind != "date":
            return None
        ends = {Boundary.START: (START_TIME, END_TIME), Boundary.END: (END_TIME, START_TIME)}
        return ends.get(self._question.language.times.boundary(self._question.in_full))

    def features(self, candidate: Candidate) -> Features:
        """The features of a candidate."""
        entity, roles = candidate.entity, candidate.roles
        name, label = entity["id"], entity["label"]
        own_words = self._keywords(label)
        named = inverse = rest = covered = best = 0.0
        for role in roles:
            asked = [self._asked(label) for label in role.labels]
            share = max((own for own, _ in asked), default=0.0)
            told = self._held[role.place].union(*(words for _, words in asked)) - own_words
            part = len(self._asking & told) / len(self._asking) if self._asking else 0.0
            if role.kind == "subject":
                inverse = max(inverse, share)
            else:
                named = max(named, share)
            if self._asking:
                rest = max(rest, max((len(words) for _, words in asked), default=0) / len(self._asking))
            covered = max(covered, part)
            best = max(best, share * part * self._shares[role.place])
        places = {role.place for role in roles}
        kind = roles[0].kind if roles else ""
        crowds = [self._crowds[label] for role in roles for label in role.labels]
        crowd = min(crowds, key=lambda crowd: (crowd.size, -crowd.facts), default=None)
        facts, value_kind = self._facts[name], kind_of_value(name)
        is_words = not is_known(entity) and not value_kind
        words = label.split()
        read = math.log(candidate.read + _LEAST)
        fit = math.log(max(self._question.fit(entity), _LEAST_FIT))
        holds, contradicts = self._agreement(roles)
        return Features(
            read=read,
            computed=self._question.fit(entity) if candidate.computed else 0.0,
            confirmed=candidate.computed.read if candidate.computed else 0.0,
            fit=fit,
            kind=math.log(max(self._fit_of_kind(name, value_kind), _LEAST_FIT)),
            score=max((self._shares[place] for place in places), default=0.0),
            first=max((1 / (1 + place) for place in places), default=0.0),
            support=math.log(1 + len(places)),
            sources=float(max(0, len({self._sources[place] for place in places}) - 1)),
            named=named,
            inverse=inverse,
            rest=rest,
            covered=covered,
            subjects=max((self._subjects[place] for place in places), default=0.0),
            best=best,
            listed=float(bool(roles) and all(any(own.id in _CLASSES for own in role.labels) for role in roles)),
            as_object=float(kind == "object"),
            as_subject=float(kind == "subject"),
            as_qualifier=float(kind == "qualifier"),
            in_row=float(kind == "row"),
            in_box=float(kind == "box"),
            in_text=float(kind == "text"),
            crowd=math.log(crowd.size if crowd else 1),
            foremost=math.log((1 + facts) / (1 + crowd.facts)) if crowd and facts else 0.0,
            echoes=len(own_words & self._words) / len(own_words) if own_words else 0.0,
            earliest=float(any(name == own.earliest for own in crowds)),
            latest=float(any(name == own.latest for own in crowds)),
            holds=holds,
            contradicts=contradicts,
            existed=self._existed(name),
            is_date=float(value_kind == "date"),
            is_number=float(value_kind == "number"),
            is_words=float(is_words),
            lower=float(label[:1].islower()),
            part=float(is_words and fold(label) in self._parts),
            capitals=sum(word[:1].isupper() for word in words) / max(1, len(words)) if is_words else 0.0,
            prior=math.log10(1 + facts) / 5,
            length=0.0 if value_kind and not is_known(entity) else float(max(0, len(words) - 1)),
            facts_read=0.0 if self.has_pages else read,
            facts_fit=0.0 if self.has_pages else fit,
        )

    def _fit_of_kind(self, name: str, value_kind: str) -> float:
        question = self._question
        if not value_kind:
            return question.fit_of_name
        if question.likely is not None:
            return question.likely.fit(name)
        return 1.0 if question.expected.kind in ("any", value_kind) else 0.0

    def _agreement(self, roles: Sequence[EntityRole]) -> tuple[float, float]:
        """Whether an evidence of a candidate holds at the time of the question; whether all of them contradict it.

        The end of an interval contradicts a question for its start.
        """
        if self._other_end is not None:
            asked, other = self._other_end
            labels = {label.id for role in roles for label in role.labels}
            if other in labels and asked not in labels:
                return 0.0, 1.0
        stated = [
            verdict
            for role in roles
            for verdict in self._verdicts.get((role.place, role.entity["id"]), (Agreement.UNKNOWN,))
        ]
        return float(Agreement.HOLDS in stated), float(set(stated) == {Agreement.CONTRADICTS})

    def _existed(self, name: str) -> float:
        if self._existence is None or (lifetime := self._question.knowledge.lifetimes.of(name)) is None:
            return 0.0
        return 1.0 if lifetime.overlaps(self._existence) else -1.0
