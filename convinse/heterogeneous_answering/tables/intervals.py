"""The row of a table that holds at a time, or comes before or after another: "Who was their coach in 2010?", "Who followed him?"."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ...language.text import fold
from ...records.evidence import Cell
from ...records.literals import is_item
from ...records.periods import Boundary, place_beside
from ..candidates import Computed
from ..question import Question
from .cell_answers import cell_answers
from .cells import is_of_kind
from .columns import Column
from .selections import selected_rows
from .table import Table
from .words import content_words, is_unexplained, unexplained

_INITIALS = 2  # letters of words by which a page is not what a question is about: "F.C."


def held_in_rows(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return what the only row says that holds at the time that a question names: "Who was their coach in 2010?"."""
    if question.expected.kind in ("yesno", "date", "number") or not question.language.times.time(question.in_full):
        return []
    keywords, synonyms = question.language.properties.keywords, question.language.properties.with_synonyms
    words = content_words(question)
    found: list[tuple[int, Computed]] = []  # with the number of unexplained words of the question
    for table in tables:
        page = keywords(question.items.label(table.rows[0]["page"]) or "")
        is_held = bool(table.dated) and _is_of_topic(table, words, question)
        selected = selected_rows(question, table, words - page) if is_held else None
        if selected is None:
            continue
        # "played guitar" of a column "Guitarist"
        named = table.headers | table.title_keywords
        synonymous = frozenset(word for word in words if synonyms(frozenset((word,))) & named)
        # "how did Brazil do at the 1974 World Cup?" of "Tournaments"
        is_faring = question.language.operations.faring.search(question.in_full) is not None
        if not is_faring and is_unexplained("cell", question, table, words, selected.used | synonymous):
            continue
        asking = synonyms(words - page - selected.used)
        if question.expected.kind == "place":  # "where did they play the final?" of a column "City"
            located = question.language.properties.keyword_set(question.language.operations.located)
            asking = located if table.headers & located else asking
        elif is_faring:
            asking = question.language.properties.keyword_set(question.language.operations.outcomes)
        column = _column_of(asking, table, question)
        cells = {} if column is None else {row: cell for row in selected.rows if (cell := column.cells[row])}
        if column is None or len({fold(cell["text"]) for cell in cells.values()}) != 1:
            continue
        answers = cell_answers(next(iter(cells.values())), question)
        if len(answers) == 1 and is_of_kind(answers[0], question, column):
            others = frozenset(table.places.values())
            result = Computed(answers[0], "interval", table.evidence_places([*cells]), rivals=others)
            found.append((len(unexplained(question, table, words, selected.used)), result))
    return [min(found, key=lambda pair: pair[0])[1]] if found else []


def _is_of_topic(table: Table, words: AbstractSet[str], question: Question) -> bool:
    """Return True if the page of a table is an item of a question, or has a word of it in its name: that of "England" the football team."""
    page = table.rows[0]["page"]
    if any(page == entity["id"] for entity in question.about):
        return True
    name = question.language.properties.keywords(question.items.label(page) or "")
    return any(len(word) > _INITIALS for word in name & words)


def _column_of(asking: AbstractSet[str], table: Table, question: Question) -> Column | None:
    """Return the column that some words name best; that of the names of the rows if they name the table.

    Of people and clubs if the question asks who: names of cities may be all that differs from row to row.
    """
    headed = [column for column in table.columns if column.keywords & asking and not column.order]
    if headed:
        return max(headed, key=lambda column: len(column.keywords & asking) / len(column.keywords))
    if not table.title_keywords & asking:
        return None
    names = table.name_column
    if names is None or question.expected.kind != "person" or not _is_of_places(names, question):
        return names
    worded = (column for column in table.columns if not column.order)
    return next((column for column in worded if not _is_of_places(column, question)), None)


def _is_of_places(column: Column, question: Question) -> bool:
    """Return True if most items of a column are places, or its header names a place: "City"."""
    items = [entity["id"] for cell in column.cells if cell for entity in cell["entities"] if is_item(entity["id"])]
    types = question.language.answer_types
    if types.expected_type(column.header).kind == "place":
        return True
    return 2 * sum(types.entity_kind(item, question.items.types(item)) == "place" for item in items) > len(items)


def beside_rows(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the name in the row before or after the one that a question names: "Who managed Chelsea after Mourinho?"."""
    times, properties = question.language.times, question.language.properties
    is_later = times.asks_beside(question.in_full)
    if is_later is None or question.expected.kind in ("yesno", "date", "number"):
        return []
    words, time = content_words(question), times.named(question.in_full)
    # "who succeeded X" says itself that it is about a place that one holds after another
    holding = times.succeeding | times.preceding | times.following
    is_of_holders = not holding.isdisjoint(fold(question.in_full).split())
    for table in tables:
        names = table.name_column
        if names is None or not table.dated or not _is_of_topic(table, words, question):
            continue
        page = properties.keywords(question.items.label(table.rows[0]["page"]) or "")
        in_names = properties.keyword_set(names.texts)
        # "who was there before Ancelotti?" has no word but names
        is_bare = is_of_holders or words - page - properties.light_keywords <= in_names
        if not is_bare and not properties.with_synonyms(words) & (table.title_keywords | names.keywords):
            continue
        periods = sorted((period, row) for row, period in table.periods() if period is not None)
        held = [(period, row, cell) for period, row in periods if (cell := names.cells[row])]
        named = [at for at, (_, _, cell) in enumerate(held) if _is_named(cell, words, question)]
        if time is not None and len(named) > 1:
            named = [at for at in named if held[at][0].overlaps(time)]
        rivals = frozenset(table.places.values())
        results = []
        # a manager may have come twice
        for one in named if len({fold(held[at][2]["text"]) for at in named}) == 1 else []:
            beside = place_beside([period for period, *_ in held], one, is_later)
            if 0 <= beside < len(held) and not held[min(one, beside)][0].leaves_gap(held[max(one, beside)][0]):
                _, row, cell = held[beside]
                places = table.evidence_places([row, held[one][1]])
                results += [Computed(answer, "interval", places, rivals) for answer in cell_answers(cell, question)]
        if results:
            return results
    return []


def boundaries_of_rows(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return when what the only row that a question names began or ended: "When did Conte leave Chelsea?" of "From" and "To"."""
    boundary, words = question.language.times.boundary(question.in_full), content_words(question)
    if boundary is Boundary.ANY or question.expected.kind != "date":
        return []
    for table in tables:
        names, dated = table.name_column, table.dated
        if names is None or len(dated) != 2 or not _is_of_topic(table, words, question):
            continue
        rows = [row for row, cell in enumerate(names.cells) if cell is not None and _is_named(cell, words, question)]
        column = dated[0 if boundary in (Boundary.START, Boundary.SINCE) else 1]
        date = column.cells[rows[0]] if len(rows) == 1 else None
        if date is not None:
            rivals = frozenset(table.places.values())
            answers = cell_answers(date, question)
            return [Computed(answer, "interval", table.evidence_places(rows), rivals) for answer in answers]
    return []


def _is_named(cell: Cell, words: AbstractSet[str], question: Question) -> bool:
    """Return True if a question has the name in a cell, or the last word of it."""
    last = question.language.properties.keywords(cell["text"].rsplit(maxsplit=1)[-1])
    return bool(last) and last <= words
