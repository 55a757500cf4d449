"""Counts what a question counts: the rows of a table, the entries of an infobox, the statements of the thing spoken of."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import takewhile

from ..language.property_names import PropertyLabel
from ..language.text import fold
from ..records.evidence import Entity
from ..records.facts import AWARD_RECEIVED, END_TIME, POINT_IN_TIME
from ..records.literals import is_item, is_number, number_entity
from ..records.written_values import find_literals
from .candidates import Computed
from .comparisons import named_things
from .question import Question
from .tables.selections import best_explained, extent_of
from .tables.series import is_of_staff
from .tables.table import Selection, Table, lettered
from .tables.words import column_of_ballot, relates_rows, title_words, unexplained

COUNT = "count"
_CLAUSE_END = re.compile(r"[,;.]")
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_YEAR = re.compile(r"\b[12]\d{3}\b")
MANY_WORDS = 3  # behind "how many"


# a value of a property of the thing spoken of: the place of its evidence, and the words of the question that ask for the property
_Value = tuple[int, frozenset[str]]


def _counted_nouns(question: Question) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the keywords of "how many" and the word behind, and of all words that may name what is counted; None without a count."""
    properties = question.language.properties
    many = question.language.operations.counting.search(question.in_full)
    if many is None:
        behind_things = question.language.operations.count_behind.match(question.in_full)  # "member count"
        nouns = properties.keywords(behind_things["things"]) if behind_things else frozenset[str]()
        return (nouns | properties.keywords(behind_things["count"]), nouns) if behind_things else None
    common = properties.words.common
    behind = question.in_full[many.end() :].split()
    things = [] if question.is_of_files else named_things(question)  # a file "flats" is of the flats
    names = frozenset[str]().union(*(properties.keywords(entity["label"]) for entity in things))
    # "of the films", "Radiohead albums"
    while behind and (fold(behind[0]) in common or properties.keywords(behind[0]) <= names):
        behind.pop(0)
    behind = list(takewhile(lambda word: fold(word) not in common, behind))[:MANY_WORDS]
    nouns = properties.keyword_set(behind)
    return (properties.keyword_set(behind[:1]) or nouns) | properties.keywords(many[0]), nouns


def counts(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the number of the rows of a table that a question selects, or of the values of a property that it names."""
    counted = _counted_nouns(question)
    operations = question.language.operations
    if counted is None or operations.order(question.in_full) or operations.differing.search(question.in_full):
        return []
    things, nouns = counted
    if not question.is_of_files and operations.lasting.search(question.in_full):  # "How many years did it run?"
        return []
    if not question.is_of_files and _is_stated(question, nouns):
        return []
    if not operations.counted_of_those.search(question.text):
        return _rows(question, tables, things, nouns) or _values(question, things, nouns)
    for result in _rows(question, tables, things, nouns):
        for table in tables:
            if {*result.places} <= {
                *table.places.values()
            }:  # the numbers in the other rows are no rivals of their number
                return [result._replace(rivals=result.rivals.union(table.places.values()))]
        return [result]
    return _of_those(question, tables)


def _of_those(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return how many rows of the table of earlier answers have a person in the column that a verb names: "How many of those did he direct?"."""
    keywords = question.language.properties.keywords
    said = [name for entity in question.said if (name := keywords(entity["label"]))]
    people = [keywords(entity["label"]) for entity in question.about]
    words = keywords(question.in_full)
    verbs = question.language.properties.with_synonyms(words.difference(*people))
    for table in tables:
        names = table.name_column
        column = next((column for column in table.columns if column.keywords & verbs), None)
        if column is None or names is None or not any(keywords(text) in said for text in names.texts):
            continue
        cells = {row: keywords(cell["text"]) for row, cell in enumerate(column.cells) if cell is not None}
        rows = [row for row, cell in cells.items() if cell and (cell <= words or any(name <= cell for name in people))]
        if rows:
            rivals = frozenset(table.places.values())
            return [Computed(number_entity(str(len(rows))), COUNT, table.evidence_places(rows), rivals)]
    return []


def _is_stated(question: Question, nouns: frozenset[str]) -> bool:
    """Return True if an evidence has a number before the nouns, or below a header with them: "won 11 Academy Awards", "Caps, 97"."""
    keywords = question.language.properties.keywords
    needs = nouns - keywords(" ".join(question.language.operations.recurring))
    about = {entity["id"] for entity in question.about}
    names = frozenset[str]().union(*(keywords(entity["label"]) for entity in named_things(question)))
    selecting = keywords(question.in_full) - names - nouns
    for read in question.evidences:
        if "row" in read.evidence and not question.is_of_files and selecting.isdisjoint(read.keywords):
            continue  # the albums of one of its guitarists
        subject = read.subject or next(iter(read.entities), None)
        if subject is not None and subject["id"] not in about:
            continue
        for mention in read.mentions:
            cells = read.evidence["row"]["cells"] if "row" in read.evidence else []
            # "Jaws 2" is no number of films
            is_cell = not cells or any(cell["start"] == mention["start"] for cell in cells)
            if is_number(mention["id"]) and is_cell:
                behind = " ".join(_CLAUSE_END.split(read.text[mention["end"] :])[0].split()[: MANY_WORDS + 1])
                labels = [behind, *(label.text for label in read.labels_at(mention["start"]))]
                if needs and any(needs <= keywords(label) for label in labels):
                    return True
    return False


def _rows(question: Question, tables: Sequence[Table], things: frozenset[str], nouns: frozenset[str]) -> list[Computed]:
    """Return the number of rows that a question selects, of the table that explains it best."""
    if relates_rows(question, tables):
        return []
    keywords = question.language.properties.keywords
    words = keywords(question.in_full) | lettered(question.in_full)
    of_names = words & frozenset().union(*(keywords(entity["label"]) for entity in named_things(question)))
    if not question.is_of_files:  # "released" selects no row "Self-released"
        words -= question.language.properties.keyword_set(question.language.operations.making)
    several = _countable(question, tables, things, nouns)
    found = best_explained(COUNT, question, several, words - things)
    # "How many dogs are there?" of cells with "dog"
    unnamed = [table for table in several if not things & (table.headers | table.title_keywords)]
    many = question.language.operations.counting.search(question.in_full)
    counting = question.language.properties.keywords(many[0]) if many else frozenset[str]()
    found += [pair for pair in best_explained(COUNT, question, unnamed, words - counting) if things & pair[1].used]
    # "How often did a deploy cause it?": rows whose cause is a deploy, not the different causes
    found.sort(key=lambda pair: len(unexplained(question, pair[0], words, pair[1].used)))
    for table, selected in found:
        used, is_document = selected.used, _is_of_document(question, table)
        names = _names_of_things(question, table)
        named_words = things | (nouns & names)
        is_named = bool(named_words & names)
        if not used and not is_named:
            continue
        # "how many rooms does the flat have?" is not asked of the rooms in which things stand
        beside = question.language.properties.keyword_set(question.language.operations.beside_counts)
        if not used and is_document and unexplained(question, table, words - things - named_words - beside, used):
            continue
        if _asks_for_column(question, table, selected, words - named_words):
            continue
        if not is_document and unexplained(question, table, of_names, used):
            continue  # "how many seasons does Casablanca have?" of those of another series
        number = _number(table, selected, named_words)
        is_of_cells = bool(used - things) and _are_kinds(table, things & used)
        if number > 1 or (number == 1 and used and (is_named or is_of_cells) and is_document):
            places = table.evidence_places(selected.rows)
            rivals = frozenset(table.places.values()) if is_named and not is_document else frozenset[int]()
            answer = number_entity(str(number))
            return [Computed(answer, COUNT, places, rivals, extent=extent_of(table, selected))]
    return []


def _countable(
    question: Question, tables: Sequence[Table], things: frozenset[str], nouns: frozenset[str]
) -> list[Table]:
    """Return the tables of which a question may count rows: those that are called so, or else all."""
    with_amounts = [
        table
        for table in tables
        if any(column.keywords & nouns for column in table.amounts) or column_of_ballot(question, table)
    ]
    several = [
        table
        for table in tables
        if table not in with_amounts and len(table.rows) > 1 and not _is_partial(question, table)
    ]
    # "How many repairs were made in 2024?": of a file "repairs", if there is one, not of whatever has rows of 2024
    if named := [table for table in several if things & title_words(table, question)]:
        return named
    if with_amounts and question.is_of_files:
        return []  # "how many tickets did we sell for the concert?" of a column "Tickets sold" of another table
    # "how many rolls did they order?" of a column "Quantity" is no number of rows
    quantities = question.language.properties.quantity_stems
    return [
        table
        for table in several
        if things & table.headers or not any(column.keywords <= quantities for column in table.amounts)
    ]


def _are_kinds(table: Table, words: frozenset[str]) -> bool:
    """Return True if several rows have some words: "how many dogs come on 11 May?" of the column "Animal"."""
    return bool(words) and len(table.selection(words).rows) > 1


def _names_of_things(question: Question, table: Table) -> frozenset[str]:
    """Return the words by which a table calls what its rows are: of "incidents.csv" the rows are incidents."""
    section = question.language.properties.keywords(table.rows[0]["section"])
    names = table.headers | table.title_keywords | section
    if not _is_of_document(question, table):
        return names
    staff = question.language.operations.staff if is_of_staff(table, question) else ()
    return names | title_words(table, question) | question.language.properties.keyword_set(staff)


def _asks_for_column(question: Question, table: Table, selected: Selection, words: frozenset[str]) -> bool:
    """Return True if some words ask for a column that does not select the rows."""
    selecting = set(selected.used)
    for column in table.columns:
        texts = [cell["text"] for row in selected.rows if (cell := column.cells[row])]
        if question.language.properties.keyword_set(texts) & selected.used:
            selecting |= column.keywords
    return bool(words & table.headers - selecting)


def _number(table: Table, selected: Selection, things: frozenset[str]) -> int:
    """Return the number of the selected rows; of all rows that of the different things in the column that is called so.

    A season may be two rows: of numbers those of the first column count.
    """
    named = (column for column in table.columns if column.keywords & things)
    counted = (column for column in named if column.order is None or column is table.columns[0])
    column = None if selected.used else next(counted, None)
    if column is None:
        return len(selected.rows)
    values = {fold(cell["text"]) for row in selected.rows if (cell := column.cells[row]) is not None}
    return len(values) or len(selected.rows)


def _is_partial(question: Question, table: Table) -> bool:
    """Return True if a table of an article says that it has only some of the things, such as "Selected albums"."""
    operations, caption = question.language.operations, table.rows[0]["caption"]
    times = operations.partial_times.search(caption)
    if times is not None and any(year in caption for year in _YEAR.findall(question.in_full)):
        times = None  # "How many finals did they play up to 2010?" of "Finals up to 2010"
    is_partial = operations.partial.search(caption) or times
    return is_partial is not None and not _is_of_document(question, table)


def _is_of_document(question: Question, table: Table) -> bool:
    return any(question.evidences[place].is_of_document for place in table.places.values())


def _values(question: Question, things: frozenset[str], nouns: frozenset[str]) -> list[Computed]:
    """Return the number of the values of a property of the thing that a question is about; of offices those that are held."""
    keywords = question.language.properties.keywords
    about = {entity["id"] for entity in question.about}
    names = frozenset().union(*(keywords(entity["label"]) for entity in question.about))
    words = keywords(question.in_full) - things
    for values in _values_by_property(question, nouns, about):
        chosen = values
        for entity in question.about:  # "with X": of the values those that have X beside them
            holding = [value for value in values if _names(question, value[0], entity)]
            if holding:
                chosen = [value for value in chosen if value in holding]
        holds = question.language.properties.holds
        used = names.union(*(question.evidences[place].keywords | asking for place, asking in chosen))
        rest = {word for word in words if not holds(used, word)} - question.language.properties.light_keywords
        if len(chosen) > 1 and not rest:
            places = tuple(dict.fromkeys(place for place, _ in chosen))
            rivals = frozenset(place for place, _ in values)
            return [Computed(number_entity(str(len(chosen))), COUNT, places, rivals)]
    return []


def _names(question: Question, place: int, entity: Entity) -> bool:
    return any(named["id"] == entity["id"] for named in question.evidences[place].entities)


def _values_by_property(question: Question, nouns: frozenset[str], about: set[str]) -> Iterator[list[_Value]]:
    """Yield the values of each property of a thing of the question that its nouns name, those of infoboxes first."""
    # by property, value, precision (2: with a time, 1: with other qualifiers) and text: a prize has a statement for each time that it was won
    statements: dict[tuple[str, str], dict[str, dict[int, dict[str, _Value]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(dict))
    )
    keywords, holds = question.language.properties.keywords, question.language.properties.holds
    words = keywords(question.in_full)
    names = frozenset[str]().union(*(keywords(entity["label"]) for entity in question.about))
    is_present = not question.language.times.asks_about_past(question.in_full)
    making = question.language.properties.keyword_set(question.language.operations.making)
    is_recurring = nouns <= keywords(" ".join(question.language.operations.recurring))
    for place, read in enumerate(question.evidences):
        if fact := read.fact:
            label = PropertyLabel(fact.predicate["label"], fact.predicate["id"])
            asking = question.property_names.asking(label, words)
            of_property = question.property_names.asking(label, nouns)
            # "how many Emmys did X win", "how many Oscars does X have": the values that have what the property does not say
            value_words = keywords(fact.object["label"])
            # "how many albums did he make" asks for no "Album of the Year"
            is_asked = bool(asking) or (fact.predicate["id"] == AWARD_RECEIVED and words.isdisjoint(making))
            is_named = is_asked and (nouns <= of_property or all(holds(value_words, noun) for noun in nouns))
            if is_recurring:  # "how many times did X win Y"
                others = words - nouns - asking - names
                is_named = fact.object["id"] in about or all(holds(value_words, word) for word in others)
            is_past = is_present and any(predicate["id"] == END_TIME for predicate, _ in fact.qualifiers)
            if fact.subject["id"] in about and is_named and not is_past and is_item(fact.object["id"]):
                is_by_name = not is_recurring and nouns <= of_property  # "how many wives": each value once
                qualifiers = {predicate["id"] for predicate, _ in fact.qualifiers}
                precision = 0 if is_by_name else bool(qualifiers) + (POINT_IN_TIME in qualifiers)
                text = fact.object["id"] if is_by_name else read.text
                of_property_values = statements[fact.subject["id"], fact.predicate["id"]]
                of_property_values[fact.object["id"]][precision].setdefault(text, (place, asking))
        elif "attribute" in read.evidence and read.subject is not None and read.subject["id"] in about:
            attribute = read.evidence["attribute"]
            name = PropertyLabel(attribute["path"][-1])
            texts = [value["text"] for value in attribute["values"]]
            is_named = keywords(name.text) <= nouns or nouns <= question.property_names.asking(name, nouns)
            asking = question.property_names.asking(name, words)
            if is_recurring:  # "how many times was she married?" of two spouses, with their years
                is_named, texts = bool(asking), [_BRACKETS.sub("", text) for text in texts]
            if nouns and is_named and not any(any(find_literals(text)) for text in texts):
                yield [(place, asking)] * len({*texts})
    for by_value in statements.values():
        most_precise = [by_precision[max(by_precision)] for by_precision in by_value.values()]
        yield [value for by_text in most_precise for value in by_text.values()]
