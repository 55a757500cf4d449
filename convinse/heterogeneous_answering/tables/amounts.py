"""Amounts of a table compared and added: "Which is longer, the Orla or the Tern?", "What do the lamps cost together?"."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ...language.property_names import PropertyWords
from ...records.evidence import Entity
from ...records.literals import number_entity
from ...records.ranked_rows import written_amount
from ...records.written_values import value_at
from ..candidates import Computed
from ..comparisons import DIFFERENCE, chosen_by_value, differences_of_values
from ..counts import MANY_WORDS
from ..question import Question
from .bounds import bound_words, with_measures
from .cell_answers import cell_answers
from .columns import Column
from .selections import extent_of, selected_rows
from .table import Selection, Table
from .words import (
    content_words,
    is_of_money,
    is_of_one_way,
    is_unexplained,
    money_words,
    row_words,
    title_words,
    total_or_all,
)

_DECIMALS = 2  # of an average, as amounts of money have them


def comparisons(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the thing with the higher amount, or the lower, of those that a question names."""
    if results := chosen_by_value(question):
        return results
    operations = question.language.operations
    if not operations.offers(question.choice):
        return []
    is_later, compared = operations.compares_dates(question.in_full), operations.comparison(question.in_full)
    amounts: dict[int, float]
    for table in tables:
        if is_later is not None:  # "which came out earlier, Misery or Christine?"
            named, highest = _named_rows(question, table), is_later
            periods = {
                row: float(period.first) for row, period in table.periods() if period is not None and row in named
            }
            rows, amounts = (named, periods) if len(periods) == len(named) else ({}, {})
        elif compared is not None:
            by, highest = compared
            rows, column = _rows_and_measure(question, table, by)
            amounts = {} if column is None else {row: column.amount(row) or 0.0 for row in rows}
            highest = highest != (column is not None and operations.is_ranking(column.header))
        else:
            return []
        if len(amounts) < 2:
            continue
        first, second, *_ = sorted(amounts, key=lambda row: amounts[row], reverse=highest)
        name = rows[first].cells[first]
        if amounts[first] != amounts[second] and name is not None:
            answers = cell_answers(name, question)
            return [Computed(answer, "comparison", table.evidence_places([*rows])) for answer in answers]
    return []


def differences(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the difference of the amounts of two things that a question names: "How many more pupils has Ashdown than Birk?"."""
    operations = question.language.operations
    if not operations.differing.search(question.in_full):
        return []
    if results := differences_of_values(question):
        return results
    by, _ = operations.comparison(question.in_full) or (frozenset[str](), True)
    for table in tables:
        rows, column = _rows_and_measure(question, table, by)
        if len(rows) == 2 and column is not None and not column.is_timed:
            first, second = (column.amount(row) or 0.0 for row in rows)
            answer = _amount(abs(first - second), column)
            return [Computed(answer, DIFFERENCE, table.evidence_places([*rows]))]
    return []


def _rows_and_measure(
    question: Question, table: Table, by: AbstractSet[str]
) -> tuple[dict[int, Column], Column | None]:
    """Return the rows that a question names one by one, by which column, and the column of amounts that it names, or the only one."""
    words, rows = question.language.properties.keywords(question.in_full), _named_rows(question, table)
    names = table.named(words) if rows else {}
    measures = table.measures(with_measures((words | by).difference(*names), question)) or table.amounts
    if not rows or len(measures) != 1 or any(measures[0].amount(row) is None for row in rows):
        return {}, None
    return rows, measures[0]


def _named_rows(question: Question, table: Table) -> dict[int, Column]:
    """Return the rows that a question names one by one, by which column; empty if a name is that of several."""
    names = table.named(question.language.properties.keywords(question.in_full))
    rows = dict(place for places in names.values() for place in places)
    return rows if len(rows) == len(names) else {}


def sums(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the sum or the average of a column over the rows that a question selects."""
    operations, properties = question.language.operations, question.language.properties
    text, counted = question.in_full, question.language.literals.counted
    averaging = operations.averaging.findall(text)
    summing = " ".join((*operations.summing.findall(text), *averaging))
    nouns = _nouns_behind(operations.averaging.sub(" ", operations.summing.sub(" ", text)), counted, properties)
    if nouns and (not nouns[0] or nouns[0] <= money_words(question)):  # "how much did we pay", "how much money came in"
        nouns = None
    # "How many hours did Ines work?" is a sum if several rows are hers; in Wikipedia's tables one of them is synonymous
    is_of_several = question.is_of_files and (counted.match(text) or question.language.literals.paying.match(text))
    if not summing and not (is_of_several and question.expected.kind in ("number", "any", "item")):
        return []
    if not summing and question.language.literals.by_time.search(text):
        return []
    if operations.order(text) or operations.differing.search(text) or (bound_words(question) and not summing):
        return []
    spoken = content_words(question) - properties.keywords(summing)
    words = spoken - properties.keyword_set(operations.adding) - properties.keyword_set(["money"])
    words -= properties.keyword_set(operations.every.findall(text))  # "planned for everything"
    asks_for_money = not _asks_for_other_measure(question, spoken)
    for table in tables:
        # "how much did they pay?" without a column that is called so
        unnamed = [column for column in table.amounts if summing or (asks_for_money and is_of_money(column, question))]
        is_counted = operations.counting.search(text) is not None
        # "how much rent did we pay?"
        is_of_rows = not nouns or (not is_counted and nouns[0] <= frozenset().union(*table.row_keywords))
        if question.language.literals.paying.match(text):  # "how much are all courses together" of "Fee" and "Places"
            unnamed = [column for column in unnamed if is_of_money(column, question)] or unnamed
        unnamed = total_or_all(unnamed, question) if is_of_rows else []
        measures = table.measures(with_measures(spoken, question)) or unnamed
        if len(measures) != 1 or measures[0].is_timed:
            continue
        measure = measures[0]
        if nouns and not is_of_rows and not nouns[0] & (measure.keywords | row_words(table, question)):
            continue
        selected = selected_rows(question, table, words - measure.keywords)
        if selected is None or len(selected.rows) < 2:  # "all boats together" of boats and a rowing boat
            selected = selected_rows(question, table, words - measure.keywords - title_words(table, question))
        if selected is None or len(selected.rows) < 2:
            continue
        if not summing and _is_name_of_one(table, selected):
            continue  # "how much does the roll weigh?" of rolls and cinnamon rolls
        rest = words - _verb_at_end(question, selected, summing) - row_words(table, question)
        if is_unexplained("sum", question, table, rest, selected.used):
            continue
        is_selected = selected.used or any(map(str.isdigit, measure.keywords & words))  # "gas in 2024"
        is_of_one_side = is_of_one_way(measure.header, question)  # "how much money came in?" of "In"
        if not (summing or is_selected or is_of_one_side or operations.every.search(text)):
            continue
        least = 1 if is_of_one_side else 2
        if (result := _sum_of(measure, table, selected, is_average=bool(averaging), least=least)) is not None:
            return [result]
    return _sums_of_quantities(question, tables, words)


def _sums_of_quantities(question: Question, tables: Sequence[Table], words: frozenset[str]) -> list[Computed]:
    """Return how many there are of the things that a question counts: "how many rolls?" of columns "Product" and "Quantity"."""
    properties = question.language.properties
    nouns = _nouns_behind(question.in_full, question.language.operations.counting, properties)
    if nouns is None:
        return []
    for table in tables:
        columns = [column for column in table.amounts if column.keywords <= properties.quantity_stems]
        selected = selected_rows(question, table, words) if len(columns) == 1 else None
        named = selected.used - table.headers if selected is not None else frozenset[str]()
        if selected is None or not named or not nouns[0] <= named:  # "how many do we have (Milk Oolong)?" names no noun
            continue
        verb = _verb_at_end(question, selected)
        if table.measures(words) or is_unexplained("sum", question, table, words - verb, selected.used):
            continue
        if (result := _sum_of(columns[0], table, selected, least=1)) is not None:
            return [result]
    return []


def _verb_at_end(question: Question, selected: Selection, summing: str = "") -> frozenset[str]:
    """Return the last word of a question that names rows and no sum: "how many hours did Ines drive?"."""
    last = question.in_full.rsplit(maxsplit=1)[-1]
    return frozenset() if summing or not selected.used else question.language.properties.keywords(last)


def _sum_of(
    measure: Column, table: Table, selected: Selection, *, is_average: bool = False, least: int = 2
) -> Computed | None:
    """Return the sum or the average of a column over some rows; None if less than `least` of them have an amount."""
    amounts = [amount for row in selected.rows if (amount := measure.amount(row)) is not None]
    if len(amounts) < least:
        return None
    unjudged = selected.unjudged + len(selected.rows) - len(amounts)
    selected = selected._replace(unjudged=unjudged, lacking=measure.header)
    total, operation, decimals = math.fsum(amounts), "sum", 0
    if is_average:
        total, operation = round(total / len(amounts), _DECIMALS), "average"
        decimals = 0 if total.is_integer() else _DECIMALS
    answer = _amount(total, measure, decimals)
    places = table.evidence_places(selected.rows)
    return Computed(answer, operation, places, extent=extent_of(table, selected))


def _is_name_of_one(table: Table, selected: Selection) -> bool:
    """Return True if all words that select rows are the name of one of them."""
    names = table.name_column
    cells = [names.cells[row] for row in selected.rows] if names else []
    return sum(cell is not None and table.words.keywords(cell["text"]) == selected.used for cell in cells) == 1


def _asks_for_other_measure(question: Question, words: AbstractSet[str]) -> bool:
    """Return True if a word asks for a measure that is no money: "how much does it weigh?"."""
    measures = map(question.language.literals.names_of, words)
    return any(len(names) > 1 and names.isdisjoint(money_words(question)) for names in measures)


def _nouns_behind(
    text: str, counting: re.Pattern[str], properties: PropertyWords
) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the keywords of the word behind "how many", and of all words that may name what is counted; None if nothing is."""
    many = counting.search(text)
    if many is None:
        return None
    behind = text[many.end() :].split()[:MANY_WORDS]
    return properties.keyword_set(behind[:1]), properties.keyword_set(behind)


def _amount(number: float, column: Column, decimals: int = 0) -> Entity:
    if column.order is None:
        return number_entity(f"{round(number, 6):.10g}")
    label = written_amount(number, column.texts, column.order, decimals)
    return value_at(label, 0, len(label)) or {"id": label, "label": label}
