"""Yes or no, decided from evidences: by facts that hold or exclude what is asked, else by what sentences say."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ..language.language import Language
from ..language.property_names import PropertyNames, PropertyWords
from ..language.validity import contradicting, judged_parts
from ..records.evidence import Entity, Evidence, normalize_source, question_items
from ..records.facts import Fact, fact_of
from .quantities import compared
from .question import AskedQuestion
from .ranking import AnswerCandidate, ordered
from .values import label_of

YES: Entity = {"id": "Yes", "label": "Yes"}
NO: Entity = {"id": "No", "label": "No"}
_NAME_WEIGHT = 0.5  # of a word of a name or a class ("film"): what is said of it tells more
_COVERED = 0.6  # of a question's words that an evidence must hold for a "yes"
_CERTAIN, _LIKELY = 0.95, 0.75
_LEAST = 0.02  # of a probability, for its odds
_READ = 3  # sentences that a model reads together

Judge = Callable[[str, str], float]
"""From a question and a text to the probability that the text says yes."""


class YesNoFeatures(NamedTuple):
    """What speaks for "yes", as natural logarithms of odds; 0 where nothing does.

    Attributes:
        stated: numbers or facts that decide.
        worded: the evidence that holds most of the question's words, where no fact decides and it holds one.
        read: what a model reads in the sentences that hold most of them, where no fact decides.
    """

    stated: float = 0.0
    worded: float = 0.0
    read: float = 0.0


class Verdict(NamedTuple):
    """The probability of "yes", the places of the evidences that decided, the weightiest first, and what it rests on."""

    yes: float
    evidences: list[int]
    features: YesNoFeatures = YesNoFeatures()

    @classmethod
    def stated(cls, yes: float, evidences: list[int]) -> Verdict:
        """By numbers or facts."""
        return cls(yes, evidences, YesNoFeatures(stated=_odds(yes)))

    def candidates(self) -> list[AnswerCandidate]:
        """Both answers, the likelier first; "No" where it is undecided."""
        places = tuple(self.evidences)
        both = ((YES, self.yes), (NO, 1 - self.yes))
        return ordered(AnswerCandidate(entity, score, places, ("yes_no",)) for entity, score in both)


class _Claim(NamedTuple):
    """What a fact says of a question: the words that ask for its property, which of its entities are named."""

    place: int
    fact: Fact
    asked: frozenset[str]
    named: tuple[Entity, ...]


def yes_or_no(asked: AskedQuestion, judge: Judge | None = None) -> Verdict:
    """What the evidences decide; see `decide`."""
    return decide(asked.in_full, asked.evidences, asked.names, asked.language, judge)


def decide(
    question: str, evidences: Sequence[Evidence], names: PropertyNames, language: Language, judge: Judge | None = None
) -> Verdict:
    """Whether the evidences say yes.

    In this order:

    1. a number that the evidences state or list lies above or below the number that the question names;
    2. a fact of an asked property holds two things that the question names: yes; no if it did not at the time that the question
       names, or does not today where it asks about the present;
    3. the question names an item and something that other items have as value of an asked property, and the item's facts
       of that property have other values only: no; with "the same", the values of two named items are compared;
    4. the question names an item and asks for a property of it, and nothing else: yes, it has values;
    5. a fact holds two things that the question names, and nothing else of the question is left: yes;
    6. else by the evidence that holds most of the question's words, which must not deny it, and by what a model reads in
       the sentences that hold most of them.
    """
    words = language.properties.keywords(question) - language.yes_no.light_keywords
    claims = [_claim(place, fact, words, names, language) for place, e in enumerate(evidences) if (fact := fact_of(e))]
    if number := compared(question, evidences, names, language):
        return Verdict.stated(_CERTAIN if number.holds else 1 - _CERTAIN, number.evidences)
    compares = not language.yes_no.comparing.isdisjoint(question.lower().split())
    is_timed = language.times.time(question) is not None or language.times.asks_about_present(question)
    behind = contradicting(judged_parts(question, evidences, language)) if is_timed else set()
    decided = _by_facts(words, claims, compares, behind, language.properties)
    return decided or _by_text(question, evidences, language, judge)


def _claim(place: int, fact: Fact, words: frozenset[str], names: PropertyNames, language: Language) -> _Claim:
    named = tuple(entity for entity in fact.entities if _is_named(entity, words, language.properties))
    rest = words - _name_words(named, language.properties)
    return _Claim(place, fact, names.asking(label_of(fact.predicate), rest), named)


def _by_facts(
    words: frozenset[str], claims: Sequence[_Claim], compares: bool, behind: AbstractSet[int], language: PropertyWords
) -> Verdict | None:
    names = ({_name_words([entity], language) for entity in claim.named} for claim in claims)
    holding = [
        claim
        for claim, own in zip(claims, names, strict=True)
        if len({name for name in own if not any(name < longer for longer in own)}) > 1
    ]
    if places := [claim.place for claim in holding if claim.asked]:
        then = [place for place in places if place not in behind]
        return Verdict.stated(_CERTAIN, then) if then else Verdict.stated(1 - _CERTAIN, places)
    named = {entity["id"]: entity for claim in claims for entity in claim.named}
    asked: dict[str, list[_Claim]] = defaultdict(list)  # facts of asked properties, by subject
    for claim in claims:
        if claim.asked and claim.fact.subject["id"] in named:
            asked[claim.fact.subject["id"]].append(claim)
    if compares and len(asked) > 1:
        values = (
            {(claim.fact.predicate["id"], claim.fact.object["id"]) for claim in facts} for facts in asked.values()
        )
        places = [claim.place for facts in asked.values() for claim in facts]
        return Verdict.stated(_CERTAIN if set.intersection(*values) else 1 - _CERTAIN, places)
    for subject, facts in asked.items():
        left = words - _name_words([named[subject]], language) - frozenset().union(*(claim.asked for claim in facts))
        properties = {claim.fact.predicate["id"] for claim in facts}
        rivals = {claim.fact.object["id"] for claim in claims if claim.fact.predicate["id"] in properties}
        if any(_name_words([named[value]], language) & left for value in rivals & named.keys()):
            return Verdict.stated(1 - _CERTAIN, [claim.place for claim in facts])
        if not left:
            return Verdict.stated(_LIKELY, [claim.place for claim in facts])
    done = [claim.place for claim in holding if not words - _name_words(claim.named, language)]
    return Verdict.stated(_LIKELY, done) if done else None


def _by_text(question: str, evidences: Sequence[Evidence], language: Language, judge: Judge | None) -> Verdict:
    """By words, and by a model's reading of the sentences that hold most of them: of rows and facts it knows nothing."""
    words = _by_words(question, evidences, language)
    sentences = [place for place in words.evidences if normalize_source(evidences[place]["source"]) == "text"][:_READ]
    if judge is None or not sentences:
        return words
    read = judge(question, " ".join(evidences[place]["evidence_text"] for place in sentences))
    return Verdict((words.yes + read) / 2, words.evidences, words.features._replace(read=_odds(read)))


def _by_words(question: str, evidences: Sequence[Evidence], language: Language) -> Verdict:
    """By the evidence that covers the question best: the share of the words, in which those of names weigh less."""
    keywords, names_class = language.properties.keywords, language.answer_types.names_class
    denies, asked = language.yes_no.denial.search, keywords(question) - language.yes_no.light_keywords
    capitals = keywords(" ".join(re.findall(r"(?<!^)\b[A-Z][\w'’-]*", question)))
    weights = {word: _NAME_WEIGHT if word in capitals or names_class(word) else 1.0 for word in asked}
    total = sum(weights.values())
    covered: list[float] = []
    for evidence in evidences:
        held = keywords(evidence["evidence_text"])
        present = {word for word in weights if _holds(held, word, language)}
        # each evidence of an item has its name, which says nothing
        told = present - _name_words(question_items([evidence]), language.properties)
        covered.append(sum(weights[word] for word in present) / total if told else 0.0)
    order = sorted(range(len(covered)), key=lambda place: (-round(covered[place], 9), place))
    best = covered[order[0]] if order else 0.0
    if best < _COVERED:
        return _worded(best / _COVERED / 2, order) if best else Verdict(0.0, order)
    yes = (1 + (best - _COVERED) / (1 - _COVERED)) / 2
    denied = denies(evidences[order[0]]["evidence_text"]) is not None
    return _worded(1 - yes if denied != (denies(question) is not None) else max(yes, 0.51), order)


def _worded(yes: float, evidences: list[int]) -> Verdict:
    return Verdict(yes, evidences, YesNoFeatures(worded=_odds(yes)))


def _odds(probability: float) -> float:
    kept = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(kept / (1 - kept))


def _holds(held: frozenset[str], word: str, language: Language) -> bool:
    types = language.answer_types
    return language.properties.holds(held, word) or (types.names_class(word) and bool(types.noun_types(word) & held))


def _is_named(entity: Entity, words: frozenset[str], language: PropertyWords) -> bool:
    name = language.keywords(entity["label"])
    return bool(name) and name <= words


def _name_words(entities: Iterable[Entity], language: PropertyWords) -> frozenset[str]:
    return frozenset(word for entity in entities for word in language.keywords(entity["label"]))
