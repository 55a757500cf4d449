"""Admits candidates that may answer a question: by its time, its choice, its own items, and the kind of answer."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from ..language.property_names import PropertyLabel
from ..language.text import fold
from ..language.time_words import day_of_year
from ..language.validity import judged_parts
from ..records.evidence import Evidence
from ..records.literals import MONTHS, is_document_item, is_known
from ..records.periods import Agreement
from ..records.written_values import kind_of_value
from .addresses import address_form
from .candidates import EntityCandidate
from .question import Question

_INSTANCE_OF = "P31"
# "flat 5", "Flat is 5", "rooms 7 and 9", of folded words
_NUMBER = r"\d{1,4}[a-z]?"
_SCORE = re.compile(r"(\d+)[–:-](\d+)")
_NUMBERED = re.compile(rf"\b([^\W\d_]+) (?:is |no |number )?({_NUMBER}(?: (?:and |or |to )?{_NUMBER})*)\b")
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
    ("Who is Richard Bachman?"), as a computed result, or as the value of a property that they ask for if they ask for nothing
    beside it. A question for a number admits no words without a digit and no award.
    """
    keywords = question.language.properties.keywords
    if question.language.operations.offers(question.choice):
        words = keywords(question.choice)
        offered = [
            candidate for candidate in candidates if (name := keywords(candidate.entity["label"])) and name <= words
        ]
        if compared := [candidate for candidate in candidates if _is_compared(candidate)]:
            return compared
        is_condition = any(candidate.computed and candidate.computed.extent for candidate in candidates)
        if len(offered) > 1 and not is_condition:  # "which objects are in the store or in the tower?"
            return offered
    if question.language.operations.numbered.search(question.in_full):
        stated = [each for each in candidates if each.computed and each.computed.operation == "address"]
        candidates = stated or candidates  # the customer's number is no number of the invoice
    if any(candidate.agreement is Agreement.HOLDS for candidate in candidates):
        candidates = _in_time(candidates, question)
    about = {entity["id"] for entity in question.about}
    words = keywords(question.in_full) | keywords(question.text)
    names, types = question.property_names, question.language.answer_types
    award = types.noun_types("award")
    is_beside = question.language.times.asks_beside(question.in_full) is not None  # "before Iman" is not Iman
    possible = []
    for candidate in candidates:
        entity_id = candidate.entity["id"]
        is_topic = entity_id in about and (is_beside or not words.isdisjoint(keywords(candidate.entity["label"])))
        labels = (label for role in candidate.roles if role.kind != "subject" for label in role.labels)
        is_asked = not is_beside and any(names.asking(label, words) for label in labels)
        is_possible = bool(candidate.computed) or not is_topic or is_asked
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


def kind_test(question: Question) -> Callable[[EntityCandidate], bool]:
    """Return a test for candidates of the kind that a question asks for, read from its words once for all of them.

    No number in answer to "how many" are 1994, an award and "65th"; nothing but an e-mail address answers a question for one. Over
    files what is about "flat 5" answers nothing about "flat 1".
    """
    types, form, of_others = question.language.answer_types, address_form(question), _places_of_others(question)
    # a model and the words agree: "and Turn the Page?" is no question for a page
    kinds_asked = {question.expected.kind, types.expected_type(question.in_full).kind}
    is_for_number = kinds_asked == {"number"}
    suits_files = _test_of_files(question, kinds_asked)
    words = _words_of_measure(question) if is_for_number else frozenset[str]()
    keywords = question.language.properties.keywords
    kinds = question.language.operations.addresses.values()
    address_words = question.language.properties.keyword_set(frozenset().union(*kinds)) & keywords(question.in_full)

    def is_of_kind(candidate: EntityCandidate) -> bool:
        if candidate.places and of_others.issuperset(candidate.places):
            return False
        if question.is_of_files and not candidate.computed and not suits_files(candidate):
            return False
        if form is not None:  # "4412" below "phone" is an extension
            is_in_place = any(address_words & keywords(label.text) for role in candidate.roles for label in role.labels)
            return is_in_place or form.search(candidate.entity["label"]) is not None
        if candidate.computed or not is_for_number:
            return True
        return _is_number(question, candidate, words)

    return is_of_kind


def _test_of_files(question: Question, kinds_asked: AbstractSet[str]) -> Callable[[EntityCandidate], bool]:
    """Return a test for what stands in files: only words of times answer "when?", and no number "who?" and "where?"."""
    language, text = question.language, question.in_full
    times, keywords = language.times, language.properties.keywords
    begins_so = not times.while_.isdisjoint(fold(text).split()[:1])  # "when do they come?", whatever a model expects
    is_for_time = "date" in kinds_asked and (len(kinds_asked) == 1 or begins_so)
    is_for_next = not times.following.isdisjoint(fold(text).split())
    is_for_hour = times.hours.search(text) is not None
    is_for_name = language.answer_types.expected_type(text).kind in ("person", "place")
    is_choice = language.operations.offers(text)
    located = language.properties.keyword_set(language.operations.located)

    def suits(candidate: EntityCandidate) -> bool:
        name, label = candidate.entity["id"], candidate.entity["label"]
        if kinds_asked <= {"number", "date"} and is_document_item(name) and question.pages.get(name):
            return False  # "minutes 2026-03-14" is no day
        if is_for_hour:
            return times.hour.search(label) is not None
        if is_for_time:
            # the day in the title of the minutes is not that of the next meeting
            titles = (read.subject for place in candidate.places if (read := question.evidences[place]))
            if is_for_next and candidate.places and all(title and label in title["label"] for title in titles):
                return False
            return times.may_be_time(label)
        if is_for_name and not is_choice and (said := keywords(label)) and said <= keywords(text):
            return False  # "Gerald Ford" for "who was Gerald Ford's vice president?"
        if is_for_name and (kind_of_value(name) or times.hour.fullmatch(label) or day_of_year(label)):
            headers = (each.text for role in candidate.roles for each in role.labels)
            return any(located & keywords(header) for header in headers)  # "2" below "Room" for "where?"
        return True

    return suits


def _words_of_measure(question: Question) -> frozenset[str]:
    """Return the words one of which the evidence of a bare number has: those of "how tall", or of the question beside its names; else none."""
    keywords, measures = question.language.properties.keywords, question.language.literals.measured(question.in_full)
    names = frozenset[str]().union(*(keywords(topic["label"]) for topic in question.about))
    return measures | (keywords(question.in_full) - names) if measures else measures


def _is_number(question: Question, candidate: EntityCandidate, words: frozenset[str]) -> bool:
    """Return True for a number of what is measured: "Children, 1" is not how tall she is."""
    entity = candidate.entity
    is_no_number = is_known(entity) or question.language.literals.ordinal.search(entity["id"])
    if kind_of_value(entity["id"]) != "number" and is_no_number:
        return False
    labels = [
        role.labels[0].text for role in candidate.roles if role.place in candidate.best_places[:1] and role.labels
    ]
    score = _SCORE.fullmatch(entity["label"])
    if score and int(score[1]) >= int(score[2]) and question.language.operations.counting.search(question.in_full):
        return False  # "how many finals did they win?" is no question for 4–2
    if any(_is_no_count(label, question) for label in labels):
        return False
    is_bare = entity["label"][-1:].isdigit()
    keywords = (question.evidences[place].keywords for place in candidate.places)
    return not words or not is_bare or any(map(words.intersection, keywords))


def _is_no_count(label: str, question: Question) -> bool:
    """Return True if what has a label is not how many there are: "First Ballon d'Or" is a year, "Score" no count."""
    operations, words = question.language.operations, fold(label).split()
    if operations.counting.search(question.in_full) is None:
        return False
    asking = fold(question.in_full).split()
    is_singular = label[:1].isupper() and len(words) == 1 and words[0] not in asking and f"{words[0]}s" in asking
    is_of_one = len(words) > 1 and words[-1] in operations.numbering
    is_score = not operations.outcomes.isdisjoint(words) and operations.outcomes.isdisjoint(asking)
    return is_singular or is_of_one or is_score or not operations.places.isdisjoint(words)


def _places_of_others(question: Question) -> frozenset[int]:
    """Return the places of evidences of files that name a thing of a question by other numbers alone; a month is no thing."""
    if not question.is_of_files:
        return frozenset()
    numbers = _numbers_of_things(fold(question.in_full.partition("(")[0]))  # "how much is the rent (2B)?"
    for word in [*numbers]:
        if word in question.language.words.common or word.capitalize() in MONTHS:
            del numbers[word]
    others = set()
    for place, evidence in enumerate(question.evidences if numbers else ()):
        named = _numbers_of_things(evidence.folded)
        if any(_is_of_row(number, evidence.evidence) for those in numbers.values() for number in those):
            continue  # "rent 2B" of the row "2B", "funghi 40 cm" of a header
        if any(word in named and named[word].isdisjoint(those) for word, those in numbers.items()):
            others.add(place)
    return frozenset(others)


def _is_of_row(number: str, evidence: Evidence) -> bool:
    """Return True if a number is the first cell of a row, or a word of a header."""
    cells = evidence["row"]["cells"] if "row" in evidence else []
    is_first = any(fold(cell["text"]) == number for cell in cells[:1])
    return is_first or any(number in fold(cell["header"]).split() for cell in cells)


def _numbers_of_things(text: str) -> dict[str, set[str]]:
    """Return the numbers of things in a folded text, by the word before: 5 of "flat 5"."""
    numbers: dict[str, set[str]] = defaultdict(set)
    for word, those in _NUMBERED.findall(text):
        numbers[word].update(re.findall(_NUMBER, those))
    return numbers


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
