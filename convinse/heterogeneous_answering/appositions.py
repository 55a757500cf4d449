"""People whom a text calls what a question asks for: "drummer Lars Ulrich", for "who plays drums in Metallica?"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from ..language.read_evidence import ReadEvidence
from ..language.text import fold
from ..records.evidence import Entity
from .candidates import Computed
from .comparisons import entries_of, is_of_thing, named_things
from .question import Question
from .statements import asking_words

_WORD = re.compile(r"[^\W\d_]+")
_SECOND_ROLE = re.compile(r" and [a-z]+(?= [A-Z])")  # "singer and guitarist Jack White"
_NAME = re.compile(r" ([A-Z][\w'’-]+(?: [A-Z][\w'’-]*)*)")
_MOST_VERBS = 1  # words of a question that name no role: "plays"


def appositions(question: Question) -> list[Computed]:
    """Return the person whom the texts about a thing call by a role that a question names; empty without one.

    Of several it is the one that the facts or the infobox of the thing name.
    """
    operations, times, text = question.language.operations, question.language.times, question.in_full
    things = named_things(question)
    if question.is_of_files or question.expected.kind != "person" or len(things) != 1:
        return []
    if times.named(text) or times.asks_beside(text) is not None or operations.order(text):
        return []
    roles, unnamed = _roles(question, asking_words(question, things))
    if not roles or unnamed > _MOST_VERBS:
        return []
    about = {place: read for place, read in enumerate(question.evidences) if is_of_thing(read, things[0])}
    found: dict[str, tuple[Entity, list[int]]] = {}
    for place, read in about.items():
        for entity in _called(read, roles, question):
            found.setdefault(entity["id"], (entity, []))[1].append(place)
    if len(found) > 1:  # a guitarist who sued the band is none of its members
        entered = {entity["id"] for read in about.values() for _, values in entries_of(read) for entity in values}
        found = {name: each for name, each in found.items() if name in entered}
    if len(found) != 1:
        return []
    ((person, places),) = found.values()
    return [Computed(person, "role", tuple(places), rivals=frozenset(about))]


def _roles(question: Question, words: AbstractSet[str]) -> tuple[frozenset[str], int]:
    """Return the keywords of the nouns for people that some words name, "drummer" for "drums", and the number of the other words."""
    properties = question.language.properties
    people = properties.keyword_set(question.language.answer_types.person_nouns)
    # not "star" for "lead"
    named = [
        frozenset(role for role in properties.with_synonyms(frozenset((word,))) & people if role.startswith(word))
        for word in words
    ]
    return frozenset().union(*named), sum(not roles for roles in named)


def _called(read: ReadEvidence, roles: AbstractSet[str], question: Question) -> Iterator[Entity]:
    """Yield the people whose names stand behind a role in a sentence."""
    if "row" in read.evidence or "attribute" in read.evidence or read.fact is not None:
        return
    keyword = question.language.properties.keyword
    for word in _WORD.finditer(read.text):
        if keyword(fold(word[0])) not in roles:
            continue
        second = _SECOND_ROLE.match(read.text, word.end())
        name = _NAME.match(read.text, second.end() if second else word.end())
        if name is not None:
            items = read.within(name.start(1), name.end(1))
            yield items[0] if items else Entity(id=name[1], label=name[1])
