"""The names in both of two tables, or in one and not in the other: "Which members are also trainers?", "Is Mara a member?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations

from ..language.text import fold
from ..records.evidence import Entity
from ..records.literals import number_entity
from .candidates import Computed
from .question import Question
from .selections import Selected, content_words, extent_of, title_words
from .tables import Column, Table, evidence_of_row

_Names = dict[str, int]  # the rows of a table by their folded names


def shared_names(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the names of a table that are in another one, too, or that are not there: their list, or their number.

    A question has to name both tables, by their titles or headers, and nothing else. If it asks for "both lists", only two tables
    may have names in common.
    """
    operations, text = question.language.operations, question.in_full
    denial = question.language.yes_no.denial.search(text) or operations.missing.search(text)
    if not any(read.is_of_document for read in question.evidences) or not (denial or operations.shared.search(text)):
        return []
    words = content_words(question) - question.language.properties.keywords(" ".join(operations.collections))
    if denial:
        words -= question.language.properties.keywords(denial[0])
    found = []
    for one, other in combinations([table for table in tables if not table.pairs and table.name_column], 2):
        of_one, of_other = _explained(question, one, words), _explained(question, other, words)
        is_named = of_one | of_other == words and bool(of_one - of_other and of_other - of_one)
        if not (is_named or not words) or _names(one).keys().isdisjoint(_names_like(other, one)):
            continue
        apart = of_one ^ of_other
        is_turned = _place(question, of_other - of_one) < _place(question, of_one - of_other)
        # "not in the choir, but in the orchestra"
        is_reversed = denial is not None and denial.end() <= _place(question, apart)
        if not is_reversed or operations.but.search(text):
            found.append((other, one) if is_turned != is_reversed else (one, other))
    return _result(question, *found[0], is_within=denial is None) if len(found) == 1 else []


def is_member(
    question: Question, tables: Sequence[Table], words: AbstractSet[str]
) -> tuple[bool, tuple[int, ...]] | None:
    """Return whether a table that a question names by its title has a name, and the places of its row; None without such a table.

    A name that no table has is not known.
    """
    if question.language.yes_no.denial.search(question.in_full):
        return None
    keywords = question.language.properties.keywords
    words = words - keywords(" ".join(question.language.operations.collections))
    listing = [table for table in tables if not table.pairs and table.name_column]
    for table in listing:
        called = words & (title_words(table, question) - table.headers)
        name = words - called - table.headers
        if not called or not name:
            continue
        for other in (table, *listing):
            for text, row in _names(other).items():
                if name <= keywords(text) and (other is table or name == keywords(text)):
                    return other is table, other.evidence_places([row])
    return None


def _result(question: Question, first: Table, second: Table, is_within: bool) -> list[Computed]:
    column, others = first.name_column, _names_like(second, first)
    rows = {row: others.get(name) for name, row in _names(first).items() if (name in others) is is_within}
    cells = {row: cell for row in rows if column is not None and (cell := column.cells[row]) is not None}
    if not cells:
        return []
    places = first.evidence_places([*rows]) + second.evidence_places([row for row in rows.values() if row is not None])
    extent = extent_of(first, Selected([*rows], frozenset()))
    if question.language.operations.counting.search(question.in_full):
        return [Computed(number_entity(str(len(cells))), "count", places, extent=extent)]
    things = {row: Entity(id=cell["text"], label=cell["text"]) for row, cell in cells.items()}
    members = tuple((thing, evidence_of_row(first, row, question)) for row, thing in things.items())
    return [Computed(members[0][0], "list", places, members=members, extent=extent)]


def _explained(question: Question, table: Table, words: AbstractSet[str]) -> frozenset[str]:
    """Return the words that name a table, or the doers in it: "sings" of a column "Singer"."""
    names, doers = title_words(table, question) | table.headers, question.language.operations.with_doers
    keyword = question.language.properties.keyword
    return frozenset(word for word in words if {word, *map(keyword, doers(frozenset({word})))} & names)


def _names(table: Table) -> _Names:
    return {} if table.name_column is None else _names_in(table, table.name_column)


def _names_in(table: Table, column: Column) -> _Names:
    cells = enumerate(column.cells)
    return {fold(cell["text"]): row for row, cell in cells if cell is not None and row not in table.totals}


def _names_like(table: Table, other: Table) -> _Names:
    """Return the names in the column of a table that has most names of another one."""
    wanted = _names(other).keys()
    columns = [_names_in(table, column) for column in table.columns if column.order is None]
    return max(columns, key=lambda names: len(wanted & names.keys()), default={})


def _place(question: Question, words: AbstractSet[str]) -> int:
    """Return where the first of some keywords begins in a question."""
    found = (match.start() for match in re.finditer(r"[^\s?,]+", question.in_full)
             if question.language.properties.keywords(match[0]) & words)  # fmt: skip
    return next(found, len(question.in_full))
