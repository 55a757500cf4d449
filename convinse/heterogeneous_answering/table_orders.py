"""The row of a table at a place of an order: "Who produced their first album?", "Which town in the North has the most visitors?"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..language.operations import AskedOrder
from ..language.text import fold
from ..records.evidence import Entity
from ..records.literals import is_document_item, is_item
from .bounds import bound_words
from .candidates import Computed
from .cell_answers import answer_in_row, cell_answers, head_keywords, noun_keywords
from .columns import Column
from .question import Question
from .selections import extent_of, selected_rows
from .table_words import content_words, title_words, unexplained
from .tables import Selection, Table, evidence_of_row

_MOST_UNEXPLAINED = 2  # words of the question; chosen on WikiTableQuestions' training part
_SECOND = 2  # facts name the thing that follows, no further ones: "the second film"
_FOLLOWS, _FOLLOWED_BY = "P155", "P156"
_UNEXPLAINED_OF_SERIES = 1  # words of a question for a thing of a series


class _Listing(NamedTuple):
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


def ordered_things(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the answer to a superlative or an ordinal, from the rows of a table.

    The other rows of a whole series ("Studio albums" of the band that the question is about) are rivals of the answer.
    """
    order = _asked_order(question)
    if order is None or not (order.noun or order.by or question.is_of_files):
        return []
    operations = question.language.operations
    ages = question.language.literals.names_of("old") - {"old"}
    if order.words & operations.aging and any(column.keywords & ages for table in tables for column in table.amounts):
        order = order._replace(by=ages, highest=not order.highest)  # the oldest has the highest age
    listing_of = _by_amount if order.by else _by_date
    listings = [listing for table in tables if (listing := listing_of(table, order, question)) is not None]
    rest = {id(listing): _unexplained(listing, order, question) if question.is_of_files else () for listing in listings}
    for listing in sorted(
        listings, key=lambda listing: (not listing.is_series, len(rest[id(listing)]), -listing.score)
    ):
        rows = _rows_at_place(listing, order, question)
        if question.is_of_files and not rest[id(listing)] and rows:
            if result := _of_all_rows(listing, rows, question):
                return [result]
        elif len(rows) == 1 and (entities := _entities(listing, rows[0], question)):
            rivals = frozenset(listing.table.places.values()) if listing.is_series else frozenset[int]()
            places = listing.table.evidence_places(rows)
            return [Computed(entity, "order", places, rivals=rivals) for entity in entities]
    return _following(order, question)


def _unexplained(listing: _Listing, order: AskedOrder, question: Question) -> frozenset[str]:
    """Return the words of a question that neither its order nor a table explains."""
    properties, table = question.language.properties, listing.table
    words = content_words(question) - properties.keyword_set(order.words) - order.by
    words -= properties.keywords(" ".join(bound_words(question)))
    words &= properties.keywords(question.language.times.without_time(question.in_full))
    verbs = properties.keyword_set(question.language.operations.adding)
    return unexplained(question, table, words - verbs, table.selection(words).used)


def _of_all_rows(listing: _Listing, rows: Sequence[int], question: Question) -> Computed | None:
    """Return the things in the first of all rows of files, several if they have equal values; None if a cell is empty."""
    table = listing.table
    found = {row: entities[0] for row in rows if (entities := _entities(listing, row, question))}
    if len(found) < len(rows) or len(rows) == len(listing.rows):
        return None
    measure = listing.measures[0]
    unjudged = sum(measure.amount(row) is None for row in listing.rows)
    extent = extent_of(table, Selection([*listing.rows], frozenset(), unjudged=unjudged, lacking=measure.header))
    members = tuple((entity, evidence_of_row(table, row, question)) for row, entity in found.items())
    entity, *others = found.values()
    places = table.evidence_places([*found])
    return Computed(entity, "order", places, members=members if others else (), extent=extent)


def _following(order: AskedOrder, question: Question) -> list[Computed]:
    """Return the thing that a question is about for the first of its kind, and the one that follows it for the second: "the second film"."""
    if order.by or order.highest or order.place > _SECOND:
        return []
    words, types = question.language.properties, question.language.answer_types
    nouns = noun_keywords(order.noun, question)
    explained = words.keyword_set([*order.words, *question.language.operations.naming]) | nouns
    for thing in _things(question):
        if nouns.isdisjoint(words.keyword_set(types.heads(question.items.types(thing["id"])))):
            continue
        about = [
            (place, read.fact)
            for place, read in enumerate(question.evidences)
            if read.fact is not None and read.fact.subject["id"] == thing["id"]
        ]
        following = [(place, fact.object) for place, fact in about if fact.predicate["id"] == _FOLLOWED_BY]
        is_first = all(fact.predicate["id"] != _FOLLOWS for _, fact in about)
        if is_first and len(following) == 1 and content_words(question) <= explained | words.keywords(thing["label"]):
            (place, entity), *_ = following
            entity = entity if order.place == _SECOND else thing
            return [Computed(entity, "order", (place,), rivals=frozenset((place,)))]
    return []


def _asked_order(question: Question) -> AskedOrder | None:
    """Return the order that a question asks for; "the second one" is of the kind of the thing that it is about."""
    operations, language = question.language.operations, question.language
    orders = [order for text in (question.text, question.in_full) if (order := operations.order(text)) is not None]
    names = language.properties.keyword_set(thing["label"] for thing in question.about)
    for order in orders:
        noun = tuple(word for word in order.noun if word not in names or len(order.noun) == 1)
        if not language.words.ones.issuperset(noun) or order.by or not order.noun:
            return order._replace(noun=noun)
    if not orders or not orders[0].noun:
        return None
    kinds = (language.answer_types.heads(question.items.types(thing["id"])) for thing in _things(question))
    return orders[0]._replace(noun=tuple(sorted(frozenset[str]().union(*kinds))))


def _things(question: Question) -> list[Entity]:
    return [entity for entity in question.about if is_item(entity["id"])]


def _by_amount(table: Table, order: AskedOrder, question: Question) -> _Listing | None:
    """Return a table that has a column of the amount that orders: "the highest price", "the longest trail"."""
    language = question.language
    nouns = order.by.union(*map(language.literals.names_of, order.noun))
    words = language.properties.keywords(question.in_full) - language.properties.keyword_set(order.words)

    def fit(column: Column) -> tuple[int, int, int]:
        keywords = column.keywords
        return len(keywords & frozenset(order.noun)), len(keywords & nouns), len(keywords & words)

    amounts = [
        column
        for column in table.columns
        if column.order and column.keywords & (order.by if column.is_dated else nouns)
    ]
    # "the highest rent in 2024": the column of a year
    years = [column for column in table.amounts if column.keywords & {word for word in words if word.isdigit()}]
    # "the largest invoice": the only amount of the things
    is_of_things = (
        frozenset(order.noun) & (table.headers | table.title_keywords) and order.by & language.operations.sizes
    )
    alone = years or (table.amounts if is_of_things and not amounts else [])
    is_of_money = bool(order.by & language.literals.names_of("money")) and not amounts
    things = frozenset(order.noun) | head_keywords(question)
    # "the most expensive insurance" of premiums
    if is_of_money and things & (table.headers | title_words(table, question)):
        alone = alone or [column for column in table.amounts if column.has_currency]
    measure = max(amounts, key=fit, default=alone[0] if len(alone) == 1 else None)
    relating = language.operations.relating - language.operations.greater - language.operations.lesser
    bounds = {*fold(" ".join(bound_words(question))).split()}
    if measure is None or (relating & {*question.in_full.lower().split()}) - bounds:
        return None
    page = language.properties.keywords(question.items.label(table.rows[0]["page"]) or "")
    selection = table.selection(words - measure.keywords - (page if page <= words else frozenset()))
    rows = selection.rows
    if time := language.times.time(question.in_full):
        within = table.within(time, words)
        rows = [row for row in rows if row in within] or rows
    if is_document_item(table.rows[0]["page"]):  # "the cheapest flat with a lift"
        admitted = selected_rows(question, table, words - measure.keywords)
        rows = [row for row in rows if admitted is None or row in admitted.rows]
    if len(words - selection.used - table.headers - table.title_keywords - order.by - page) > _MOST_UNEXPLAINED:
        return None
    score = len(selection.used) + len(measure.keywords & nouns)
    answer = _answer_column(table, measure, order, question)
    return None if answer is None else _Listing(score, table, rows, [measure], answer, True, frozenset())


def _answer_column(table: Table, measure: Column, order: AskedOrder, question: Question) -> Column | None:
    """Return the column of the answer: that of "which NOUN", the measure itself, dates, people, or the names of the rows."""
    types, words = question.language.answer_types, question.language.properties.keywords(question.in_full)
    head, kind = head_keywords(question) - order.by, question.expected.kind
    headed = [column for column in table.columns if column.keywords & head and column is not measure]
    if headed:
        return max(headed, key=lambda column: len(column.keywords & words) / len(column.keywords))
    if kind == "date":
        return table.dated[0] if table.dated else None
    first = frozenset(order.noun[:1]) - measure.keywords
    if first & title_words(table, question):  # "cheapest firm per hour" of firms
        return table.name_column
    if (
        kind in ("number", "any")
        and measure.keywords & (head | frozenset(order.noun))
        and not table.headers & (head - measure.keywords)
    ):
        return measure
    if kind == "person" and types.expected_type(question.in_full).kind != kind:  # "longest incident" of incidents
        kind = "any" if frozenset(order.noun) & title_words(table, question) else kind
    if kind == "person":
        people = _columns_of_doers(table, order, question)
        people = people or table.people(types, [column for column in table.columns if not column.order])
        return next(iter(people), table.name_column)
    things = [column for column in table.columns if column.keywords & frozenset(order.noun) and column is not measure]
    return things[0] if things else table.name_column


def _columns_of_doers(table: Table, order: AskedOrder, question: Question) -> list[Column]:
    """Return the columns of those that a question asks for by what they do or are: "who owns the oldest dog?" of "Owner"."""
    doers = question.language.operations.with_doers(question.language.properties.keywords(question.in_full))
    return [
        column
        for column in table.columns
        if not column.order and column.keywords & doers and not column.keywords & {*order.noun} and column.may_be_people
    ]


def _by_date(table: Table, order: AskedOrder, question: Question) -> _Listing | None:
    """Return a table of what an ordinal puts in order: "their first album", by its dates or its numbering."""
    words = question.language.properties
    spoken, nouns = words.keywords(question.in_full), noun_keywords(order.noun, question)
    page, is_file = table.rows[0]["page"], is_document_item(table.rows[0]["page"])
    # "the oldest dog" of a file of patients, one of which is a dog
    is_in_cells = is_file and table.selection(nouns).used >= nouns
    measures = _measures_of_time(table, spoken)
    name_column = _naming_column(table, nouns, is_in_cells)
    if not measures or name_column is None:
        return None
    headers, page_words = table.title_keywords | table.headers, words.keywords(question.items.label(page))
    rest = content_words(question) - page_words - (nouns & headers) - words.keyword_set(order.words)
    if question.language.times.time(question.in_full):
        rest = frozenset(word for word in rest if not word.isdigit())
    rows, matched = _rows_with_words(table, question, rest - headers)
    asking, kind = spoken - nouns, question.expected.kind
    for_names = words.keyword_set(question.language.operations.naming)
    asks_for_cell = bool(asking & headers - for_names) or kind not in ("any", "item")
    is_named = name_column.order is None and bool(name_column.keywords & (nouns | for_names))
    is_name = _asks_for_name(table, nouns, question, is_named and not asks_for_cell)
    # of files the rows are the things: "oldest pupil", whatever kind a model expects of keywords
    if is_file and kind not in ("date", "number"):
        said_of_rows = is_in_cells or frozenset(order.noun) & (title_words(table, question) | name_column.keywords)
        others = table.headers.difference(matched, for_names, *(column.keywords for column in measures))
        is_name = is_name or bool(said_of_rows and not asking & others)
    if is_file and kind == "person" and (doers := _columns_of_doers(table, order, question)):
        name_column, is_name = doers[0], True
    score = bool(name_column.keywords & nouns) + len(matched) + len(rest & headers)
    is_series = (
        _is_of_kind(table, name_column, order, question)
        and (is_named or asks_for_cell)
        and _is_series(table, rest - headers - matched, question)
    )
    skipped = int(is_series and not order.highest and _comes_before(table, nouns, question))
    return _Listing(score, table, rows, measures, name_column, is_name, asking, is_series, skipped)


def _measures_of_time(table: Table, spoken: frozenset[str]) -> list[Column]:
    """Return the columns that put rows in order of time: of dates (of equal years those of days decide), of hours, or numbers."""
    times = [column for column in table.columns if column.is_timed]
    times.sort(key=lambda column: not column.keywords & spoken)
    numbering = [column for column in table.columns if column.is_numbering]
    return table.dated_by(spoken) or times[:1] or numbering[:1]


def _naming_column(table: Table, nouns: frozenset[str], is_in_cells: bool) -> Column | None:
    """Return the column of the things that nouns name; that of the names of the rows if these are such things."""
    naming = [column for column in table.columns if column.keywords & nouns]
    naming = [column for column in naming if not column.order or column.is_numbering]
    naming.sort(key=lambda column: column.order is not None)
    if naming:
        return naming[0]
    is_of_things = table.pairs or table.title_keywords & nouns or is_in_cells
    return table.name_column if is_of_things else None


def _rows_with_words(table: Table, question: Question, words: frozenset[str]) -> tuple[list[int], set[str]]:
    """Return the rows in the time of a question that have some words, and the words that rows have."""
    time = question.language.times.time(question.in_full)
    spoken = question.language.properties.keywords(question.in_full)
    rows = [*range(len(table.rows))] if time is None else table.within(time, spoken)
    rows = [row for row in rows if row not in table.totals]
    matched = set[str]()
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
    return any(thing["id"] == page for thing in _things(question)) and not heads.isdisjoint(nouns)


def _rows_at_place(listing: _Listing, order: AskedOrder, question: Question) -> list[int]:
    nouns = noun_keywords(order.noun, question)
    for column in listing.table.columns if not (order.by or order.highest) else ():
        if (
            column.is_numbering and not column.is_dated and column.keywords & nouns
        ):  # "the fifth season" is that with a 5
            return [row for row in listing.rows if column.amount(row) == order.place]
    orders = [column.order.amounts for column in listing.measures if column.order is not None]
    amounts = {row: tuple(order[row] or 0.0 for order in orders) for row in listing.rows if orders[0][row] is not None}
    is_rank = bool(order.by) and question.language.operations.is_ranking(listing.measures[0].keywords)
    different = sorted(set(amounts.values()), reverse=order.highest != is_rank)
    place = order.place - listing.skipped
    if not 0 < place <= len(different) or len(different) < 2:
        return []
    return [row for row, amount in amounts.items() if amount == different[place - 1]]


def _entities(listing: _Listing, row: int, question: Question) -> list[Entity]:
    column = listing.name_column
    if column is not None and column in listing.measures and listing.is_name:
        cell = column.cells[row]
        return [] if cell is None else [{"id": cell["text"], "label": cell["text"]}]
    if listing.asking or column is None:
        return answer_in_row(listing.table, row, question, listing.asking, name_column=column, is_name=listing.is_name)
    cell = column.cells[row]
    return [] if cell is None else cell_answers(cell, question) or [{"id": cell["text"], "label": cell["text"]}]
