"""How long the row of a table lasts: "How long did the relay take?" of columns "Start" and "End"."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from ...language.operations import AskedOrder
from ...records.evidence import Entity
from ...records.literals import is_calendar_day
from ...records.units import UNIT_RANKS
from ..candidates import Computed
from ..question import Question
from .columns import Column
from .selections import extent_of
from .series import column_of_people, is_of_births, starts
from .table import Table, evidence_of_row
from .times import lasts
from .words import content_words, title_words, unexplained

_MOST_VERBS = 1  # words of a question that no table has: "take", "run"


def durations(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return how long the one row of a file lasts that a question names: "How long did the relay take?" of "Start" and "End"."""
    asking = question.language.operations.lasting.search(question.in_full)
    if asking is None or not question.is_of_files:
        return []
    words = content_words(question) - question.language.properties.keywords(asking[0])
    for table in tables:
        selected = table.selection(words)
        rest = unexplained(question, table, words, selected.used) - question.language.properties.light_keywords
        if len(selected.rows) != 1 or not selected.used or len(rest) > _MOST_VERBS:
            continue
        row, names = selected.rows[0], table.name_column
        is_name = names is not None and selected.used <= table.words.keyword_set(names.texts)
        if not is_name and selected.used not in table.named(selected.used):
            continue  # "how long will the hotel take?" names no project by its customer
        span = _span_of_days(question, table, row) or _span_of_hours(table, row)
        if span is not None and span > timedelta():
            label = _in_words(span)
            extent = extent_of(table, selected)
            return [Computed({"id": label, "label": label}, "span", table.evidence_places([row]), extent=extent)]
    return []


def lasting_longest(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the rows of a file that last the longest, or the shortest: "Who stays the longest?" of "Arrival" and "Departure"."""
    operations, properties = question.language.operations, question.language.properties
    order = operations.order(question.text) or operations.order(question.in_full)
    if order is None or not question.is_of_files or not order.by & properties.keyword_set(UNIT_RANKS[1]):
        return []
    words = content_words(question) - properties.keyword_set(order.words) - order.by
    if any(_has_length(question, table, order) for table in tables):
        return []
    for table in tables:
        selected = table.selection(words)
        rest = unexplained(question, table, words, selected.used) - properties.light_keywords
        spans = {row: _span_of_days(question, table, row) or _span_of_hours(table, row) for row in selected.rows}
        lasting = {row: span for row, span in spans.items() if span is not None}
        is_open = operations.staying.search(question.in_full) and len(lasting) < len(selected.rows)
        if order.by & table.headers or len({*lasting.values()}) < 2 or len(rest) > _MOST_VERBS or is_open:
            continue
        head = properties.keywords(operations.head(question.text))
        is_for_person = question.language.answer_types.expected_type(question.in_full).kind == "person"
        people = column_of_people(table, table.name_column, question) if is_for_person else None
        headed = next((column for column in table.columns if column.keywords & head), people or table.name_column)
        best = (max if order.highest else min)(lasting.values())
        rows = [row for row, span in lasting.items() if span == best]
        cells = [cell for row in rows if headed is not None and (cell := headed.cells[row]) is not None]
        names: list[Entity] = [{"id": cell["text"], "label": cell["text"]} for cell in cells]
        if len(names) == len(rows):
            extent = extent_of(table, selected)
            members = tuple(
                (name, evidence_of_row(table, row, question)) for row, name in zip(rows, names, strict=True)
            )
            places = table.evidence_places(rows)
            return [Computed(names[0], "order", places, members=members if len(rows) > 1 else (), extent=extent)]
    return []


def _has_length(question: Question, table: Table, order: AskedOrder) -> bool:
    """Return True if a table says how long its things take, or since when they last, and a question names these.

    "Shortest treatment" of columns "Treatment" and "Duration", "who has worked here longest?" of "Since".
    """
    if question.language.operations.staying_on.search(question.in_full):
        return len(table.dated) == 1 and starts(table, question)
    things = {*order.noun} & (table.headers | title_words(table, question))
    lengths = [column for column in table.amounts if column.keywords & order.by and not column.is_timed]
    return bool(things and lengths)


def _span_of_days(question: Question, table: Table, row: int) -> timedelta | None:
    """Return the time between the first and the last day of a row, to the minute if both say so; None without both."""
    if any(is_of_births(column, question) for column in table.dated):
        return None  # from a birth to the day of joining nothing lasts
    if not lasts(question, table.dated) and not _are_in_order(table.dated):
        return None
    cells = (column.cells[row] for column in table.dated)
    try:
        first, last = (datetime.fromisoformat(cell["text"]) for cell in cells if cell is not None)
        return last - first
    except (ValueError, TypeError):  # days in words, or one with a time zone and one without
        days = [day for column in table.dated if (day := column.day(row)) and is_calendar_day(*day)]
        return date(*days[1]) - date(*days[0]) if len(days) == 2 else None


def _are_in_order(dated: Sequence[Column]) -> bool:
    """Return True for two columns of dates of which the second is never before the first: "Received" and "Returned"."""
    if len(dated) != 2:
        return False
    pairs = [(first, last) for first, last in zip(dated[0].amounts, dated[1].amounts, strict=True) if first and last]
    return bool(pairs) and all(first <= last for first, last in pairs)


def _span_of_hours(table: Table, row: int) -> timedelta | None:
    """Return the time from the first to the last hour of a row, of one column or two; None without both."""
    clocks = [clock for column in table.clocks if (clock := column.clock[row]) is not None]
    if not 0 < len(clocks) <= 2:
        return None
    span = timedelta(minutes=clocks[-1][1] - clocks[0][0])
    return span if span >= timedelta() else span + timedelta(days=1)  # a night shift from 22:00 to 6:00


def _in_words(span: timedelta) -> str:
    """Return a time in words: "60 days", "3 h 30 min"."""
    hours, minutes = divmod(int(span.total_seconds()) // 60, 60)
    if span.days:
        return f"{span.days} day{'s' if span.days > 1 else ''}"
    return " ".join(part for part in (f"{hours} h" if hours else "", f"{minutes} min" if minutes else "") if part)
