"""Answers to "how many", "how long", "more than ...?": quantities that evidences state, else counts of what they list."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..language.language import Language
from ..language.property_names import PropertyLabel, PropertyNames, PropertyWords
from ..language.text import fold
from ..records.evidence import Attribute, AttributeValue, Entity, Evidence, Row
from ..records.facts import Fact, fact_of
from ..records.literals import is_number, number_entity
from .question import AskedQuestion, score_shares
from .ranking import AnswerCandidate, in_shares
from .values import Value, label_of, nearness, values

_MOST_WORDS = 3  # behind "how many" that say what is counted
_Group = tuple[str, ...]
_DIGIT = re.compile(r"\d")
_LEAST = 0.5  # of a name that must be asked for
_MORE = 0.05  # how much each word of an evidence that is not asked for takes from it
_SHARP = 4.0  # exponent: answers that fit as well as the best answer have nearly all of the share


class AskedQuantity(NamedTuple):
    """What a question wants the number of.

    Attributes:
        nouns: stems of what is counted or measured, each with the stems that name the same (`kid`: `child`).
        head: the stem of the last noun itself.
        rest: stems of its other content words, which say of what.
        countable: whether things can be counted where no number is given.
    """

    nouns: tuple[frozenset[str], ...]
    head: str
    rest: frozenset[str]
    countable: bool


def asked_quantity(question: str, in_full: str, language: Language) -> AskedQuantity | None:
    """What a question wants the number of ("how many league goals": goal); None when it does not say."""
    words, literals, common = fold(question).split(), language.literals, language.words.common
    many, measure = literals.counted.search(question), literals.measured.search(question)
    if many:
        phrase: list[str] = []
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
    nouns = tuple(map(literals.names_of, map(literals.keyword, heads)))
    rest = language.properties.keywords(in_full).difference(literals.asking_keywords, *nouns)
    return AskedQuantity(nouns, literals.keyword(heads[-1]), rest, bool(many and phrase))


class Comparison(NamedTuple):
    """Whether a number lies above or below another number, by the evidences at these places."""

    holds: bool
    evidences: list[int]


def numbers(asked: AskedQuestion) -> list[AnswerCandidate]:
    """The numbers that the evidences state for what is asked, else the count of what they list; none for other questions."""
    if asked.expected.kind != "number":
        return []
    quantity = asked_quantity(asked.asking, asked.in_full, asked.language)
    given = asked.evidences, asked.names, asked.language
    return [] if quantity is None else stated(quantity, *given) or counted(quantity, *given)


def compared(
    question: str, evidences: Sequence[Evidence], names: PropertyNames, language: Language
) -> Comparison | None:
    """Whether what the evidences state or list is more, or less, than the question says ("over 100 million dollars").

    "At least" and "at most" hold for the number itself, too. None: the question compares with no number, or the
    evidences do not tell.
    """
    literals = language.literals
    limit = literals.limit(question)
    if limit is None:
        return None
    head = literals.keyword("money" if limit.money else limit.unit)
    words = language.properties.keywords(question[: limit.start] + question[limit.end :])
    names_of = literals.names_of(head)
    nouns = [names_of]
    if limit.money:  # what is not said to be a cost or a fee is what something made; else any amount of money
        nouns = [names_of & words or literals.earned_keywords, names_of | literals.money_keywords]
    tried = [AskedQuantity((noun,), head, words - noun, not limit.money) for noun in nouns]
    answers = next(filter(None, (stated(asked, evidences, names, language) for asked in tried)), [])
    answers = answers or counted(tried[-1], evidences, names, language)
    if not answers:
        return None
    best = answers[0]
    number = best.entity["id"]
    amount = float(number)
    holds = limit.inclusive if amount == limit.number else (amount > limit.number) == limit.above
    return Comparison(holds, list(best.places))


def stated(
    asked: AskedQuantity, evidences: Sequence[Evidence], names: PropertyNames, language: Language
) -> list[AnswerCandidate]:
    """The numbers of the evidences whose property, header, attribute or unit is what is asked for, best first.

    A number counts by how many of the question's other words its evidence holds and how near they are, by how
    little else it says, and by the score of the evidence. Scores are shares of all.
    """
    scores: dict[str, float] = {}
    entities: dict[str, Entity] = {}
    support: dict[str, list[int]] = defaultdict(list)
    for place, (evidence, share) in enumerate(zip(evidences, score_shares(evidences), strict=True)):
        suited = ((value, _fits(value, asked, names, language)) for value in values(evidence, language))
        fitting = [(value, fits) for value, fits in suited if fits > 0]
        if not fitting:
            continue
        held = language.properties.keywords(evidence["evidence_text"])
        covered = len(asked.rest & held) / len(asked.rest) if asked.rest else 1.0
        # a row of a part says more than an entry of the whole
        more = sum(not word.isdigit() for word in held.difference(asked.rest, *asked.nouns))
        weight = (0.2 + covered) / (1.0 + _MORE * more) * (1.0 + share)
        near = nearness(evidence, asked.rest, language.words)
        for value, fits in fitting:
            number = value.entity["id"]
            score = fits * weight * (0.5 + near.get(number, 0.0))
            entities.setdefault(number, value.entity)
            scores[number] = max(scores.get(number, 0.0), score)
            support[number].append(place)
    best = max(scores.values(), default=0.0)
    places = {number: tuple(dict.fromkeys(own)) for number, own in support.items()}
    shares = ((number, (score / best) ** _SHARP) for number, score in scores.items())
    return in_shares([AnswerCandidate(entities[name], share, places[name], ("numbers",)) for name, share in shares])


def counted(
    asked: AskedQuantity, evidences: Sequence[Evidence], names: PropertyNames, language: Language
) -> list[AnswerCandidate]:
    """How many different things facts of the asked property list, an infobox, or rows of the asked table; one answer or none.

    Counted are the values of a property of an item that the evidences were retrieved for, the subjects that have the
    item as value, the values of an attribute of an infobox, or the rows of one table: the group that fits best, and of
    those the largest.
    """
    if not asked.countable:
        return []
    groups: dict[_Group, dict[str, int]] = defaultdict(dict)
    fits: dict[_Group, float] = {}
    for place, evidence in enumerate(evidences):
        for group, member, fitting in _listed(evidence, asked, names, language.properties):
            groups[group].setdefault(member, place)
            fits[group] = fitting
    if not groups:
        return []
    best = max(groups, key=lambda group: (fits[group], len(groups[group]), group))
    places = tuple(sorted(set(groups[best].values())))
    return [AnswerCandidate(number_entity(str(len(groups[best]))), 1.0, places, ("numbers",))]


def _fits(value: Value, asked: AskedQuantity, names: PropertyNames, language: Language) -> float:
    """How well a value's name or unit is what is asked for, from 0 to 1: by the last noun, the others add little."""
    if not is_number(value.entity["id"]):
        return 0.0
    head, wanted = asked.nouns[-1], frozenset().union(*asked.nouns)
    named = max((names.asked(label, wanted) for label in value.labels if names.asked(label, head)), default=0.0)
    match = max(named if named >= _LEAST else 0.0, 1.0 if head & value.unit else 0.0)
    words = value.unit.union(*(language.properties.keywords(label.text) for label in value.labels))
    return match * (0.7 + 0.3 * sum(bool(noun & words) for noun in asked.nouns) / len(asked.nouns))


def _listed(
    evidence: Evidence, asked: AskedQuantity, names: PropertyNames, language: PropertyWords
) -> Iterator[tuple[_Group, str, float]]:
    own = evidence.get("retrieved_for_entity", {}).get("id", "")
    if fact := fact_of(evidence):
        yield from _facts(fact, own, asked, names, language)
    elif "row" in evidence:
        yield from _rows(evidence["row"], own, asked, language)
    elif "attribute" in evidence:
        yield from _listing(evidence["attribute"], own, asked, names)


def _facts(
    fact: Fact, own: str, asked: AskedQuantity, names: PropertyNames, language: PropertyWords
) -> Iterator[tuple[_Group, str, float]]:
    if own not in (fact.subject["id"], fact.object["id"]):
        return
    keywords, holds = language.keywords, language.holds
    item, partner = (fact.subject, fact.object) if own == fact.subject["id"] else (fact.object, fact.subject)
    inverse = item is fact.object  # "member of" lists the members of a band
    if is_number(partner["id"]) or holds(keywords(item["label"]), asked.head):
        return
    group, property_label = (item["id"], fact.predicate["id"]), label_of(fact.predicate)
    listed = not inverse or asked.head in keywords(property_label.text)
    if listed and names.asked(property_label, asked.nouns[-1]) == 1.0:
        yield group, partner["id"], 1.0
    elif holds(keywords(partner["label"]), asked.head):  # "how many Oscars": of all awards those of that name
        yield group, " ".join(entity["id"] for entity in fact.entities), 0.9


def _rows(row: Row, own: str, asked: AskedQuantity, language: PropertyWords) -> Iterator[tuple[_Group, str, float]]:
    if not row["cells"]:
        return
    first = row["cells"][0]
    above = (row["caption"], row["section"], row.get("part", ""))
    if first["header"] and asked.nouns[-1] & language.keywords(" ".join((*above, first["header"]))):
        is_known = "page" in row and "table" in row
        group = (row["page"], str(row["table"])) if is_known else (own, *above, first["header"])
        yield group, str(row["number"]) if is_known and "number" in row else first["text"], 0.8


def _listing(
    attribute: Attribute, own: str, asked: AskedQuantity, names: PropertyNames
) -> Iterator[tuple[_Group, str, float]]:
    members = [name for value in attribute["values"] for name in _names(value)]
    is_asked = any(names.asked(PropertyLabel(label), asked.nouns[-1]) == 1.0 for label in attribute["path"])
    if is_asked and len(members) > 1 and not any(_DIGIT.search(value["text"]) for value in attribute["values"]):
        for member in members:
            yield (own, *attribute["path"]), member, 1.0


def _names(value: AttributeValue) -> list[str]:
    """What a line lists: the entities in it where there are several, else itself."""
    names = [entity["id"] for entity in value["entities"]]
    return names if len(names) > 1 else [value["text"]]
