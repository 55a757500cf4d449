"""A table of things that time puts in order, and whether these are the whole series: "their first album" of "Studio albums"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...language.operations import AskedOrder
from ...language.text import fold
from ...records.evidence import Entity
from ...records.literals import is_document_item, is_item
from ..question import Question
from .cell_answers import noun_keywords
from .columns import Column
from .table import Selection, Table
from .times import lasts, rows_in_season, words_of_seasons
from .words import content_words, row_words

_UNEXPLAINED_OF_SERIES = 1  # words of a question for a thing of a series


class Listing(NamedTuple):
    """A table of the things that a question puts in order.

    Attributes:
        score: how well the table fits the question.
        table: the table.
        rows: the places of the rows that the question's other words and time admit.
        measures: the columns by which the rows are ordered.
        name_column: the column with the names of the things, or with the answers if `is_name`.
        is_name: whether the answer is in that column, not in another cell of the row.
        asking: the keywords of the question that may ask for another cell.
        is_series: whether its rows are all things of their kind that the question can mean.
        skipped: the things of the series that come before the rows.
    """

    score: float
    table: Table
    rows: Sequence[int]
    measures: Sequence[Column]
    name_column: Column | None
    is_name: bool
    asking: frozenset[str]
    is_series: bool = False
    skipped: int = 0


def listing_by_date(table: Table, order: AskedOrder, question: Question) -> Listing | None:
    """Return a table of what an ordinal puts in order: "their first album", by its dates or its numbering."""
    words = question.language.properties
    spoken, nouns = words.keywords(question.in_full), noun_keywords(order.noun, question)
    page, is_file = table.rows[0]["page"], is_document_item(table.rows[0]["page"])
    # "the oldest dog" of a file of patients, one of which is a dog
    is_in_cells = is_file and table.selection(nouns).used >= nouns
    measures = _measures_of_time(table, spoken)
    # a model takes "newest invoice" for a person
    kinds = {question.expected.kind, question.language.answer_types.expected_type(question.in_full).kind}
    is_for_person = is_file and kinds == {"person"}
    doers = columns_of_doers(table, order, question)
    if is_for_person and order.words & question.language.operations.aging and not (doers or (nouns and is_in_cells)):
        measures = [column for column in measures if is_of_births(column, question)]  # no day of joining tells an age
    titles = row_words(table, question) if is_file else table.title_keywords
    is_of_things = is_in_cells or bool(titles & nouns) or (is_for_person and is_of_staff(table, question))
    name_column = _naming_column(table, nouns, is_of_things, is_for_person)
    if not measures or name_column is None:
        return None
    headers, page_words = table.title_keywords | table.headers, words.keywords(question.items.label(page))
    rest = content_words(question) - page_words - (nouns & headers) - words.keyword_set(order.words)
    if question.language.times.time(question.in_full):
        rest = frozenset(word for word in rest if not word.isdigit())
    rows, matched = _rows_with_words(table, question, rest - headers)
    asking, kind = spoken - nouns, question.expected.kind
    types = question.language.answer_types
    if is_file and kinds >= {"any"} and types.is_request(question.in_full):  # and "first visit on Tuesday" for a day
        kind = "any"
    for_names = words.keyword_set(question.language.operations.naming)
    asks_for_cell = bool(asking & headers - for_names) or kind not in ("any", "item")
    is_named = name_column.order is None and bool(name_column.keywords & (nouns | for_names))
    is_name = _asks_for_name(table, nouns, question, is_named and not asks_for_cell)
    # of files the rows are the things: "oldest pupil", whatever kind a model expects of keywords
    if is_file and kind not in ("date", "number"):
        names_rows = row_words(table, question) | name_column.keywords
        names_rows = names_rows.union(*(column.keywords for column in measures))  # "who joined first?" of "Joined"
        said_of_rows = is_in_cells or frozenset(order.noun) & names_rows
        others = table.headers.difference(matched, for_names, *(column.keywords for column in measures))
        is_name = is_name or bool(said_of_rows and not asking & others)
    if is_file and kind == "person":
        people = doers[0] if doers else column_of_people(table, name_column, question) if is_for_person else None
        name_column, is_name = people or name_column, is_name or people is not None
    score = bool(name_column.keywords & nouns) + len(matched) + len(rest & headers)
    score += is_for_person and is_of_staff(table, question)
    is_series = (
        _is_of_kind(table, name_column, order, question)
        and (is_named or asks_for_cell)
        and _is_series(table, rest - headers - matched, question)
    )
    skipped = int(is_series and not order.highest and _comes_before(table, nouns, question))
    return Listing(score, table, rows, measures, name_column, is_name, asking, is_series, skipped)


def _measures_of_time(table: Table, spoken: frozenset[str]) -> list[Column]:
    """Return the columns that put rows in order of time: of dates, of which years come first, of hours, or numbers.

    Of equal years days decide, and of equal days hours.
    """
    times = [column for column in table.columns if column.is_timed]
    times.sort(key=lambda column: not column.keywords & spoken)
    numbering = [column for column in table.columns if column.is_numbering]
    dated = table.dated_by(spoken)
    return [*dated, *(times[:1] if len(dated) < 2 else ())] or numbering[:1]


def _naming_column(table: Table, nouns: frozenset[str], is_of_titles: bool, is_for_person: bool) -> Column | None:
    """Return the column of the things that nouns name; that of the names of the rows if these are such things.

    They are if the title of the table or its cells have the nouns: `is_of_titles`.
    No day is a person: "who applied last?" of "Applied on" asks for the names.
    """
    naming = [column for column in table.columns if column.keywords & nouns]
    is_dated = is_for_person and any(column.is_dated for column in naming)
    naming = [column for column in naming if not column.order or (column.is_numbering and not is_dated)]
    names = table.name_column
    if names is not None and table.is_of_names(names):
        naming = [column for column in naming if not column.numbers_rows]  # not "Member no"
        naming = naming or ([names] if any(column.keywords & nouns for column in table.columns) else [])
    naming.sort(key=lambda column: column.order is not None)
    if naming:
        return naming[0]
    is_of_things = table.pairs or is_of_titles or is_dated
    return table.name_column if is_of_things else None


def _rows_with_words(table: Table, question: Question, words: frozenset[str]) -> tuple[list[int], set[str]]:
    """Return the rows in the time of a question that have some words, and the words that rows have.

    The days of "the first event on Sunday" are those of any year.
    """
    time = question.language.times.time(question.in_full)
    spoken = question.language.properties.keywords(question.in_full)
    rows = [*range(len(table.rows))] if time is None else table.within(time, spoken)
    rows = [row for row in rows if row not in table.totals]
    matched = set[str]()
    days = words_of_seasons(question, table) if is_document_item(table.rows[0]["page"]) else frozenset[str]()
    in_season = rows_in_season(question, table, Selection(rows, frozenset()), days) if days else None
    if in_season is not None and in_season.rows:
        rows, words = in_season.rows, words - days
        matched |= days
    for word in sorted(words):
        if having := [row for row in rows if word in table.row_keywords[row]]:
            rows = having
            matched.add(word)
    return rows, matched


def _asks_for_name(table: Table, nouns: frozenset[str], question: Question, is_named_alone: bool) -> bool:
    """Return True if the answer is the name of a thing, not another cell of its row: "the title of their last album"."""
    words, types, kind = question.language.properties, question.language.answer_types, question.expected.kind
    if kind == "item":
        expected = noun_keywords(map(words.keyword, question.expected.words), question)
        return bool(table.pairs or expected & nouns or is_named_alone)
    return kind == "any" or kind in (types.expected_type(noun).kind for noun in nouns)


def _is_of_kind(table: Table, name_column: Column, order: AskedOrder, question: Question) -> bool:
    """Return True if all things of a table are of the kind that a question puts in order, and no more limited."""
    words, types = question.language.properties, question.language.answer_types
    spoken, nouns = words.keywords(question.in_full), noun_keywords(order.noun, question)
    head, limits = _title(table, question)
    is_titled = bool(nouns & head) or (len(order.noun) > 1 and table.title_keywords.issuperset(order.noun))
    if not is_titled and not nouns & name_column.keywords:
        return False
    headers = table.title_keywords | table.headers
    if not all(word in headers or types.names_class(word) for word in spoken & frozenset(order.noun)):
        return False
    page = table.rows[0]["page"]
    if types.entity_kind(page, question.items.types(page)) not in ("person", "group"):
        return True
    # they made more than "Novels as Richard Bachman", "Duets"
    is_meant = not limits.isdisjoint(spoken | words.keywords(question.items.label(page)))
    return is_titled and (is_meant or not limits)


def _is_series(table: Table, unexplained: frozenset[str], question: Question) -> bool:
    """Return True if a table has all things of a kind of what a question is about, which asks for nothing else."""
    words, operations = question.language.properties, question.language.operations
    page = table.rows[0]["page"]
    if is_document_item(page):  # what is computed from documents counts anyhow
        return False
    about = {entity["id"]: words.keywords(entity["label"]) for entity in question.about}
    is_of_topic = about.pop(page, None) is not None or any(
        name and name <= table.title_keywords for name in about.values()
    )
    names = frozenset().union(*about.values(), *map(words.keywords, question.unlinked))
    said = unexplained - words.keyword_set(operations.naming)
    degrees = words.keyword_set([*operations.degrees, *operations.lower_degrees])
    if words.keywords(question.in_full) & degrees - table.headers:  # "how long is the third one"
        return False
    title = table.rows[0]["caption"] or table.rows[0]["section"]
    is_partial = operations.partial.search(title) is not None
    return is_of_topic and not is_partial and not names & said and len(said) <= _UNEXPLAINED_OF_SERIES


def _title(table: Table, question: Question) -> tuple[frozenset[str], frozenset[str]]:
    """Return the keywords of the noun of a table's title, and of its limits.

    "Harry Potter novels (British editions)" has the noun novels, limited by Harry Potter.
    """
    language = question.language
    title = (table.rows[0]["caption"] or table.rows[0]["section"]).partition("(")[0].split()
    end = next((place for place, word in enumerate(title) if fold(word) in language.words.common), len(title))
    names = (word for word in title[: max(0, end - 1)] if not language.words.is_written_small(fold(word)))
    keywords = language.properties.keyword_set
    return keywords(title[max(0, end - 1) : end]), keywords([*names, *title[end:]])


def _comes_before(table: Table, nouns: frozenset[str], question: Question) -> bool:
    """Return True if the thing that a question is about is of the kind of a table's things, which came later: "Later films"."""
    words, types = question.language.properties, question.language.answer_types
    if not words.keyword_set(question.language.operations.continuing) & table.title_keywords:
        return False
    page = table.rows[0]["page"]
    heads = words.keyword_set(types.heads(question.items.types(page)))
    return any(thing["id"] == page for thing in items_of(question)) and not heads.isdisjoint(nouns)


def starts(table: Table, question: Question) -> bool:
    """Return True if a table has a column of dates since which something holds: "Since", "Joined"."""
    times = question.language.times
    return any((times.since | times.starting) & {*fold(column.header).split()} for column in table.dated)


def is_of_staff(table: Table, question: Question) -> bool:
    """Return True if the rows of a table are people, called by their names, with the day of their beginning."""
    names = table.name_column
    if names is None or not (table.is_of_names(names) and names.may_be_people):
        return False
    return starts(table, question) and not lasts(question, table.dated)


def is_of_births(column: Column, question: Question) -> bool:
    """Return True if a column has days of birth by its header."""
    return not question.language.operations.births.isdisjoint(fold(column.header).split())


def columns_of_doers(table: Table, order: AskedOrder, question: Question) -> list[Column]:
    """Return the columns of those that a question asks for by what they do or are: "who owns the oldest dog?" of "Owner"."""
    doers = question.language.operations.with_doers(question.language.properties.keywords(question.in_full))
    return [
        column
        for column in table.columns
        if not column.order and column.keywords & doers and not column.keywords & {*order.noun} and column.may_be_people
    ]


def column_of_people(table: Table, names: Column | None, question: Question) -> Column | None:
    """Return the column of people of a file, whose rows may have other names: "Guest" beside "Booking"; None without one."""
    named = [column for column in table.columns if not column.order and column.may_be_people]
    if names in named:
        return names
    return next(iter(table.people(question.language.answer_types, named) or named), None)


def items_of(question: Question) -> list[Entity]:
    """Return the items that a question is about."""
    return [entity for entity in question.about if is_item(entity["id"])]
