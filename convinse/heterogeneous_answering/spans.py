"""Spans of time in years: between the dates of two things, and for how long a value held."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import pairwise

from ..language.property_names import PropertyLabel
from ..language.read_evidence import ReadEvidence
from ..records.evidence import Entity
from ..records.literals import is_date, number_entity
from ..records.periods import ALL_TIME, YEAR, Period
from .candidates import Computed
from .comparisons import compared_values
from .question import Question

SPAN = "span"
_BESIDE = re.compile(r" ?\(.*")
_STATED = (("P580", "P582"), ("P2031", "P2032"), ("P571", "P576"))  # start and end, of work, of existence


def spans(question: Question) -> list[Computed]:
    """Return the number of years that a question asks for: "How many years after A was B released?", "How long was A at B?"."""
    operations = question.language.operations
    if operations.spanning.search(question.in_full):
        return _years_between(question)
    return _years_held(question) if operations.lasting.search(question.in_full) else []


def _years_between(question: Question) -> list[Computed]:
    operations, properties = question.language.operations, question.language.properties
    spanning = operations.spanning.search(question.in_full)
    beside = properties.keywords(spanning[0] if spanning else "") | properties.keyword_set(operations.bounding)
    found = compared_values(question, None, beside) or []
    if len(found) != 2:
        return []
    first, second = sorted((value for _, value in found), key=lambda value: value.lowest)
    return _span(_years(Period(int(first.lowest), int(second.lowest))), (first.place, second.place))


def years_within(period: Period, places: Iterable[int]) -> list[Computed]:
    """Return the years of a period that evidences state."""
    return _span(_years(period), places)


def _span(years: int, places: Iterable[int]) -> list[Computed]:
    shown = tuple(dict.fromkeys(places))
    return [Computed(number_entity(str(years), "year" if years == 1 else "years"), SPAN, shown, frozenset(shown))]


def _years_held(question: Question) -> list[Computed]:
    """Return for how many years a value of a thing held that a question names; empty if evidences differ."""
    words = question.language.properties.keywords(question.in_full)
    held = [*_held(question, words), *_between_statements(question, words)]
    asking = [span for span in held if span[2]] or held
    periods = sorted({period for period, *_ in asking})
    if any(first.overlaps(second) for first, second in pairwise(periods)):
        return []
    years = sum(map(_years, periods))  # "Zidane coached Real Madrid from 2016 to 2018 and from 2019 to 2021"
    return _span(years, (place for _, shown, _ in asking for place in shown)) if years else []


def _held(question: Question, words: AbstractSet[str]) -> Iterator[tuple[Period, tuple[int, ...], bool]]:
    """Yield the period of each statement, row or entry of which a question names thing and value, and whether it names the property."""
    about = {entity["id"] for entity in question.about}
    keywords, names = question.language.properties.keywords, question.property_names
    named = frozenset[str]().union(*(keywords(entity["label"]) for entity in question.about))
    for place, read in enumerate(question.evidences):
        for part in read.parts:
            if part.period is None or not _is_bounded(part.period):
                continue
            if fact := read.fact:
                label = PropertyLabel(fact.predicate["label"], fact.predicate["id"])
                value = keywords(fact.object["label"])  # "Barcelona" of "FC Barcelona"
                others = [keywords(entity["label"]) for entity in question.about if entity["id"] != fact.subject["id"]]
                is_named = fact.subject["id"] in about and any(name and name <= value for name in others)
            elif read.subject is None or read.subject["id"] not in about:
                continue
            else:
                label = PropertyLabel(read.evidence["attribute"]["path"][-1] if "attribute" in read.evidence else "")
                subject_words = keywords(read.subject["label"])
                texts = [keywords(text) for text in _texts(read, part.start, part.end)]
                is_named = any(text and text <= (words | named) and text - subject_words for text in texts)
            is_asking = bool(label.text) and bool(names.asking(label, words))
            is_whole = "attribute" in read.evidence and not _texts(read, part.start, part.end)[0].strip("0123456789–-")
            if is_named or (is_asking and is_whole):  # "Years active, 1960–1970"
                yield part.period, (place,), is_asking


def _texts(read: ReadEvidence, start: int, end: int) -> list[str]:
    """Return the names in a row or in a value of an infobox."""
    if "row" in read.evidence:
        return [cell["text"] for cell in read.evidence["row"]["cells"]]
    return [_BESIDE.sub("", read.text[start:end])]  # "Sara Lownds (1965–1977)"


def _between_statements(question: Question, words: AbstractSet[str]) -> Iterator[tuple[Period, tuple[int, ...], bool]]:
    """Yield the period between the start and the end that facts state of a thing itself: "How many years did Mad Men run?"."""
    if words.isdisjoint(question.language.properties.keyword_set(question.language.times.lasting)):
        return
    for thing in question.about:
        dates: dict[str, tuple[Entity, int]] = {}
        for place, read in enumerate(question.evidences):
            fact = read.fact
            if fact is not None and fact.subject["id"] == thing["id"] and is_date(fact.object["id"]):
                dates.setdefault(fact.predicate["id"], (fact.object, place))
        for beginning, ending in _STATED:
            if beginning in dates and ending in dates:
                (start, first), (end, last) = dates[beginning], dates[ending]
                period = Period(Period.of_date(start).first, Period.of_date(end).last)
                if _is_bounded(period):
                    yield period, (first, last), True
                break


def _is_bounded(period: Period) -> bool:
    is_known = period.first != ALL_TIME.first and not period.is_open
    return is_known and not period.is_point and period.first <= period.last  # "2010–2004" is a slip


def _years(period: Period) -> int:
    """Return the difference of the years in which a period begins and ends, which is what people count, whatever its days."""
    return period.last // YEAR - period.first // YEAR
