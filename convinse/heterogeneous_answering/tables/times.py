"""The rows of a table at a time that a question names: in a period, on a day of any year, at an hour."""

from __future__ import annotations

import calendar
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import date, timedelta

from ...language.text import fold
from ...language.time_words import PartOfTime
from ...records.literals import is_calendar_day
from ...records.periods import AskedTime, Boundary
from ..question import Question
from .columns import Column
from .table import Selection, Table

_DAYS_OF_YEAR = 366  # of a period that are taken one by one: a leap year
_Day = tuple[int, int, int]  # year, month and day, which is 0 of a month


def is_time_of_headers(question: Question, table: Table, words: AbstractSet[str]) -> bool:
    """Return True if the time of a question stands in headers, and no column of dates is named: "gas in 2024"."""
    time = _words_of_time(question)
    return time <= table.headers and not any(column.keywords & words - time for column in table.dated)


def words_of_seasons(question: Question, table: Table) -> frozenset[str]:
    """Return the keywords of the months, days and weekdays of a question by which the days of a table are judged."""
    season = _season(question, table)
    if season is None:
        return frozenset()
    keywords = question.language.properties.keywords
    return keywords(season.words) & keywords(question.in_full) - table.headers


def _season(question: Question, table: Table) -> PartOfTime | None:
    """Return the days that a question names without a year, if a table has dates; days without a year have no weekday but the one written."""
    season = question.language.times.seasons(question.in_full) if table.dated else None
    is_of_weekdays = season is not None and not {*fold(season.words).split()}.isdisjoint(map(fold, calendar.day_name))
    return None if is_of_weekdays and all(column.lacks_years for column in table.dated) else season


def rows_in_time(
    question: Question, table: Table, selected: Selection, time: AskedTime, words: AbstractSet[str]
) -> Selection:
    """Keep the rows whose period fits the time of a question."""
    dated = _dated(question, table, words)
    within = {*table.within(time, dated[0].keywords if len(dated) == 1 else words)}
    if (
        not time.period.is_point and time.boundary is Boundary.ANY
    ):  # "2012-13": its own row, not also the seasons beside it
        whole = {row for row, period in table.periods() if period is not None and period == time.period}
        within = within & whole or within
    return Selection(
        [row for row in selected.rows if row in within],
        selected.used.union(
            _words_of_time(question), dates_meant(question, table)[1], *(column.keywords for column in dated)
        ),
        unjudged=selected.unjudged + _undated(selected.rows, dated),
        lacking=dated[0].header if dated else "",
    )


def rows_in_season(question: Question, table: Table, selected: Selection, words: AbstractSet[str]) -> Selection | None:
    """Keep the rows with a day that a question names without a year, by month, day or weekday, if no row has the word for it.

    Of rows with a first and a last day those between them, too. None for "before 3 March" of several years.
    """
    season = _season(question, table)
    named = words_of_seasons(question, table)  # none for "May", which is a stop word, too
    names = named & words
    if season is None or (named and not names):
        return selected
    dated = _dated(question, table, question.language.properties.keywords(question.in_full))
    days: dict[int, list[_Day]] = {}
    for row in selected.rows:
        days[row] = [day for column in dated if (day := column.day(row))]
    if (on_day := _on_day(question, season)) and any(on_day.admits(*day) for of_row in days.values() for day in of_row):
        season = on_day
    years = {year for of_row in days.values() for year, _, _ in of_row}
    if season.is_bound and len(years) > 1:
        return None
    if lasts(question, dated):
        days = {row: _days_between(of_row) for row, of_row in days.items()}
    explained = names or dated[0].keywords
    if season.is_bound:
        explained |= question.language.properties.keyword_set(
            question.language.times.bounding & {*fold(question.in_full).split()}
        )
    return Selection(
        [row for row, of_row in days.items() if any(season.admits(*day) for day in of_row)],
        selected.used.union(
            explained,
            dates_meant(question, table)[1],
            *(column.keywords for column in dated if column.keywords & words),
        ),
        unjudged=_undated(selected.rows, dated),
        lacking=dated[0].header,
    )


def _on_day(question: Question, season: PartOfTime) -> PartOfTime | None:
    """Return the day that a question for one thing has behind "from": "the invoice from 20 April"; None for "invoices from 20 April"."""
    if not season.is_bound or question.language.operations.asks_for_several(question.in_full):
        return None
    times = question.language.times
    words = [word for word in question.in_full.split() if word.casefold() not in times.since]
    day = times.seasons(" ".join(words))
    return None if day is None or day.is_bound else day


def dates_meant(question: Question, table: Table) -> tuple[list[Column], frozenset[str]]:
    """Return the columns of dates that a verb means, with its keyword: "From" for "who started on 30 March", "Return" for "due back"."""
    times, operations = question.language.times, question.language.operations
    spoken = {*fold(question.in_full).split()}
    if operations.absent.search(question.in_full):
        return [], frozenset()
    is_back = operations.back.search(question.in_full) is not None
    deadlines = {word for word in operations.deadlines if not is_back or operations.back.fullmatch(word)}
    for verbs, names in (
        (times.starting, times.starting | times.since | operations.earliest),
        (times.ending, times.ending | times.until | operations.latest),
        (operations.deadlines - operations.due_words | {"due"}, deadlines),
    ):
        said = question.language.properties.keyword_set(spoken & verbs)
        columns = [column for column in table.dated if names & {*fold(column.header).split()}]
        is_of_task = operations.undone.search(question.in_full) is not None and names is deadlines
        if columns and (is_of_task or said - table.headers):
            return columns, said
    return [], frozenset()


def _dated(question: Question, table: Table, words: AbstractSet[str]) -> list[Column]:
    """Return the columns of dates that keywords name, or else all; of a file the first of "Date" and "Due"."""
    by_verb, _ = dates_meant(question, table) if question.is_of_files else ([], frozenset())
    dated = by_verb or table.dated_by(words)
    day_names = question.language.properties.keyword_set(question.language.answer_types.date_nouns)
    is_by_day = question.is_of_files and len(dated) > 1 and dated[0].keywords <= day_names
    return dated[:1] if is_by_day and not lasts(question, dated) else dated


def rows_at_hours(question: Question, table: Table, selected: Selection, hours: PartOfTime) -> Selection:
    """Keep the rows with a time of the day that a question asks for; of a column for the beginning and one for the end, those between."""
    keywords = question.language.properties.keywords
    words = keywords(question.in_full)
    columns = [column for column in table.clocks if column.keywords & words] or table.clocks[:2]
    if len(columns) > 1 and columns == table.clocks[:2]:  # "who starts at 9:30?" of a column "Begins"
        boundary = question.language.times.boundary(question.in_full.replace(hours.words, " "))
        columns = {Boundary.START: columns[:1], Boundary.END: columns[1:]}.get(boundary, columns)
    rows = []
    for row in selected.rows:
        minutes = [clock for column in columns if (clock := column.clock[row]) is not None]
        if minutes and hours.admits(minutes[0][0], minutes[-1][1]):
            rows.append(row)
    named = (column.keywords & words for column in columns)
    return Selection(
        rows,
        selected.used.union(keywords(hours.words), columns[0].keywords, *named),
        unjudged=selected.unjudged + sum(columns[0].clock[row] is None for row in selected.rows),
        lacking=columns[0].header,
    )


def lasts(question: Question, dated: Sequence[Column]) -> bool:
    """Return True if columns of dates are of the first and the last day of what their rows are: "From" and "Until"."""
    if len(dated) != 2:
        return False
    times, operations = question.language.times, question.language.operations
    begin, end = ({*fold(column.header).split()} for column in dated)
    is_begun = begin & (times.starting | times.since | operations.earliest)
    return bool(is_begun and end & (times.ending | times.until | times.beside | operations.latest))


def when_absent(question: Question, tables: Sequence[Table]) -> tuple[Question, Sequence[Table]]:
    """Return a question for who is away, without that word, and the tables of absences; both as they are without such a table.

    "Who is off on 20 May?" of a file "leave" with the columns "From" and "To" is not asked of the visits on 20 May.
    """
    absent, absences = question.language.operations.absent, question.language.operations.absences
    if not question.is_of_files or absent.search(question.in_full) is None:
        return question, tables
    of_absences = []
    for table in tables:
        title = question.items.label(table.rows[0]["page"]) or ""
        texts = (title, *(text for column in table.columns for text in (column.header, *column.texts)))
        if lasts(question, table.dated) and not absences.isdisjoint(fold(" ".join(texts)).split()):
            of_absences.append(table)
    if not of_absences:
        return question, tables
    keywords = question.language.properties.keywords
    said = frozenset[str]().union(*(row for table in of_absences for row in table.row_keywords))
    in_full = absent.sub(lambda match: match[0] if keywords(match[0]) & said else " ", question.in_full)
    return replace(question, in_full=in_full), of_absences


def _words_of_time(question: Question) -> frozenset[str]:
    keywords, text = question.language.properties.keywords, question.in_full
    return keywords(text) - keywords(question.language.times.without_time(text))


def _undated(rows: Sequence[int], dated: Sequence[Column]) -> int:
    """Return how many of some rows have no date in any of some columns."""
    return sum(all(column.amount(row) is None for column in dated) for row in rows)


def _days_between(days: list[_Day]) -> list[_Day]:
    """Return the days from the first to the last, of a year at most; the days themselves if one of them is a month."""
    if len(days) != 2 or not all(is_calendar_day(*day) for day in days):
        return days
    first, last = (date(*day) for day in days)
    number = min(_DAYS_OF_YEAR, (last - first).days + 1)
    between = [first + timedelta(days=place) for place in range(number)]
    return [(day.year, day.month, day.day) for day in between]
