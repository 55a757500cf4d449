"""The rows of a table that a question selects: by words of their cells, bounds, a time, yes or no."""

from __future__ import annotations

import calendar
import re
from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ..language.text import fold
from ..records.conversation import Extent
from ..records.periods import AskedTime
from ..records.written_values import UNKNOWN
from .bounds import Bound, Limit, bound_words, bounds_of, limiting_column, measure_of
from .question import Question
from .tables import Column, Selection, Table

# words of a question that an operation may leave unexplained; chosen on WikiTableQuestions' training part
_MOST_UNEXPLAINED = {"cell": 1, "count": 1, "list": 1, "sum": 0}
_PARTS = re.compile(r"[,;/&]")  # between the things of a cell: "oak, brass"


def selected_rows(question: Question, table: Table, words: frozenset[str]) -> Selection | None:
    """Return the rows that a question selects by some of its words, its bounds and its time; None if one of them cannot be judged."""
    bounds, keywords, times = list(bounds_of(question)), question.language.properties.keywords, question.language.times
    words = words.difference(*(keywords(bound.words) for bound in bounds))
    either = alternatives(question, table)
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
    # no row is of January and of April
    if table.selection(seasons).is_whole and not question.language.operations.jointly.search(question.in_full):
        seasons = frozenset()
    selection = table.selection(words - denied - seasons)
    if not selection.is_whole:
        return None
    selected = selection._replace(rows=_in_named_column(table, selection, words))
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
        selected = _in_season(question, table, selected, words - selection.used)
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
    elif gaps := [column for column in table.columns if _lacks(column, table, denied)]:
        stated = gaps
        rows = [row for row in selected.rows if gaps[0].is_empty(row)]
        selected = selected._replace(rows=rows, used=selected.used | gaps[0].keywords)
    if stated:
        selected = selected._replace(used=selected.used | denying)
        denied -= stated[0].keywords
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


def _names_column(question: Question, table: Table, words: AbstractSet[str]) -> bool:
    """Return True if the time of a question stands in headers, and no column of dates is named: "gas in 2024"."""
    time = _words_of_time(question)
    return time <= table.headers and not any(column.keywords & words - time for column in table.dated)


def _in_named_column(table: Table, selection: Selection, words: AbstractSet[str]) -> list[int]:
    """Return the selected rows, of those that have the words in the column that a question names only these.

    The mails that Ines sent; the days on which Ines has the "Evening shift"; the fields with barley in "Crop 2025".
    """
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
        state = header and (header["done"] or header["alone"] or (header["dated"] if column.is_dated else None))
        if state:
            named = re.search(rf"\b({operations.reversing})?{re.escape(state)}\b", text, re.IGNORECASE)
            if named:
                words = column.keywords | {fold(named[0])}
                if denial is None or denial.end() > named.start():
                    return column, words, bool(named[1])
                begin = text.rfind(" ", 0, denial.end()) + 1  # of "haven't"
                return column, words | question.language.properties.keywords(text[begin : named.end()]), True
    return None


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


def _in_season(question: Question, table: Table, selected: Selection, words: AbstractSet[str]) -> Selection:
    """Keep the rows with a day in the months or on the weekdays that a question names, if no row has the word for it."""
    is_in_season = question.language.times.seasons(question.in_full) if table.dated else None
    named = _words_of_seasons(question, table)  # none for "May", which is a stop word, too
    names = named & words
    if is_in_season is None or (named and not names):
        return selected
    dated = table.dated_by(words)
    unjudged = sum(_is_undated(row, dated) for row in selected.rows)
    rows = [row for row in selected.rows if any(is_in_season(*day) for column in dated if (day := column.day(row)))]
    explained = names or dated[0].keywords
    used = selected.used.union(explained, *(column.keywords for column in dated if column.keywords & words))
    return Selection(rows, used, unjudged=unjudged, lacking=dated[0].header)


def _words_of_seasons(question: Question, table: Table) -> frozenset[str]:
    """Return the keywords of the months and weekdays of a question by which the days of a table are judged."""
    keywords = question.language.properties.keywords
    if not table.dated or question.language.times.seasons(question.in_full) is None:
        return frozenset()
    names = keywords(" ".join([*calendar.month_name, *calendar.day_name]))
    return names & keywords(question.in_full) - table.headers


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
    selections = [
        (table, selected)
        for table in tables
        if (selected := selected_rows(question, table, words - _topic_words(question, table)))
    ]
    explained = [
        (table, selected)
        for table, selected in selections
        if not is_unexplained(operation, question, table, words, selected.used)
    ]
    return sorted(explained, key=lambda pair: len(unexplained(question, pair[0], words, pair[1].used)))


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
    operations, words = question.language.operations, frozenset(fold(question.in_full).split())
    if denial := question.language.words.denial.search(question.in_full):
        words -= {*fold(denial[0]).split()}
    if bound_words(question) or any(limiting_column(question, table) for table in tables):
        return bool((operations.relating - operations.greater - operations.lesser - operations.bounding) & words)
    return bool(operations.relating & words) and not question.language.times.time(question.in_full)


def content_words(question: Question) -> frozenset[str]:
    """Return the keywords of a question without "how many" and "how much"."""
    keywords, many = question.language.properties.keywords, question.language.literals.counted.search(question.in_full)
    return keywords(question.in_full) - (keywords(many[0]) if many else frozenset())
