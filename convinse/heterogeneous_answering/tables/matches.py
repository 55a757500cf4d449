"""Tables of matches: the winner and the loser by the score "2:1", and the opponent of a side."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...language.text import fold
from ..candidates import Computed
from ..question import Question
from .columns import Column
from .selections import selected_rows
from .table import Table
from .words import content_words

_SCORE = re.compile(r"(\d+)\s?[:–-]\s?(\d+)")
_MIN_SCORES = 0.8  # share of the filled cells of a column that are scores
_SIDES = 2


def matches(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the winner or the loser of the only match that a question selects, or the opponent of the side that it names."""
    operations, text = question.language.operations, question.in_full
    is_won, is_lost = operations.winning.search(text), operations.losing.search(text)
    if not question.is_of_files or not (is_won or is_lost or operations.opposing.search(text)):
        return []
    for table in tables:
        sides = _sides(table, question)
        if not sides or (row := _row_of_match(question, table)) is None:
            continue
        names = [cell["text"] if (cell := column.cells[row]) else "" for column in sides]
        if is_won or is_lost:
            answer = _by_score(table, row, names, is_winner=is_won is not None)
        else:
            keywords = table.words.keywords
            unnamed = [name for name in names if not keywords(name) & keywords(text)]
            answer = unnamed[0] if len(unnamed) == 1 else ""
        if answer:
            rivals = frozenset(table.places.values())
            return [Computed({"id": answer, "label": answer}, "cell", table.evidence_places([row]), rivals=rivals)]
    return []


def _sides(table: Table, question: Question) -> list[Column]:
    """Return the two columns of the sides of matches, by their headers or because one has names of the other; empty without them."""
    names = [column for column in table.columns if not column.order and column.is_capitalised]
    headed = [
        column for column in names if not question.language.operations.sides.isdisjoint(fold(column.header).split())
    ]
    if len(headed) == _SIDES:
        return headed
    shared = [
        column for column in names if any({*column.filled} & {*other.filled} for other in names if other is not column)
    ]
    return shared if len(shared) == _SIDES else []


def _row_of_match(question: Question, table: Table) -> int | None:
    """Return the only row that a question selects by names and a time."""
    operations, properties = question.language.operations, question.language.properties
    asking = (operations.winning, operations.losing, operations.opposing)
    said = [match[0].split() for pattern in asking if (match := pattern.search(question.in_full))]
    verbs = properties.keyword_set(word for words in said for word in (words[0], words[-1]))
    selected = selected_rows(question, table, content_words(question) - verbs)
    return selected.rows[0] if selected is not None and len(selected.rows) == 1 and selected.used else None


def _by_score(table: Table, row: int, names: Sequence[str], *, is_winner: bool) -> str:
    """Return the name of the side with more, or less, points; empty for a draw, or without a score."""
    for column in table.columns:
        scores = [_SCORE.fullmatch(text.strip()) for text in column.filled]
        cell = column.cells[row]
        score = _SCORE.fullmatch(cell["text"].strip()) if cell else None
        if score is None or sum(map(bool, scores)) < _MIN_SCORES * len(scores):
            continue
        first, second = int(score[1]), int(score[2])
        if first == second:
            return ""
        return names[0] if (first > second) == is_winner else names[1]
    return ""
