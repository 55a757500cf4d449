"""Amounts of a table compared and added: "Which is longer, the Orla or the Tern?", "What do the lamps cost together?"."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ..language.property_names import PropertyWords
from ..records.evidence import Entity
from ..records.literals import number_entity
from ..records.ranked_rows import written_amount
from ..records.written_values import value_at
from .bounds import bound_words, with_measures
from .candidates import Computed
from .cell_answers import cell_answers
from .columns import Column
from .comparisons import chosen_by_value
from .counts import MANY_WORDS
from .question import Question
from .selections import extent_of, selected_rows
from .table_words import content_words, is_unexplained
from .tables import Table

_DECIMALS = 2  # of an average, as amounts of money have them


def comparisons(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the thing with the higher amount, or the lower, of those that a question names."""
    if results := chosen_by_value(question):
        return results
    operations = question.language.operations
    compared = operations.comparison(question.in_full) if operations.offers(question.text) else None
    if compared is None:
        return []
    by, highest = compared
    for table in tables:
        rows, column = _rows_and_measure(question, table, by)
        if len(rows) < 2 or column is None:
            continue
        is_ranked = operations.is_ranking(column.keywords)
        amounts = {row: column.amount(row) or 0.0 for row in rows}
        first, second, *_ = sorted(amounts, key=lambda row: amounts[row], reverse=highest != is_ranked)
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
    by, _ = operations.comparison(question.in_full) or (frozenset[str](), True)
    for table in tables:
        rows, column = _rows_and_measure(question, table, by)
        if len(rows) == 2 and column is not None and not column.is_timed:
            first, second = (column.amount(row) or 0.0 for row in rows)
            answer = _amount(abs(first - second), column)
            return [Computed(answer, "difference", table.evidence_places([*rows]))]
    return []


def _rows_and_measure(
    question: Question, table: Table, by: AbstractSet[str]
) -> tuple[dict[int, Column], Column | None]:
    """Return the rows that a question names one by one, by which column, and the column of amounts that it names, or the only one."""
    words = question.language.properties.keywords(question.in_full)
    names = table.named(words)
    rows = dict(place for places in names.values() for place in places)
    if len(rows) != len(names):
        return {}, None
    measures = table.measures(with_measures((words | by).difference(*names), question)) or table.amounts
    if len(measures) != 1 or any(measures[0].amount(row) is None for row in rows):
        return {}, None
    return rows, measures[0]


def sums(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the sum or the average of a column over the rows that a question selects."""
    operations, properties = question.language.operations, question.language.properties
    text, counted = question.in_full, question.language.literals.counted
    averaging = operations.averaging.findall(text)
    summing = " ".join((*operations.summing.findall(text), *averaging))
    nouns = _nouns_behind(operations.averaging.sub(" ", operations.summing.sub(" ", text)), counted, properties)
    if nouns and not nouns[0]:  # "how much did we pay"
        nouns = None
    # "How many hours did Ines work?" is a sum if several rows are hers; in Wikipedia's tables one of them is synonymous
    is_of_several = counted.match(text) and question.is_of_files
    if not summing and not (is_of_several and question.expected.kind in ("number", "any", "item")):
        return []
    if operations.order(text) or operations.differing.search(text) or (bound_words(question) and not summing):
        return []
    spoken = content_words(question) - properties.keywords(summing)
    words = spoken - properties.keyword_set(operations.adding)
    for table in tables:
        # "how much did they pay?" without a column that is called so
        unnamed = [column for column in table.amounts if summing or _is_of_money(column, question)]
        measures = table.measures(with_measures(spoken, question)) or ([] if nouns else unnamed)
        if len(measures) != 1 or measures[0].is_timed:
            continue
        measure = measures[0]
        page = properties.keywords(question.items.label(table.rows[0]["page"]) or "")
        if nouns and not nouns[0] & (measure.keywords | table.title_keywords | page):
            continue
        selected = selected_rows(question, table, words - measure.keywords)
        if selected is None or len(selected.rows) < 2:
            continue
        # "How many hours did Ines drive?"
        verb = frozenset[str]() if summing or not selected.used else properties.keywords(text.rsplit(maxsplit=1)[-1])
        if is_unexplained("sum", question, table, words - verb, selected.used):
            continue
        if not summing and not (selected.used or any(map(str.isdigit, measure.keywords & words))):
            continue  # "gas in 2024" is the sum of a column
        amounts = [amount for row in selected.rows if (amount := measure.amount(row)) is not None]
        if len(amounts) > 1:
            unjudged = selected.unjudged + len(selected.rows) - len(amounts)
            selected = selected._replace(unjudged=unjudged, lacking=measure.header)
            places = table.evidence_places(selected.rows)
            total, operation, decimals = math.fsum(amounts), "sum", 0
            if averaging:
                total, operation = round(total / len(amounts), _DECIMALS), "average"
                decimals = 0 if total.is_integer() else _DECIMALS
            answer = _amount(total, measure, decimals)
            return [Computed(answer, operation, places, extent=extent_of(table, selected))]
    return []


def _is_of_money(column: Column, question: Question) -> bool:
    names = question.language.literals.names_of
    return column.has_currency or not column.keywords.isdisjoint(names("euro") | names("money"))


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
