"""Counts of what facts, infoboxes and tables list, and numbers that a question sets a limit to ("more than 100 million")."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from ..language.language import Language
from ..language.property_names import PropertyLabel
from ..language.text import fold
from ..records.evidence import Entity, Evidence
from ..records.facts import fact_of
from ..records.literals import is_number, number_entity
from .candidates import Computed, entity_roles, property_label
from .question import Question
from .tables import noun_keywords, whole_tables

_MOST_WORDS = 3  # behind "how many" that say what is counted
_DIGIT = re.compile(r"\d")


class AskedQuantity(NamedTuple):
    """A number that a question asks for.

    Attributes:
        nouns: the keywords of what is counted or measured, each with those that name the same (`kid`: `child`).
        head: the keyword of the last noun itself.
        countable: things can be counted if no number is stated.
    """

    nouns: tuple[frozenset[str], ...]
    head: str
    countable: bool


def asked_quantity(question: str, language: Language) -> AskedQuantity | None:
    """The number that a question asks for ("how many league goals": goal); None if it does not say."""
    words, literals, common = fold(question).split(), language.literals, language.words.common
    many, measure = literals.counted.search(question), literals.measured.search(question)
    phrase: list[str] = []
    if many:
        for word in fold(question[many.end() :]).split():
            if word in literals.of_which and not phrase:
                continue
            if word in common or len(phrase) == _MOST_WORDS:
                break
            phrase.append(word)
        heads = phrase or (["money"] if "much" in many[0].lower() else [])  # "how much did it make?"
    elif measure:
        heads = [measure[1].lower()]
    else:
        heads = [word for word in words if word in language.answer_types.number_nouns and word != "number"]
        heads = heads or [noun for noun, word in pairwise(words) if word == "number" and noun not in common]
    if not heads:
        return None
    keywords = list(map(literals.keyword, heads))
    return AskedQuantity(tuple(map(literals.names_of, keywords)), keywords[-1], bool(many and phrase))


# -- counts ------------------------------------------------------------------------------------------------------------


def counted(question: Question) -> list[Computed]:
    """The number of things that are listed: of the rows of a table within the years of a question, else of the values of a
    property of an item, the subjects that have it as value, the values of an infobox, or the rows of a table.

    Counted is the group that fits best, and of those the largest.
    """
    quantity = asked_quantity(question.in_full, question.language) if question.expected.kind == "number" else None
    if quantity is None or not quantity.countable:
        return []
    if question.language.times.time(question.in_full) is not None:
        return _rows_within(quantity, question)
    groups: dict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
    fits: dict[tuple[str, ...], float] = {}
    about = {entity["id"] for entity in question.about}
    for place, evidence in enumerate(question.evidences):
        for group, member, fit in _listed(evidence, about, quantity, question):
            groups[group].setdefault(member, place)
            fits[group] = fit
    if not groups:
        return []
    best = max(groups, key=lambda group: (fits[group], len(groups[group]), group))
    return [_count(len(groups[best]), quantity, tuple(sorted(set(groups[best].values()))))]


def _count(number: int, quantity: AskedQuantity, places: tuple[int, ...]) -> Computed:
    return Computed(number_entity(str(number)), "count", f"The number of {quantity.head}s is {number}.", places)


def _rows_within(quantity: AskedQuantity, question: Question) -> list[Computed]:
    time = question.language.times.time(question.in_full)
    nouns = noun_keywords(quantity.nouns[-1], question)
    for table in whole_tables(question):
        named = [column for column in table.columns if column.keywords & nouns]
        is_stated = any(column.order and not column.numbers_rows for column in named)
        rows = table.within(time) if time is not None else None
        if rows and not is_stated and (named or table.about & nouns):
            return [_count(len(rows), quantity, table.shown(rows))]
    return []


def _listed(
    evidence: Evidence, about: set[str], quantity: AskedQuantity, question: Question
) -> Iterator[tuple[tuple[str, ...], str, float]]:
    """The things that an evidence lists: the group, the member, and how well the group fits."""
    names, keywords = question.knowledge.properties, question.language.properties.keywords
    noun = quantity.nouns[-1]
    page = evidence.get("retrieved_for_entity", {}).get("id", "")
    if fact := fact_of(evidence):
        for item, partner in ((fact.subject, fact.object), (fact.object, fact.subject)):
            is_counted = question.language.properties.holds(keywords(item["label"]), quantity.head)
            if item["id"] not in about or is_number(partner["id"]) or is_counted:
                continue
            label = property_label(fact.predicate)
            is_subject = item is fact.subject  # "member of" lists the members of a band
            if (is_subject or quantity.head in keywords(label.text)) and names.asked(label, noun) == 1.0:
                yield (item["id"], label.id), partner["id"], 1.0
            elif question.language.properties.holds(keywords(partner["label"]), quantity.head):
                # "how many Oscars": of all awards those of that name
                yield (item["id"], label.id), " ".join(entity["id"] for entity in fact.entities), 0.9
    elif "row" in evidence and evidence["row"]["cells"]:
        row = evidence["row"]
        first, above = row["cells"][0], (row["caption"], row["section"], row.get("part", ""))
        if first["header"] and noun & keywords(" ".join((*above, first["header"]))):
            is_placed = "page" in row and "table" in row and "number" in row
            group = (row["page"], str(row["table"])) if is_placed else (page, *above, first["header"])
            yield group, str(row["number"]) if is_placed else first["text"], 0.8
    elif "attribute" in evidence and page in about:
        attribute = evidence["attribute"]
        members = [name for value in attribute["values"] for name in _names(value["entities"], value["text"])]
        is_asked = any(names.asked(PropertyLabel(label), noun) == 1.0 for label in attribute["path"])
        if is_asked and len(members) > 1 and not any(_DIGIT.search(value["text"]) for value in attribute["values"]):
            for member in members:
                yield (page, *attribute["path"]), member, 1.0


def _names(entities: list[Entity], text: str) -> list[str]:
    """The members of a line: the entities in it if there are several, else the line."""
    return [entity["id"] for entity in entities] if len(entities) > 1 else [text]


# -- limits ------------------------------------------------------------------------------------------------------------


class LimitVerdict(NamedTuple):
    """Whether a number lies above or below the limit of a question, and the evidence that states it."""

    holds: bool
    place: int


def compared_with_limit(question: Question) -> LimitVerdict | None:
    """Whether the number that the evidences state is more, or less, than the question says ("over 100 million dollars").

    None if the question has no limit, or no evidence about what it asks has such a number.
    """
    literals, names = question.language.literals, question.knowledge.properties
    limit = literals.limit(question.in_full)
    if limit is None:
        return None
    keywords = question.language.properties.keywords
    words = keywords(question.in_full[: limit.start] + question.in_full[limit.end :])
    named = literals.names_of(literals.keyword("money" if limit.money else limit.unit))
    tried = [named]
    if limit.money:  # what is not said to be a cost or a fee is what something made; else any amount of money
        tried = [named & words or literals.earned_keywords, named | literals.money_keywords]
    best: tuple[float, int, Entity] | None = None
    for units in tried:
        for place, evidence in enumerate(question.evidences):
            held = len(words & keywords(evidence["evidence_text"]))
            for role in entity_roles(place, evidence, question.language):
                fit = max((names.asked(label, units) for label in role.labels), default=0.0)
                if is_number(role.entity["id"]) and fit and (best is None or (fit + held, -place) > best[:2]):
                    best = fit + held, -place, role.entity
        if best is not None:
            amount = float(best[2]["id"])
            holds = limit.inclusive if amount == limit.number else (amount > limit.number) == limit.above
            return LimitVerdict(holds, -best[1])
    return None
