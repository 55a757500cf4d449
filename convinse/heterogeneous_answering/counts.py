"""Counts what a question counts: the rows of a table, the entries of an infobox, the statements of the thing spoken of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from ..language.property_names import PropertyLabel
from ..language.text import fold
from ..records.evidence import Entity
from ..records.facts import END_TIME
from ..records.literals import is_item, is_number, number_entity
from ..records.written_values import find_literals
from .candidates import Computed
from .question import Question
from .selections import best_explained, extent_of, relates_rows, title_words, unexplained
from .tables import Table

COUNT = "count"
MANY_WORDS = 3  # behind "how many"


class _CountedNouns(NamedTuple):
    """The keywords of "how many" and the word behind (`things`), and of all words that may name what is counted (`nouns`)."""

    things: frozenset[str]
    nouns: frozenset[str]


class _Entry(NamedTuple):
    """A value of a property of the thing spoken of: its evidence, and the words of the question that ask for the property."""

    value: Entity
    place: int
    asking: frozenset[str] = frozenset()


def _counted_nouns(question: Question) -> _CountedNouns | None:
    """Return the nouns of what a question counts; None if it counts nothing."""
    properties = question.language.properties
    many = question.language.operations.counting.search(question.in_full)
    if many is None:
        return None
    common = properties.words.common
    behind = question.in_full[many.end() :].split()
    while behind and fold(behind[0]) in common:  # "of the films"
        behind.pop(0)
    behind = list(takewhile(lambda word: fold(word) not in common, behind))[:MANY_WORDS]
    nouns = properties.keyword_set(behind)
    return _CountedNouns((properties.keyword_set(behind[:1]) or nouns) | properties.keywords(many[0]), nouns)


def counts(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the number of the rows of a table that a question selects, or of the values of a property that it names."""
    nouns = _counted_nouns(question)
    operations = question.language.operations
    if nouns is None or operations.order(question.in_full) or operations.differing.search(question.in_full):
        return []
    if not any(read.is_of_document for read in question.evidences) and _is_stated(question, nouns):
        return []
    return _rows(question, tables, nouns) or _values(question, nouns)


def _is_stated(question: Question, nouns: _CountedNouns) -> bool:
    """Return True if an evidence has a number before the nouns, or below a header with them: "won 11 Academy Awards", "Caps, 97"."""
    keywords = question.language.properties.keywords
    needs = nouns.nouns - keywords(" ".join(question.language.operations.recurring))
    about = {entity["id"] for entity in question.about}
    for read in question.evidences:
        if read.subject is not None and read.subject["id"] not in about:
            continue
        for mention in read.mentions:
            if is_number(mention["id"]):
                behind = " ".join(read.text[mention["end"] :].split()[: MANY_WORDS + 1])
                labels = [behind, *(label.text for label in read.labels_at(mention["start"]))]
                if needs and any(needs <= keywords(label) for label in labels):
                    return True
    return False


def _rows(question: Question, tables: Sequence[Table], nouns: _CountedNouns) -> list[Computed]:
    if relates_rows(question, tables):
        return []
    properties = question.language.properties
    words = properties.keywords(question.in_full)
    # else the amount is in a cell
    countable = (table for table in tables if not any(column.keywords & nouns.nouns for column in table.amounts))
    several = [table for table in countable if len(table.rows) > 1 and not _is_partial(question, table)]
    # "How many repairs were made in 2024?": of a file "repairs", if there is one, not of whatever has rows of 2024
    called = [table for table in several if nouns.things & title_words(table, question)]
    several = called or several
    found = best_explained(COUNT, question, several, words - nouns.things)
    # "How many dogs are there?" of cells with "dog"
    named = [table for table in several if not nouns.things & (table.headers | table.title_keywords)]
    found += [pair for pair in best_explained(COUNT, question, named, words) if nouns.things & pair[1].used]
    # "How often did a deploy cause it?": rows whose cause is a deploy, not the different causes
    found.sort(key=lambda pair: len(unexplained(question, pair[0], words, pair[1].used)))
    for table, selected in found:
        rows, used = selected.rows, selected.used
        titles = table.title_keywords | properties.keywords(table.rows[0]["section"])
        if _is_of_document(question, table):
            titles |= title_words(table, question)  # of "incidents.csv" the rows are incidents
        things = nouns.things | (nouns.nouns & (table.headers | titles))
        if not used and not things & (table.headers | titles):
            continue
        texts = {column: [cell["text"] for row in rows if (cell := column.cells[row])] for column in table.columns}
        selecting = (column for column in table.columns if properties.keyword_set(texts[column]) & used)
        if (words & table.headers) - things - used.union(*(column.keywords for column in selecting)):
            continue  # a column asks for something else
        of_things = next(
            (column for column in table.columns if column.keywords & things and column.order is None), None
        )
        values = {fold(cell["text"]) for row in rows if of_things and (cell := of_things.cells[row]) is not None}
        number = len(values) if values and not used else len(rows)
        if number > 1:
            places = table.evidence_places(rows)
            is_named = bool(things & (table.headers | titles)) and not _is_of_document(question, table)
            rivals = frozenset(table.places.values()) if is_named else frozenset[int]()
            answer = number_entity(str(number))
            return [Computed(answer, COUNT, places, rivals, extent=extent_of(table, selected))]
    return []


def _is_partial(question: Question, table: Table) -> bool:
    """Return True if a table of an article says that it has only some of the things, such as "Selected albums"."""
    operations, caption = question.language.operations, table.rows[0]["caption"]
    is_partial = operations.partial.search(caption) or operations.partial_times.search(caption)
    return is_partial is not None and not _is_of_document(question, table)


def _is_of_document(question: Question, table: Table) -> bool:
    return any(question.evidences[place].is_of_document for place in table.places.values())


def _values(question: Question, nouns: _CountedNouns) -> list[Computed]:
    """Return the number of the values of a property of the thing that a question is about; of offices those that are held."""
    keywords = question.language.properties.keywords
    about = {entity["id"] for entity in question.about}
    names = frozenset().union(*(keywords(entity["label"]) for entity in question.about))
    words = keywords(question.in_full) - nouns.things
    for entries in _entries(question, nouns, about):
        chosen = entries
        for entity in question.about:  # "with X": of the values those that have X beside them
            holding = [entry for entry in entries if _names(question, entry.place, entity)]
            if holding:
                chosen = [entry for entry in chosen if entry in holding]
        used = names.union(*(question.evidences[entry.place].keywords | entry.asking for entry in chosen))
        rest = words - used - question.language.yes_no.light_keywords
        if len(chosen) > 1 and not rest:
            places = tuple(dict.fromkeys(entry.place for entry in chosen))
            rivals = frozenset(entry.place for entry in entries)
            return [Computed(number_entity(str(len(chosen))), COUNT, places, rivals)]
    return []


def _names(question: Question, place: int, entity: Entity) -> bool:
    return any(named["id"] == entity["id"] for named in question.evidences[place].entities)


def _entries(question: Question, nouns: _CountedNouns, about: set[str]) -> Iterator[list[_Entry]]:
    """Yield the values of each property of a thing of the question that its nouns name, those of infoboxes first."""
    facts: dict[tuple[str, str], list[_Entry]] = defaultdict(list)
    dated: dict[tuple[str, str], list[_Entry]] = defaultdict(list)  # those with qualifiers
    keywords = question.language.properties.keywords
    words, is_recurring = (
        keywords(question.in_full),
        nouns.nouns <= keywords(" ".join(question.language.operations.recurring)),
    )
    for place, read in enumerate(question.evidences):
        if fact := read.fact:
            label = PropertyLabel(fact.predicate["label"], fact.predicate["id"])
            asking = question.property_names.asking(label, words)
            of_property = question.property_names.asking(label, nouns.nouns)
            # "how many Emmys did X win", "how many Academy Awards": the values that have what the property does not say
            is_named = bool(asking) and nouns.nouns - of_property <= keywords(fact.object["label"])
            if is_recurring:  # "how many times did X win Y"
                is_named = fact.object["id"] in about
            is_past = any(predicate["id"] == END_TIME for predicate, _ in fact.qualifiers)
            if fact.subject["id"] in about and is_named and not is_past and is_item(fact.object["id"]):
                entry = _Entry(fact.object, place, asking)
                key = fact.subject["id"], fact.predicate["id"]
                facts[key].append(entry)
                if fact.qualifiers:
                    dated[key].append(entry)
        elif "attribute" in read.evidence and read.subject is not None and read.subject["id"] in about:
            attribute = read.evidence["attribute"]
            name = keywords(attribute["path"][-1])
            texts = [value["text"] for value in attribute["values"]]
            if name and name <= nouns.nouns and not any(any(find_literals(text)) for text in texts):
                yield [_Entry({"id": text, "label": text}, place) for text in dict.fromkeys(texts)]
    for key, entries in facts.items():
        yield dated.get(key, entries)
