"""Tables of marks: "x" in the row of a child and below "Nuts" says that it is allergic to them."""

from __future__ import annotations

from collections.abc import Sequence

from ...records.evidence import Entity
from ..candidates import Computed
from ..question import Question
from .cells import requested_row
from .columns import Column
from .selections import extent_of
from .states import is_of_marks
from .table import Selection, Table, evidence_of_row
from .words import content_words, is_of_title

_LEAST_COLUMNS = 2  # of marks


def marked(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the headers that have a mark in the row of a question ("what is Beatrix allergic to?"), or the rows without any mark."""
    if not question.is_of_files:
        return []
    for table in tables:
        columns = [column for column in table.columns if is_of_marks(column, question)]
        if len(columns) < _LEAST_COLUMNS or any(column.keywords & content_words(question) for column in columns):
            continue
        if result := _headers_of_row(question, table, columns) or _rows_without(question, table, columns):
            return [result]
    return []


def _headers_of_row(question: Question, table: Table, columns: Sequence[Column]) -> Computed | None:
    row, used = requested_row(question, table) or (0, frozenset[str]())
    rest = content_words(question) - used - table.headers
    is_explained = all(is_of_title(word, table, question) for word in rest)
    if not used or not is_explained or question.language.operations.counting.search(question.in_full):
        return None
    if question.language.words.denial.search(question.in_full):
        return None
    headers = [column.header for column in columns if not column.is_empty(row)]
    members = [(Entity(id=header, label=header), row) for header in headers]
    return _list(question, table, members)


def _rows_without(question: Question, table: Table, columns: Sequence[Column]) -> Computed | None:
    """Return the names of the rows without any mark: "who has no allergies?"."""
    names, denial = table.name_column, question.language.words.denial.search(question.in_full)
    is_for_person = question.language.answer_types.expected_type(question.in_full).kind == "person"
    is_explained = all(is_of_title(word, table, question) for word in content_words(question) - table.headers)
    if names is None or denial is None or not is_for_person or not is_explained:
        return None
    rows = [row for row in range(len(table.rows)) if all(column.is_empty(row) for column in columns)]
    members = [(Entity(id=cell["text"], label=cell["text"]), row) for row in rows if (cell := names.cells[row])]
    return _list(question, table, members)


def _list(question: Question, table: Table, members: Sequence[tuple[Entity, int]]) -> Computed | None:
    if not members:
        return None
    rows = list(dict.fromkeys(row for _, row in members))
    cited = tuple((entity, evidence_of_row(table, row, question)) for entity, row in members)
    extent = extent_of(table, Selection(rows, frozenset()))
    return Computed(members[0][0], "list", table.evidence_places(rows), members=cited, extent=extent)
