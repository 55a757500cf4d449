"""Admits candidates that may answer a question: by its time, its choice, its own items, and the kind of answer."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from ..language.property_names import PropertyLabel
from ..language.text import fold
from ..language.validity import judged_parts
from ..records.literals import is_known
from ..records.periods import Agreement
from ..records.written_values import kind_of_value
from .addresses import address_form
from .candidates import EntityCandidate
from .question import Question

_INSTANCE_OF = "P31"
_NUMBERED = re.compile(r"\b([^\W\d_]+) (?:is |no |number )?(\d{1,4}[a-z]?)\b")  # "flat 5", of folded words
_LIFE = frozenset(("P569", "P570"))  # dates of birth and death


def set_agreements(candidates: Sequence[EntityCandidate], question: Question) -> None:
    """Set the agreement of candidates with the time of a question.

    A candidate holds if an evidence of it holds then, and contradicts if all its evidences contradict. If the answer was computed
    from the values of a property, the other values (`rivals`) contradict.
    """
    verdicts: dict[tuple[int, str], set[Agreement]] = defaultdict(set)
    for place, part, verdict in judged_parts(question.in_full, question.evidences, question.language):
        for entity in question.evidences[place].within(part.start, part.end):
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


def possible_candidates(candidates: list[EntityCandidate], question: Question) -> list[EntityCandidate]:
    """Return the candidates that a question admits.

    A choice ("A or B?") admits the names that it offers. Other questions admit an item that they are about only under another name
    ("Who is Richard Bachman?"), as a computed result, or as the value of a property that they ask for. A question for a number
    admits no words without a digit and no award.
    """
    keywords = question.language.properties.keywords
    if question.language.operations.offers(question.text):
        words = keywords(question.text)
        offered = [
            candidate for candidate in candidates if (name := keywords(candidate.entity["label"])) and name <= words
        ]
        if compared := [candidate for candidate in candidates if _is_compared(candidate)]:
            return compared
        is_condition = any(candidate.computed and candidate.computed.extent for candidate in candidates)
        if len(offered) > 1 and not is_condition:  # "which objects are in the store or in the tower?"
            return offered
    if any(candidate.agreement is Agreement.HOLDS for candidate in candidates):
        candidates = _in_time(candidates, question)
    about = {entity["id"] for entity in question.about}
    words = keywords(question.in_full) | keywords(question.text)
    names, types = question.property_names, question.language.answer_types
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
                is_possible = types.heads(question.items.types(entity_id)).isdisjoint(award)
            else:
                is_possible = any(map(str.isdigit, entity_id))
        if is_possible and (candidate.computed or not _is_of_other_kind(candidate, question)):
            possible.append(candidate)
    return possible


def is_of_kind(question: Question, candidate: EntityCandidate) -> bool:
    """Return False for what is no number in answer to "how many": neither 1994, nor an award, nor "65th"; and for no e-mail address.

    A bare number needs the measure that is asked for in its evidence: "Children, 1" is not how tall she is.
    """
    entity, language = candidate.entity, question.language
    if question.is_of_files and _is_of_other_number(candidate, question):
        return False
    if form := address_form(question):
        return form.search(entity["label"]) is not None
    # a model and the words agree: "and Turn the Page?" is no question for a page
    kinds = {question.expected.kind, language.answer_types.expected_type(question.in_full).kind}
    if candidate.computed or kinds != {"number"}:
        return True
    kind = kind_of_value(entity["id"])
    if kind != "number" and (is_known(entity) or language.literals.ordinal.search(entity["id"])):
        return False
    measures = language.literals.measured(question.in_full)
    if not measures or not entity["label"][-1:].isdigit():
        return True
    keywords = language.properties.keywords
    names = frozenset[str]().union(*(keywords(topic["label"]) for topic in question.about))
    words = measures | (keywords(question.in_full) - names)
    return any(not words.isdisjoint(question.evidences[place].keywords) for place in candidate.places)


def _is_of_other_number(candidate: EntityCandidate, question: Question) -> bool:
    """Return True if all evidences of a candidate name a thing by another number than a question: "flat 5" for "flat 1"."""
    numbers: dict[str, set[str]] = defaultdict(set)  # by the word before
    for word, number in _NUMBERED.findall(fold(question.in_full)):
        if word not in question.language.words.common:
            numbers[word].add(number)

    def is_other(place: int) -> bool:
        text = question.evidences[place].folded
        words = {word for word, _ in _NUMBERED.findall(text)}
        return any(word in words and asking.isdisjoint(text.split()) for word, asking in numbers.items())

    return bool(numbers) and bool(candidate.places) and all(map(is_other, candidate.places))


def _is_compared(candidate: EntityCandidate) -> bool:
    return candidate.computed is not None and candidate.computed.operation == "comparison"


def _is_of_other_kind(candidate: EntityCandidate, question: Question) -> bool:
    """Return True for a date, a number or a class in answer to "who", and for a birth in answer to a death, or the reverse."""
    types, names = question.language.answer_types, question.property_names
    facts = [question.evidences[place].fact for place in candidate.places if place < len(question.evidences)]
    properties = {fact.predicate["id"] if fact else "" for fact in facts}
    if question.expected.kind in ("person", "any") and types.expected_type(question.in_full).kind == "person":
        return bool(kind_of_value(candidate.entity["id"])) or properties == {_INSTANCE_OF}
    words = question.language.properties.keywords(question.in_full)
    requested = {end for end in _LIFE if names.asking(PropertyLabel("", end), words)}
    return len(requested) == 1 and bool(properties) and properties <= _LIFE - requested


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
