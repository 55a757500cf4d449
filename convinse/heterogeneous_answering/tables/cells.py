"""The cell of a table that a question asks for: "How many pupils did Ashdown have in 2023?", "Is the axe in the north or the south?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ...language.text import fold
from ...records.evidence import Cell, Entity
from ...records.literals import is_date, is_document_item, is_number, number_entity
from ...records.periods import Boundary
from ...records.ranked_rows import value_of
from ...records.units import BASE_UNITS
from ...records.written_values import UNKNOWN, day_in, value_at
from ..addresses import is_phone, without_address
from ..candidates import Computed
from ..question import Question
from .bounds import bound_words, with_measures
from .cell_answers import cell_answers, head_keywords
from .columns import Column
from .meanings import meant_column
from .selections import alternatives, extent_of, in_named_column, selected_rows
from .states import is_of_marks
from .table import Selection, Table
from .times import dates_meant, lasts
from .words import (
    column_of_ballot,
    content_words,
    is_of_holders,
    is_of_money,
    is_unexplained,
    money_words,
    title_words,
    unexplained,
)

_CODE = re.compile(r"[A-Z]{1,4}[ -][A-Z\d -]*\d[A-Z\d -]*")  # "FL-KT 218"
_LEAST_COVERAGE = 0.5  # of the words of a header, for a question to name it


def cells(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the cell of the row and the column that a question names."""
    requested = [(table, requested_cell(question, table)) for table in tables]
    if not any(cell for _, cell in requested):
        requested = _meant_cells(question, tables)
    for table, place in requested:
        row, column = place or (0, None)
        cell = None if column is None else column.cells[row]
        if column is None or cell is None or is_of_marks(column, question):
            continue
        if answers := _answers(question, table, column, cell):
            # a document among all that have such pairs, if the question says nothing else
            words = content_words(question)
            is_sure = not unexplained(question, table, words, table.selection(words).used)
            extent = extent_of(table, Selection([row], frozenset())) if is_sure else None
            places = _places(question, table, row, column)
            return [Computed(answer, "cell", places, extent=extent) for answer in answers]
    return []


def _meant_cells(question: Question, tables: Sequence[Table]) -> list[tuple[Table, tuple[int, Column] | None]]:
    """Return the tables of files with the row that a question names and the column that it means: "what does Jan speak?" of "Languages".

    The nearest column comes first.
    """
    column: Column | None
    found: list[tuple[float, Table, tuple[int, Column]]] = []
    types = question.language.answer_types
    for table in tables:
        row, used = requested_row(question, table) or (0, frozenset[str]())
        if not used or table.pairs or not is_document_item(table.rows[row]["page"]):
            continue
        rest = unexplained(question, table, content_words(question), used)
        if any(map(str.isdigit, "".join(rest))):
            continue  # "How many in 2019?" of columns for 2017 and 2018
        # the columns by which the question does not name the row
        unnamed = [column for column in table.columns if not _has_words(column, row, table, used)]
        others = [column for column in unnamed if column.header and column is not table.name_column]
        others = [column for column in others if not (column.is_empty(row) or column.numbers_rows)]
        if not {question.expected.kind, types.expected_type(question.in_full).kind} & {"date", "number"}:
            others = [column for column in others if not column.order]  # no day answers "who delivered it?"
        if types.expected_type(question.in_full).kind == "date":  # no room answers "when is the training?"
            others = [column for column in others if column.is_dated or column.clock]
        if question.language.operations.counting.search(question.in_full):
            others = [column for column in others if not is_of_money(column, question)]
        names = table.name_column
        asking = content_words(question) - used
        naming = frozenset[str]().union(*(column.keywords for column in table.columns if column not in unnamed))
        # "museum invoice" of "Number": the row is asked for by its customer; "who represents Ada?" of "Agency" and "Represents"
        if names in unnamed and asking and (asking <= title_words(table, question) or asking <= naming):
            column, likeness = names, 1.0
        elif len(others) == 1 and not rest and types.is_request(question.in_full):  # "flour waffles" of "Amount"
            column, likeness = others[0], 1.0
        else:
            column, likeness = meant_column(question, others, used)
        if column is not None:
            found.append((likeness, table, (row, column)))
    return [(table, place) for _, table, place in sorted(found, key=lambda each: -each[0])]


def requested_row(question: Question, table: Table) -> tuple[int, frozenset[str]] | None:
    """Return the only row that a question names, with the words that do; None if it names none, several, or relates rows to each other."""
    operations = question.language.operations
    words_as_written = frozenset(fold(question.in_full).split())
    # "the first day of term" of a row that is called so
    is_order = operations.order(question.text) is not None and not has_named_order(question, table)
    if operations.relating & words_as_written or is_order or operations.offers(question.choice):
        return None
    if {*map(fold, operations.summing.findall(question.in_full))} - table.headers:  # "what did she pay in all?"
        return None
    if question.is_of_files and bound_words(question):  # "lessons under 60 euros" are not the one of 60 minutes
        return None
    words = content_words(question)
    counted = operations.counting.search(question.in_full)
    # "how many boats are there?" is not asked of the rowing boat
    if counted and is_document_item(table.rows[0]["page"]):
        behind = question.in_full[counted.end() :].split()[:1]
        words -= title_words(table, question) & question.language.properties.keyword_set(behind)
    if column_of_ballot(question, table) is not None:  # "who voted against it" of "No"
        words -= question.language.properties.keyword_set(operations.voting.union(*operations.ballots.values()))
    selection = table.selection(words)
    if _is_at_a_time(question, table) and (len(selection.rows) != 1 or table.clocks):
        selection = selected_rows(question, table, words) or selection  # "how warm was it at 18:00?"
    namesake = table.own_row(selection)
    rows = selection.rows if namesake is None else [namesake]
    if len(rows) > 1 and table.pairs:  # "when did Ines write?", not to whom
        rows = in_named_column(question, table, selection, words)
    if len(rows) != 1 or not selection.used or not selection.is_whole or len(table.rows) < 2:
        return None
    if is_unexplained("cell", question, table, words, selection.used):
        return None
    if not table.pairs and is_document_item(table.rows[0]["page"]) and not _names_cell(table, rows[0], selection.used):
        return None
    return rows[0], selection.used


def _has_words(column: Column, row: int, table: Table, words: AbstractSet[str]) -> bool:
    """Return True if the cell of a column in a row has some of the keywords."""
    cell = column.cells[row]
    return cell is not None and not table.words.keywords(cell["text"]).isdisjoint(words)


def _names_cell(table: Table, row: int, used: AbstractSet[str]) -> bool:
    """Return True if some words are more than a third of those of a cell: "school" is not "Last day of school".

    Words that no cell has name the row by its time.
    """
    cells = (cell for column in table.columns if (cell := column.cells[row]) is not None)
    names = [name for cell in cells if used & (name := table.words.keywords(cell["text"]))]
    return not names or any(3 * len(used & name) > sum(map(str.isalpha, name)) for name in names)


def has_named_order(question: Question, table: Table) -> bool:
    """Return True if a cell of a file has the words of an order, and a question all words of the cell: "First day of term"."""
    order, keywords = question.language.operations.order(question.text), question.language.properties.keywords
    if order is None or not is_document_item(table.rows[0]["page"]):
        return False
    words = keywords(question.in_full)
    texts = (text for column in table.columns if not column.order for text in column.texts)
    return any(order.words <= {*fold(text).split()} and keywords(text) <= words for text in texts)


def _is_at_a_time(question: Question, table: Table) -> bool:
    """Return True if a question names a time by which a file's table may have one row: "gas in February" of dates."""
    times, text = question.language.times, question.in_full
    if not question.is_of_files or table.pairs or question.language.operations.asks_for_several(text):
        return False
    if table.clocks and times.clock(text) is not None:
        return True
    return len(table.dated) == 1 and (times.seasons(text) is not None or times.time(text) is not None)


def requested_cell(question: Question, table: Table) -> tuple[int, Column] | None:
    """Return the row and the column that a question names; None if it names none, several, or relates rows to each other."""
    row, used = requested_row(question, table) or (0, frozenset[str]())
    column = _requested_column(question, table, row, used) if used else None
    return None if column is None or _has_words(column, row, table, used) else (row, column)


def _requested_column(question: Question, table: Table, row: int, matched: AbstractSet[str]) -> Column | None:
    words = question.language.properties.keywords(question.in_full)
    wide = with_measures(words, question)
    if question.expected.kind == "person":  # "who drives it?" of a column "Driver"
        wide = question.language.operations.with_doers(wide)
    if question.language.answer_types.expected_type(question.in_full).kind == "place":
        origins = question.language.operations.origins.get(fold(question.in_full).split()[-1], frozenset())
        if headed := [column for column in table.columns if not origins.isdisjoint(fold(column.header).split())]:
            return headed[0]  # "where is she from" of "Room" and "Country"
        wide |= question.language.properties.keyword_set(question.language.operations.located)
    if (side := column_of_ballot(question, table)) is not None:
        return side
    held = [column for column in table.columns if is_of_holders(column, question)]
    if held and question.language.operations.holding.search(question.in_full):  # "who has Emma?"
        return held[0]
    if bound := _hour(question, table, row) or _first_or_last_day(question, table):
        return bound
    head = head_keywords(question)
    day_names = question.language.properties.keyword_set(question.language.answer_types.date_nouns)
    births = question.language.properties.keyword_set(question.language.operations.births)
    asking = words - day_names | (births if words & births else frozenset())
    of_days = [column for column in table.dated if column.keywords & asking]
    if head & day_names and len(of_days) == 1:  # "due date" of "Date" and "Due": each of them is a date
        return of_days[0]
    asks_when = question.language.answer_types.expected_type(question.in_full).kind == "date"
    days_named, _ = dates_meant(question, table) if question.is_of_files and (asks_when or head) else ([], head)
    deadlines = question.language.properties.keyword_set(question.language.operations.deadlines)
    if len(days_named) == 1 and (asks_when or head & deadlines):  # "deadline for the dog" of a column "By"
        return days_named[0]
    if headed := [column for column in table.columns if column.keywords & head]:
        shared = {column: len(column.keywords & words) for column in headed}
        nearest = max(headed, key=lambda column: (shared[column] / len(column.keywords), shared[column]))
        # of "Lunch Meat" and "Lunch Vegetarian" the first, which the question names as well
        group = [column for column in headed if column.header.split()[:1] == nearest.header.split()[:1]]
        alike = [column for column in group if column.keywords & words == nearest.keywords & words]
        return nearest if nearest.keywords <= words else alike[0]
    fits = _fits(question, table, row, matched, words, wide)
    if question.language.literals.paying.match(question.in_full):  # "how much is the single room" of "Room" and "Price"
        prices = [column for column in fits if is_of_money(column, question)]
        rest = unexplained(question, table, content_words(question), matched)
        adding = question.language.properties.keyword_set(question.language.operations.adding)
        names_of = question.language.literals.names_of
        # "how much is the deposit for 2A?" asks for no rent
        is_for_price = all(word in adding or names_of(word) & money_words(question) for word in rest)
        if len(prices) == 1 and question.is_of_files and is_for_price:
            return prices[0]
    if measures := {column: fit for column, fit in fits.items() if column.order and column.keywords & (wide - words)}:
        # "how large is the plot" of "Plot" and "Area"
        is_counted = question.language.operations.counting.search(question.in_full)
        named = [column for column in fits if column.keywords & words]
        are_numbers = all(column.numbers_rows or column is table.name_column for column in named)
        fits = measures if question.expected.kind == "number" and are_numbers and not is_counted else fits
    last = question.in_full.rsplit(maxsplit=1)[-1]
    verb = question.language.properties.keywords(last) if not any(map(str.isdigit, last)) else frozenset[str]()
    # "what did the café order?" is no number of an order
    fits = {column: fit for column, fit in fits.items() if not (column.numbers_rows and column.keywords <= verb)}
    best = max(fits.values(), default=None)
    is_named = best is not None and best[-1] >= _LEAST_COVERAGE
    if date := _only_date(question, table, row, matched, is_named):
        return date
    fitting = [column for column, fit in fits.items() if fit == best]
    # "what does it charge?" of a column "Rate per hour"
    is_measure = len(fitting) == 1 and not fitting[0].keywords.isdisjoint(wide - words)
    return fitting[0] if is_measure or (len(fitting) == 1 and is_named) else None


def _hour(question: Question, table: Table, row: int) -> Column | None:
    """Return the column of hours of a file for "what time is X" and "until when is X", where a row has hours; None without one."""
    times, clocks = question.language.times, [column for column in table.clocks if column.clock[row]]
    asks_for_hour = times.hours.search(question.in_full) is not None
    bound = times.bound_when.match(question.in_full)
    if not clocks or table.pairs or not (asks_for_hour or bound) or not is_document_item(table.rows[row]["page"]):
        return None
    words = question.language.properties.keywords(question.in_full)
    if any(column.keywords & words for column in table.clocks):
        return None  # the question names the column
    if bound["end"] if bound else times.boundary(question.in_full) is Boundary.END:
        ends = (times.ending | times.until) & {*fold(clocks[-1].header).split()}
        return clocks[-1] if ends else None
    return clocks[0]


def _first_or_last_day(question: Question, table: Table) -> Column | None:
    """Return the column of the first or the last day, "From" or "To", for "from when is X away", "until when" and "when is X back"."""
    bound = question.language.times.bound_when.match(question.in_full)
    is_back = question.language.operations.back.search(question.text) is not None
    if not (bound or is_back) or table.pairs or not lasts(question, table.dated):
        return None
    return table.dated[1] if is_back or (bound and bound["end"]) else table.dated[0]


def _fits(
    question: Question, table: Table, row: int, matched: AbstractSet[str], words: AbstractSet[str], wide: frozenset[str]
) -> dict[Column, tuple[int, bool, float]]:
    """Return how well a question names the columns by which it does not name the row.

    By the number of words of the header, by a word of its measure or doer, and by the share of the header that it has.
    """
    fits = {}
    for column in table.columns:
        if _has_words(column, row, table, matched):
            continue
        # "who got a mail from Ines?" of "To", "when does Jonas work on Monday?" of "Mon"
        # and "points" of "Pts"
        is_called = column.keywords & words and (table.pairs or not table.words.keywords(column.header) & words)
        coverage = 1.0 if is_called else question.property_names.coverage(column.label, wide)
        fits[column] = (max(1, len(column.keywords & words)), bool(column.keywords & wide), coverage)
    return fits


def _only_date(question: Question, table: Table, row: int, matched: AbstractSet[str], is_named: bool) -> Column | None:
    """Return the only column of dates of a file if a question asks when, and names no other column: "when is the fire drill?"."""
    types = question.language.answer_types
    asks_when = "date" in (question.expected.kind, types.expected_type(question.in_full).kind)
    # the cell that a question does not name may be empty and say nothing
    # of "Start" and "End" the first
    is_one = len(table.dated) == 1 or lasts(question, table.dated)
    if not asks_when or not is_one or table.dated[0].is_empty(row):
        return None
    # "when do we rehearse?" of "Extra rehearsals"
    if not is_document_item(table.rows[row]["page"]) or matched <= table.title_keywords:
        return None
    if table.pairs:  # "when did she write?" of a mail
        return table.dated[0]
    rest = unexplained(question, table, content_words(question), matched)
    return None if is_named or rest else table.dated[0]


def _answers(question: Question, table: Table, column: Column, cell: Cell) -> list[Entity]:
    """Return the answers in the cell that a question asks for."""
    kind, text = question.expected.kind, cell["text"]
    is_request = question.language.answer_types.is_request(question.in_full)
    is_amount = column.order is not None and not column.is_dated
    is_named = bool(column.keywords) and column.keywords <= question.language.properties.keywords(question.in_full)
    # a model takes "electricity in january" for a question for a date
    if kind not in ("number", "any") and is_request and is_amount and (value := value_at(text, 0, len(text))):
        return [value]
    day = day_in(text) if column.is_dated else None
    # "8-16" below "Mon", "15 April"
    is_day = column.lacks_years and (kind == "date" or is_request)
    if (kind == "date" and column.is_timed) or is_day or column.is_of_weekday:
        return [{"id": text, "label": text}]
    if day is not None and (day.start, day.end) == (0, len(text)):
        return [day.entity]
    answers = cell_answers(cell, question)
    name = without_address(text)
    if table.pairs and name != text:  # of an address
        answers = [{"id": name, "label": name}]
    is_code = is_phone(text) or (_CODE.fullmatch(text) and value_at(text, 0, len(text)) is None)
    if kind == "number" and is_code and not column.order:
        return [{"id": text, "label": text}]  # a number plate, of which no part is a number
    if kind == "number":
        if not answers and text.isdecimal() and not column.is_dated:  # a count that looks like a year
            answers = [number_entity(text)]
        if (number := value_at(text, 0, len(text))) is not None:
            # with its unit; of "1 h 50 min" no number is a part
            answers = [{"id": answer["id"], "label": number["label"]} for answer in answers] or [number]
    if column.keywords & head_keywords(question):  # "what size" may be "large"
        is_said = text.strip().lower() not in UNKNOWN and not any(map(str.isdigit, text))
        return answers or ([{"id": text, "label": text}] if is_said else [])
    # "location manager phone" asks for no place
    if is_named and kind not in ("date", "number") and not question.language.answer_types.asks(question.in_full):
        return answers
    return [answer for answer in answers if is_of_kind(answer, question, column)]


def is_of_kind(answer: Entity, question: Question, column: Column) -> bool:
    """Return True if an answer in a column may be of the kind that a question expects."""
    kind = question.expected.kind
    if kind in ("date", "number"):
        value = value_of(answer["label"])  # "1 h 50 min" has no number as its id
        is_amount = is_number(answer["id"]) or (value is not None and value.unit in BASE_UNITS)
        return is_date(answer["id"]) if kind == "date" else is_amount
    located = question.language.properties.keyword_set(question.language.operations.located)
    if kind == "place" and column.keywords & located:
        return True  # "B2" below "Shelf"
    if kind in ("person", "place") and any(map(str.isdigit, answer["label"])):
        return False
    types = question.language.answer_types
    if types.expected_type(question.in_full).kind != "person" or types.expected_type(column.header).kind == "person":
        return True
    # "Who produced her album?" asks for no cell below "Album", "Who published it?" for one below "Publisher"
    return not set(fold(column.header).split()) <= set(fold(question.in_full).split())


def _places(question: Question, table: Table, row: int, column: Column) -> tuple[int, ...]:
    """Return the places of the evidences of a cell; of a pair that it is, if it is there."""
    headed = set()
    for evidence in table.pairs[row] if table.pairs else ():
        if "attribute" in evidence and evidence["attribute"]["path"][-1] == column.header:
            headed.add(evidence["evidence_text"])
    places = [place for place, read in enumerate(question.evidences) if read.evidence["evidence_text"] in headed]
    return tuple(places) or table.evidence_places([row])


def choices(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return which of the values that a question offers the only row has that it names: "Is the axe in the north or the south?"."""
    words = content_words(question)
    for table in tables:
        offered = alternatives(question, table)
        selection = table.selection(words.difference(*offered))
        namesake = table.own_row(selection)
        rows = selection.rows if namesake is None else [namesake]
        held = [name for name in offered if rows[0] in offered[name]] if len(rows) == 1 and selection.used else []
        if len(held) != 1 or is_unexplained("cell", question, table, words, selection.used.union(*offered)):
            continue
        texts = (cell["text"] for column in table.columns if (cell := column.cells[rows[0]]) is not None)
        label = next((text for text in texts if table.words.keywords(text) == held[0]), None)
        if label is not None:
            return [Computed({"id": label, "label": label}, "cell", table.evidence_places(rows))]
    return []
