"""What tells whether a candidate answers a question: named features of all that readers, votes and operations give.

Candidates are the entities of the evidences (items, dates, numbers), what a reader marks, what an operation finds, and the texts
of cells and of infobox values that name no item.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from ..language.property_names import PropertyLabel
from ..language.text import fold
from ..records.evidence import Entity, entities_within, normalize_source
from ..records.facts import END_TIME, START_TIME, fact_of
from ..records.literals import in_scale, is_date, is_item, number_entity
from ..records.periods import Agreement, Boundary
from ..records.written_values import kind_of_value
from .intervals import rival_places
from .question import AskedQuestion
from .ranking import AnswerCandidate, in_year
from .reader import same_words
from .standing import MOST_WORDS, is_known, things_in, unnamed_in, with_mentions, without_owning
from .values import FAR, nearness

_LEAST = 1e-4  # of a share, for its logarithm
_LEAST_FIT = 1e-3
# log-odds: of what intervals tell, what holds at the time of the question, or contradicts it; of items that existed then, or did not
_TOLD, _HOLDS, _CONTRADICTS, _EXISTED, _DID_NOT_EXIST = 6.0, 1.0, -8.0, 0.5, -2.0
_CLASSES = frozenset(("P31", "P279"))  # what a thing is
_CAPITAL = re.compile(r"(?<!^)(?<![.?!] )\b[A-Z][\w'’-]+")


class Features(NamedTuple):
    """Of a candidate. Shares are natural logarithms, other values lie between 0 and 1 where nothing else is said.

    Attributes:
        read, voted, stated: the share that the reader, the votes and the stated numbers give it.
        ordered: the share that an operation gives it, times how often that operation is right.
        fit: logarithm of how well it fits the expected type; suits: that itself.
        kind: logarithm of how likely the answer is of its kind: a date, a number, or neither.
        score: of the best evidence that holds it, as a share of the best score of all.
        first: one by the place of that evidence, counted from 1.
        support: logarithm of the number of evidences that hold it.
        sources: how many sources hold it, less one.
        asked: how much of what names it there (property, header, attribute) the question has, where it is no subject.
        inverse: the same of the property whose subject it is.
        rest_asked: how many of the question's words are of that name, as a share.
        covered: the largest share of the question's words that an evidence with it has.
        subjects: of what the question is about, the most that an evidence with it names, as a share.
        near: how near it stands to the question's words; see `values.nearness`.
        best: the product of `asked`, `covered` and the score, the best of its evidences.
        listed: all that holds it says what it is an instance or a subclass of.
        as_object, as_subject, as_qualifier, in_row, in_box, in_text: it stands so in the best evidence that holds it.
        crowd: logarithm of how many candidates stand below the same name, of the least such name.
        foremost: how many times fewer facts it has than the one with the most below the same name, of the least such name (of
            several of one size that with the most facts), as a negative logarithm: of a cast without order, the best known actor.
        echoes: the share of its words that the question has.
        offered: the same, where the question offers things to choose from ("X or Y").
        own: it is an item that evidences were retrieved for.
        about: the question is about it.
        renamed: the question is about it and names it by none of the words of its label.
        earliest, latest: of the dates below the same name it is the first, the last.
        is_date, is_number, is_words: what it is, if not an item.
        lower: its label is written like a class ("rock music").
        part: it is words that are a part of another candidate's name.
        capitals: the share of its words that begin with a capital, of what is no item.
        prior: a fifth of the decimal logarithm of its facts; known: the same, times how well it fits the expected type.
        length: words of its label, less one.
        facts_read, facts_voted, facts_fit, facts_score: `read`, `voted`, `fit` and `score` where all evidences are facts; else 0.
    """

    read: float
    voted: float
    stated: float
    ordered: float
    fit: float
    suits: float
    kind: float
    score: float
    first: float
    support: float
    sources: float
    asked: float
    inverse: float
    rest_asked: float
    covered: float
    subjects: float
    near: float
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
    offered: float
    own: float
    about: float
    renamed: float
    earliest: float
    latest: float
    is_date: float
    is_number: float
    is_words: float
    lower: float
    part: float
    capitals: float
    prior: float
    known: float
    length: float
    facts_read: float = 0.0
    facts_voted: float = 0.0
    facts_fit: float = 0.0
    facts_score: float = 0.0


class Circumstances(NamedTuple):
    """Of a question: what tells whether any candidate answers it.

    Attributes:
        candidates: logarithm of their number, plus one.
        score: of the best evidence.
        read: the probability of the surest span.
        fit, asked, covered, subjects: the best of all candidates.
        linked: something that the question is about is known.
        unknown: how many capitalised words of the question no evidence has.
        pages: there are evidences of pages, not of facts alone.
    """

    candidates: float
    score: float
    read: float
    fit: float
    asked: float
    covered: float
    subjects: float
    linked: float
    unknown: float
    pages: float


class Given(NamedTuple):
    """What gives answers to a question, each in shares: see `Features`.

    Attributes:
        read, voted, stated, ordered: candidates of the reader, the votes, the stated numbers, an operation.
        trust: how often that operation is right.
        surest: the probability of the surest span.
    """

    read: Sequence[AnswerCandidate] = ()
    voted: Sequence[AnswerCandidate] = ()
    stated: Sequence[AnswerCandidate] = ()
    ordered: Sequence[AnswerCandidate] = ()
    trust: float = 0.0
    surest: float = 0.0


class Candidates(NamedTuple):
    """The candidates of a question, with the features of each, and those of the question."""

    given: list[AnswerCandidate]
    features: list[Features]
    circumstances: Circumstances
    timely: list[float]  # added to the log-odds of each: what holds at the time of the question, or contradicts it


@dataclass
class _Candidate:
    entity: Entity
    reasons: dict[str, None] = field(default_factory=dict)
    best_places: dict[int, None] = field(default_factory=dict)
    places: dict[int, None] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)
    sources: set[str] = field(default_factory=set)
    stands: str = ""
    called: set[PropertyLabel] = field(default_factory=set)
    is_listed: bool = False
    values: dict[str, float] = field(default_factory=dict)

    def most(self, **values: float) -> None:
        for name, value in values.items():
            self.values[name] = max(self.values.get(name, 0.0), value)


def candidates(asked: AskedQuestion, given: Given) -> Candidates:
    """All candidates of a question, in the order of the evidences; dates are years where a year is asked for."""
    language = asked.language
    keywords = language.properties.keywords
    words = asking_words(asked)
    scale = language.literals.asked_scale(asked.question)
    growing: dict[str, _Candidate] = {}
    names: dict[str, str] = {}  # of items, to their ids
    about = {entity["id"] for entity in asked.about} or asked.own

    @cache
    def facts(name: str) -> int:
        return asked.resources.kb.frequency(name) if is_item(name) else 0

    @cache
    def number_of(label: str) -> int | None:
        return language.literals.number_in_words(label)

    def canonical(entity: Entity) -> Entity:
        if asked.asks_for_year:
            return in_year(entity)
        number = None if is_known(entity) else number_of(entity["label"])
        return in_scale(entity if number is None else number_entity(str(number)), scale)

    @cache
    def called(label: PropertyLabel) -> tuple[float, frozenset[str]]:
        return asked.names.asked(label, words), asked.names.asking(label, words)

    def key_of(entity: Entity) -> str:
        return entity["id"].lower() if is_known(entity) else names.get(same_words(entity["label"], language.words), "")

    for place, (evidence, share) in enumerate(zip(asked.evidences, asked.shares, strict=True)):
        held = keywords(evidence["evidence_text"])
        source = normalize_source(evidence["source"])
        unnamed = () if fact_of(evidence) else tuple(unnamed_in(evidence))
        near = nearness(with_mentions(evidence, unnamed), asked.stems, language.words)
        subjects = {entity["id"] for entity in evidence["wikidata_entities"]}
        if "retrieved_for_entity" in evidence:
            subjects.add(evidence["retrieved_for_entity"]["id"])
        about_share = len(subjects & about) / len(about) if about else 0.0
        for standing in things_in(evidence, source, unnamed):
            entity = canonical(standing.entity)
            name = same_words(entity["label"], language.words)
            if is_known(entity):
                key = entity["id"].lower()
                names.setdefault(name, key)
            else:
                key = names.get(name, f"words {name}")
            is_listed = any(label.id in _CLASSES for label in standing.labels)
            candidate = growing.setdefault(key, _Candidate(entity, is_listed=is_listed))
            candidate.is_listed = candidate.is_listed and is_listed
            candidate.places[place] = None
            candidate.sources.add(source)
            candidate.stands = candidate.stands or standing.stands
            candidate.called.update(standing.labels)
            labels = [called(label) for label in standing.labels]
            asked_share = max((own for own, _ in labels), default=0.0)
            told = held.union(*(own for _, own in labels)) - keywords(entity["label"])
            covered = len(words & told) / len(words) if words else 0.0
            rest = max((len(own) for _, own in labels), default=0) / len(words) if words else 0.0
            is_subject = standing.stands == "as_subject"
            asked_share, inverse = (0.0, asked_share) if is_subject else (asked_share, 0.0)
            candidate.most(
                asked=asked_share, inverse=inverse, covered=covered, rest=rest, subjects=about_share, score=share,
                near=near.get(standing.entity["id"], FAR), best=max(asked_share, inverse) * covered * share,
                first=1 / (1 + place),
            )  # fmt: skip
    for origin, own in (
        ("ordered", given.ordered), ("read", given.read), ("stated", given.stated), ("voted", given.voted),
    ):  # fmt: skip
        for answer in own:
            entity = canonical(answer.entity)
            key = key_of(entity) or f"words {same_words(entity['label'], language.words)}"
            candidate = growing.setdefault(key, _Candidate(entity))
            candidate.shares[origin] = candidate.shares.get(origin, 0.0) + answer.score
            candidate.reasons.update(dict.fromkeys(answer.reasons))
            if origin != "voted" or not candidate.best_places:
                candidate.best_places.update(dict.fromkeys(answer.places))
    is_choice = language.operations.is_choice(asked.question)
    growing = {key: candidate for key, candidate in growing.items() if is_choice or _may_answer(candidate, asked)}
    common = _Common(
        given,
        _groups(growing.values(), facts),
        _parts(candidate.entity["label"] for candidate in growing.values()),
        keywords(asked.in_full) | keywords(asked.question),
        facts,
        is_choice,
    )
    features = [_features(candidate, asked, common) for candidate in growing.values()]
    circumstances = _circumstances(asked, given, features)
    if not circumstances.pages:
        features = [
            own._replace(facts_read=own.read, facts_voted=own.voted, facts_fit=own.fit, facts_score=own.score)
            for own in features
        ]
    places = (tuple(candidate.best_places or candidate.places) for candidate in growing.values())
    named = [
        AnswerCandidate(candidate.entity, 0.0, own, tuple(candidate.reasons) or ("evidences",))
        for candidate, own in zip(growing.values(), places, strict=True)
    ]
    return Candidates(named, features, circumstances, timeliness(asked, given.ordered, list(growing.values())))


def timeliness(
    asked: AskedQuestion, ordered: Sequence[AnswerCandidate], candidates: Sequence[_Candidate]
) -> list[float]:
    """Return what the time of the question adds to the log-odds of each candidate.

    A candidate contradicts it if every evidence of it does, if it is the end of an interval and the start is asked for, or if it
    stands only in the evidences of a property of which an interval gives the answer.
    """
    answers = {answer.entity["id"]: answer.places[0] for answer in ordered if "interval" in answer.reasons}
    rivals = set().union(*(rival_places(asked, place) for place in answers.values()))
    verdicts: dict[tuple[int, str], set[Agreement]] = defaultdict(set)
    for place, part, verdict in asked.judged:
        for entity in entities_within(asked.evidences[place], part.start, part.end):
            verdicts[place, entity["id"]].add(verdict)
    boundary = asked.language.times.boundary(asked.asking) if asked.expected.kind == "date" else Boundary.ANY
    ends = {Boundary.START: (START_TIME, END_TIME), Boundary.END: (END_TIME, START_TIME)}
    right_end, other_end = ends.get(boundary, ("", ""))
    added = []
    for candidate in candidates:
        name, labels = candidate.entity["id"], {label.id for label in candidate.called}
        stated = [verdict for place in candidate.places for verdict in verdicts.get((place, name), {Agreement.UNKNOWN})]
        is_other_end = boundary in ends and other_end in labels and right_end not in labels
        if name in answers:
            added.append(_TOLD)
        elif is_other_end or set(stated) == {Agreement.CONTRADICTS} or (stated and candidate.places.keys() <= rivals):
            added.append(_CONTRADICTS)
        elif Agreement.HOLDS in stated:
            added.append(_HOLDS)
        else:
            added.append(0.0 if asked.expected.kind in ("date", "number") else _existing(name, asked))
    return added


def _existing(name: str, asked: AskedQuestion) -> float:
    """Return what it adds that an item existed at the time of the question, or did not."""
    if asked.existence is None or (lifetime := asked.resources.lifetimes.of(name)) is None:
        return 0.0
    return _EXISTED if lifetime.overlaps(asked.existence) else _DID_NOT_EXIST


def asking_words(asked: AskedQuestion) -> frozenset[str]:
    """The keywords of a question that no name has which stands in it as a whole."""
    keywords = asked.language.properties.keywords
    words = keywords(asked.in_full) | keywords(asked.question)
    labels = {entity["label"] for evidence in asked.evidences for entity in evidence["wikidata_entities"][:1]}
    labels |= {entity["label"] for entity in asked.about}
    return words.difference(*(name for label in labels if (name := keywords(label)) <= words))


def _may_answer(candidate: _Candidate, asked: AskedQuestion) -> bool:
    """Whether a candidate is an answer to a question that offers nothing to choose from: what it is about is one where it asks
    for that in other words, or for a property that it is a value of."""
    name = candidate.entity["id"]
    if name not in asked.own or "ordered" in candidate.shares or name in asked.renamed:
        return True
    return candidate.values.get("asked", 0.0) == 1.0


class _Group(NamedTuple):
    size: int
    facts: int
    earliest: str
    latest: str


def _groups(growing: Iterable[_Candidate], facts: Callable[[str], int]) -> dict[PropertyLabel, _Group]:
    names: dict[PropertyLabel, list[str]] = defaultdict(list)
    for candidate in growing:
        for label in candidate.called:
            names[label].append(candidate.entity["id"])
    dates = {label: sorted(filter(is_date, own), key=_in_time) for label, own in names.items()}
    return {
        label: _Group(
            len(own),
            max(map(facts, own)),
            *((dates[label][0], dates[label][-1]) if len(dates[label]) > 1 else ("", "")),
        )
        for label, own in names.items()
    }


def _in_time(date: str) -> tuple[int, str]:
    return int(date[: date.index("-", 1)]), date


def _parts(labels: Iterable[str]) -> frozenset[str]:
    runs = set()
    for label in labels:
        words = fold(label).split()
        if 1 < len(words) <= MOST_WORDS:
            whole = len(words)
            runs |= {
                " ".join(words[start:end])
                for start in range(whole)
                for end in range(start + 1, whole + 1)
                if end - start < whole
            }
    return frozenset(runs)


class _Common(NamedTuple):
    """What all candidates of a question have in common: what stands below names, the `_parts` of labels, the question's keywords,
    how many facts an item has, whether the question offers things to choose from."""

    given: Given
    groups: Mapping[PropertyLabel, _Group]
    parts: AbstractSet[str]
    question: AbstractSet[str]
    facts: Callable[[str], int]
    is_choice: bool


def _features(candidate: _Candidate, asked: AskedQuestion, common: _Common) -> Features:
    entity, values, shares = candidate.entity, candidate.values, candidate.shares
    name, label = entity["id"], entity["label"]
    words, kind = label.split(), kind_of_value(name)
    is_words = not is_known(entity) and not kind  # a range of dates or numbers is no name
    facts = common.facts(name)
    own = asked.language.properties.keywords(label)
    suits = asked.fit(entity)
    is_part = is_words and fold(label) in common.parts
    echoes = len(own & common.question) / len(own) if own else 0.0
    below = [common.groups[called] for called in candidate.called]
    least = min(below, key=lambda group: (group.size, -group.facts), default=None)  # `called` has no order

    def log_share(origin: str) -> float:
        return math.log(shares.get(origin, 0.0) + _LEAST)

    return Features(
        read=log_share("read"),
        voted=log_share("voted"),
        stated=log_share("stated"),
        ordered=shares.get("ordered", 0.0) * common.given.trust,
        fit=math.log(max(suits, _LEAST_FIT)),
        suits=suits,
        kind=math.log(max(asked.fit_of_kind(name), _LEAST_FIT)),
        score=values.get("score", 0.0),
        first=values.get("first", 0.0),
        support=math.log(1 + len(candidate.places)),
        sources=float(max(0, len(candidate.sources) - 1)),
        asked=values.get("asked", 0.0),
        inverse=values.get("inverse", 0.0),
        rest_asked=values.get("rest", 0.0),
        covered=values.get("covered", 0.0),
        subjects=values.get("subjects", 0.0),
        near=values.get("near", 0.0),
        best=values.get("best", 0.0),
        listed=float(candidate.is_listed),
        as_object=float(candidate.stands == "as_object"),
        as_subject=float(candidate.stands == "as_subject"),
        as_qualifier=float(candidate.stands == "as_qualifier"),
        in_row=float(candidate.stands == "in_row"),
        in_box=float(candidate.stands == "in_box"),
        in_text=float(candidate.stands == "in_text"),
        crowd=math.log(least.size if least else 1),
        foremost=math.log((1 + facts) / (1 + least.facts)) if least and facts else 0.0,
        echoes=echoes,
        offered=echoes if common.is_choice and not is_part else 0.0,
        own=float(name in asked.own),
        about=float(any(name == entity["id"] for entity in asked.about)),
        renamed=float(name in asked.renamed),
        earliest=float(any(name == group.earliest for group in below)),
        latest=float(any(name == group.latest for group in below)),
        is_date=float(kind == "date"),
        is_number=float(kind == "number"),
        is_words=float(is_words),
        lower=float(label[:1].islower()),
        part=float(is_part),
        capitals=sum(word[:1].isupper() for word in words) / max(1, len(words)) if is_words else 0.0,
        prior=math.log10(1 + facts) / 5,
        known=math.log10(1 + facts) / 5 * suits,
        length=0.0 if kind and not is_known(entity) else float(max(0, len(words) - 1)),
    )


def _circumstances(asked: AskedQuestion, given: Given, features: Sequence[Features]) -> Circumstances:
    texts = " ".join(evidence["evidence_text"] for evidence in asked.evidences).casefold()
    unknown = [word for word in _CAPITAL.findall(asked.question) if without_owning(word).casefold() not in texts]

    def best(name: str) -> float:
        return max((getattr(own, name) for own in features), default=0.0)

    return Circumstances(
        candidates=math.log(1 + len(features)),
        score=max((evidence.get("score", 0.0) for evidence in asked.evidences), default=0.0),
        read=given.surest,
        fit=max((own.fit for own in features), default=math.log(_LEAST_FIT)),
        asked=best("asked"),
        covered=best("covered"),
        subjects=best("subjects"),
        linked=float(bool(asked.about)),
        unknown=float(len(unknown)),
        pages=float(any(normalize_source(evidence["source"]) != "kb" for evidence in asked.evidences)),
    )
