"""The candidates for an answer: the entities and names of the evidences, the spans of a reader, the results of computations.

Candidates with the same name are one. Each knows its roles: where in which evidence it stands, and what names it there.
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
from ..records.evidence import Entity, Evidence, Mention, entities_within, normalize_source
from ..records.facts import fact_of
from ..records.literals import in_scale, is_item, is_known, is_number, number_entity
from ..records.periods import Agreement
from ..records.units import UNIT
from ..records.written_values import find_literals, kind_of_value
from .question import Question
from .ranked_answers import AnswerCandidate
from .reader import same_words

_NAME = re.compile(r"[A-Z][\w'’-]+(?: (?:[A-Z]\.|[A-Z][\w'’-]*)){1,4}")  # two to five words in a sentence
_QUOTED = re.compile(r"[\"“][^\"“”]*[^\W\d_][^\"“”]*[\"”]")  # a title, with whatever numbers: "Space Pilot 3000"
_POSSESSIVE = re.compile("['’]s?$")
_BEHIND_NUMBER = re.compile(r"[\s-]*((?:[^\W\d_]+[\s-]*){0,3})")
_MOST_WORDS = 8  # of a cell's text that may be a name

RoleKind = Literal["subject", "object", "qualifier", "row", "box", "text"]


class EntityRole(NamedTuple):
    """An entity in the evidence at a place: its kind of role, and what names it there (properties, headers, a unit)."""

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
    """A candidate: its entity, its roles, its share of what a reader marks, and the computation that gives it."""

    entity: Entity
    roles: list[EntityRole] = field(default_factory=list)
    read: float = 0.0
    best_places: tuple[int, ...] = ()
    computed: Computed | None = None
    agreement: Agreement = Agreement.UNKNOWN  # with the time of the question

    @property
    def places(self) -> tuple[int, ...]:
        """The places of the evidences that support it, the best first."""
        return tuple(dict.fromkeys((*self.best_places, *(role.place for role in self.roles))))

    @property
    def reasons(self) -> tuple[str, ...]:
        """The origins of the candidate, as in `RankedAnswer`."""
        computed = (self.computed.operation,) if self.computed else ()
        return (*computed, *(("reader",) if self.read else ())) or ("evidences",)


def find_candidates(
    question: Question, read: Iterable[AnswerCandidate] = (), computed: Iterable[Computed] = ()
) -> list[EntityCandidate]:
    """All candidates of a question, in the order of the evidences.

    Args:
        question: with its evidences.
        read: what a reader marks, in shares.
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
    total = sum(own.read for own in possible) or 1.0  # what the reader marks of others says nothing about these
    for own in possible:
        own.read /= total
    return possible


class _Merging:
    """Candidates by what they name.

    Dates are years if a year is asked for, numbers are in the scale that is asked for, and words that are the name, or the
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
        """The candidate that an entity is."""
        entity = self._canonical(entity)
        if is_known(entity):
            return self.candidates.setdefault(entity["id"].lower(), EntityCandidate(entity))
        name = same_words(entity["label"], self._question.language.words)
        same = {self._items[name]} if name in self._items else self._surnames.get(name, set())
        item = next(iter(same)) if len(same) == 1 else None
        key = f"words {name}" if item is None else item.lower()
        if item is not None and key not in self.candidates:
            entity = {"id": item, "label": self._question.knowledge.kb.label(item) or entity["label"]}
        return self.candidates.setdefault(key, EntityCandidate(entity))

    def _canonical(self, entity: Entity) -> Entity:
        if is_known(entity):
            return in_scale(self._question.in_year(entity), self._scale)
        number = number_in_words(entity, self._question.language)
        return entity if number is entity else in_scale(number, self._scale)


def number_in_words(entity: Entity, language: Language) -> Entity:
    """The number that words are, with a unit or without ("eight", "six metres"); another entity as it is."""
    text = entity["label"]
    number = _number_in_words(text, language)
    if number is not None:
        return number_entity(str(number))
    start = _start_of_unit(text)
    number = None if start is None else _number_in_words(text[:start], language)
    return entity if number is None else {"id": str(number), "label": text}


@lru_cache(maxsize=8_192)  # a turn has some thousand; it is answered again without some of its evidences
def _start_of_unit(text: str) -> int | None:
    return next((own.start() for own in UNIT.finditer(text) if own.end() == len(text)), None)


@lru_cache(maxsize=8_192)
def _number_in_words(text: str, language: Language) -> int | None:
    return language.literals.number_in_words(text)


def _agree(candidates: Sequence[EntityCandidate], question: Question) -> None:
    """Tell of each candidate whether an evidence of it holds at the time of the question, or all contradict it.

    The other values of a property that was computed with contradict it.
    """
    verdicts: dict[tuple[int, str], set[Agreement]] = defaultdict(set)
    for place, part, verdict in judged_parts(question.in_full, question.evidences, question.language):
        for entity in entities_within(question.evidences[place], part.start, part.end):
            verdicts[place, entity["id"]].add(verdict)
    unknown = {Agreement.UNKNOWN}
    rivals = frozenset().union(*(own.computed.rivals for own in candidates if own.computed))
    for own in candidates:
        stated = {verdict for role in own.roles for verdict in verdicts.get((role.place, role.entity["id"]), unknown)}
        if own.computed and own.computed.rivals:
            own.agreement = Agreement.HOLDS
        elif own.places and rivals.issuperset(own.places):
            own.agreement = Agreement.CONTRADICTS
        elif Agreement.HOLDS in stated:
            own.agreement = Agreement.HOLDS
        elif stated == {Agreement.CONTRADICTS}:
            own.agreement = Agreement.CONTRADICTS


def _possible(candidates: list[EntityCandidate], question: Question) -> list[EntityCandidate]:
    """The candidates that a question admits.

    Of a choice ("A or B?") what it offers. Of other questions an item that they are about only if they name it by another name
    ("Who is Richard Bachman?"), if it is computed, or if a property asked for has it as value. A question for a number does not
    ask for words without a digit or for an award. If something holds at the time of the question, what contradicts it does not answer.
    """
    keywords = question.language.properties.keywords
    if question.language.operations.offers(question.text):
        words = keywords(question.text)
        offered = [own for own in candidates if (name := keywords(own.entity["label"])) and name <= words]
        if len(offered) > 1:
            return offered
    if any(own.agreement is Agreement.HOLDS for own in candidates):
        candidates = _in_time(candidates, question)
    about = {entity["id"] for entity in question.about}
    words = keywords(question.in_full) | keywords(question.text)
    names, types = question.knowledge.properties, question.language.answer_types
    possible = [
        own
        for own in candidates
        if own.entity["id"] not in about
        or own.computed
        or words.isdisjoint(keywords(own.entity["label"]))
        or any(names.asking(label, words) for role in own.roles if role.kind != "subject" for label in role.labels)
    ]
    if question.expected.kind != "number":
        return possible
    award = types.noun_types("award")
    return [
        own
        for own in possible
        if own.computed
        or kind_of_value(own.entity["id"])
        or (not is_known(own.entity) and any(map(str.isdigit, own.entity["id"])))
        or (is_known(own.entity) and types.heads(question.knowledge.kb.types(own.entity["id"])).isdisjoint(award))
    ]


def _in_time(candidates: Sequence[EntityCandidate], question: Question) -> list[EntityCandidate]:
    """The candidates that the time of the question does not contradict, or that are computed.

    What the reader marks of the others counts, by how well they fit, for those that hold in the same evidence: of all who held
    an office it marks one, and the time tells which.
    """
    dropped = [own for own in candidates if own.agreement is Agreement.CONTRADICTS and not own.computed]
    kept = [own for own in candidates if own not in dropped]
    for excluded in dropped:
        holding = [
            (own, question.fit(own.entity))
            for own in kept
            if own.agreement is Agreement.HOLDS and not set(own.places).isdisjoint(excluded.best_places)
        ]
        total = sum(fit for _, fit in holding) or 1.0
        for own, fit in holding:
            own.read += excluded.read * fit / total
    return kept


# -- roles -------------------------------------------------------------------------------------------------------------


def entity_roles(place: int, evidence: Evidence, language: Language) -> Iterator[EntityRole]:
    """The entities of an evidence, and the names in it that are not items, with the role that each plays."""
    if fact := fact_of(evidence):
        predicate = PropertyLabel(fact.predicate["label"], fact.predicate["id"])
        yield EntityRole(place, "subject", fact.subject, (predicate,))
        yield EntityRole(place, "object", fact.object, (predicate,))
        for qualifier in fact.qualifiers:
            own = PropertyLabel(qualifier.predicate["label"], qualifier.predicate["id"])
            yield EntityRole(place, "qualifier", qualifier.value, (own, predicate))
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
            if is_number(name):
                labels.append(PropertyLabel(_unit(evidence["evidence_text"], mention, language)))
            yield EntityRole(place, kind, entities[name], tuple(dict.fromkeys(labels)))
    for name, entity in entities.items():
        if name not in placed:
            yield EntityRole(place, kind, entity)
    for text, start in unlinked_names(evidence):
        yield EntityRole(place, kind, {"id": text, "label": text}, tuple(labels_at(evidence, start)))


def labels_at(evidence: Evidence, start: int) -> Iterator[PropertyLabel]:
    """What names the value at a place of a row or an infobox: the header, or the path of the attribute."""
    if "row" in evidence:
        for cell in evidence["row"]["cells"]:
            if cell["start"] <= start < cell["start"] + len(cell["text"]):
                yield PropertyLabel(cell["header"])
    elif "attribute" in evidence:
        yield from map(PropertyLabel, evidence["attribute"]["path"])
        for value in evidence["attribute"]["values"]:
            if value["start"] <= start < value["start"] + len(value["text"]):
                yield PropertyLabel(value.get("header", ""))


def _unit(text: str, mention: Mention, language: Language) -> str:
    """The words behind a number, and its currency."""
    behind = _BEHIND_NUMBER.match(text, mention["end"])
    currency = language.literals.currencies.get(text[mention["start"] - 1 : mention["start"]], "")
    return f"{behind[1] if behind else ''} {currency}".strip()


def unlinked_names(evidence: Evidence) -> Iterator[tuple[str, int]]:
    """Names that are not items, each with its start: texts of cells and of infobox values, capitalised words of a sentence."""
    if "row" in evidence:
        parts = [(cell["text"], cell["start"]) for cell in evidence["row"]["cells"]]
    elif "attribute" in evidence:
        parts = [(value["text"], value["start"]) for value in evidence["attribute"]["values"]]
    else:
        for name in _NAME.finditer(evidence["evidence_text"]):
            start, end = name.span()
            if not any(mention["start"] < end and start < mention["end"] for mention in evidence["mentions"]):
                yield without_possessive(name[0]), start
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


def without_possessive(name: str) -> str:
    """A name without the possessive ending: "Tolkien" for "Tolkien's"."""
    return _POSSESSIVE.sub("", name)
