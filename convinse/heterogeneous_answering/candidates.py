"""The candidates for an answer: the entities and names of the evidences, the spans of a reader, the results of computations.

Candidates with the same name are merged. A candidate has a role for each mention of it in an evidence.
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
from ..language.text import fold
from ..language.validity import judged_parts
from ..records.evidence import Entity, Evidence, entities_within, normalize_source
from ..records.facts import fact_of
from ..records.literals import in_scale, is_document_item, is_item, is_known, is_number, number_entity
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
_MAX_NAME_WORDS = 8  # of the text of a cell that may be a name

RoleKind = Literal["subject", "object", "qualifier", "row", "box", "text"]


class EntityRole(NamedTuple):
    """The role of an entity in the evidence at a place, and the labels that it has there (properties, headers, a unit)."""

    place: int
    kind: RoleKind
    entity: Entity
    labels: tuple[PropertyLabel, ...] = ()


class Computed(NamedTuple):
    """The result of a computation over tables or facts: an answer, and the evidences that show it.

    Attributes:
        rivals: the places of evidences with other values of the same property, which are not the answer.
    """

    entity: Entity
    operation: str
    places: tuple[int, ...]
    rivals: frozenset[int] = frozenset()


@dataclass
class EntityCandidate:
    """A candidate: its entity, its roles, its normalised score by the reader (`read`), and the computation that gives it."""

    entity: Entity
    roles: list[EntityRole] = field(default_factory=list)
    read: float = 0.0
    best_places: tuple[int, ...] = ()  # of the evidences that a computation or the reader used
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
        question: the question with its evidences.
        read: answers of a reader, with normalised scores.
        computed: the results of computations.
    """
    merged = _MergedCandidates(question)
    for place, evidence in enumerate(question.evidences):
        for role in entity_roles(place, evidence, question.language):
            merged.candidate(role.entity).roles.append(role)
    for result in computed:
        candidate = merged.candidate(result.entity)
        candidate.computed = candidate.computed or result
        candidate.best_places += result.places
    for answer in read:
        candidate = merged.candidate(answer.entity)
        candidate.read += answer.score
        candidate.best_places += answer.places
    candidates = list(merged.candidates.values())
    _set_agreements(candidates, question)
    possible = _possible(candidates, question)
    total = sum(candidate.read for candidate in possible) or 1.0  # scores of dropped candidates do not count
    for candidate in possible:
        candidate.read /= total
    return possible


class _MergedCandidates:
    """Candidates, merged if they name the same.

    Dates become years if the question expects a year, numbers are put in the scale of the question, and a name, or surname, of a
    single item in the evidences becomes that item; so does a name in documents that are asked together with a knowledge base.
    """

    def __init__(self, question: Question) -> None:
        self.candidates: dict[str, EntityCandidate] = {}
        self._question = question
        self._scale = question.language.literals.asked_scale(question.text)
        self._has_documents = any("citation" in evidence for evidence in question.evidences)
        self._items: dict[str, str] = {}  # by name
        for evidence in question.evidences:
            for entity in evidence["wikidata_entities"]:
                if is_item(entity["id"]):
                    self._items.setdefault(same_words(entity["label"], question.language.words), entity["id"])
        self._surnames: dict[str, set[str]] = {}  # items by the last word of their names
        for name, item in self._items.items():
            self._surnames.setdefault(name.split()[-1], set()).add(item)

    def _owners(self, name: str) -> list[str]:
        # a name that only a file has is the item of a knowledge base that is asked with it, so that the next question may be about that
        return [owner.id for owner in self._question.resources.kb.candidates(fold(name)) if owner.is_label]

    def candidate(self, entity: Entity) -> EntityCandidate:
        if is_known(entity):
            entity = in_scale(self._question.in_year(entity), self._scale)
        elif (number := number_in_words(entity, self._question.language)) is not entity:
            entity = in_scale(number, self._scale)
        if is_known(entity):
            return self.candidates.setdefault(entity["id"].lower(), EntityCandidate(entity))
        name = same_words(entity["label"], self._question.language.words)
        items = {self._items[name]} if name in self._items else self._surnames.get(name, set())
        if not items and self._has_documents:
            items = {found for found in self._owners(entity["label"]) if not is_document_item(found)}
        item = next(iter(items)) if len(items) == 1 else None
        key = f"words {name}" if item is None else item.lower()
        if item is not None and key not in self.candidates:
            entity = {"id": item, "label": self._question.resources.kb.label(item) or entity["label"]}
        return self.candidates.setdefault(key, EntityCandidate(entity))


def number_in_words(entity: Entity, language: Language) -> Entity:
    """Return the number that an entity is in words, with or without a unit ("eight", "six metres"); else the entity."""
    return _number_in_words(entity["label"], language) or entity


@lru_cache(maxsize=8_192)  # a turn has some thousand texts, and attribution answers it again with fewer evidences
def _number_in_words(text: str, language: Language) -> Entity | None:
    number = language.literals.number_in_words(text)
    if number is not None:
        return number_entity(str(number))
    start = next((unit.start() for unit in UNIT.finditer(text) if unit.end() == len(text)), None)
    number = None if start is None else language.literals.number_in_words(text[:start])
    return None if number is None else {"id": str(number), "label": text}


def _set_agreements(candidates: Sequence[EntityCandidate], question: Question) -> None:
    # HOLDS if an evidence holds at the time of the question, CONTRADICTS if all evidences contradict it; if the answer was
    # computed from the values of a property, the other values (`rivals`) contradict
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
    award = types.noun_types("award")
    possible = []
    for candidate in candidates:
        entity_id = candidate.entity["id"]
        is_topic = entity_id in about and not words.isdisjoint(keywords(candidate.entity["label"]))
        labels = (label for role in candidate.roles if role.kind != "subject" for label in role.labels)
        is_possible = bool(candidate.computed) or not is_topic or any(names.asking(label, words) for label in labels)
        if (
            is_possible
            and question.expected.kind == "number"
            and not candidate.computed
            and not kind_of_value(entity_id)
        ):
            if is_known(candidate.entity):
                is_possible = types.heads(question.resources.kb.types(entity_id)).isdisjoint(award)
            else:
                is_possible = any(map(str.isdigit, entity_id))
        if is_possible:
            possible.append(candidate)
    return possible


def _in_time(candidates: Sequence[EntityCandidate], question: Question) -> list[EntityCandidate]:
    # The reader marks any holder of an office: the scores of candidates that contradict the time of the question go to candidates
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


def entity_roles(place: int, evidence: Evidence, language: Language) -> Iterator[EntityRole]:
    """Yield the roles of the entities of an evidence, and of its names that are not items."""
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
    mentioned = set()
    for mention in evidence["mentions"]:
        entity_id = mention["id"]
        if entity_id in entities:
            mentioned.add(entity_id)
            labels = [label for label in labels_at(evidence, mention["start"]) if label.text]
            if is_number(entity_id):  # its labels are also the words behind it and its currency
                text, start = evidence["evidence_text"], mention["start"]
                behind = _BEHIND_NUMBER.match(text, mention["end"])
                currency = language.literals.currencies.get(text[start - 1 : start], "")
                labels.append(PropertyLabel(f"{behind[1] if behind else ''} {currency}".strip()))
            yield EntityRole(place, kind, entities[entity_id], tuple(dict.fromkeys(labels)))
    for entity_id, entity in entities.items():
        if entity_id not in mentioned:
            yield EntityRole(place, kind, entity)
    for text, start in unlinked_names(evidence):
        yield EntityRole(place, kind, {"id": text, "label": text}, tuple(labels_at(evidence, start)))


def labels_at(evidence: Evidence, start: int) -> Iterator[PropertyLabel]:
    """Yield the labels of the value at a place in a row (its header) or infobox entry (the path of the attribute, its header)."""
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
    """Yield names that are not items, with their starts: texts of cells and infobox values, capitalised words of a sentence."""
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
        entities = entities_within(evidence, start, start + len(text))
        if _may_be_name(text) and not any(is_item(entity["id"]) for entity in entities):
            yield text, start


@lru_cache(maxsize=4096)  # the turns of a conversation see the same cells again
def _may_be_name(text: str) -> bool:
    if len(text.split()) > _MAX_NAME_WORDS:
        return False
    if _QUOTED.fullmatch(text.strip()):
        return True
    return any(map(str.isalpha, text)) and not any(find_literals(text))
