"""The cell of the row that a follow-up is about: "and the score?", "and the next one?"."""

from __future__ import annotations

from collections.abc import Sequence

from ...records.evidence import is_same_row
from ...records.periods import period_of_cells
from ...records.written_values import value_at
from ..candidates import Computed
from ..question import Question
from ..spans import years_within
from .cell_answers import cell_answers
from .table import Table


def spoken_of(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return what the cell says that a follow-up asks for, of a row of a table in the evidences; of two dates the years between."""
    spoken = question.row
    for table in tables if spoken is not None else ():
        number = next((number for number, row in enumerate(table.rows) if is_same_row(spoken, row)), None)
        if spoken is None or number is None or not spoken["cells"]:
            continue
        cells, places = spoken["cells"], table.evidence_places([number])
        if len(cells) > 1:
            period = period_of_cells(cell["text"] for cell in cells)
            return [] if period is None else years_within(period, places)
        rivals = frozenset(table.places.values())
        answers = cell_answers(cells[0], question)
        value = value_at(cells[0]["text"], 0, len(cells[0]["text"]))
        return [Computed(answer, "cell", places, rivals) for answer in answers or ([] if value is None else [value])]
    return []
