"""The candidates for an answer: the entities and names of the evidences, the spans of a reader, the results of computations.

Candidates with the same name are merged. A candidate has a role for each place in an evidence where it stands.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from ..language.language import Language
from ..language.property_names import PropertyLabel
from ..language.validity import judged_parts
from ..records.evidence import Entity, Evidence, entities_within, normalize_source
from ..records.facts import fact_of
from ..records.literals import in_scale, is_item, is_known, is_number, number_entity
from ..records.periods import Agreement
from ..records.units import UNIT
from ..records.written_values import find_literals, kind_of_value
from .question import Question
from .ranked_answers import AnswerCandidate
from .reader import same_words

_NAME = re.compile(r"[A-Z][\w'’-]+(?: (?:[A-Z]\.|[A-Z][\w'’-]*)){1,4}")  # two to five words in a sentence
_QUOTED = re.compile(r"[\"“][^\"“”]*[^\W\d_][^\"“”]*[\"”]")  # a title, perhaps with numbers: "Space Pilot 3000"
_POSSESSIVE = re.compile("['’]s?$")
_BEHIND_NUMBER = re.compile(r"[\s-]*((?:[^\W\d_]+[\s-]*){0,3})")
_MOST_WORDS = 8  # of a cell's text that may be a name

RoleKind = Literal["subject", "object", "qualifier", "row", "box", "text"]


class EntityRole(NamedTuple):
    """An entity in the evidence at a place: its kind of role, and its labels there (properties, headers, a unit)."""

    place: int
    kind: RoleKind
    entity: Entity
    labels: tuple[PropertyLabel, ...] = ()


class Computed(NamedTuple):
    """The result of a computation over tables or facts: an answer, and the evidences that show it.

    Attributes:
        rivals: the places of the evidences whose other values are not the answer.
    """

    entity: Entity
    operation: str
    places: tuple[int, ...]
    rivals: frozenset[int] = frozenset()


@dataclass
class EntityCandidate:
    """A candidate: its entity, its roles, its normalised score by the reader, and the computation that gives it."""

    entity: Entity
    roles: list[EntityRole] = field(default_factory=list)
    read: float = 0.0
    best_places: tuple[int, ...] = ()
    computed: Computed | None = None
    agreement: Agreement = Agreement.UNKNOWN  # with the time of the question

    @property
    def places(self) -> tuple[int, ...]:
        """The places of the supporting evidences, the best first."""
        return tuple(dict.fromkeys((*self.best_places, *(role.place for role in self.roles))))

    @property
    def reasons(self) -> tuple[str, ...]:
        """The origins of the candidate, as in `RankedAnswer`."""
        computed = (self.computed.operation,) if self.computed else ()
        return (*computed, *(("reader",) if self.read else ())) or ("evidences",)


def find_candidates(
    question: Question, read: Iterable[AnswerCandidate] = (), computed: Iterable[Computed] = ()
) -> list[EntityCandidate]:
    """Return all candidates of a question, in the order of the evidences.

    Args:
        question: with its evidences.
        read: answers of a reader, with normalised scores.
        computed: the results of computations.
    """
    merging = _Merging(question)
    for place, evidence in enumerate(question.evidences):
        for role in entity_roles(place, evidence, question.language):
            merging.candidate(role.entity).roles.append(role)
    for result in computed:
        candidate = merging.candidate(result.entity)
        candidate.computed = candidate.computed or result
        candidate.best_places += result.places
    for answer in read:
        candidate = merging.candidate(answer.entity)
        candidate.read += answer.score
        candidate.best_places += answer.places
    candidates = list(merging.candidates.values())
    _agree(candidates, question)
    possible = _possible(candidates, question)
    total = sum(candidate.read for candidate in possible) or 1.0  # scores of dropped candidates do not count
    for candidate in possible:
        candidate.read /= total
    return possible


class _Merging:
    """Candidates by what they name.

    Dates are years if the question expects a year, numbers are in the scale of the question, and words that are the name, or the
    surname, of an item in the evidences are that item.
    """

    def __init__(self, question: Question) -> None:
        self.candidates: dict[str, EntityCandidate] = {}
        self._question = question
        self._scale = question.language.literals.asked_scale(question.text)
        self._items: dict[str, str] = {}  # by name
        for evidence in question.evidences:
            for entity in evidence["wikidata_entities"]:
                if is_item(entity["id"]):
                    self._items.setdefault(same_words(entity["label"], question.language.words), entity["id"])
        self._surnames: dict[str, set[str]] = {}
        for name, item in self._items.items():
            self._surnames.setdefault(name.split()[-1], set()).add(item)

    def candidate(self, entity: Entity) -> EntityCandidate:
        if is_known(entity):
            entity = in_scale(self._question.in_year(entity), self._scale)
        elif (number := number_in_words(entity, self._question.language)) is not entity:
            entity = in_scale(number, self._scale)
        if is_known(entity):
            return self.candidates.setdefault(entity["id"].lower(), EntityCandidate(entity))
        name = same_words(entity["label"], self._question.language.words)
        same = {self._items[name]} if name in self._items else self._surnames.get(name, set())
        item = next(iter(same)) if len(same) == 1 else None
        key = f"words {name}" if item is None else item.lower()
        if item is not None and key not in self.candidates:
            entity = {"id": item, "label": self._question.resources.kb.label(item) or entity["label"]}
        return self.candidates.setdefault(key, EntityCandidate(entity))


def number_in_words(entity: Entity, language: Language) -> Entity:
    """Return the number that is written in words, with a unit or without ("eight", "six metres"); another entity as it is."""
    return _number_in_words(entity["label"], language) or entity


@lru_cache(maxsize=8_192)  # a turn has some thousand; it is answered again without some of its evidences
def _number_in_words(text: str, language: Language) -> Entity | None:
    number = language.literals.number_in_words(text)
    if number is not None:
        return number_entity(str(number))
    start = next((unit.start() for unit in UNIT.finditer(text) if unit.end() == len(text)), None)
    number = None if start is None else language.literals.number_in_words(text[:start])
    return None if number is None else {"id": str(number), "label": text}


def _agree(candidates: Sequence[EntityCandidate], question: Question) -> None:
    # HOLDS if an evidence holds at the time of the question, CONTRADICTS if all evidences contradict it; the other values of a
    # property that was computed with contradict the result
    verdicts: dict[tuple[int, str], set[Agreement]] = defaultdict(set)
    for place, part, verdict in judged_parts(question.in_full, question.evidences, question.language):
        for entity in entities_within(question.evidences[place], part.start, part.end):
            verdicts[place, entity["id"]].add(verdict)
    unknown = {Agreement.UNKNOWN}
    rivals = frozenset().union(*(candidate.computed.rivals for candidate in candidates if candidate.computed))
    for candidate in candidates:
        stated = {
            verdict for role in candidate.roles for verdict in verdicts.get((role.place, role.entity["id"]), unknown)
        }
        if candidate.computed and candidate.computed.rivals:
            candidate.agreement = Agreement.HOLDS
        elif candidate.places and rivals.issuperset(candidate.places):
            candidate.agreement = Agreement.CONTRADICTS
        elif Agreement.HOLDS in stated:
            candidate.agreement = Agreement.HOLDS
        elif stated == {Agreement.CONTRADICTS}:
            candidate.agreement = Agreement.CONTRADICTS


def _possible(candidates: list[EntityCandidate], question: Question) -> list[EntityCandidate]:
    # A choice ("A or B?") admits the names that it offers. Other questions admit an item that they are about only under another
    # name ("Who is Richard Bachman?"), as a computed result, or as the value of a property that they ask for. A question for a
    # number admits no words without a digit and no award.
    keywords = question.language.properties.keywords
    if question.language.operations.offers(question.text):
        words = keywords(question.text)
        offered = [
            candidate for candidate in candidates if (name := keywords(candidate.entity["label"])) and name <= words
        ]
        if len(offered) > 1:
            return offered
    if any(candidate.agreement is Agreement.HOLDS for candidate in candidates):
        candidates = _in_time(candidates, question)
    about = {entity["id"] for entity in question.about}
    words = keywords(question.in_full) | keywords(question.text)
    names, types = question.resources.property_names, question.language.answer_types
    possible = [
        candidate
        for candidate in candidates
        if candidate.entity["id"] not in about
        or candidate.computed
        or words.isdisjoint(keywords(candidate.entity["label"]))
        or any(
            names.asking(label, words) for role in candidate.roles if role.kind != "subject" for label in role.labels
        )
    ]
    if question.expected.kind != "number":
        return possible
    award = types.noun_types("award")
    return [
        candidate
        for candidate in possible
        if candidate.computed
        or kind_of_value(candidate.entity["id"])
        or (not is_known(candidate.entity) and any(map(str.isdigit, candidate.entity["id"])))
        or (
            is_known(candidate.entity)
            and types.heads(question.resources.kb.types(candidate.entity["id"])).isdisjoint(award)
        )
    ]


def _in_time(candidates: Sequence[EntityCandidate], question: Question) -> list[EntityCandidate]:
    # The reader marks any holder of an office; the scores of candidates that contradict the time of the question go to those
    # that hold in the same evidence, by how well they fit.
    dropped = [
        candidate for candidate in candidates if candidate.agreement is Agreement.CONTRADICTS and not candidate.computed
    ]
    admitted = [candidate for candidate in candidates if candidate not in dropped]
    for excluded in dropped:
        holding = [
            (candidate, question.fit(candidate.entity))
            for candidate in admitted
            if candidate.agreement is Agreement.HOLDS and not set(candidate.places).isdisjoint(excluded.best_places)
        ]
        total = sum(fit for _, fit in holding) or 1.0
        for candidate, fit in holding:
            candidate.read += excluded.read * fit / total
    return admitted


# -- roles -------------------------------------------------------------------------------------------------------------


def entity_roles(place: int, evidence: Evidence, language: Language) -> Iterator[EntityRole]:
    """Return the entities of an evidence and its names that are not items, with their roles."""
    if fact := fact_of(evidence):
        predicate = PropertyLabel(fact.predicate["label"], fact.predicate["id"])
        yield EntityRole(place, "subject", fact.subject, (predicate,))
        yield EntityRole(place, "object", fact.object, (predicate,))
        for qualifier in fact.qualifiers:
            label = PropertyLabel(qualifier.predicate["label"], qualifier.predicate["id"])
            yield EntityRole(place, "qualifier", qualifier.value, (label, predicate))
        return
    kinds: dict[str, RoleKind] = {"table": "row", "info": "box"}
    kind = kinds.get(normalize_source(evidence["source"]), "text")
    entities = {entity["id"]: entity for entity in evidence["wikidata_entities"]}
    placed = set()
    for mention in evidence["mentions"]:
        name = mention["id"]
        if name in entities:
            placed.add(name)
            labels = [label for label in labels_at(evidence, mention["start"]) if label.text]
            if is_number(name):  # the words behind it, and its currency
                text, start = evidence["evidence_text"], mention["start"]
                behind = _BEHIND_NUMBER.match(text, mention["end"])
                currency = language.literals.currencies.get(text[start - 1 : start], "")
                labels.append(PropertyLabel(f"{behind[1] if behind else ''} {currency}".strip()))
            yield EntityRole(place, kind, entities[name], tuple(dict.fromkeys(labels)))
    for name, entity in entities.items():
        if name not in placed:
            yield EntityRole(place, kind, entity)
    for text, start in unlinked_names(evidence):
        yield EntityRole(place, kind, {"id": text, "label": text}, tuple(labels_at(evidence, start)))


def labels_at(evidence: Evidence, start: int) -> Iterator[PropertyLabel]:
    """Return the labels of the value at a place of a row or an infobox: the header, or the path of the attribute."""
    if "row" in evidence:
        for cell in evidence["row"]["cells"]:
            if cell["start"] <= start < cell["start"] + len(cell["text"]):
                yield PropertyLabel(cell["header"])
    elif "attribute" in evidence:
        yield from map(PropertyLabel, evidence["attribute"]["path"])
        for value in evidence["attribute"]["values"]:
            if value["start"] <= start < value["start"] + len(value["text"]):
                yield PropertyLabel(value.get("header", ""))


def unlinked_names(evidence: Evidence) -> Iterator[tuple[str, int]]:
    """Return names that are not items, with their starts: texts of cells and infobox values, capitalised words of a sentence."""
    if "row" in evidence:
        parts = [(cell["text"], cell["start"]) for cell in evidence["row"]["cells"]]
    elif "attribute" in evidence:
        parts = [(value["text"], value["start"]) for value in evidence["attribute"]["values"]]
    else:
        for name in _NAME.finditer(evidence["evidence_text"]):
            start, end = name.span()
            if not any(mention["start"] < end and start < mention["end"] for mention in evidence["mentions"]):
                yield _POSSESSIVE.sub("", name[0]), start
        return
    for text, start in parts:
        held = entities_within(evidence, start, start + len(text))
        if _may_be_name(text) and not any(is_item(entity["id"]) for entity in held):
            yield text, start


@lru_cache(maxsize=4096)  # the turns of a conversation see the same cells again
def _may_be_name(text: str) -> bool:
    if len(text.split()) > _MOST_WORDS:
        return False
    if _QUOTED.fullmatch(text.strip()):
        return True
    return any(map(str.isalpha, text)) and not any(find_literals(text))
