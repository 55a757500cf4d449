"""Compares the values of a property of two things: "Which is longer, A or B?", "Did A come out before B?", "the same director?"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ..language.property_names import PropertyLabel
from ..language.read_evidence import ReadEvidence
from ..language.text import fold
from ..records.evidence import Entity
from ..records.literals import is_date, is_item
from ..records.periods import Period
from ..records.ranked_rows import ColumnOrder, value_of, written_amount
from ..records.written_values import find_literals, value_at
from .candidates import Computed
from .question import Question
from .tables.bounds import with_measures

DIFFERENCE = "difference"
_DATE = "date"  # as a unit
_BEGINNINGS = ("P569", "P571", "P577", "P580")  # birth, inception, publication, start: "older" asks for one of them


class ComparedValue(NamedTuple):
    """A value of a thing: from the lowest to the highest amount, which differ for a date without a day, its unit, evidence and words."""

    lowest: float
    highest: float
    unit: str
    place: int
    text: str


def chosen_by_value(question: Question) -> list[Computed]:
    """Return the one of several things that a question offers with the highest value, or the lowest; empty if values lack."""
    if not question.language.operations.offers(question.choice):
        return []
    is_highest, by = _direction(question)
    values = None if is_highest is None else compared_values(question, by)
    if values is None:
        return []
    ranked = sorted(values, key=lambda pair: pair[1].lowest, reverse=bool(is_highest))
    (first, best), (_, second), *_ = ranked
    if not _is_apart(best, second):
        return []
    return [Computed(first, "comparison", tuple(value.place for _, value in ranked))]


def differences_of_values(question: Question) -> list[Computed]:
    """Return by how much two things differ in a measure that facts or infoboxes state: "How much longer is A than B?"."""
    operations = question.language.operations
    asking = operations.differing.search(question.in_full)
    by, _ = operations.comparison(question.in_full) or (frozenset[str](), True)
    values = compared_values(question, by, question.language.properties.keywords(asking[0])) if asking else None
    if values is None or len(values) != 2:
        return []
    (_, first), (_, second) = values
    order = ColumnOrder([first.lowest, second.lowest], are_dates=False, unit=first.unit)
    label = written_amount(abs(first.lowest - second.lowest), (first.text, second.text), order)
    answer = value_at(label, 0, len(label)) or Entity(id=label, label=label)
    # the values themselves are no difference, wherever they stand
    rivals = frozenset(range(len(question.evidences)))
    return [Computed(answer, DIFFERENCE, (first.place, second.place), rivals)]


def holds(question: Question) -> tuple[bool, tuple[int, ...]] | None:
    """Return whether a comparison of two things holds, and the places of the evidences of both values.

    "Is A longer than B?", "Do A and B have the same director?". None if the question compares no two values.
    """
    return _is_same(question) or _is_greater(question)


def _is_same(question: Question) -> tuple[bool, tuple[int, ...]] | None:
    """Return whether two things share a value of the property that a question names: "the same director"."""
    alike = question.language.operations.alike.search(question.in_full)
    things = named_things(question) if alike else []
    if alike is None or len(things) != 2:
        return None
    keywords, names = question.language.properties.keywords, question.property_names
    words = keywords(question.in_full).difference(*(keywords(thing["label"]) for thing in things))
    noun = keywords(alike["noun"] or "")
    values = [list(_stated(thing, question)) for thing in things]
    for asking in (noun, words):
        shared = {label for label, *_ in values[0] if names.asking(label, asking)}
        pools = [
            {value: place for label, value, place in of_thing if names.asking(label, asking)} for of_thing in values
        ]
        if shared and all(pools):
            common = [value for value in pools[0] if value in pools[1]]
            shown = common[0] if common else None
            places = tuple(next(iter(pool.values())) if shown is None else pool[shown] for pool in pools)
            return bool(common), places
    return None


def _stated(thing: Entity, question: Question) -> Iterator[tuple[PropertyLabel, str, int]]:
    """Yield the names of the values of a thing in facts and infoboxes, with their properties and places."""
    for place, read in enumerate(question.evidences):
        for label, values in entries_of(read) if is_of_thing(read, thing) else ():
            yield from ((label, fold(value["label"]), place) for value in values)


def _is_greater(question: Question) -> tuple[bool, tuple[int, ...]] | None:
    """Return whether the first of two things has the higher value, or the lower one if a question asks for that."""
    operations, denial = question.language.operations, question.language.words.denial
    if operations.offers(question.choice) or denial.search(question.in_full):
        return None
    is_highest, by = _direction(question)
    values = [] if is_highest is None else compared_values(question, by) or []
    if len(values) != 2:
        return None
    (_, first), (_, second) = values
    if not _is_apart(first, second) and (first.lowest, first.highest) != (second.lowest, second.highest):
        return None
    holds = first.lowest > second.highest if is_highest else first.highest < second.lowest
    return holds, (first.place, second.place)


def _is_apart(first: ComparedValue, second: ComparedValue) -> bool:
    return first.highest < second.lowest or second.highest < first.lowest


def compared_values(
    question: Question, by: AbstractSet[str] | None, beside: AbstractSet[str] = frozenset()
) -> list[tuple[Entity, ComparedValue]] | None:
    """Return the things that a question compares, in its order, with their values; None if not all have one of the same kind.

    Args:
        question: names the things.
        by: the measures that it compares by; None for dates.
        beside: keywords that name no property.
    """
    keywords, names = question.language.properties.keywords, question.property_names
    things = named_things(question)
    if len(things) < 2:
        return None
    words = keywords(question.in_full).difference(*(keywords(thing["label"]) for thing in things))
    values = [list(typed_values(thing, question)) for thing in things]
    labels = {label for of_thing in values for label, _ in of_thing}
    candidates = [{label for label in labels if names.asking(label, words)}]
    if by is None:
        beginnings = _BEGINNINGS if _asks_for_beginning(question, words - beside) else ()
        candidates += [{label for label in labels if label.id == beginning} for beginning in beginnings]
        candidates += [{label for label in labels if names.is_of(label, beginning)} for beginning in beginnings]
    else:
        candidates += [
            {label for label in labels if names.asking(label, measures)}
            for measures in (by, question.language.properties.with_synonyms(words), with_measures(words, question))
        ]
    for requested in candidates:
        if len({label.id for label in requested if label.id}) > 1:  # "Did A die before B was born?"
            continue
        pools = [[value for label, value in of_thing if label in requested] for of_thing in values]
        for unit in dict.fromkeys(value.unit for value in pools[0] if (value.unit == _DATE) == (by is None)):
            found = [_joined([value for value in pool if value.unit == unit]) for pool in pools]
            compared = [(thing, value) for thing, value in zip(things, found, strict=True) if value is not None]
            if len(compared) == len(things):
                return compared
    return None


def _joined(values: Sequence[ComparedValue]) -> ComparedValue | None:
    """Return the first of several dates, and the range of several numbers; None without values."""
    if not values or values[0].unit == _DATE:
        return min(values, key=lambda value: (value.lowest, value.highest), default=None)
    highest = max(value.highest for value in values)
    return min(values, key=lambda value: value.lowest)._replace(highest=highest)


def _asks_for_beginning(question: Question, words: AbstractSet[str]) -> bool:
    """Return True if a question names no other event: "older", "first", "came out before"."""
    operations, keyword_set = question.language.operations, question.language.properties.keyword_set
    types, times = question.language.answer_types, question.language.times
    compared = operations.earlier_of_two | operations.later_of_two | times.before | times.after | operations.dated
    rest = words - keyword_set(compared) - question.language.properties.light_keywords
    return all(types.names_class(word) for word in rest)


def _direction(question: Question) -> tuple[bool | None, frozenset[str] | None]:
    """Return whether a question asks for the highest or the lowest value, and the measures of its comparative; None if dates do."""
    operations, times = question.language.operations, question.language.times
    is_later = operations.compares_dates(question.in_full)
    if is_later is None and question.expected.kind == "yesno":
        is_later = times.asks_beside(question.in_full)
    if is_later is not None:
        return is_later, None
    by, is_highest = operations.comparison(question.in_full) or (None, None)
    return is_highest, by


def named_things(question: Question) -> list[Entity]:
    """Return the items that a question names, in its order."""
    keywords, keyword = question.language.properties.keywords, question.language.properties.keyword
    words = [keyword(word) for word in fold(question.in_full).split()]
    places: list[tuple[int, Entity]] = []
    for entity in question.about:
        name = keywords(entity["label"]) | keywords(question.items.label(entity["id"]) or "")
        first = next((place for place, word in enumerate(words) if word in name), None)
        if first is not None and not question.items.is_class(entity["id"]):
            places.append((first, entity))
    return [entity for _, entity in sorted(places, key=lambda place: place[0])]


def typed_values(thing: Entity, question: Question) -> Iterator[tuple[PropertyLabel, ComparedValue]]:
    """Yield the dates and numbers of a thing in facts and infoboxes, with their properties."""
    for place, read in enumerate(question.evidences):
        if not is_of_thing(read, thing):
            continue
        if read.fact is not None:
            if not is_item(read.fact.object["id"]):
                label = PropertyLabel(read.fact.predicate["label"], read.fact.predicate["id"])
                yield from ((label, value) for value in _typed([read.fact.object], place))
        elif "attribute" in read.evidence:
            attribute = read.evidence["attribute"]
            texts = [value["text"] for value in attribute["values"]]
            entities = [literal.entity for text in texts for literal in find_literals(text)]
            dates = [entity for entity in entities if is_date(entity["id"])]
            numbers = [Entity(id=text, label=text) for text in texts] if len(texts) == 1 and not dates else []
            yield from ((PropertyLabel(attribute["path"][-1]), value) for value in _typed([*dates, *numbers], place))


def is_of_thing(read: ReadEvidence, thing: Entity) -> bool:
    """Return True if an evidence is a fact about a thing, or of its page."""
    subject = read.subject if read.fact is None else read.fact.subject
    return subject is not None and subject["id"] == thing["id"]


def entries_of(read: ReadEvidence) -> Iterator[tuple[PropertyLabel, list[Entity]]]:
    """Yield the property of a fact with its value, or the name of an infobox entry with its values and the items in them."""
    if read.fact is not None:
        yield PropertyLabel(read.fact.predicate["label"], read.fact.predicate["id"]), [read.fact.object]
    elif "attribute" in read.evidence:
        values = read.evidence["attribute"]["values"]
        texts = [Entity(id=value["text"], label=value["text"]) for value in values]
        items = [item for value in values for item in read.within(value["start"], value["start"] + len(value["text"]))]
        yield PropertyLabel(read.evidence["attribute"]["path"][-1]), [*items, *texts]


def _typed(entities: Sequence[Entity], place: int) -> Iterator[ComparedValue]:
    for entity in entities:
        if is_date(entity["id"]):
            period = Period.of_date(entity)
            yield ComparedValue(period.first, period.last, _DATE, place, entity["label"])
        elif (value := value_of(entity["label"])) is not None:
            yield ComparedValue(value.amount, value.amount, value.unit, place, entity["label"])
