"""The facts of wikidata-27k as evidences: the knowledge base, built once, and its facts in words."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from convinse.knowledge_base.build import build
from convinse.knowledge_base.dump import read_dump
from convinse.knowledge_base.index import KnowledgeBase
from convinse.knowledge_base.items import FactEntities
from convinse.language.language import english
from convinse.records.literals import is_date, is_item
from convinse.support.checksums import sha256
from convinse.support.errors import IndexFileError
from recipes.embedded.examples import Part
from recipes.embedded.negatives import part_of
from recipes.sources import records, wikidata_27k, wikidata_27k_dated

SOURCE = "facts"  # of the examples, and what decides the part of a fact
Span = tuple[int, int]
_YEAR = re.compile(r"[0-9]{4}$")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?= )")
MALE, FEMALE = frozenset(("Q6581097", "Q2449503")), frozenset(("Q6581072", "Q1052281"))
GENDER = "P21"
# what people call a thing of a class; the first is the noun that names the class
_CLASS_NAMES = tuple(
    tuple(names.split())
    for names in """film movie, song track, album record, series show, show series, book novel, band group, club team,
    university school, company, award prize, city town, country, league, language, character""".split(",")
)


class Words(NamedTuple):
    """How something is spoken of: the forms of "he", "him" and "his"."""

    nominative: str
    objective: str
    possessive: str

    @classmethod
    def named(cls, name: str) -> Words:
        return cls(name, name, f"{name}'" if name.endswith("s") else f"{name}'s")


_HE, _SHE = Words("he", "him", "his"), Words("she", "her", "her")
_IT, _THEY = Words("it", "it", "its"), Words("they", "them", "their")


class Told(NamedTuple):
    """A fact: ids and labels of subject, property, object, qualifier property, qualifier object ..."""

    ids: tuple[str, ...]
    labels: tuple[str, ...]

    @property
    def text(self) -> str:
        return ", ".join(self.labels)

    subject = property(lambda self: self.ids[0])
    prop = property(lambda self: self.ids[1])
    value = property(lambda self: self.ids[2])

    def span(self, place: int) -> Span:
        """Where the label of the entity at a place stands in the text."""
        start = sum(len(label) + 2 for label in self.labels[:place])
        return start, start + len(self.labels[place])

    def spans(self, places: Iterable[int], property_id: str) -> tuple[Span, ...]:
        """The spans of several entities; with a year of a date if a year is asked for, and a number without unit."""
        found = []
        for place in places:
            start, end = self.span(place)
            found.append((start, end))
            if is_date(self.ids[place]):
                year = _YEAR.search(self.labels[place])
                if year and year.start() and "year" in property_id.lower():
                    found.append((start + year.start(), end))
            elif not is_item(self.ids[place]):
                number = _NUMBER.match(self.labels[place])
                if number:
                    found.append((start, start + number.end()))
        return tuple(dict.fromkeys(found))


def knowledge_base(data: Path, work: Path, *, dated: bool = False) -> KnowledgeBase:
    """The knowledge base of wikidata-27k in the folder `work`, with `dated` its statements that have times; built if it is missing."""
    dump = wikidata_27k_dated(data, work) if dated else wikidata_27k(data)
    path = work / f"wikidata-27k-{sha256(dump)[:12]}"
    try:
        return KnowledgeBase(path)
    except IndexFileError:
        build(dump, path)
        return KnowledgeBase(path)


def property_labels(data: Path) -> dict[str, str]:
    documents = read_dump(wikidata_27k(data))
    return {document.id: document.label for document in documents if document.kind == "property"}


class Bench(NamedTuple):
    """The items that `convquestions/val_wd27k` is about, which nothing is learned of."""

    seeds: frozenset[str]
    answers: frozenset[str]

    @property
    def items(self) -> frozenset[str]:
        return self.seeds | self.answers


def bench_items(data: Path) -> Bench:
    conversations = list(records(data, "convquestions", "val_wd27k.json.gz"))
    turns = [turn for conversation in conversations for turn in conversation["questions"]]
    seeds = {entity["id"] for conversation in conversations for entity in conversation["questions"][0]["entities"]}
    return Bench(
        frozenset(filter(is_item, seeds)),
        frozenset(filter(is_item, (answer["id"] for turn in turns for answer in turn["answers"]))),
    )


class Facts:
    """All facts of wikidata-27k that may be learned from, by subject and by object."""

    def __init__(self, data: Path, work: Path) -> None:
        self.kb = knowledge_base(data, work)
        self.bench = bench_items(data)
        self.by_subject: dict[str, list[Told]] = {}
        self.by_object: dict[str, list[Told]] = {}
        for document in read_dump(wikidata_27k(data)):
            if document.kind == "item" and document.id not in self.bench.items:
                self._add(document.id)
        self.aliases = {entity_id: aliases for entity_id, _, aliases in self.kb.properties()}

    def _add(self, subject: str) -> None:
        first_facts = self.kb.first_facts(subject, self.kb.frequencies(subject)[0])
        stated = [_told(fact) for fact in first_facts if not any(entity["id"] in self.bench.seeds for entity in fact)]
        if stated:
            self.by_subject[subject] = list(dict.fromkeys(stated))
        for fact in self.by_subject.get(subject, ()):
            if is_item(fact.value):
                self.by_object.setdefault(fact.value, []).append(fact)

    @lru_cache(maxsize=60_000)  # noqa: B019 - as long as the facts are needed
    def kind(self, entity_id: str) -> str:
        """person, group, place, people, date, number or thing."""
        return english().answer_types.entity_kind(entity_id, self.types(entity_id))

    def types(self, entity_id: str) -> tuple[str, ...]:
        """The classes of an item in words; none for dates and numbers."""
        return self.kb.types(entity_id) if is_item(entity_id) else ()

    @lru_cache(maxsize=60_000)  # noqa: B019
    def heads(self, entity_id: str) -> frozenset[str]:
        return english().answer_types.heads(self.types(entity_id))

    def pronouns(self, entity_id: str) -> tuple[Words, ...]:
        """What may stand for an item: a pronoun, "the film", "the band"; none for a person of unknown gender."""
        kind = self.kind(entity_id)
        if kind == "person":
            gender = {fact.value for fact in self.by_subject.get(entity_id, ()) if fact.prop == GENDER}
            return (_HE,) if gender & MALE else (_SHE,) if gender & FEMALE else ()
        nouns = tuple(Words.named(f"the {noun}") for noun in self.class_names(entity_id))
        return (_THEY, _IT, *nouns) if kind == "group" else (_IT, _IT, *nouns)

    @lru_cache(maxsize=60_000)  # noqa: B019
    def class_names(self, entity_id: str) -> tuple[str, ...]:
        """What people call an item: film, movie; band; city; nothing if its class has no everyday name."""
        found = english().answer_types.heads(self.types(entity_id)[:2])
        return next((names for names in _CLASS_NAMES if english().answer_types.noun_types(names[0]) & found), ())


def _told(fact: FactEntities) -> Told:
    ids, labels = zip(*((sys.intern(entity["id"]), sys.intern(entity["label"])) for entity in fact), strict=True)
    return Told(ids, labels)


def part_of_fact(fact: Told) -> Part:
    """The part that a fact may be in: that of its subject's label, as items of one name may have facts of one text."""
    return part_of(SOURCE, fact.labels[0])
