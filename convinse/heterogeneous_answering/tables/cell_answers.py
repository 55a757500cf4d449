"""The answers in a cell, and the cell of a row that a question asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from ...records.evidence import Cell, Entity
from ...records.literals import is_date, is_number
from ...records.written_values import find_literals
from ..question import Question
from .columns import Column
from .table import Table

_BRACKETED = re.compile(r"\([^()]*\)")
_QUOTES = "\"“”'‘’ "
_MIN_FIT_SHARE = 0.5  # of the best fit in a cell, for its other entities to be answers, too
_MIN_FIT = 0.3  # to the expected type, for a cell without a header in the question: the fit of an unknown type


def head_keywords(question: Question) -> frozenset[str]:
    """Return the keywords of the noun that a question asks for, and of words behind it."""
    head = question.language.operations.head
    return question.language.properties.keywords(head(question.text) or head(question.in_full))


def noun_keywords(nouns: Iterable[str], question: Question) -> frozenset[str]:
    """Return the keywords of nouns and of their classes: film for "movie"."""
    types, words = question.language.answer_types, question.language.properties
    nouns = list(nouns)
    return frozenset(nouns).union(*(words.keyword_set(types.noun_types(word)) for word in nouns))


def cell_answers(cell: Cell, question: Question) -> list[Entity]:
    """Return the answers in a cell: its entities that fit the expected type best, else its words."""
    kind = question.expected.kind
    if kind in ("date", "number"):
        is_of_kind = is_date if kind == "date" else is_number
        literals = (literal.entity for literal in find_literals(cell["text"]))
        return [entity for entity in (*cell["entities"], *literals) if is_of_kind(entity["id"])][:1]
    entities = [entity for entity in cell["entities"] if not is_date(entity["id"]) and not is_number(entity["id"])]
    # a cell may name more than its entities: a book whose title begins with the name of its hero
    keywords, name = question.language.properties.keywords, _BRACKETED.sub(" ", cell["text"])
    is_part = "," not in name and all(keywords(entity["label"]) < keywords(name) for entity in entities)
    if entities and not is_part:
        best = max(map(question.fit, entities))
        return [entity for entity in entities if question.fit(entity) >= _MIN_FIT_SHARE * best]
    text = " ".join(_BRACKETED.sub(" ", cell["text"]).split()).strip(_QUOTES) or cell["text"]
    return [{"id": text, "label": text}] if any(map(str.isalnum, text)) else []


def suitability(header: str, entities: Sequence[Entity], asking: AbstractSet[str], question: Question) -> float:
    """Return from 0 to 3 how well a cell suits a question: if the question has its header, 1 plus the fit of its content, and 1
    more if the header has the expected kind; else the fit alone, or 0 if it is low."""
    fit = max(map(question.fit, entities), default=0.0)
    if not question.language.properties.keywords(header) & asking:
        return fit if fit >= _MIN_FIT else 0.0
    return 1 + fit + (question.language.answer_types.expected_type(header).kind == question.expected.kind)


def answer_in_row(
    table: Table, row: int, question: Question, asking: AbstractSet[str], name_column: Column | None, is_name: bool
) -> list[Entity]:
    """Return the answers in the cell of a row that a question asks for; empty if no cell suits.

    Args:
        table: the table.
        row: the place of the row.
        question: the question with its expected type.
        asking: the keywords of the question that may ask for a cell.
        name_column: the column that names the rows.
        is_name: whether the answer is the name of the row.
    """
    cells = {
        column: cell_answers(cell, question) for column in table.columns if (cell := column.cells[row]) is not None
    }
    if is_name and name_column is not None and cells.get(name_column):
        return cells[name_column]
    if question.expected.kind in ("date", "number"):
        is_dated = question.expected.kind == "date"
        requested = [column for column in cells if column.keywords & asking and column.is_dated == is_dated]
        dated = table.dated if is_dated else []
        return next((cells[column] for column in (*requested, *dated) if cells.get(column)), [])
    scores = {
        column: suitability(column.header, cells[column], asking, question) for column in cells if not column.order
    }
    best = max(scores, key=lambda column: (scores[column], column is name_column), default=None)
    return cells[best] if best is not None and scores[best] else []
