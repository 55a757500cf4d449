"""Values in the row of a question that headers put in order: "when does the first bus leave the station?" of "Bus 1", "Bus 2"."""

from __future__ import annotations

from collections.abc import Sequence

from ...records.literals import is_document_item
from ..candidates import Computed
from ..question import Question
from .table import Table
from .words import content_words, title_words

_LEAST_COLUMNS = 2  # of times
_MANY_COLUMNS = 3  # that are all alike: not "Departure" and "Arrival"


def ordered_hours(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the first or the last time of the day in the only row that a question names: "last bus from Market Square"."""
    order = question.language.operations.order(question.in_full)
    if order is None or order.by or order.place > 1:
        return []
    keywords = question.language.properties.keyword_set
    for table in tables:
        columns = table.clocks
        if len(columns) < _LEAST_COLUMNS or not is_document_item(table.rows[0]["page"]):
            continue
        words = content_words(question) - keywords(order.words)
        selection = table.selection(words)
        shared = frozenset.intersection(*(column.keywords for column in columns))  # "bus"
        explained = shared | title_words(table, question) | keywords(question.language.operations.verbs_of_travel)
        if len(columns) >= _MANY_COLUMNS and len(columns) == len(table.columns) - 1:
            explained |= {*order.noun}  # "first train" of "RE1", "RE2", "RE3"
        rest = words - selection.used - explained
        if len(selection.rows) != 1 or not selection.used or rest or not (shared | {*order.noun}) & words:
            continue
        times = {column: time for column in columns if (time := column.clock[selection.rows[0]])}
        if times:
            column = (max if order.highest else min)(times, key=lambda column: times[column])
            cell = column.cells[selection.rows[0]]
            label = "" if cell is None else cell["text"]
            places = table.evidence_places(selection.rows)
            return [Computed({"id": label, "label": label}, "cell", places)]
    return []
