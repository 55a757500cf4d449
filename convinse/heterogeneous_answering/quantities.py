"""Answers to "how many", "how long", "more than ...?": quantities that evidences state, else counts of what they list."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import prod
from typing import NamedTuple

from ..language.answer_types import is_number_noun
from ..language.property_names import PropertyNames, holds, keyword, keywords
from ..language.text import STOP_WORDS, fold
from ..records.evidence import Entity, Evidence, RankedAnswer
from ..records.facts import fact_of
from ..records.literals import is_number, number_entity
from .values import Value, nearness, values

_MANY = re.compile(r"\bhow (?:many|much)\b|\bnumber of\b", re.IGNORECASE)
_MEASURE = re.compile(r"\bhow (long|tall|high|old|big|large|far|heavy|expensive)\b", re.IGNORECASE)
_MOST_WORDS = 3  # behind "how many" that say what is counted
_BEFORE = frozenset("of the other different".split())
# what names the measure that an adjective, or a noun, asks for
_MEASURES = {
    "long": "duration length runtime running time", "tall": "height", "high": "height elevation", "old": "age",
    "big": "area size capacity population", "large": "area size capacity population", "far": "distance",
    "heavy": "weight mass", "expensive": "price cost budget", "money": "gross box office earnings revenue budget cost fee price salary",
    "people": "capacity population attendance members", "spectators": "capacity attendance", "fans": "capacity attendance",
    "seats": "capacity", "places": "capacity", "inhabitants": "population", "songs": "tracks", "kids": "children",
    "tracks": "songs", "matches": "appearances caps", "games": "appearances caps matches",
}  # fmt: skip
_NAMES = {keyword(word): keywords(names) for word, names in _MEASURES.items()}
_ASKING = keywords("many much number")
_COMPARED = re.compile(
    r"\b(?:(?P<above>more than|over|above|at least)|(?P<below>less than|fewer than|under|below|at most)) "
    r"(?:an? (?=[0-9]))?(?P<currency>[$€£]?)(?:(?P<digits>[0-9][0-9,]*(?:\.[0-9]+)?)|(?P<word>[a-z]+))"
    r"(?P<scales>(?:[ -](?:hundred|thousand|million|billion))*)\b(?P<unit>(?: \w+)?)",
    re.IGNORECASE,
)
_MONEY = keywords("dollars euros pounds yen")
_EARNED = keywords("gross box office earnings revenue")
_NUMBER_WORDS = {
    word: number
    for number, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)
} | {"a": 1, "an": 1, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_SCALE_OF = {keyword(word): number for word, number in _SCALES.items()}
_DIGIT = re.compile(r"\d")
_LEAST = 0.5  # of a name that must be asked for
_MORE = 0.05  # how much each word of an evidence that is not asked for takes from it
_SHARP = 4.0  # exponent: answers that fit as well as the best one have nearly all of the share
SUPPORT = 3  # evidences named per answer


class Asked(NamedTuple):
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


def asked_quantity(question: str, in_full: str) -> Asked | None:
    """What a question wants the number of ("how many league goals": goal); None when it does not say.

    Args:
        question: as asked, or in full where it leans on the one before.
        in_full: with what it leaves to the history; its words say of what.
    """
    many, measure = _MANY.search(question), _MEASURE.search(question)
    if many:
        phrase: list[str] = []
        for word in fold(question[many.end() :]).split():
            if word in _BEFORE and not phrase:
                continue
            if word in STOP_WORDS or len(phrase) == _MOST_WORDS:
                break
            phrase.append(word)
        heads = phrase or (["money"] if "much" in many[0].lower() else [])  # "how much did it make?"
    elif measure:
        heads = [measure[1].lower()]
    else:
        words = fold(question).split()
        heads = [word for word in words if is_number_noun(word) and word != "number"]
        heads = heads or [one for one, number in pairwise(words) if number == "number" and one not in STOP_WORDS]
    if not heads:
        return None
    nouns = tuple(frozenset((head, *_NAMES.get(head, ()))) for head in map(keyword, heads))
    return Asked(nouns, keyword(heads[-1]), keywords(in_full).difference(_ASKING, *nouns), bool(many and phrase))


class Comparison(NamedTuple):
    """Whether a number lies above or below another one, by the evidences at these places."""

    holds: bool
    evidences: list[int]


def compared(question: str, evidences: Sequence[Evidence], names: PropertyNames) -> Comparison | None:
    """Whether what the evidences state or list is more, or less, than the question says ("over 100 million dollars").

    "At least" and "at most" hold for the number itself, too. None: the question compares with no number, or the
    evidences do not tell.
    """
    found = _COMPARED.search(question)
    limit = None if found is None else _number(found)
    if found is None or limit is None:
        return None
    unit = fold(found["unit"]).strip()
    money = bool(found["currency"]) or not unit or unit in STOP_WORDS or keyword(unit) in _MONEY
    head = keyword("money" if money else unit)
    words = keywords(question[: found.start()] + question[found.end() :])
    names_of = frozenset((head, *_NAMES.get(head, ())))
    nouns = [names_of]
    if money:  # what is not said to be a cost or a fee is what something made; else any amount of money
        nouns = [names_of & words or _EARNED, names_of | _MONEY]
    tried = [Asked((noun,), head, words - noun, not money) for noun in nouns]
    answers = next(filter(None, (stated(one, evidences, names) for one in tried)), [])
    answers = answers or counted(tried[-1], evidences, names)
    if not answers:
        return None
    best = answers[0]
    amount = float(best["answer"]["id"]) * _scale(
        best["answer"]["id"], [evidences[place] for place in best["evidences"]]
    )
    word = (found["above"] or found["below"]).lower()
    if amount == limit:
        return Comparison(word in ("at least", "at most"), best["evidences"])
    return Comparison((amount > limit) == bool(found["above"]), best["evidences"])


def _scale(number: str, evidences: Sequence[Evidence]) -> int:
    """What the words behind a number multiply it by: 222 stands for more in "€222 million"."""
    units = (value.unit for one in evidences for value in values(one) if value.entity["id"] == number)
    return max((prod(_SCALE_OF.get(word, 1) for word in unit) for unit in units), default=1)


def _number(found: re.Match[str]) -> float | None:
    """The number of a comparison in digits or words; None where it is none ("over the moon")."""
    word = (found["word"] or "").lower()
    scales = [_SCALES[scale] for scale in re.findall(r"[a-z]+", found["scales"].lower())]
    if found["digits"]:
        number = float(found["digits"].replace(",", ""))
    elif word in _SCALES:  # "over hundred people"
        number = float(_SCALES[word])
    elif word in _NUMBER_WORDS and (scales or word not in ("a", "an")):
        number = float(_NUMBER_WORDS[word])
    else:
        return None
    return number * prod(scales)


def stated(asked: Asked, evidences: Sequence[Evidence], names: PropertyNames) -> list[RankedAnswer]:
    """The numbers of the evidences whose property, header, attribute or unit is what is asked for, best first.

    A number counts by how many of the question's other words its evidence holds and how near they are, by how
    little else it says, and by the score of the evidence. Scores are shares of all.
    """
    best = max((evidence.get("score", 1.0) for evidence in evidences), default=0.0)
    scores: dict[str, float] = {}
    entities: dict[str, Entity] = {}
    support: dict[str, list[int]] = defaultdict(list)
    for place, evidence in enumerate(evidences):
        found = [(value, fits) for value in values(evidence) if (fits := _fits(value, asked, names)) > 0]
        if not found:
            continue
        held = keywords(evidence["evidence_text"])
        covered = len(asked.rest & held) / len(asked.rest) if asked.rest else 1.0
        # a row of a part says more than an entry of the whole
        more = sum(not word.isdigit() for word in held.difference(asked.rest, *asked.nouns))
        share = max(0.0, evidence.get("score", 1.0)) / best if best > 0 else 1.0
        weight = (0.2 + covered) / (1.0 + _MORE * more) * (1.0 + share)
        near = nearness(evidence, set(asked.rest))
        for value, fits in found:
            number = value.entity["id"]
            score = fits * weight * (0.5 + near.get(number, 0.0))
            entities.setdefault(number, value.entity)
            scores[number] = max(scores.get(number, 0.0), score)
            support[number].append(place)
    return _ranked(scores, entities, support)


def counted(asked: Asked, evidences: Sequence[Evidence], names: PropertyNames) -> list[RankedAnswer]:
    """How many different things facts of the asked property list, an infobox, or rows of the asked table; one answer or none.

    Counted are the values of a property of an item that the evidences were retrieved for, the subjects that have the
    item as value, the values of an attribute of an infobox, or the rows of one table: the group that fits best, and of
    those the largest.
    """
    if not asked.countable:
        return []
    groups: dict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
    fits: dict[tuple[str, ...], float] = {}
    for place, evidence in enumerate(evidences):
        for group, member, fitting in _listed(evidence, asked, names):
            groups[group].setdefault(member, place)
            fits[group] = fitting
    if not groups:
        return []
    best = max(groups, key=lambda group: (fits[group], len(groups[group]), group))
    places = sorted(set(groups[best].values()))
    return [{"answer": number_entity(str(len(groups[best]))), "score": 1.0, "rank": 1, "evidences": places[:SUPPORT]}]


def _fits(value: Value, asked: Asked, names: PropertyNames) -> float:
    """How well a value's name or unit is what is asked for, from 0 to 1: by the last noun, the others add little."""
    if not is_number(value.entity["id"]):
        return 0.0
    head, wanted = asked.nouns[-1], frozenset().union(*asked.nouns)
    named = max((names.asked(label, wanted) for label in value.labels if names.asked(label, head)), default=0.0)
    match = max(named if named >= _LEAST else 0.0, 1.0 if head & value.unit else 0.0)
    words = value.unit.union(*map(keywords, value.labels))
    return match * (0.7 + 0.3 * sum(bool(noun & words) for noun in asked.nouns) / len(asked.nouns))


def _listed(evidence: Evidence, asked: Asked, names: PropertyNames) -> Iterable[tuple[tuple[str, ...], str, float]]:
    """(group, member, how well the group fits) of what an evidence lists."""
    head = asked.nouns[-1]
    fact = fact_of(evidence)
    own = evidence.get("retrieved_for_entity", {}).get("id")
    if fact is not None and own in (fact.subject["id"], fact.object["id"]):
        item, other = (fact.subject, fact.object) if own == fact.subject["id"] else (fact.object, fact.subject)
        inverse = item is fact.object  # "member of" lists the members of a band
        if is_number(other["id"]) or holds(keywords(item["label"]), asked.head):
            return
        if names.asked(fact.predicate, head) == 1.0 and (not inverse or asked.head in keywords(fact.predicate)):
            yield (item["id"], fact.predicate), other["id"], 1.0
        elif holds(keywords(other["label"]), asked.head):  # "how many Oscars": of all awards those of that name
            yield (item["id"], fact.predicate), " ".join(entity["id"] for entity in fact.entities), 0.9
    elif evidence["source"] == "table":
        lead, header, row = evidence["evidence_text"].partition(" is ")
        *above, first = lead.split(", ")
        if header and head & keywords(" ".join([*above[1:], first])):
            yield (*above, first), row.split(", ")[0], 0.8
    elif evidence["source"] == "info":  # "Members, John Lennon, Paul McCartney"
        parts = evidence["evidence_text"].split(", ")
        for place, attribute in enumerate(parts[1:-2], 1):
            listed = parts[place + 1 :]
            if names.asked(attribute, head) == 1.0 and not any(map(_DIGIT.search, listed)):
                for member in listed:
                    yield tuple(parts[: place + 1]), member, 1.0
                break


def _ranked(scores: dict[str, float], entities: dict[str, Entity], support: dict[str, list[int]]) -> list[RankedAnswer]:
    best = max(scores.values(), default=0.0)
    shares = {one: (score / best) ** _SHARP for one, score in scores.items()}
    total = sum(shares.values())
    order = sorted(shares, key=lambda one: (-round(shares[one], 9), support[one][0], one))
    return [
        {
            "answer": dict(entities[one]),  # type: ignore[typeddict-item]
            "score": round(shares[one] / total, 6),
            "rank": rank,
            "evidences": support[one][:SUPPORT],
        }
        for rank, one in enumerate(order, 1)
    ]
