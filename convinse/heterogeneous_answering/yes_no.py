"""Yes or no: what the model's entailment head reads in the best evidences, what is computed, how much of the question they hold."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..language.property_names import PropertyWords
from ..records.evidence import Entity
from ..records.facts import fact_of
from .candidates import Computed, property_label
from .features import score_shares
from .quantities import compared_with_limit
from .question import NO, YES, Question
from .ranked_answers import AnswerCandidate, ordered

_READ = 5  # evidences that the model reads
_LEAST = 0.02  # of a probability, for its odds
_COVERED = 0.6  # of a question's words that an evidence must have to say something about it

Judge = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""From pairs of a question and a text to the probabilities that the text says yes."""


class YesNoFeatures(NamedTuple):
    """What speaks for "yes"; 0 if nothing does.

    Attributes:
        computed: 1 or -1, if numbers or dates decide.
        stated: 1 if a fact holds what is asked, -1 if facts have other values.
        covered: the largest share of the question's words that an evidence has; negative if that evidence denies it.
        read: mean of the log-odds that the model reads in the best evidences, weighted by their scores.
        surest: the log-odds of the evidence that has most of the question's words.
    """

    computed: float = 0.0
    stated: float = 0.0
    covered: float = 0.0
    read: float = 0.0
    surest: float = 0.0


class Verdict(NamedTuple):
    """The features of a question for yes or no, the places of the evidences that tell most, and whether they say anything."""

    features: YesNoFeatures
    places: tuple[int, ...]
    is_told: bool

    def candidates(self, yes: float) -> list[AnswerCandidate]:
        """Both answers, the likelier first; "No" if it is undecided."""
        both = ((YES, yes), (NO, 1 - yes))
        return ordered(AnswerCandidate(entity, score, self.places, ("yes_no",)) for entity, score in both)


def yes_or_no(question: Question, computed: Sequence[Computed] = (), judge: Judge | None = None) -> Verdict:
    """What the evidences say to a question for yes or no.

    Args:
        question: with its evidences.
        computed: the results of computations.
        judge: the entailment head of a model.
    """
    covered = _covered(question)
    order = sorted(range(len(covered)), key=lambda place: (-round(covered[place], 9), place))
    shares = score_shares([evidence.get("score", 1.0) for evidence in question.evidences])
    best = order[0] if order else None
    read = surest = 0.0
    if judge is not None and order:
        texts = [question.evidences[place]["evidence_text"] for place in order[:_READ]]
        odds = list(map(_odds, judge([(question.in_full, text) for text in texts])))
        weights = [shares[place] + 1e-6 for place in order[:_READ]]
        read = sum(weight * own for weight, own in zip(weights, odds, strict=True)) / sum(weights)
        surest = odds[0]
    decided, places = _computed(question, computed)
    stated, stating = _stated(question)
    denial = question.language.yes_no.denial.search
    is_denied = best is not None and (
        (denial(question.evidences[best]["evidence_text"]) is None) != (denial(question.in_full) is None)
    )
    most = covered[best] if best is not None else 0.0
    features = YesNoFeatures(decided, stated, -most if is_denied else most, read, surest)
    told = bool(decided or stated or most >= _COVERED)
    return Verdict(features, tuple(dict.fromkeys((*places, *stating, *order)))[:_READ], told)


def _computed(question: Question, computed: Sequence[Computed]) -> tuple[float, tuple[int, ...]]:
    for result in computed:
        if result.entity in (YES, NO):
            return (1.0 if result.entity == YES else -1.0), result.places
    limit = compared_with_limit(question)
    return (0.0, ()) if limit is None else (1.0 if limit.holds else -1.0, (limit.place,))


def _stated(question: Question) -> tuple[float, tuple[int, ...]]:
    """Whether a fact links two things that the question names, by a property that it asks for; or links one to others instead."""
    language = question.language.properties
    words = language.keywords(question.in_full)
    holding, contradicting = [], []
    for place, evidence in enumerate(question.evidences):
        fact = fact_of(evidence)
        if fact is None:
            continue
        named = [entity for entity in fact.entities if _is_named(entity, words, language)]
        rest = words.difference(*(language.keywords(entity["label"]) for entity in named))
        if not question.knowledge.properties.asking(property_label(fact.predicate), rest):
            continue
        if len({entity["id"] for entity in named}) > 1:
            holding.append(place)
        elif named:
            contradicting.append(place)
    if holding:
        return 1.0, tuple(holding)
    return (-1.0 if contradicting else 0.0), tuple(contradicting)


def _is_named(entity: Entity, words: frozenset[str], language: PropertyWords) -> bool:
    name = language.keywords(entity["label"])
    return bool(name) and name <= words


def _covered(question: Question) -> list[float]:
    """The share of the question's words that each evidence has; words of names and classes count half."""
    language, types = question.language.properties, question.language.answer_types
    asked = language.keywords(question.in_full) - question.language.yes_no.light_keywords
    capitals = language.keywords(" ".join(re.findall(r"(?<!^)\b[A-Z][\w'’-]*", question.in_full)))
    weights = {word: 0.5 if word in capitals or types.names_class(word) else 1.0 for word in asked}
    total = sum(weights.values())
    shares = []
    for evidence in question.evidences:
        held = language.keywords(evidence["evidence_text"])
        present = {word for word in weights if language.holds(held, word)
                   or (types.names_class(word) and not types.noun_types(word).isdisjoint(held))}  # fmt: skip
        # each evidence of an item has its name, which says nothing
        name = language.keywords(evidence.get("retrieved_for_entity", {}).get("label", ""))
        shares.append(sum(weights[word] for word in present) / total if present - name else 0.0)
    return shares


def _odds(probability: float) -> float:
    kept = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(kept / (1 - kept))
