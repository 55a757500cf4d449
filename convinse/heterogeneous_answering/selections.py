"""The rows of a table that a question selects: by words of their cells, bounds, a time, yes or no."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import date, timedelta
from itertools import takewhile

from ..language.text import fold
from ..language.time_words import PartOfTime
from ..records.conversation import Extent
from ..records.literals import is_calendar_day
from ..records.periods import AskedTime, Boundary
from ..records.written_values import UNKNOWN
from .bounds import Bound, Limit, bound_words, bounds_of, limiting_column, measure_of
from .question import Question
from .tables import Column, Selection, Table, lettered

# words of a question that an operation may leave unexplained; chosen on WikiTableQuestions' training part
_MOST_UNEXPLAINED = {"cell": 1, "count": 1, "list": 1, "sum": 0}
_DAYS_OF_YEAR = 366  # of a period that are taken one by one: a leap year
_PARTS = re.compile(r"[,;/&]")  # between the things of a cell: "oak, brass"


def selected_rows(question: Question, table: Table, words: frozenset[str]) -> Selection | None:
    """Return the rows that a question selects by some of its words, its bounds and its time; None if one of them cannot be judged."""
    keywords, times = question.language.properties.keywords, question.language.times
    if table.clocks and (hours := times.clock(question.in_full)):
        hourless = replace(question, in_full=question.in_full.replace(hours.words, " "))
        at_any_hour = selected_rows(hourless, table, words & keywords(hourless.in_full))
        return at_any_hour and _at_hours(question, table, at_any_hour, hours)
    either = alternatives(question, table)
    if not either and (sides := _sides(question)):
        return _selected_by_either(question, table, words, *sides)
    if (
        not either
        and question.language.operations.offers(question.in_full)
        and question.language.words.denial.search(question.in_full)
    ):
        return None  # "not paid or overdue"
    bounds = list(bounds_of(question))
    words = words.difference(*(keywords(bound.words) for bound in bounds))
    words = words.difference(*either)
    spelt = question.language.operations.spelling.search(question.in_full)
    words -= keywords(spelt[0]) if spelt else frozenset()
    denied, denying = denied_words(question, table)
    limit = limiting_column(question, table)
    denied = frozenset[str]() if bounds or limit else denied
    is_either_denied = bool(either) and denied >= frozenset().union(*either)
    denied = denied.difference(*either)
    words |= denied
    rest = question.in_full
    for bound in bounds:
        rest = rest.replace(bound.words, " ")
    caption = table.rows[0]["caption"]  # "up to 2010" of "Finals up to 2010" leaves out no row
    bounds = [bound for bound in bounds if not re.search(rf"\b{bound.written:g}\b", caption)]
    time = times.time(rest)
    if time is not None and _names_column(question, table, words):
        time = None  # "gas in 2024"
    if time is not None and table.dated:  # "after 1 March" is no word of a row
        words &= keywords(times.without_time(rest))
    seasons = _words_of_seasons(question, table)
    in_cells = table.selection(seasons)
    # no row is of January and of April
    is_joint = question.language.operations.jointly.search(question.in_full)
    if in_cells.is_whole and in_cells.used == seasons and not is_joint:
        seasons = frozenset()
    selection = table.selection(words - denied - seasons)
    if not selection.is_whole:
        return None
    selected = selection._replace(rows=in_named_column(question, table, selection, words))
    if either:
        those = set().union(*either.values())
        rows = [row for row in selected.rows if (row in those) != is_either_denied]
        selected = selected._replace(rows=rows, used=selected.used.union(*either, denying))
    if spelt:
        selected = _spelt(question, table, selected, spelt)
    for bound in bounds:
        is_of_table = not unexplained(question, table, words, selected.used)
        measure = measure_of(question, table, bound, words, is_of_table)
        if measure is None:
            return None
        selected = _within_bound(question, selected, bound, measure)
    if limit is not None:
        selected = _within_limit(selected, limit)
    if time is not None and (table.dated or not bounds):
        selected = _within_time(question, table, selected, time, words)
    elif not bounds:
        within = _in_season(question, table, selected, words - selection.used)
        if within is None:
            return None
        selected = within
    # "not paid" asks for the rows with "no" below "Paid", or with nothing; "paid" for those with "yes"
    stated = [column for column in table.columns if column.keywords & words and _says_yes_or_no(column, question)]
    if stated:
        selected = _said(question, selected, stated[0], is_denied=bool(stated[0].keywords & denied))
    elif state := named_state(question, table):
        column, state_words, is_denied = state
        stated = [column]
        rows = [row for row in selected.rows if column.is_empty(row) is is_denied]
        selected = selected._replace(rows=rows, used=selected.used | state_words, unjudged=0, lacking=column.header)
        if is_denied:
            denied &= table.selection(denied).used  # "not done yet"
    elif empty := [column for column in table.amounts if _has_none(column, denied)]:
        stated = empty  # "not available" of "Available: 0"
        rows = [row for row in selected.rows if empty[0].amount(row) == 0]
        selected = selected._replace(rows=rows, used=selected.used | empty[0].keywords, lacking=empty[0].header)
    elif gaps := [column for column in table.columns if _lacks(column, table, denied)]:
        stated = gaps
        rows = [row for row in selected.rows if gaps[0].is_empty(row)]
        selected = selected._replace(rows=rows, used=selected.used | gaps[0].keywords)
    if stated:
        selected = selected._replace(used=selected.used | denying)
        denied &= table.selection(denied - stated[0].keywords).used
        if stated[0].is_dated:  # "no check date" of "Next check"
            denied -= question.language.properties.keyword_set(question.language.answer_types.date_nouns)
    return _without(table, selected, denied & words) if denied & words else selected


def alternatives(question: Question, table: Table) -> dict[frozenset[str], set[int]]:
    """Return the names in cells of one column between which a question has "or", with their rows: "in the store or in the tower"."""
    operations, keywords = question.language.operations, question.language.properties.keywords
    compares = operations.comparison(question.in_full), operations.compares_dates(question.in_full)
    if not operations.offers(question.in_full) or compares != (None, None):  # "which is older, the axe or the saw?"
        return {}
    words = question.in_full.split()
    place = next((place for place, word in enumerate(words) if fold(word) in operations.offering), 0)
    sides = keywords(" ".join(words[:place])), keywords(" ".join(words[place:]))
    best: dict[frozenset[str], set[int]] = {}
    for column in table.columns:
        names: dict[frozenset[str], set[int]] = defaultdict(set)
        for row, cell in enumerate(column.cells):
            for part in _PARTS.split(cell["text"]) if cell is not None else ():
                if (name := keywords(part)) and any(name <= side for side in sides):
                    names[name].add(row)
        if all(any(name <= side for name in names) for side in sides) and len(names) > max(1, len(best)):
            best = names
    return best


def _sides(question: Question) -> tuple[str, str, str] | None:
    """Return what is in front of two conditions with "or" between them, and both: "rooms", "with a lift", "above 50 euros"."""
    operations, text = question.language.operations, question.in_full
    compares = operations.comparison(text), operations.compares_dates(text)
    if not operations.offers(text) or (compares != (None, None) and not bound_words(question)):
        return None
    words, common = text.split(), question.language.words.common
    place = next(place for place, word in enumerate(words) if fold(word) in operations.offering)
    start = place
    while start and fold(words[start - 1]) not in common:
        start -= 1
    while start and fold(words[start - 1]) in common:
        start -= 1
    first, second = words[start:place], words[place + 1 :]
    denial = question.language.words.denial.search
    if not first or not second or (denial(" ".join(first)) and fold(second[0]) not in common):
        return None  # "not paid or overdue" may be neither of both
    if fold(second[0]) not in common:  # "in May or June"
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
    unjudged = max(one.unjudged, other.unjudged)
    rows, lacking = sorted({*one.rows, *other.rows}), one.lacking or other.lacking
    return Selection(rows, one.used | other.used, unjudged=unjudged, lacking=lacking)


def _names_column(question: Question, table: Table, words: AbstractSet[str]) -> bool:
    """Return True if the time of a question stands in headers, and no column of dates is named: "gas in 2024"."""
    time = _words_of_time(question)
    return time <= table.headers and not any(column.keywords & words - time for column in table.dated)


def in_named_column(question: Question, table: Table, selection: Selection, words: AbstractSet[str]) -> list[int]:
    """Return the selected rows, of those that have the words in the column that a question names only these.

    The mails that Ines sent; the days on which Ines has the "Evening shift"; the fields with barley in "Crop 2025".
    """
    led = {column: _led_words(question, column) & selection.used for column in table.columns}
    if any(led.values()):  # "from Ulm to Bonn" of columns "From" and "To"
        return [row for row in selection.rows if all(those <= table.words.keywords(cell["text"] if cell else "")
                for column, those in led.items() if those for cell in (column.cells[row],))]  # fmt: skip
    named = [column for column in table.columns[1:] if _is_named(column, words, table)]
    best = max((len(column.keywords & words) for column in named), default=0)
    named = [column for column in named if len(column.keywords & words) == best]
    if len(named) > 1 and table.pairs:  # "mails" names both who sent and who got them
        return [row for row in selection.rows if any(column.cells[row] for column in named)] or selection.rows
    if len(named) != 1 or not selection.used:  # "not paid" is in no cell
        return selection.rows
    having = {row: cell["text"] for row in selection.rows if (cell := named[0].cells[row]) is not None}
    rows = [row for row, text in having.items() if selection.used <= table.words.keywords(text)]
    return rows or selection.rows


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
    years = {word for word in column.keywords if word.isdigit()}
    return (
        bool(column.keywords & words) if table.pairs else bool(column.keywords) and (years or column.keywords) <= words
    )


def _spelt(question: Question, table: Table, selected: Selection, spelt: re.Match[str]) -> Selection:
    """Keep the rows whose name begins or ends with letters, or has them: "which begin with Z"."""
    properties = question.language.properties
    head = properties.keywords(question.language.operations.head(question.in_full))
    column = next((column for column in table.columns if column.keywords & head), table.name_column)
    letters = fold(spelt["letters"])
    kinds = {"first": str.startswith, "last": str.endswith, "within": str.__contains__}
    holds = next(test for name, test in kinds.items() if spelt[name])
    cells = {row: cell["text"] for row in selected.rows if column and (cell := column.cells[row])}
    rows = [row for row, text in cells.items() if holds(fold(text), letters)]
    return selected._replace(rows=rows, used=selected.used | properties.keywords(spelt[0]))


def denied_words(question: Question, table: Table) -> tuple[frozenset[str], frozenset[str]]:
    """Return the keywords that a question denies, and of the words that deny them.

    They stand behind "not", up to a comma: "not paid, of Acker"; within "unpaid"; beside "is missing" those of headers.
    """
    properties, operations = question.language.properties, question.language.operations
    denial = question.language.words.denial.search(question.in_full)
    behind = question.in_full[denial.end() :].partition(",")[0] if denial else ""
    denied = properties.keywords(behind)
    denying = frozenset[str]()
    for word in fold(question.in_full).split():
        verb = properties.keyword(word.removeprefix(operations.reversing))
        if (
            word.startswith(operations.reversing)
            and verb in table.headers
            and not table.selection({properties.keyword(word)}).used
        ):
            denied, denying = denied | {verb}, denying | {properties.keyword(word)}
    if missing := operations.missing.search(question.in_full):
        denied |= properties.keywords(question.in_full) & table.headers
        denying |= properties.keywords(missing[0])
    return denied, denying


def named_state(question: Question, table: Table) -> tuple[Column, frozenset[str], bool] | None:
    """Return the column of the state that a question names, the words for it, and whether it is denied: "not done" of "Done by"."""
    operations, text = question.language.operations, question.in_full
    denial = question.language.words.denial.search(text)
    for column in table.columns:
        header = operations.states.fullmatch(column.header.strip()) if column.has_gaps else None
        state = header and (
            header["done"] or header["phrase"] or header["alone"] or (header["dated"] if column.is_dated else None)
        )
        if state:
            named = re.search(rf"\b({operations.reversing})?{_said_of(state, question)}\b", text, re.IGNORECASE)
            if named:
                words = column.keywords | {fold(named[0])}
                if denial is None or denial.end() > named.start():
                    return column, words, bool(named[1])
                begin = text.rfind(" ", 0, denial.end()) + 1  # of "haven't"
                return column, words | question.language.properties.keywords(text[begin : named.end()]), True
    return None


def _said_of(state: str, question: Question) -> str:
    """Return a pattern for how a question says a state: "handed it back" for "handed back", "did he return it" for "returned"."""
    keyword, text = question.language.properties.keyword, question.in_full
    verb, *particles = state.split()
    verbs = {verb, *(re.findall(r"\w+", text) if question.language.times.asks_about_past(text) else ())}
    forms = [re.escape(word) for word in sorted(verbs) if keyword(fold(word)) == keyword(fold(verb))]
    return rf"(?:{'|'.join(forms)})" + "".join(rf"(?: \w+){{0,2}} {re.escape(word)}" for word in particles)


def _has_none(column: Column, words: AbstractSet[str]) -> bool:
    """Return True if some words without a number name a column of amounts that may be 0."""
    return (
        bool(column.keywords) and column.keywords <= words and 0 in column.amounts and not any(map(str.isdigit, words))
    )


def _lacks(column: Column, table: Table, words: AbstractSet[str]) -> bool:
    """Return True if a column with some of the words has empty cells; among pairs, which are of many kinds, with all its words there."""
    return bool(column.keywords & words) and column.has_gaps and not (table.pairs and column.keywords - words)


def _words_of_time(question: Question) -> frozenset[str]:
    keywords, text = question.language.properties.keywords, question.in_full
    return keywords(text) - keywords(question.language.times.without_time(text))


def _within_bound(question: Question, selected: Selection, bound: Bound, measure: Column) -> Selection:
    unjudged = selected.unjudged + sum(measure.amount(row) is None for row in selected.rows)
    rows = [row for row in selected.rows if bound.admits(row, measure)]
    used = selected.used | question.language.properties.keywords(bound.words) | measure.keywords
    return Selection(rows, used, unjudged=unjudged, lacking=measure.header)


def _within_limit(selected: Selection, limit: Limit) -> Selection:
    judged = {row: limit.admits(row) for row in selected.rows}
    unjudged = selected.unjudged + list(judged.values()).count(None)
    rows = [row for row, is_within in judged.items() if is_within]
    return Selection(rows, selected.used | limit.words, unjudged=unjudged, lacking=limit.measure.header)


def _within_time(
    question: Question, table: Table, selected: Selection, time: AskedTime, words: AbstractSet[str]
) -> Selection:
    dated = table.dated_by(words)
    unjudged = selected.unjudged + sum(_is_undated(row, dated) for row in selected.rows)
    within = {*table.within(time, words)}
    used = selected.used.union(_words_of_time(question), *(column.keywords for column in dated))
    rows = [row for row in selected.rows if row in within]
    return Selection(rows, used, unjudged=unjudged, lacking=dated[0].header if dated else "")


def _in_season(question: Question, table: Table, selected: Selection, words: AbstractSet[str]) -> Selection | None:
    """Keep the rows with a day that a question names without a year, by month, day or weekday, if no row has the word for it.

    Of rows with a first and a last day those between them, too. None for "before 3 March" of several years.
    """
    season = question.language.times.seasons(question.in_full) if table.dated else None
    named = _words_of_seasons(question, table)  # none for "May", which is a stop word, too
    names = named & words
    if season is None or (named and not names):
        return selected
    dated = table.dated_by(question.language.properties.keywords(question.in_full))
    unjudged = sum(_is_undated(row, dated) for row in selected.rows)
    days: dict[int, Sequence[tuple[int, int, int]]] = {
        row: [day for column in dated if (day := column.day(row))] for row in selected.rows
    }
    if season.is_bound and len({year for those in days.values() for year, *_ in those}) > 1:
        return None
    if len(dated) == 2 and _begins_and_ends(question, *dated):
        days = {row: _days_between(those) for row, those in days.items()}
    rows = [row for row, those in days.items() if any(season.admits(*day) for day in those)]
    explained = names or dated[0].keywords
    used = selected.used.union(explained, *(column.keywords for column in dated if column.keywords & words))
    return Selection(rows, used, unjudged=unjudged, lacking=dated[0].header)


def _begins_and_ends(question: Question, first: Column, last: Column) -> bool:
    """Return True if two columns have the first and the last day of what their rows are: "From" and "Until"."""
    times, operations = question.language.times, question.language.operations
    begin, end = ({*fold(column.header).split()} for column in (first, last))
    is_begun = begin & (times.starting | times.since | operations.earliest)
    return bool(is_begun and end & (times.ending | times.until | times.beside | operations.latest))


def _days_between(days: Sequence[tuple[int, int, int]]) -> Sequence[tuple[int, int, int]]:
    """Return the days from the first to the last, of a year at most; the days themselves if one of them is a month."""
    if len(days) != 2 or not all(is_calendar_day(*day) for day in days):
        return days
    first, last = (date(*day) for day in days)
    between = (first + timedelta(days=number) for number in range(min(_DAYS_OF_YEAR, (last - first).days + 1)))
    return [(day.year, day.month, day.day) for day in between]


def _at_hours(question: Question, table: Table, selected: Selection, hours: PartOfTime) -> Selection:
    """Keep the rows with a time of the day that a question asks for; of a column for the beginning and one for the end, those between."""
    words = question.language.properties.keywords(question.in_full)
    columns = [column for column in table.clocks if column.keywords & words] or table.clocks[:2]
    if len(columns) > 1 and columns == table.clocks[:2]:  # "who starts at 9:30?" of a column "Begins"
        boundary = question.language.times.boundary(question.in_full.replace(hours.words, " "))
        columns = {Boundary.START: columns[:1], Boundary.END: columns[1:]}.get(boundary, columns)
    rows = []
    for row in selected.rows:
        minutes = [clock for column in columns if (clock := column.clock[row]) is not None]
        if minutes and hours.admits(minutes[0][0], minutes[-1][1]):
            rows.append(row)
    unjudged = selected.unjudged + sum(columns[0].clock[row] is None for row in selected.rows)
    used = selected.used.union(
        question.language.properties.keywords(hours.words), *(column.keywords & words for column in columns)
    )
    return Selection(rows, used | columns[0].keywords, unjudged=unjudged, lacking=columns[0].header)


def _words_of_seasons(question: Question, table: Table) -> frozenset[str]:
    """Return the keywords of the months, days and weekdays of a question by which the days of a table are judged."""
    season = question.language.times.seasons(question.in_full) if table.dated else None
    keywords = question.language.properties.keywords
    return frozenset() if season is None else keywords(season.words) & keywords(question.in_full) - table.headers


def _is_undated(row: int, dated: Sequence[Column]) -> bool:
    return all(column.amount(row) is None for column in dated)


def _said(question: Question, selected: Selection, column: Column, is_denied: bool) -> Selection:
    """Keep the rows with yes in a column, or with no."""
    meanings = {
        row: _is_yes(cell["text"], question) for row in selected.rows if (cell := column.cells[row]) is not None
    }
    unjudged = selected.unjudged + sum(meanings.get(row) is None for row in selected.rows)
    rows = [row for row in selected.rows if meanings.get(row) is (not is_denied)]
    return Selection(rows, selected.used | column.keywords, unjudged=unjudged, lacking=column.header)


def _without(table: Table, selected: Selection, words: frozenset[str]) -> Selection | None:
    """Keep the rows that do not have some words; None if no row has them."""
    denied = table.selection(words)
    if not denied.used or not denied.is_whole:
        return None
    left_out = {*denied.rows}
    rows = [row for row in selected.rows if row not in left_out]
    return selected._replace(rows=rows, used=selected.used | denied.used)


def _says_yes_or_no(column: Column, question: Question) -> bool:
    texts = [text for text in column.texts if text.lower() not in UNKNOWN]
    return bool(texts) and all(_is_yes(text, question) is not None for text in texts)


def _is_yes(text: str, question: Question) -> bool | None:
    operations, word = question.language.operations, fold(text)
    return True if word in operations.affirming else False if word in operations.refusing else None


def unexplained(question: Question, table: Table, words: AbstractSet[str], used: AbstractSet[str]) -> frozenset[str]:
    """Return the words of a question that are neither used nor those of the table's headers, title or pages."""
    names_of = question.language.literals.names_of
    rest = words - used - title_words(table, question)
    return frozenset(word for word in rest if not names_of(word) & table.headers)


def title_words(table: Table, question: Question) -> frozenset[str]:
    """Return the keywords of the caption and the pages of a table."""
    page = question.language.properties.keywords(question.items.label(table.rows[0]["page"]) or "")
    return page.union(table.title_keywords, *table.titles.values())


def is_unexplained(
    operation: str, question: Question, table: Table, words: AbstractSet[str], used: AbstractSet[str]
) -> bool:
    """Return True if an operation may not leave so many words of a question unexplained."""
    rest = unexplained(question, table, words, used)
    return sum(not word.isdigit() or operation == "cell" for word in rest) > _MOST_UNEXPLAINED[operation]


def best_explained(
    operation: str, question: Question, tables: Sequence[Table], words: frozenset[str]
) -> list[tuple[Table, Selection]]:
    """Return the tables of which a question selects rows, and these, without those that leave too much of it unexplained.

    The table that explains most comes first.
    """
    # "on Tuesday" of a column of days of the week is not asked of dates of birth
    season = question.language.times.seasons(question.in_full)
    days = question.language.properties.keywords(season.words) if season else frozenset[str]()
    saying = [table for table in tables if days and any(days & row for row in table.row_keywords)]
    selections = [
        (table, selected)
        for table in saying or tables
        if (selected := selected_rows(question, table, words - _topic_words(question, table)))
    ]
    explained = [
        (table, selected)
        for table, selected in selections
        if not is_unexplained(operation, question, table, words, selected.used)
        and not _is_of_other_state(question, table, words, selected)
    ]
    return sorted(explained, key=lambda pair: len(unexplained(question, pair[0], words, pair[1].used)))


def _is_of_other_state(question: Question, table: Table, words: frozenset[str], selected: Selection) -> bool:
    """Return True if a question says more of a state, or of what is at a time of the year, than a table: "finished late", "who was ill in May"."""
    properties, operations, text = question.language.properties, question.language.operations, question.in_full
    is_of_person = question.language.answer_types.expected_type(text).kind == "person"
    # "who is off on 3 March?" of what lasts from a day to another
    lasts = len(table.dated) == 2 and _begins_and_ends(question, *table.dated)
    is_of_time = is_of_person and not lasts and question.language.times.seasons(text) is not None
    if not named_state(question, table) and not is_of_time:
        return False
    nouns_and_verbs = properties.keyword_set([*operations.head(text).split()[:1], *operations.verbs.findall(text)])
    return bool(unexplained(question, table, words, selected.used) - denied_words(question, table)[0] - nouns_and_verbs)


def _topic_words(question: Question, table: Table) -> frozenset[str]:
    """Return the words of the name of the page of a table if the question is about it: they select none of its rows."""
    page = table.rows[0]["page"]
    is_topic = any(entity["id"] == page for entity in question.about)
    return question.language.properties.keywords(question.items.label(page) or "") if is_topic else frozenset()


def extent_of(table: Table, selected: Selection) -> Extent:
    """Return how many rows of how many files were selected, and how many could not be judged."""
    extent = Extent(rows=len(selected.rows), files=len({table.rows[row]["page"] for row in selected.rows}))
    if selected.unjudged:
        extent["unjudged"], extent["lacking"] = selected.unjudged, selected.lacking
    return extent


def relates_rows(question: Question, tables: Sequence[Table]) -> bool:
    """Return True if a question asks for rows by other rows, not by a bound, a column or a time."""
    operations, spoken = question.language.operations, fold(question.in_full).split()
    words = {word for place, word in enumerate(spoken) if not operations.is_denied(spoken, place)}  # "no next check"
    if denial := question.language.words.denial.search(question.in_full):
        words -= {*fold(denial[0]).split()}
    if bound_words(question) or any(limiting_column(question, table) for table in tables):
        return bool((operations.relating - operations.greater - operations.lesser - operations.bounding) & words)
    times, text = question.language.times, question.in_full
    is_timed = times.time(text) or times.seasons(text) or (times.clock(text) and any(table.clocks for table in tables))
    return bool(operations.relating & words) and not is_timed


def content_words(question: Question) -> frozenset[str]:
    """Return the keywords of a question without "how many" and "how much"."""
    keywords, many = question.language.properties.keywords, question.language.literals.counted.search(question.in_full)
    return (keywords(question.in_full) | lettered(question.in_full)) - (keywords(many[0]) if many else frozenset())
