"""Checks what a question states against facts and infoboxes: "Did Mary Shelley write Dracula?", "Is Pelé alive?", "more than 60 episodes"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..knowledge_base.question_names import small_names
from ..language.property_names import PropertyLabel
from ..language.read_evidence import ReadEvidence
from ..language.text import fold
from ..language.validity import contradicting, judged_parts
from ..language.word_lists import WordSet
from ..records.evidence import Entity
from ..records.literals import is_item
from ..records.units import quantity_of
from .candidates import Computed
from .comparisons import entries_of, is_of_thing, named_things, typed_values
from .question import Question
from .tables.bounds import Bound, bounds_of, with_measures

_WORD = re.compile(r"\w+")
_YEAR = re.compile(r"\b[12]\d{3}\b")
_SCORE = re.compile(r"(\d+)\s?[:–-]\s?(\d+)")
_BRACKET = re.compile(r"\([^()]*[^\W\d][^()]*\)")
_LEAST_FIT = 0.3  # of the value of an entry to the expected type: that of an unknown type, as of cells
_BIRTH, _DEATH = "P569", "P570"

Said = tuple[bool, tuple[int, ...]]
"""Whether a statement holds, and the places of the evidences that show it."""


def said_by_values(question: Question) -> Said | None:
    """Return whether the values of a thing say what a question states; None if they do not decide."""
    operations, text = question.language.operations, question.in_full
    if (outcome := _has_won(question)) is not None:
        return outcome
    # "Was most of it shot in Vienna?"
    is_of_part = not (operations.most | operations.sole).isdisjoint(fold(text).split())
    if is_of_part or question.language.words.denial.search(text) or question.language.times.time(text):
        return None
    return _is_alive(question) or _is_within(question) or _is_relative(question) or _is_value(question)


def _has_won(question: Question) -> Said | None:
    """Return whether a side has won, or lost, the match that a question names, by the score of a row of its own table: "1–2", "won on penalties"."""
    operations, text = question.language.operations, question.in_full
    is_for_loss = operations.lost.search(text) is not None
    if question.expected.kind != "yesno" or not (is_for_loss or operations.won.search(text)):
        return None
    things = named_things(question)
    sides = [entity["id"] for entity in (things or question.about)][:1]
    years, others = set(_YEAR.findall(text)), {thing["id"] for thing in things[1:]}
    found: dict[bool, list[int]] = {}
    for place, read in enumerate(question.evidences):
        row = read.evidence.get("row")
        if row is None or row.get("page") not in sides or not (years or others):
            continue
        outcomes = [
            cell["text"] for cell in row["cells"] if not operations.outcomes.isdisjoint(fold(cell["header"]).split())
        ]
        entities = {entity["id"] for cell in row["cells"] for entity in cell["entities"]}
        texts = " ".join(cell["text"] for cell in row["cells"])
        is_named = years <= {*_YEAR.findall(texts)} and others <= entities
        if outcomes and is_named and (has_won := _is_victory(outcomes[0], question)) is not None:
            found.setdefault(has_won != is_for_loss, []).append(place)
    if len(found) != 1:
        return None
    ((holds, places),) = found.items()
    return holds, (places[0],)


def _is_victory(outcome: str, question: Question) -> bool | None:
    """Return True for "3–1", "1–1 (won on penalties)" and "Champions", False for "1–2" and "lost"; None for what says neither."""
    operations = question.language.operations
    has_won, has_lost = operations.won.search(outcome), operations.lost.search(outcome)
    if has_won or has_lost:
        return has_won is not None
    score = _SCORE.match(outcome)
    return None if score is None or score[1] == score[2] else int(score[1]) > int(score[2])


def _is_alive(question: Question) -> Said | None:
    """Return whether a person lives, or is dead if a question asks for that, as far as the data says."""
    properties, operations = question.language.properties, question.language.operations
    things, names = named_things(question), question.property_names
    living, dead = properties.keyword_set(operations.living), properties.keyword_set(operations.dead)
    words = asking_words(question, things)
    if len(things) != 1 or not words or not words <= living | dead:
        return None
    places: dict[str, int] = {}
    for place, read in enumerate(question.evidences):
        for label, _ in entries_of(read) if is_of_thing(read, things[0]) else ():
            for event in (_BIRTH, _DEATH):
                if names.is_of(label, event):
                    places.setdefault(event, place)
    if not places:
        return None
    is_dead = _DEATH in places
    return is_dead == (words <= dead), (places[_DEATH if is_dead else _BIRTH],)


def _is_relative(question: Question) -> Said | None:
    """Return whether a person is what a question says of another: "Is Nicolas Cage her brother?", of whom a text says "her cousin"."""
    kin, keywords = question.language.operations.kin, question.language.properties.keywords
    said = [word for word in _WORD.findall(fold(question.in_full)) if word in kin]
    things = [*named_things(question), *(Entity(id=name, label=name) for name in question.unlinked)]
    if len(things) == 1 and (name := _unknown_name(question, things[0])):
        things.append(Entity(id=name, label=name))
    if len(said) != 1 or len(things) != 2:
        return None
    verdicts: dict[bool, int] = {}
    for thing, other in (things, things[::-1]):
        for place, read in enumerate(question.evidences):
            if is_of_thing(read, thing) and keywords(other["label"]) <= read.keywords:
                text = fold(_words_of_relation(read, keywords(other["label"]), question))
                stated = {name for name, forms in kin.items() if not {name, *forms}.isdisjoint(_WORD.findall(text))}
                if stated:
                    verdicts.setdefault(said[0] in stated, place)
    return (True in verdicts, (verdicts[True in verdicts],)) if verdicts else None


def _words_of_relation(read: ReadEvidence, name: WordSet, question: Question) -> str:
    """Return the words of an evidence that may say how a person with a name is related: of an entry those in brackets behind it."""
    keywords = question.language.properties.keywords
    if "attribute" not in read.evidence:
        return read.text
    for value in read.evidence["attribute"]["values"]:
        if name <= keywords(value["text"]) and (bracket := _BRACKET.search(value["text"])):
            return bracket[0]
    return " ".join(read.evidence["attribute"]["path"])


def _is_within(question: Question) -> Said | None:
    """Return whether the value that a question names is within its only bound: "Does it have more than 60 episodes?"."""
    bounds, things = list(bounds_of(question)), named_things(question)
    if len(bounds) != 1 or len(things) != 1:
        return None
    bound = bounds[0]
    if bound.unit and not quantity_of(bound.words):  # "60 episodes" are a number of them
        bound = bound._replace(number=bound.written, unit="")
    values = [
        value
        for label, value in typed_values(things[0], question)
        if value.unit == bound.unit and _measures(label, bound, question)
    ]
    verdicts = {_admits(bound, value.lowest) for value in values}
    return (verdicts.pop(), (values[0].place,)) if len(verdicts) == 1 else None


def _measures(label: PropertyLabel, bound: Bound, question: Question) -> bool:
    """Return True if a label names what a bound is of, by the question's words or by the word that compares ("longer than")."""
    properties, operations = question.language.properties, question.language.operations
    compared, _ = operations.comparison(bound.words) or (frozenset[str](), True)
    words = properties.with_synonyms(with_measures(properties.keywords(question.in_full), question))
    return bool(question.property_names.asking(label, words | compared))


def _admits(bound: Bound, amount: float) -> bool:
    return bound.is_inclusive if amount == bound.number else (amount > bound.number) == bound.is_above


def _is_value(question: Question) -> Said | None:
    """Return whether one thing of a question is the value that it asks for of another: "Was Dracula written by Mary Shelley?".

    Other persons say that it is not, and another place of its class: a city may be within a country.
    """
    keywords = question.language.properties.keywords
    things = [*named_things(question), *(Entity(id=name, label=name) for name in question.unlinked)]
    if len(things) == 1 and (name := _unknown_name(question, things[0])):
        things.append(Entity(id=name, label=name))
    if len(things) != 2:
        return None
    words = asking_words(question, things)
    for thing, other in (things, things[::-1]):
        values = list(_requested_values(question, thing, words))
        name_words = keywords(other["label"])
        held = [
            place for value, place in values if value["id"] == other["id"] or name_words <= keywords(value["label"])
        ]
        if held:
            return True, (held[0],)
        rivals = {value["id"]: place for value, place in reversed(values) if _excludes(value, other, question)}
        if len(rivals) == 1 or any(_is_person(value, question) for value, _ in values if value["id"] in rivals):
            return False, (min(rivals.values()),)
    return None


def _unknown_name(question: Question, thing: Entity) -> str:
    """Return words of a question that are a name without an item, in small letters: "by john tenniel"; empty without one."""
    keywords = question.language.properties.keywords
    for start, end in small_names(question.in_full, question.language):
        words = question.in_full[start:end].split()
        name = " ".join(word for word in words if keywords(word).isdisjoint(keywords(thing["label"])))
        if " " in name:  # a single word may be anything
            return name
    return ""


def asking_words(question: Question, things: list[Entity]) -> WordSet:
    """Return the keywords of a question without its things, and those that say nothing."""
    properties = question.language.properties
    words = properties.keywords(question.in_full) - properties.light_keywords
    return words.difference(*(properties.keywords(thing["label"]) for thing in things))


def explained_words(question: Question, read: ReadEvidence, words: WordSet) -> frozenset[str]:
    """Return those of the `asking_words` of a question that an entry explains: by its property or attribute, or as synonyms."""
    properties, names = question.language.properties, question.property_names
    labels = [label for label, _ in entries_of(read)]
    said = frozenset().union(*(names.asking(label, words) | properties.keywords(label.text) for label in labels))
    return frozenset(word for word in words if not said.isdisjoint(properties.with_synonyms(frozenset((word,)))))


def requested_entries(question: Question) -> list[Computed]:
    """Return the value of the entry of a thing that a question names, and whose property all its other words name.

    "Inter Milan most appearances", "which network showed Lost?". A class that the question asks for needs no word of the entry. Of
    several entries it is the one that most words name as they are; an entry with several values is no answer.
    """
    operations, times, text = question.language.operations, question.language.times, question.in_full
    things = named_things(question)
    words = asking_words(question, things) - question.language.properties.counting_stems
    if question.is_of_files or not words or len(things) != 1 or question.expected.kind == "yesno":
        return []
    if operations.asks_for_several(text) or times.time(text) or times.asks_beside(text):
        return []
    head = question.language.properties.keyword_set(operations.head(text).split()[:1])
    found: dict[tuple[int, float], list[tuple[Entity, int]]] = {}
    for place, read in enumerate(question.evidences):
        explained = explained_words(question, read, words) if is_of_thing(read, things[0]) else frozenset[str]()
        if not explained or not words - explained <= head:
            continue
        for label, _ in entries_of(read):
            spoken = question.language.properties.keywords(label.text) | question.property_names.asking(label, words)
            key = -len(words & spoken), -question.property_names.coverage(label, words)
            found.setdefault(key, []).extend((entity, place) for entity in _values_of_entry(read))
    values = found[min(found)] if found else []
    if len({fold(entity["label"]) for entity, _ in values}) != 1 or not _may_answer(question, values[0][0]):
        return []
    entity, place = values[0]
    return [Computed(entity, "entry", (place,), rivals=frozenset((place,)))]


def _may_answer(question: Question, entity: Entity) -> bool:
    """Return True if an entity is of the kind that a question expects; keywords such as "Arsenal league" expect none."""
    types, items = question.language.answer_types, question.items
    if types.is_request(question.in_full) and not types.asks(question.in_full):
        return True
    kinds = {question.expected.kind, types.expected_type(question.in_full).kind} - {"any", "item"}
    kind = types.entity_kind(entity["id"], items.types(entity["id"]))
    is_other = is_item(entity["id"]) and bool(kinds) and kind not in kinds and kind != "group"
    return not is_other and question.fit(entity) >= _LEAST_FIT


def _values_of_entry(read: ReadEvidence) -> list[Entity]:
    """Return the value of a fact, or the values of an infobox entry: items, dates and numbers, or else their words."""
    if read.fact is not None:
        return [read.fact.object]
    if "attribute" not in read.evidence:
        return []
    entities = []
    for value in read.evidence["attribute"]["values"]:
        text = value["text"].partition(" (")[0]
        within = read.within(value["start"], value["start"] + len(text))
        whole = next((entity for entity in within if fold(entity["label"]) == fold(text)), None)
        if whole is None and within:  # "2012, by Chris Rock"
            return []
        entities.append(whole or Entity(id=text, label=text))
    return entities


def _requested_values(question: Question, thing: Entity, words: WordSet) -> Iterator[tuple[Entity, int]]:
    """Yield the items that facts and infoboxes name for the property of a thing that a question asks for, with their places."""
    properties, types = question.language.properties, question.language.answer_types
    names_of = properties.with_synonyms(words)
    if not words:  # "Is Coldplay from Liverpool?"
        origins = question.language.operations.origins
        said = (origins[word] for word in fold(question.in_full).split() if word in origins)
        names_of = properties.keyword_set(frozenset().union(*said))
    is_of_present = question.language.times.asks_about_present(question.in_full)
    parts = judged_parts(question.in_full, question.evidences, question.language) if is_of_present else []
    over = contradicting(parts)  # "Is Ida Roth the director?" of one who was
    for place, read in enumerate(question.evidences):
        if place in over:
            continue
        for label, entities in entries_of(read) if is_of_thing(read, thing) else ():
            shared = question.property_names.asking(label, names_of)
            rest = (word for word in words if shared.isdisjoint(properties.with_synonyms(frozenset([word]))))
            if shared and all(types.names_class(word) for word in rest):
                yield from ((entity, place) for entity in entities)


def _excludes(value: Entity, other: Entity, question: Question) -> bool:
    """Return True if a value is an item of the class of another, or a person where the other is a name of no item."""
    if not is_item(value["id"]):
        return False
    if not is_item(other["id"]):
        return _is_person(value, question)
    heads, items = question.language.answer_types.heads, question.items
    return not heads(items.types(value["id"])).isdisjoint(heads(items.types(other["id"])))


def _is_person(value: Entity, question: Question) -> bool:
    types = question.language.answer_types
    return types.entity_kind(value["id"], question.items.types(value["id"])) == "person"
