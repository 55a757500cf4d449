"""The rows of a table in a state that a question names or denies: "paid", "not returned", "without a phone"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from ...language.text import fold
from ...records.written_values import UNKNOWN
from ..question import Question
from .columns import Column
from .table import Selection, Table, is_alike

_State = tuple[Column, Selection]  # the column that tells a state, and the rows in it


def denied_words(question: Question, table: Table) -> tuple[frozenset[str], frozenset[str]]:
    """Return the keywords that a question denies, and of the words that deny them.

    They stand behind "not", up to a comma: "not paid, of Acker"; within "unpaid"; beside "is missing" those of headers.
    """
    properties, operations = question.language.properties, question.language.operations
    denial = question.language.words.denial.search(question.in_full)
    behind = question.in_full[denial.end() :].partition(",")[0] if denial else ""
    denied = properties.keywords(behind)
    lacking = {word for word in denied if word not in table.headers and not table.selection({word}).used}
    # "no allergy" of "Allergic to"
    denied |= {header for header in table.headers if any(is_alike(word, header) for word in lacking)}
    denying = frozenset[str]()
    for word in fold(question.in_full).split():
        if not word.startswith(operations.reversing):
            continue
        verb, reversed_verb = properties.keyword(word.removeprefix(operations.reversing)), properties.keyword(word)
        if verb in table.headers and not table.selection({reversed_verb}).used:
            denied, denying = denied | {verb}, denying | {reversed_verb}
    if pending := operations.pending.search(question.in_full):  # "still out" of "Returned"
        columns = [column for column in table.columns if _tells_state(column, question)]
        if len(columns) == 1:
            denied |= columns[0].keywords
            denying |= properties.keywords(pending[0])
    if missing := operations.missing.search(question.in_full):
        denied |= properties.keywords(question.in_full) & table.headers
        denying |= properties.keywords(missing[0])
    return denied, denying


def named_state(question: Question, table: Table) -> tuple[Column, frozenset[str], bool] | None:
    """Return the column of the state that a question names, the words for it, and whether it is denied: "not done" of "Done by"."""
    operations, text = question.language.operations, question.in_full
    denial = question.language.words.denial.search(text)
    for column in table.columns:
        state = _state_of_header(column, question)
        if not state:
            continue
        named = re.search(rf"\b({operations.reversing})?{_said_of(state, question)}\b", text, re.IGNORECASE)
        if named is None:
            continue
        words = column.keywords | {fold(named[0])}
        if denial is None or denial.end() > named.start():
            return column, words, bool(named[1])
        begin = text.rfind(" ", 0, denial.end()) + 1  # of "haven't"
        return column, words | question.language.properties.keywords(text[begin : named.end()]), True
    return None


def when_overdue(question: Question, tables: Sequence[Table]) -> Question:
    """Return a question for what is overdue on a day as one for what was due before and is not paid, or done, by the columns of a table."""
    operations, times, text = question.language.operations, question.language.times, question.in_full
    overdue, season = operations.overdue.search(text), times.seasons(text)
    day = season.words if season else "".join(text[start:end] for start, end in times.places(text))
    if overdue is None or not question.is_of_files or day not in text:
        return question
    for table in tables:
        deadlines = [column for column in table.dated if operations.deadlines & {*fold(column.header).split()}]
        judged = [column for column in table.columns if column not in deadlines and _tells_state(column, question)]
        header = operations.states.fullmatch(judged[0].header.strip()) if judged else None
        if day and deadlines and header:
            state = header["done"] or header["alone"] or header["phrase"] or header["dated"]
            leads = "|".join(sorted(times.during | times.by_then))
            rest = re.sub(rf"\b(?:{leads})? ?{re.escape(day)}", "", operations.overdue.sub("", text)).rstrip(" ?.")
            is_request = not question.language.answer_types.asks(text)  # "overdue invoices on 20 April"
            form = operations.overdue_request if is_request else operations.overdue_question
            return replace(question, in_full=form.format(rest, day, state.lower()))
    return question


def _tells_state(column: Column, question: Question) -> bool:
    """Return True if a column says whether something was done: "Returned" with gaps, "Paid" with yes and no."""
    is_amount = column.order is not None and not column.is_dated  # "Children"
    is_judged = (column.has_gaps and not is_amount) or _says_yes_or_no(column, question)
    return is_judged and question.language.operations.states.fullmatch(column.header.strip()) is not None


def _state_of_header(column: Column, question: Question) -> str | None:
    """Return the state that a column with gaps says its rows are in: "done" of "Done by"; None without one."""
    if not column.has_gaps:
        return None
    header = question.language.operations.states.fullmatch(column.header.strip())
    if header is None:
        return None
    return header["done"] or header["phrase"] or header["alone"] or (header["dated"] if column.is_dated else None)


def _said_of(state: str, question: Question) -> str:
    """Return a pattern for how a question says a state: "handed it back" for "handed back", "did he return it" for "returned"."""
    keyword, text = question.language.properties.keyword, question.in_full
    verb, *particles = state.split()
    verbs = {verb, *(re.findall(r"\w+", text) if question.language.times.asks_about_past(text) else ())}
    forms = [re.escape(word) for word in sorted(verbs) if keyword(fold(word)) == keyword(fold(verb))]
    return rf"(?:{'|'.join(forms)})" + "".join(rf"(?: \w+){{0,2}} {re.escape(word)}" for word in particles)


def rows_in_state(
    question: Question, table: Table, selected: Selection, words: AbstractSet[str], denied: AbstractSet[str]
) -> _State | None:
    """Return the column of the state that a question names or denies, and the selected rows in it; None without a state.

    A state is said by yes and no, by a header with gaps below it ("Done by"), by an amount of 0, or by a gap alone.
    """
    return (
        _by_vacancies(question, table, selected)
        or _by_yes_or_no(question, table, selected, words, denied)
        or _by_header(question, table, selected)
        or _by_weekday(table, selected, words, denied)
        or _by_zero(table, selected, denied)
        or _by_gap(table, selected, denied)
    )


def _by_vacancies(question: Question, table: Table, selected: Selection) -> _State | None:
    """Keep the rows with places left for "free", without any for "full"; a question for their number asks for that."""
    column, operations, text = table.vacancies, question.language.operations, question.in_full
    if column is None or operations.order(text):
        return None
    many = operations.counting.search(text)
    counted = question.language.properties.keywords(text[many.end() :]) if many else frozenset[str]()
    is_full = operations.full.search(text) is not None
    if not is_full and counted and column.keywords <= counted:
        return None
    is_left = is_full == (question.language.words.denial.search(text) is not None)
    rows = [row for row in selected.rows if (amount := column.amount(row)) is not None and (amount > 0) is is_left]
    unjudged = sum(column.amount(row) is None for row in selected.rows)
    return column, selected._replace(
        rows=rows, used=selected.used | column.keywords, unjudged=selected.unjudged + unjudged, lacking=column.header
    )


def _by_yes_or_no(
    question: Question, table: Table, selected: Selection, words: AbstractSet[str], denied: AbstractSet[str]
) -> _State | None:
    """Keep the rows with "yes" below "Paid" for "paid", with "no" for "not paid"."""
    # "sponsors who have not paid" of "Received"
    settling = question.language.properties.keyword_set(question.language.operations.settling)
    alike = settling if settling & words else frozenset[str]()
    named = [column for column in table.columns if column.keywords & words]
    named += [column for column in table.columns if column.keywords & alike]
    column = next((column for column in named if _says_yes_or_no(column, question)), None)
    if column is None:
        return None
    is_settled = bool(column.keywords & alike)
    is_named = not column.keywords & denied and not (is_settled and alike & denied)
    meanings: dict[int, bool | None] = {}
    # a mark of an allergy forbids: "who must not have eggs?"
    is_forbidden = not question.language.words.permitting.isdisjoint(fold(question.in_full).split())
    for row in selected.rows:
        cell = column.cells[row]
        if cell is not None and not column.is_empty(row):
            meanings[row] = _is_yes(cell["text"], question)
        elif is_of_marks(column, question) and not (denied and is_forbidden):
            meanings[row] = False
    return column, Selection(
        [row for row in selected.rows if meanings.get(row) is is_named],
        selected.used | column.keywords | (alike & words if is_settled else frozenset()),
        unjudged=selected.unjudged + sum(meanings.get(row) is None for row in selected.rows),
        lacking=column.header,
    )


def _by_header(question: Question, table: Table, selected: Selection) -> _State | None:
    """Keep the rows with something below "Done by" for "done", with nothing for "not done"."""
    state = named_state(question, table)
    if state is None:
        return None
    column, words, is_denied = state
    rows = [row for row in selected.rows if column.is_empty(row) is is_denied]
    return column, selected._replace(rows=rows, used=selected.used | words, unjudged=0, lacking=column.header)


def _by_weekday(table: Table, selected: Selection, words: AbstractSet[str], denied: AbstractSet[str]) -> _State | None:
    """Keep the rows with something below "Sun" for "who works on Sunday", with nothing for "does not work"."""
    for column in table.columns:
        # "who cleans the hall on Monday" of names asks for them
        is_of_rows = column.is_of_weekday and column.has_gaps and not column.may_be_people
        if is_of_rows and column.keywords & words:
            rows = [row for row in selected.rows if column.is_empty(row) is bool(denied)]
            used = selected.used | column.keywords | denied
            return column, selected._replace(rows=rows, used=used, lacking=column.header)
    return None


def _by_zero(table: Table, selected: Selection, denied: AbstractSet[str]) -> _State | None:
    """Keep the rows with 0 below "Available" for "not available"; a question with a number asks for that."""
    if any(map(str.isdigit, denied)):
        return None
    for column in table.amounts:
        if column.keywords and column.keywords <= denied and 0 in column.amounts:
            rows = [row for row in selected.rows if column.amount(row) == 0]
            return column, selected._replace(rows=rows, used=selected.used | column.keywords, lacking=column.header)
    return None


def _by_gap(table: Table, selected: Selection, denied: AbstractSet[str]) -> _State | None:
    """Keep the rows without a cell below "Phone" for "without a phone"; of pairs, which are of many kinds, with all words of the name."""
    for column in table.columns:
        is_denied = bool(column.keywords & denied) and not (table.pairs and column.keywords - denied)
        if is_denied and column.has_gaps:
            rows = [row for row in selected.rows if column.is_empty(row)]
            return column, selected._replace(rows=rows, used=selected.used | column.keywords)
    return None


def is_of_marks(column: Column, question: Question) -> bool:
    """Return True if each cell of a column has the same mark, which says yes, or nothing, which says no."""
    marks = {text.casefold() for text in column.filled}
    return column.has_gaps and len(marks) == 1 and bool(_is_yes(column.filled[0], question))


def _says_yes_or_no(column: Column, question: Question) -> bool:
    texts = [text for text in column.texts if text.lower() not in UNKNOWN]
    return bool(texts) and all(_is_yes(text, question) is not None for text in texts)


def _is_yes(text: str, question: Question) -> bool | None:
    operations, word = question.language.operations, fold(text) or text.strip()
    return True if word in operations.affirming else False if word in operations.refusing else None
