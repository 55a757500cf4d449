"""All rows of a table that a question asks for: "Which ferries are longer than 50 metres?", "invoices of the museum"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import takewhile

from ...language.text import fold
from ...records.evidence import Cell, Entity
from ..candidates import Computed
from ..question import Question
from .bounds import bound_words, limiting_column, with_measures
from .cell_answers import cell_answers, head_keywords
from .columns import Column
from .selections import alternatives, best_explained, extent_of, is_of_topic, selected_rows
from .states import denied_words, named_state
from .table import Selection, Table, evidence_of_row, whole_tables
from .times import dates_meant, lasts
from .words import content_words, is_of_holders, relates_rows, title_words, unexplained

_MOST_MEMBERS = 1_000  # of a list; of each the page is read for its evidence
_NOUN_WORDS = 3  # behind "list all"
_BETWEEN_NAMES = re.compile(r"[,;&]")
_BESIDE_NAME = re.compile(r"\([^()]*\)|<[^<>]*>")  # "Grace Okafor (chair)", "Ada Holt <ada@x.example>"


def listed_rows(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the list of the things in the rows that a question selects; empty if it asks for no list, or selects no rows for sure."""
    operations, text = question.language.operations, question.in_full
    asks_for_several = _asks_for_list(question, tables)
    if asks_for_several is None:
        return []
    words, nouns = _words_and_nouns(question)
    fewest = len(words)  # of the words that a table leaves unexplained
    for table, selected in _selections(question, tables, words):
        is_whole = asks_for_several and not selected.used and is_of_topic(question, table)  # "the albums of Radiohead"
        if not selected.rows or not (selected.used or is_whole):
            continue
        rest = len(unexplained(question, table, words, selected.used))
        if not fewest < rest:
            fewest = rest
        elif not fewest:
            break  # "who represents Ada?" of a column "Represents" is asked of no other row with her name
        namesake = table.own_row(selected._replace(used=selected.used - table.headers))
        # "when did Greta start?" asks for a cell, "who reports to Greta?" for the rows that refer to hers
        if namesake is not None:
            if question.expected.kind != "person":
                continue
            selected = selected._replace(rows=[row for row in selected.rows if row != namesake])
        if not asks_for_several and not _is_surely_several(question, table, selected, words):
            continue
        column = _listed_column(question, table, selected, nouns)
        if is_whole and column is not None and not (column is table.name_column or column.keywords <= words):
            continue  # "which languages does she speak?" of albums with a "Main language"
        if column is not None and not column.tells_apart:
            selected = _without_others(question, table, selected, column)
        members = [] if column is None else _members(question, table, selected, column)
        is_request = operations.listing.match(text) or operations.asks_for_several(text)
        is_for_person = question.expected.kind == "person" and not is_request
        if is_for_person and any(entity["label"][:1].islower() for _, entity in members):
            continue  # "who lives in flat 5?" of repairs: "broken blind", "door bell"
        if not members or (len(members) > 1 and operations.sole.intersection(fold(text).split())):
            continue
        cited = tuple((entity, evidence_of_row(table, row, question)) for row, entity in members[:_MOST_MEMBERS])
        places = table.evidence_places([row for row, _ in members])
        is_named = is_whole and _is_named(question, table, words)
        return [
            Computed(members[0][1], "list", places, members=cited, extent=extent_of(table, selected), is_named=is_named)
        ]
    return []


def whole_column(question: Question, page: str, caption: str, section: str, header: str) -> list[Entity]:
    """Return the things below a header of an article's table, in the rows with the words of a question; empty without that table."""
    for table in whole_tables(question):
        first = table.rows[0]
        column = next((column for column in table.columns if column.header == header), None)
        if column is not None and (first.get("page"), first["caption"], first["section"]) == (page, caption, section):
            words = content_words(question) - title_words(table, question) - column.keywords
            return [entity for _, entity in _members(question, table, table.selection(words), column)]
    return []


def _is_named(question: Question, table: Table, words: AbstractSet[str]) -> bool:
    """Return True if a question calls the rows of a table of its topic as the table does: "what novels did she write?" of "Novels"."""
    names = table.name_column
    if names is None or not words & (names.keywords | table.title_keywords):
        return False
    rest = words - names.keywords - title_words(table, question) - question.language.properties.light_keywords
    return not rest


def _asks_for_list(question: Question, tables: Sequence[Table]) -> bool | None:
    """Return True if a question asks for several things, False if it may, None if it asks for something else."""
    operations, times, text = question.language.operations, question.language.times, question.in_full
    others = operations.order(text), operations.counting.search(text), operations.differing.search(text)
    if operations.supposing.match(text):  # "what if I do not pay?"
        return None
    if any(others) or operations.summing.match(text) or relates_rows(question, tables):
        return None
    if operations.offers(text):
        words = content_words(question)
        either = [table for table in tables if not alternatives(question, table)]
        if any(selected_rows(question, table, words) for table in either):
            return True  # "with a lift or above 500 euros"
        if len(either) == len(tables):
            return None
    wide = with_measures(content_words(question), question)
    if operations.summing.search(text) and not bound_words(question) and any(table.measures(wide) for table in tables):
        return None  # "what are the lamps worth together?"
    asks_when = "date" in (question.expected.kind, question.language.answer_types.expected_type(text).kind)
    is_relative = asks_when and not operations.relating.isdisjoint(fold(text).split())  # "the date after 3 May"
    if question.expected.kind == "yesno" or (is_relative and not bound_words(question)):
        return None
    if operations.listing.match(text) or operations.asks_for_several(text):
        return True
    if not question.is_of_files:
        return None
    # "which contract ended in 2024?" may have several answers; of Wikipedia's tables most have one
    if bound_words(question) or times.time(text) is not None or times.seasons(text) is not None:
        return not asks_when  # "when do you close on Saturday?"
    if times.clock(text) is not None and any(table.clocks for table in tables):
        return True
    if operations.full.search(text) and any(table.vacancies for table in tables):  # "which course is full?"
        return True
    # "who is not vaccinated?", "unpaid invoices", "what is below the minimum?"
    if any(any(denied_words(question, table)) or limiting_column(question, table) for table in tables):
        return True
    asks_who = "person" in (question.expected.kind, question.language.answer_types.expected_type(text).kind)
    if asks_when or asks_who or operations.whats.search(text):
        return False
    return True if any(named_state(question, table) for table in tables) else None  # "repairs that are done"


def _words_and_nouns(question: Question) -> tuple[frozenset[str], frozenset[str]]:
    """Return the keywords of a question beside "list all", and those that name what it asks for."""
    properties, text = question.language.properties, question.in_full
    asking = question.language.operations.listing.match(text)
    words = content_words(question) - (properties.keywords(asking[0]) if asking else frozenset())
    if not question.is_of_files:  # "released" selects no row "Self-released"
        words -= properties.keyword_set(question.language.operations.making)
    behind = text[asking.end() :].split()[:_NOUN_WORDS] if asking else []
    common = question.language.words.common
    behind = list(takewhile(lambda word: fold(word) not in common, behind))  # "customers from Brakel"
    nouns = head_keywords(question) | properties.keyword_set(behind)
    if question.language.operations.whats.search(text):  # "what is on shelf B?" asks for no shelf
        nouns = frozenset()
    times = question.language.times
    nouns -= properties.keyword_set(part.words for part in (times.seasons(text), times.clock(text)) if part)
    is_for_person = question.language.answer_types.expected_type(text).kind == "person"
    if not nouns and not is_for_person and question.language.answer_types.is_request(text):  # "unpaid invoices"
        nouns = content_words(question)
    return words, nouns


def _selections(question: Question, tables: Sequence[Table], words: frozenset[str]) -> list[tuple[Table, Selection]]:
    """Return the tables with the rows that a question selects, the best first."""
    properties, operations = question.language.properties, question.language.operations
    several = [table for table in tables if len(table.rows) > 1]
    noun = head_keywords(question) & properties.keyword_set(operations.head(question.in_full).split()[:1])
    # of a table that is called so the noun selects no rows: "which servers" of the file "servers"
    called = [table for table in several if noun and noun <= table.headers | title_words(table, question)]
    found = best_explained("list", question, called, words - noun)
    return found + best_explained("list", question, [table for table in several if table not in called], words)


def _is_surely_several(question: Question, table: Table, selected: Selection, words: frozenset[str]) -> bool:
    """Return True if each of several rows is named by a question, or judged by a value, and nothing but a verb is left of it.

    "Who works in Technics?", "who has a key?" of a column "Key" with yes and no.
    """
    verbs = question.language.properties.keyword_set(question.language.operations.verbs.findall(question.in_full))
    whats = question.language.operations.whats.search(question.in_full)
    verbs |= question.language.properties.keywords(whats[0]) if whats else frozenset()
    if not question.language.words.doing.isdisjoint(fold(question.in_full).split()):  # "when does Mrs Kuhl come?"
        verbs |= question.language.properties.keywords(question.in_full.split()[-1])
    is_explained = not unexplained(question, table, words, selected.used) - verbs
    is_of_people = table.pairs and _column_of_people(question, table, selected) is not None
    is_judged = is_of_people or bool(selected.lacking) or _are_named(table, selected)
    if len(selected.rows) == 1 and table.name_column is not None:  # "who lives in 2B?" of tenants names no column
        expected_type = question.language.answer_types.expected_type
        kinds = {expected_type(text).kind for text in (question.in_full, table.name_column.header)}
        return kinds == {"person"} and not table.pairs and is_explained and _are_named(table, selected)
    return len(selected.rows) > 1 and is_explained and is_judged


def _without_others(question: Question, table: Table, selected: Selection, column: Column) -> Selection:
    """Leave out the things that have a row with the words that a question denies: "who has not paid for May?" of payments."""
    denied = table.selection(denied_words(question, table)[0])
    if not denied.used:
        return selected
    with_them = {cell["text"] for row in denied.rows if (cell := column.cells[row]) is not None}
    rows = [row for row in selected.rows if (cell := column.cells[row]) is None or cell["text"] not in with_them]
    return selected._replace(rows=rows)


def _members(question: Question, table: Table, selected: Selection, column: Column) -> list[tuple[int, Entity]]:
    """Return the different things in a column of the selected rows, each with its first row."""
    cells = {row: cell for row in selected.rows if (cell := column.cells[row]) and not column.is_empty(row)}
    if table.pairs and column is not table.name_column:
        people = {row: _people_in(cell) for row, cell in cells.items()}
        if people and question.language.operations.jointly.search(question.in_full):  # "in March and in April"
            names = set.intersection(*({person["id"] for person in those} for those in people.values()))
            people = {row: [person for person in those if person["id"] in names] for row, those in people.items()}
        things = [(row, entity) for row, those in people.items() for entity in those]
    else:
        things = [(row, _entity_in(cell, question, not column.order)) for row, cell in cells.items()]
    distinct: dict[str, tuple[int, Entity]] = {}
    for row, entity in things:
        distinct.setdefault(fold(entity["label"]), (row, entity))
    return [*distinct.values()]


def _entity_in(cell: Cell, question: Question, is_name: bool) -> Entity:
    text = Entity(id=cell["text"], label=cell["text"])
    if is_name and question.expected.kind in ("date", "number"):  # "2024-007" is no year
        return text
    return next(iter(cell_answers(cell, question) or cell["entities"]), text)


def _people_in(cell: Cell) -> list[Entity]:
    """Return the names of a cell with a list of them: of "Ines Albrecht, Grace Okafor (chair)" both."""
    names = (_BESIDE_NAME.sub("", name).strip() for name in _BETWEEN_NAMES.split(cell["text"]))
    return [Entity(id=name, label=name) for name in names if name]


def _listed_column(question: Question, table: Table, selected: Selection, nouns: AbstractSet[str]) -> Column | None:
    """Return the column of the things that a question asks for: that of "which NOUN", people for "who", or the names of the rows."""
    types, text = question.language.answer_types, question.in_full
    is_for_person = types.expected_type(text).kind == "person"
    if table.pairs:  # its rows are documents, not people
        return _column_of_people(question, table, selected) or (None if is_for_person else table.name_column)
    kind, words = question.expected.kind, question.language.properties.keywords(text)
    if kind == "person" and not is_for_person:
        kind = "any"  # "what has Ines borrowed?"
    nouns -= dates_meant(question, table)[1]  # "what is due back on 17 April"
    columns, equal = _differing_columns(question, table, selected)
    if headed := _headed(question, table, selected, columns, nouns):
        return max(headed, key=lambda column: len(column.keywords & words) / len(column.keywords))
    if any(column.keywords & nouns for column in equal):
        return None  # "what kinds of waste" of the rows with "organic waste"
    if types.expected_type(text).kind == "date" and table.dated:  # "When is paper collected?"
        dated = table.dated_by(words)
        is_named = any(column.keywords & words for column in dated)
        return dated[0] if is_named or len(dated) == 1 or lasts(question, dated) else None
    if types.expected_type(text).kind == "place":  # "where do we play on 19 April?" of a column "Location"
        located = question.language.properties.keyword_set(question.language.operations.located)
        if places := [column for column in columns if column.keywords & located]:
            return places[0]
    is_their_name = bool(nouns & (table.headers | title_words(table, question)))
    if kind in ("date", "number") and not is_their_name:
        return None
    if kind == "person":
        found = _column_of_persons(question, table, columns, words - selected.used)
    else:
        found = _entries_with(question, selected, columns, nouns)
    if found is None and kind != "person" and types.is_request(text) and nouns and nouns <= selected.used:
        return table.name_column  # "dogs on 11 May" of the column "Animal"
    return found or _names_of_rows(question, table, columns, nouns, kind, is_their_name)


def _texts_of(column: Column, selected: Selection) -> list[str]:
    return [cell["text"] for row in selected.rows if (cell := column.cells[row]) is not None]


def _differing_columns(question: Question, table: Table, selected: Selection) -> tuple[list[Column], list[Column]]:
    """Return the columns that may tell the selected rows apart, and those in which several of them have the same selecting text."""
    keywords = question.language.properties.keywords
    columns, equal = [], []
    for column in table.columns:
        texts = _texts_of(column, selected)
        if len({*texts}) > 1 or not all(keywords(text) & selected.used for text in texts):
            columns.append(column)
        elif len(texts) > 1:
            equal.append(column)
    return columns, equal


def _headed(
    question: Question, table: Table, selected: Selection, columns: Sequence[Column], nouns: AbstractSet[str]
) -> list[Column]:
    """Return those of some columns whose headers the nouns of a question name."""
    headed = [column for column in columns if column.keywords & nouns and not column.keywords & selected.used]
    headed = table.without_numbers(headed)
    # "visits at 10:15" of a column "Day of visit"
    if nouns & (table.title_keywords | title_words(table, question)):
        headed = [column for column in headed if not column.is_dated or _is_said(column.header, question)]
    types = question.language.answer_types
    if question.expected.kind == types.expected_type(question.in_full).kind == "person":  # "whose birthday is in June?"
        headed = [column for column in headed if not column.order]
    return headed


def _entries_with(
    question: Question, selected: Selection, columns: Sequence[Column], nouns: AbstractSet[str]
) -> Column | None:
    """Return the column of "list the errors": its entries in all selected rows have the word."""
    keywords = question.language.properties.keywords
    for column in columns:
        texts = _texts_of(column, selected)
        if len(texts) == len(selected.rows) and all(keywords(text) & nouns & selected.used for text in texts):
            return column
    return None


def _names_of_rows(
    question: Question, table: Table, columns: Sequence[Column], nouns: AbstractSet[str], kind: str, is_their_name: bool
) -> Column | None:
    """Return the column of the names of the rows, if a question may ask for these."""
    operations, text = question.language.operations, question.in_full
    names_first = sorted(columns, key=lambda column: column is not table.name_column)
    named = next((column for column in names_first if not column.order), None)
    if named is None:
        return None
    verbs = question.language.properties.keyword_set(operations.verbs.findall(text))
    is_open = operations.whats.search(text) is not None
    if is_open or (nouns <= verbs and kind == "any" and (table.dated or table.clocks)):  # "what happened in March?"
        texts = (column for column in names_first if not column.order and column.is_capitalised)
        return next((column for column in texts if not column.may_be_people), named)  # "massage", not the patient
    if question.expected.kind == "person" and named.keywords & question.language.properties.keywords(text) - nouns:
        return None  # "who has returned a book?" of the books
    is_generic = fold(named.header) in operations.naming
    header_kind = question.language.answer_types.expected_type(named.header).kind
    if is_their_name or is_generic:
        return named
    if kind != "person" or header_kind in ("date", "number", "place"):
        return None
    doers = operations.with_doers(question.language.properties.keywords(text))
    words = (column for column in names_first if not column.order and not _has_digits(column))
    # "who borrows it?" of a column "Borrower"; the therapist, not the treatment, for "who treated her?"
    return next((column for column in words if column.keywords & doers or column.may_be_people), None)


def _is_said(header: str, question: Question) -> bool:
    """Return True if a question has all words of a header: "customers" does not say "Customer since"."""
    keyword = question.language.properties.keyword
    return {*map(keyword, fold(header).split())} <= {*map(keyword, fold(question.in_full).split())}


def _column_of_persons(
    question: Question, table: Table, columns: Sequence[Column], asking: frozenset[str]
) -> Column | None:
    """Return the column that the words of a question for people name ("who owns it?"), else one of people by its header."""
    asking = question.language.operations.with_doers(asking)
    headers = [column for column in columns if column.keywords and column.keywords <= asking]
    # "who has the evening shift on Sunday?" of "Fri", "Sat" and "Sun"
    spoken = question.language.properties.keywords(question.in_full)
    headers += [column for column in columns if column.is_of_weekday and column.keywords & spoken]
    people = table.people(question.language.answer_types, columns)
    names = question.language.names
    people += [column for column in columns if all(names.without_title(text) != text for text in column.filled)]
    held: list[Column] = []
    if named_state(question, table):  # "who has not returned a book?" of "Book", "Author" and "Borrower"
        held = [column for column in columns if is_of_holders(column, question)]
    return next((column for column in (*held, *headers, *people) if not _has_digits(column)), None)


def _column_of_people(question: Question, table: Table, selected: Selection) -> Column | None:
    """Return the column of pairs that a question for people names: "Who was present on 12 March?" of "Present: Ines, Yusuf"."""
    asking = content_words(question) - (selected.used - table.headers)
    shared = {column: len(column.keywords & asking) for column in table.columns[1:] if not _has_digits(column)}
    named = [column for column, number in shared.items() if number and number == max(shared.values())]
    return named[0] if question.expected.kind == "person" and len(named) == 1 else None


def _has_digits(column: Column) -> bool:
    return any(map(str.isdigit, "".join(column.texts)))


def _are_named(table: Table, selected: Selection) -> bool:
    """Return True if each row has a cell whose words all select it."""
    named = {row for places in table.named(selected.used).values() for row, _ in places}
    return named.issuperset(selected.rows)
