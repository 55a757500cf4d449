"""The rows of a table that a question selects: by words of their cells, bounds, a time, a state."""

from __future__ import annotations

import calendar
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import takewhile

from ...language.text import fold
from ...records.conversation import Extent
from ..question import Question
from .bounds import Bound, bound_words, bounds_of, limiting_column, measure_of
from .columns import Column
from .states import denied_words, named_state, rows_in_state
from .table import Selection, Table
from .times import dates_meant, is_time_of_headers, lasts, rows_at_hours, rows_in_season, rows_in_time, words_of_seasons
from .words import is_unexplained, unexplained

_PARTS = re.compile(r"[,;/&]")  # between the things of a cell: "oak, brass"


def selected_rows(question: Question, table: Table, words: frozenset[str]) -> Selection | None:
    """Return the rows that a question selects by some of its words, its bounds and its time; None if one of them cannot be judged."""
    text, operations = question.in_full, question.language.operations
    hours = question.language.times.clock(text) if table.clocks else None
    if hours is not None:
        hourless = replace(question, in_full=text.replace(hours.words, " "))
        at_any_hour = selected_rows(hourless, table, words & question.language.properties.keywords(hourless.in_full))
        return None if at_any_hour is None else rows_at_hours(question, table, at_any_hour, hours)
    either = alternatives(question, table)
    if not either and (sides := _sides(question)):
        return _selected_by_either(question, table, words, *sides)
    if not either and operations.offers(text) and question.language.words.denial.search(text):
        return None  # "not paid or overdue"
    return _RowConditions(question, table, words, either).selection()


class _RowConditions:
    """The conditions of a question on the rows of a table.

    Each has words of the question, which no cell needs to have. The rows with all other words are the first ones; then each
    condition keeps some of the rows, and adds its words to those that are used.

    Args:
        question: the question.
        table: the table.
        words: the keywords of the question that select rows.
        either: the names between which the question has "or"; see `alternatives`.
    """

    def __init__(
        self, question: Question, table: Table, words: frozenset[str], either: Mapping[frozenset[str], AbstractSet[int]]
    ) -> None:
        times, keywords = question.language.times, question.language.properties.keywords
        self._question, self._table, self._either = question, table, either
        self._limit = limiting_column(question, table)
        bounds = list(bounds_of(question))
        denied, self._denying = denied_words(question, table)
        if self._limit or _denies(question, bounds):
            denied = frozenset()
        offered = frozenset[str]().union(*either)
        self._is_offer_denied = bool(either) and denied >= offered
        self._denied = denied - offered
        words = words.difference(offered, *(keywords(bound.words) for bound in bounds))
        self._spelling = question.language.operations.spelling.search(question.in_full)
        if self._spelling:
            words -= keywords(self._spelling[0])
        words |= self._denied
        unbound = question.in_full
        for bound in bounds:
            unbound = unbound.replace(bound.words, " ")
        caption = table.rows[0]["caption"]  # "up to 2010" of "Finals up to 2010" leaves out no row
        self._bounds = [bound for bound in bounds if not re.search(rf"\b{bound.written:g}\b", caption)]
        self._time = times.time(unbound)
        if self._time is not None and is_time_of_headers(question, table, words):
            self._time = None  # "gas in 2024"
        if self._time is not None and table.dated:  # "after 1 March" is no word of a row
            words &= keywords(times.without_time(unbound))
        self._words = words
        self._first = table.selection(words - self._denied - self._words_of_days())

    def _words_of_days(self) -> frozenset[str]:
        """Return the words of months and weekdays that are read as dates; none if there is a row with all of them."""
        words = words_of_seasons(self._question, self._table)
        season = self._question.language.times.seasons(self._question.in_full)
        # the 1 of "1 May" is not that of "17.1", and "before 1 May" not on it
        if all(map(str.isdigit, words)) or (season is not None and season.is_bound):
            return words
        in_cells = self._table.selection(words)
        # no row is of January and of April
        is_joint = self._question.language.operations.jointly.search(self._question.in_full)
        is_of_cells = in_cells.is_whole and in_cells.used == words and not is_joint
        return frozenset() if is_of_cells else words

    def selection(self) -> Selection | None:
        """Return the rows that all conditions keep; None if one of them cannot be judged."""
        if not self._first.is_whole:
            return None
        rows = in_named_column(self._question, self._table, self._first, self._words)
        selected: Selection | None = self._first._replace(rows=rows)
        for condition in (
            self._by_offer,
            self._by_letters,
            self._by_bounds,
            self._by_limit,
            self._by_time,
            self._by_state,
        ):
            if selected is not None:
                selected = condition(selected)
        return selected

    def _by_offer(self, selected: Selection) -> Selection:
        """Keep the rows with one of the names between which the question has "or"; without them if they are denied."""
        if not self._either:
            return selected
        offered = frozenset[int]().union(*self._either.values())
        rows = [row for row in selected.rows if (row in offered) != self._is_offer_denied]
        return selected._replace(rows=rows, used=selected.used.union(*self._either, self._denying))

    def _by_letters(self, selected: Selection) -> Selection:
        """Keep the rows whose name begins or ends with letters, or has them: "which begin with Z"."""
        if self._spelling is None:
            return selected
        properties, operations = self._question.language.properties, self._question.language.operations
        head = properties.keywords(operations.head(self._question.in_full))
        named = (column for column in self._table.columns if column.keywords & head)
        column = next(named, self._table.name_column)
        letters = fold(self._spelling["letters"])
        kinds = {"first": str.startswith, "last": str.endswith, "within": str.__contains__}
        holds = next(test for kind, test in kinds.items() if self._spelling[kind])
        rows = []
        for row in selected.rows:
            cell = column.cells[row] if column else None
            if cell is not None and holds(fold(cell["text"]), letters):
                rows.append(row)
        return selected._replace(rows=rows, used=selected.used | properties.keywords(self._spelling[0]))

    def _by_bounds(self, selected: Selection) -> Selection | None:
        """Keep the rows whose amounts are within the bounds; None if it is unclear which amounts are meant."""
        for bound in self._bounds:
            is_of_table = not unexplained(self._question, self._table, self._words, selected.used)
            measure = measure_of(self._question, self._table, bound, self._words, is_of_table)
            if measure is None:
                return None
            words = self._question.language.properties.keywords(bound.words)
            selected = Selection(
                [row for row in selected.rows if bound.admits(row, measure)],
                selected.used | words | measure.keywords,
                unjudged=selected.unjudged + sum(measure.amount(row) is None for row in selected.rows),
                lacking=measure.header,
            )
        return selected

    def _by_limit(self, selected: Selection) -> Selection:
        """Keep the rows whose amount is within that of another column: "below the minimum stock"."""
        limit = self._limit
        if limit is None:
            return selected
        judged = {row: limit.admits(row) for row in selected.rows}
        return Selection(
            [row for row, is_within in judged.items() if is_within],
            selected.used | limit.words,
            unjudged=selected.unjudged + list(judged.values()).count(None),
            lacking=limit.measure.header,
        )

    def _by_time(self, selected: Selection) -> Selection | None:
        """Keep the rows in the time of the question, or on its days of any year; a bound is no day ("under 3 March")."""
        if self._time is not None and (self._table.dated or not self._bounds):
            return rows_in_time(self._question, self._table, selected, self._time, self._words)
        if self._bounds:
            return selected
        return rows_in_season(self._question, self._table, selected, self._words - self._first.used)

    def _by_state(self, selected: Selection) -> Selection | None:
        """Keep the rows in the state that the question names, and leave out those with words that it denies."""
        denied = self._denied
        if state := rows_in_state(self._question, self._table, selected, self._words, denied):
            column, selected = state
            selected = selected._replace(used=selected.used | self._denying)
            denied &= self._table.selection(denied).used  # "not done yet"
            if column.is_dated:  # "no check date" of "Next check"
                language = self._question.language
                denied -= language.properties.keyword_set(language.answer_types.date_nouns)
        denied &= self._words
        return _without(self._table, selected, denied) if denied else selected


def _denies(question: Question, bounds: Sequence[Bound]) -> bool:
    """Return True if a question denies its first bound, "not more than 5", and no state: "above 500 euros that are not paid"."""
    denial = question.language.words.denial.search(question.in_full)
    if denial is None or not bounds:
        return False
    place = question.in_full.find(bounds[0].words)
    return denial.start() <= place and len(question.in_full[denial.end() : place].split()) <= 1


def _without(table: Table, selected: Selection, words: frozenset[str]) -> Selection | None:
    """Leave out the rows that have some words; None if no row has them."""
    denied = table.selection(words)
    if not denied.used or not denied.is_whole:
        return None
    left_out = {*denied.rows}
    rows = [row for row in selected.rows if row not in left_out]
    return selected._replace(rows=rows, used=selected.used | denied.used)


def alternatives(question: Question, table: Table) -> dict[frozenset[str], set[int]]:
    """Return the names in cells of one column between which a question has "or", with their rows: "in the store or in the tower"."""
    operations, keywords = question.language.operations, question.language.properties.keywords
    if not operations.offers(question.in_full) or operations.compares(question.in_full):
        return {}
    words = question.in_full.split()
    place = _place_of_or(question, words)
    sides = keywords(" ".join(words[:place])), keywords(" ".join(words[place:]))
    best: dict[frozenset[str], set[int]] = {}
    for column in table.columns:
        names: dict[frozenset[str], set[int]] = defaultdict(set)
        for row, cell in enumerate(column.cells):
            for part in _PARTS.split(cell["text"]) if cell is not None else ():
                name = keywords(part)
                if name and any(name <= side for side in sides):
                    names[name].add(row)
        is_on_both_sides = all(any(name <= side for name in names) for side in sides)
        if is_on_both_sides and len(names) > max(1, len(best)):
            best = names
    return best


def _place_of_or(question: Question, words: Sequence[str]) -> int:
    offering = question.language.operations.offering
    return next((place for place, word in enumerate(words) if fold(word) in offering), 0)


def _sides(question: Question) -> tuple[str, str, str] | None:
    """Return what is in front of two conditions with "or" between them, and both: "rooms", "with a lift", "above 50 euros"."""
    operations = question.language.operations
    if not operations.offers(question.in_full) or (operations.compares(question.in_full) and not bound_words(question)):
        return None
    words, common = question.in_full.split(), question.language.words.common
    place = start = _place_of_or(question, words)
    while start and fold(words[start - 1]) not in common:
        start -= 1
    while start and fold(words[start - 1]) in common:
        start -= 1
    first, second = words[start:place], words[place + 1 :]
    if not first or not second:
        return None
    if fold(second[0]) not in common:
        if question.language.words.denial.search(" ".join(first)):
            return None  # "not paid or overdue" may be neither of both
        # "in May or June"
        second = [*takewhile(lambda word: fold(word) in common, first), *second]
    return " ".join(words[:start]), " ".join(first), " ".join(second)


def _selected_by_either(
    question: Question, table: Table, words: frozenset[str], before: str, first: str, second: str
) -> Selection | None:
    """Return the rows that one of two conditions selects; None if one of them selects nothing."""
    keywords = question.language.properties.keywords
    selections = []
    for condition in (first, second):
        alone = replace(question, in_full=f"{before} {condition}")
        selected = selected_rows(alone, table, words & keywords(alone.in_full))
        if selected is None or not selected.used & keywords(condition):
            return None
        selections.append(selected)
    one, other = selections
    return Selection(
        sorted({*one.rows, *other.rows}),
        one.used | other.used,
        unjudged=max(one.unjudged, other.unjudged),
        lacking=one.lacking or other.lacking,
    )


def in_named_column(question: Question, table: Table, selection: Selection, words: AbstractSet[str]) -> list[int]:
    """Return the selected rows, of those that have the words in the column that a question names only these.

    The mails that Ines sent; the days on which Ines has the "Evening shift"; the fields with barley in "Crop 2025".
    """
    rows, used = selection.rows, selection.used
    led = {column: needed for column in table.columns if (needed := _led_words(question, column) & used)}
    if led:  # "from Ulm to Bonn" of columns "From" and "To"
        return [row for row in rows if all(needed <= _cell_words(table, row, column) for column, needed in led.items())]
    named = [column for column in table.columns[1:] if _is_named(column, words, table)]
    best = max((len(column.keywords & words) for column in named), default=0)
    named = [column for column in named if len(column.keywords & words) == best]
    if len(named) > 1 and table.pairs:  # "mails" names both who sent and who got them
        return [row for row in rows if any(column.cells[row] for column in named)] or rows
    if len(named) != 1 or not used:  # "not paid" is in no cell
        return rows
    return [row for row in rows if used <= _cell_words(table, row, named[0])] or rows


def _cell_words(table: Table, row: int, column: Column) -> frozenset[str]:
    cell = column.cells[row]
    return frozenset() if cell is None else table.words.keywords(cell["text"])


def _led_words(question: Question, column: Column) -> frozenset[str]:
    """Return the keywords of the word of a question behind a header that is a stop word: Ulm in "from Ulm"."""
    header, language = fold(column.header), question.language
    if header not in language.words.common:
        return frozenset()
    leading = "|".join(sorted(language.operations.leading.get(header, (header,))))
    led = re.search(rf"(?i)\b(?:{leading})\s+(?:the\s+)?(\S+)", question.in_full)
    return language.properties.keywords(led[1]) if led else frozenset()


def _is_named(column: Column, words: AbstractSet[str], table: Table) -> bool:
    """Return True if some words are those of a header: of a pair one, of a column all or its year."""
    if table.pairs:
        return bool(column.keywords & words)
    years = {word for word in column.keywords if word.isdigit()}
    return bool(column.keywords) and (years or column.keywords) <= words


def best_explained(
    operation: str, question: Question, tables: Sequence[Table], words: frozenset[str]
) -> list[tuple[Table, Selection]]:
    """Return the tables of which a question selects rows, and these, without those that leave too much of it unexplained.

    The table that explains most comes first.
    """
    # "on Tuesday" of a column of days of the week is not asked of dates of birth
    season = question.language.times.seasons(question.in_full)
    days = question.language.properties.keywords(season.words) if season else frozenset[str]()
    digits = frozenset(word for word in days if word.isdigit())  # 15 is no day of prices
    days &= question.language.properties.keyword_set(map(fold, calendar.day_name))
    saying = [table for table in tables if days and any(days & row for row in table.row_keywords)]
    explained: list[tuple[Table, Selection]] = []
    for table in saying or tables:
        selected = selected_rows(question, table, words - _topic_words(question, table))
        if (
            selected is not None
            and not is_unexplained(operation, question, table, words, selected.used)
            and not _is_of_other_state(question, table, words, selected)
            and (table.dated or not digits & selected.used)
        ):
            explained.append((table, selected))

    def rank(pair: tuple[Table, Selection]) -> tuple[int, bool]:
        table, selected = pair
        return len(unexplained(question, table, words, selected.used)), not dates_meant(question, table)[0]

    return sorted(explained, key=rank)


def _is_of_other_state(question: Question, table: Table, words: frozenset[str], selected: Selection) -> bool:
    """Return True if a question says more of a state, or of what is at a time of the year, than a table: "finished late", "who was ill in May"."""
    properties, operations, text = question.language.properties, question.language.operations, question.in_full
    is_of_person = question.language.answer_types.expected_type(text).kind == "person"
    # "who is off on 3 March?" of what lasts from a day to another
    is_of_time = is_of_person and not lasts(question, table.dated) and question.language.times.seasons(text) is not None
    if not named_state(question, table) and not is_of_time:
        return False
    nouns_and_verbs = properties.keyword_set([*operations.head(text).split()[:1], *operations.verbs.findall(text)])
    return bool(unexplained(question, table, words, selected.used) - denied_words(question, table)[0] - nouns_and_verbs)


def _topic_words(question: Question, table: Table) -> frozenset[str]:
    """Return the words of the name of the page of a table if the question is about it: they select none of its rows."""
    label = question.items.label(table.rows[0]["page"]) or ""
    return question.language.properties.keywords(label) if is_of_topic(question, table) else frozenset()


def is_of_topic(question: Question, table: Table) -> bool:
    """Return True if a question is about the page of a table."""
    page = table.rows[0]["page"]
    return any(entity["id"] == page for entity in question.about)


def extent_of(table: Table, selected: Selection) -> Extent:
    """Return how many rows of how many files were selected, and how many could not be judged."""
    extent = Extent(rows=len(selected.rows), files=len({table.rows[row]["page"] for row in selected.rows}))
    if selected.unjudged:
        extent["unjudged"], extent["lacking"] = selected.unjudged, selected.lacking
    return extent
