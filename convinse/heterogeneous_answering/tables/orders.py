"""The row of a table at a place of an order: "Who produced their first album?", "Which town in the North has the most visitors?"."""

from __future__ import annotations

from collections.abc import Sequence

from ...language.operations import AskedOrder
from ...language.text import fold
from ...records.evidence import Entity
from ...records.literals import is_document_item
from ..candidates import Computed
from ..question import Question
from .bounds import bound_words
from .cell_answers import answer_in_row, cell_answers, head_keywords, noun_keywords
from .cells import has_named_order
from .columns import Column
from .durations import lasting_longest
from .selections import extent_of, selected_rows
from .series import Listing, columns_of_doers, is_of_staff, items_of, listing_by_date, starts
from .table import Selection, Table, evidence_of_row
from .times import lasts, words_of_seasons
from .words import content_words, is_of_money, row_words, title_words, total_or_all, unexplained

_MOST_UNEXPLAINED = 2  # words of the question; chosen on WikiTableQuestions' training part
_SECOND = 2  # facts name the thing that follows, no further ones: "the second film"
_FOLLOWS, _FOLLOWED_BY = "P155", "P156"


def ordered_things(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the answer to a superlative or an ordinal, from the rows of a table.

    The other rows of a whole series ("Studio albums" of the band that the question is about) are rivals of the answer.
    """
    order = _asked_order(question)
    if order is None or not (order.noun or order.by or question.is_of_files):
        return []
    if lasting := lasting_longest(question, tables):
        return lasting
    operations = question.language.operations
    ages = question.language.literals.names_of("old") - {"old"}
    if order.words & operations.aging and any(column.keywords & ages for table in tables for column in table.amounts):
        order = order._replace(by=ages, highest=not order.highest)  # the oldest has the highest age
    headed = frozenset[str]().union(*(column.keywords for table in tables for column in table.columns))
    if order.by and order.by <= question.language.properties.keyword_set(operations.pace) - headed:
        # the fastest has the shortest time
        timed = [column.keywords for table in tables for column in table.columns if column.is_timed]
        order = order._replace(by=order.by.union(*timed), highest=order.highest != bool(timed))
    if operations.staying.search(question.in_full):
        started = [table for table in tables if starts(table, question)]
        lasting_on = [table for table in started if not lasts(question, table.dated)]
        tables = lasting_on or started or tables
        order = order._replace(by=frozenset(), highest=False)
    tables = [table for table in tables if not has_named_order(question, table)]
    listing_of = _by_amount if order.by else listing_by_date
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


def _unexplained(listing: Listing, order: AskedOrder, question: Question) -> frozenset[str]:
    """Return the words of a question that neither its order nor a table explains."""
    properties, table = question.language.properties, listing.table
    words = content_words(question) - properties.keyword_set(order.words) - order.by
    words -= properties.keywords(" ".join(bound_words(question)))
    words &= properties.keywords(question.language.times.without_time(question.in_full))
    words -= words_of_seasons(question, table) if question.is_of_files else frozenset()
    verbs = properties.keyword_set(question.language.operations.adding).difference(
        order.noun
    )  # an "order" is a thing, too
    rest = unexplained(question, table, words - verbs - row_words(table, question), table.selection(words).used)
    operations, text = question.language.operations, question.in_full
    if question.is_of_files and (staying := operations.staying.search(text)):
        rest -= properties.keywords(staying[0])
    if {*order.noun} & listing.measures[0].keywords:  # "who works the fewest hours?" of "Hours"
        rest -= properties.keyword_set(operations.verbs.findall(text))
    if question.language.answer_types.expected_type(text).kind == "person" and is_of_staff(table, question):
        rest -= {*order.noun[-1:]}  # "who is the newest employee?"
    # "the cheapest group lesson" of a column "Group" names its rows
    is_by_header = len(order.noun) > 1 and bool(listing.measures[0].keywords & {*order.noun[:-1]})
    return rest - {order.noun[-1]} if is_by_header else rest


def _of_all_rows(listing: Listing, rows: Sequence[int], question: Question) -> Computed | None:
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
    for thing in items_of(question):
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
    orders.sort(key=lambda order: not order.noun)  # "and the smallest?" has none
    names = language.properties.keyword_set(thing["label"] for thing in question.about)
    for order in orders:
        noun = tuple(word for word in order.noun if word not in names or len(order.noun) == 1)
        if not language.words.ones.issuperset(noun) or order.by or not order.noun:
            return order._replace(noun=noun)
    if not orders or not orders[0].noun:
        return None
    kinds = (language.answer_types.heads(question.items.types(thing["id"])) for thing in items_of(question))
    return orders[0]._replace(noun=tuple(sorted(frozenset[str]().union(*kinds))))


def _by_amount(table: Table, order: AskedOrder, question: Question) -> Listing | None:
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
    # "which room is the cheapest" of "Room" and "Price"
    amounts = [column for column in amounts if not (column.numbers_rows and column.keywords & frozenset(order.noun))]
    # "the highest rent in 2024": the column of a year
    digits = {word for word in words if word.isdigit()}
    years = [column for column in table.amounts if column.keywords & (words if column.is_of_month else digits)]
    # "the largest invoice": the only amount of the things, or their total
    titles = row_words(table, question) if is_document_item(table.rows[0]["page"]) else table.title_keywords
    is_of_things = frozenset(order.noun) & (table.headers | titles) and order.by & language.operations.sizes
    alone = years or (total_or_all(table.amounts, question) if is_of_things and not amounts else [])
    if len(alone) > 1 and all(is_of_money(column, question) for column in alone):
        alone = alone[:1]  # "Budget (EUR)" of the largest project, beside "Spent (EUR)"
    asks_for_money = bool(order.by & language.literals.names_of("money")) and not amounts
    things = frozenset(order.noun) | head_keywords(question)
    # "the most expensive insurance" of premiums
    if asks_for_money and things & (table.headers | row_words(table, question)):
        alone = alone or [column for column in table.amounts if column.has_currency]
    if (
        asks_for_money
        and things <= language.properties.keyword_set(order.words | language.operations.adding)
        and is_document_item(table.rows[0]["page"])
    ):  # "what was the most expensive?"
        alone = alone or [column for column in table.amounts if is_of_money(column, question)]
    measure = max(amounts, key=fit, default=alone[0] if len(alone) == 1 else None)
    relating = language.operations.relating - language.operations.greater - language.operations.lesser
    bounds = {*fold(" ".join(bound_words(question))).split()}
    if measure is None or (relating & {*question.in_full.lower().split()}) - bounds:
        return None
    page = language.properties.keywords(question.items.label(table.rows[0]["page"]) or "")
    selecting = words - measure.keywords - (page if page <= words else frozenset())
    selection = table.selection(selecting)
    rows = selection.rows
    if time := language.times.time(question.in_full):
        within = table.within(time, words)
        rows = [row for row in rows if row in within] or rows
    if is_document_item(table.rows[0]["page"]):  # "the cheapest flat with a lift"
        admitted = selected_rows(question, table, selecting)
        rows = [row for row in rows if admitted is None or row in admitted.rows]
    if len(words - selection.used - table.headers - table.title_keywords - order.by - page) > _MOST_UNEXPLAINED:
        return None
    score = len(selection.used) + len(measure.keywords & nouns)
    answer = _answer_column(table, measure, order, question)
    return None if answer is None else Listing(score, table, rows, [measure], answer, True, frozenset())


def _answer_column(table: Table, measure: Column, order: AskedOrder, question: Question) -> Column | None:
    """Return the column of the answer: that of "which NOUN", the measure itself, dates, people, or the names of the rows."""
    types, words = question.language.answer_types, question.language.properties.keywords(question.in_full)
    head, kind = head_keywords(question) - order.by, question.expected.kind
    headed = [column for column in table.columns if column.keywords & head and column is not measure]
    headed = table.without_numbers(headed)
    if headed:
        return max(headed, key=lambda column: len(column.keywords & words) / len(column.keywords))
    if kind == "date":
        return table.dated[0] if table.dated else None
    if question.language.literals.paying.match(question.in_full) and is_of_money(measure, question):
        return measure  # "how much is the cheapest room"
    first = frozenset(order.noun[:1]) - measure.keywords
    things = [column for column in table.columns if column.keywords & frozenset(order.noun) and column is not measure]
    things = table.without_numbers(things)
    is_for_person = kind == "person" and types.expected_type(question.in_full).kind == kind
    if first & row_words(table, question) and not is_for_person:  # "cheapest firm per hour" of firms
        return things[0] if things and things[0].keywords & first else table.name_column
    if (
        kind in ("number", "any")
        and measure.keywords & (head | frozenset(order.noun))
        and not (table.headers | title_words(table, question)) & (head - measure.keywords)
    ):
        return measure
    if kind == "person" and not is_for_person:  # "longest incident" of incidents
        kind = "any" if frozenset(order.noun) & row_words(table, question) else kind
    if kind == "person":
        people = columns_of_doers(table, order, question)
        people = people or table.people(types, [column for column in table.columns if not column.order])
        return next(iter(people), table.name_column)
    return things[0] if things else table.name_column


def _rows_at_place(listing: Listing, order: AskedOrder, question: Question) -> list[int]:
    nouns = noun_keywords(order.noun, question)
    # the oldest member is not the one with the number 1
    is_place = not (order.by or order.highest or order.words & question.language.operations.aging)
    for column in listing.table.columns if is_place else ():
        if (
            column.is_numbering and not column.is_dated and column.keywords & nouns
        ):  # "the fifth season" is that with a 5
            return [row for row in listing.rows if column.amount(row) == order.place]
    orders = [column.order.amounts for column in listing.measures if column.order is not None]
    amounts = {row: tuple(order[row] or 0.0 for order in orders) for row in listing.rows if orders[0][row] is not None}
    operations = question.language.operations
    # "the most places" are no ranks
    is_of_number = not (operations.most | operations.least).isdisjoint(order.words)
    is_rank = bool(order.by) and not is_of_number and operations.is_ranking(listing.measures[0].header)
    different = sorted(set(amounts.values()), reverse=order.highest != is_rank)
    place = order.place - listing.skipped
    if not 0 < place <= len(different) or len(different) < 2:
        return []
    return [row for row, amount in amounts.items() if amount == different[place - 1]]


def _entities(listing: Listing, row: int, question: Question) -> list[Entity]:
    column = listing.name_column
    if column is not None and column in listing.measures and listing.is_name:
        cell = column.cells[row]
        return [] if cell is None else [{"id": cell["text"], "label": cell["text"]}]
    # "first visit on Tuesday" for a day, as models take it, is answered by the visit
    is_of_kind = question.expected.kind not in ("date", "number") or not (listing.is_name and question.is_of_files)
    if (listing.asking and is_of_kind) or column is None:
        return answer_in_row(listing.table, row, question, listing.asking, name_column=column, is_name=listing.is_name)
    cell = column.cells[row]
    return [] if cell is None else cell_answers(cell, question) or [{"id": cell["text"], "label": cell["text"]}]
