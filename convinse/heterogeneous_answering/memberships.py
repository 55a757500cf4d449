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
from .tables.columns import Column
from .tables.selections import extent_of
from .tables.table import Selection, Table, evidence_of_row
from .tables.words import content_words, title_words

_Names = dict[str, int]  # the rows of a table by their names


def shared_names(question: Question, tables: Sequence[Table]) -> list[Computed]:
    """Return the names of a table that are in another one, too, or that are not there: their list, or their number.

    A question has to name both tables, by their titles or headers, and nothing else. If it asks for "both lists", only two tables
    may have names in common.
    """
    operations, text = question.language.operations, question.in_full
    denial = question.language.words.denial.search(text) or operations.missing.search(text)
    if not question.is_of_files or not (denial or operations.shared.search(text)):
        return []
    words = content_words(question) - question.language.properties.keywords(" ".join(operations.collections))
    if denial:
        words -= question.language.properties.keywords(denial[0])
    found = []
    for one, other in combinations([table for table in tables if not table.pairs and table.name_column], 2):
        of_one, of_other = _explained(question, one, words), _explained(question, other, words)
        only_one, only_other = of_one - of_other, of_other - of_one
        if words and not (only_one and only_other):
            continue
        is_turned = _place(question, only_other) < _place(question, only_one)
        # "not in the choir, but in the orchestra"
        is_reversed = denial is not None and denial.end() <= _place(question, only_one | only_other)
        first, second = (other, one) if is_turned != is_reversed else (one, other)
        names = _names(first, words)
        conditions = words - of_one - of_other
        selection = first.selection(conditions)
        is_shared = not _names_like(second, names, words).keys().isdisjoint(map(fold, names))
        if is_shared and selection.used == conditions:
            found.append((first, second, {name: row for name, row in names.items() if row in selection.rows}))
    if len(found) != 1:
        return []
    first, second, chosen = found[0]
    return _result(question, first, chosen, second, _names_like(second, chosen, words), is_within=denial is None)


def is_member(
    question: Question, tables: Sequence[Table], words: AbstractSet[str]
) -> tuple[bool, tuple[int, ...]] | None:
    """Return whether a table that a question names by its title has a name, and the places of its row; None without such a table.

    A name that no table has is not known.
    """
    if question.language.words.denial.search(question.in_full):
        return None
    keywords = question.language.properties.keywords
    words = words - keywords(" ".join(question.language.operations.collections))
    listing = [table for table in tables if not table.pairs and table.name_column]
    for table in listing:
        of_rows = table.name_column.keywords if table.name_column else frozenset[str]()
        others = table.headers - of_rows
        called = words & ((title_words(table, question) | of_rows) - others)  # "in stock" may be a column
        name = words - called - table.headers
        if not called or not name:
            continue
        for text, row in _names(table).items():
            if name <= keywords(text):
                return True, table.evidence_places([row])
        for other in listing:
            for column in other.columns:
                for text, row in _names_in(other, column).items() if column.order is None else ():
                    if name <= keywords(text):
                        return False, other.evidence_places([row])
    return None


def _result(
    question: Question, first: Table, names: _Names, second: Table, others: _Names, is_within: bool
) -> list[Computed]:
    rows = {row: others.get(fold(name)) for name, row in names.items() if (fold(name) in others) is is_within}
    things = {row: name for name, row in names.items() if row in rows}
    if not rows:
        return []
    places = first.evidence_places([*rows]) + second.evidence_places([row for row in rows.values() if row is not None])
    extent = extent_of(first, Selection([*rows], frozenset()))
    if question.language.operations.counting.search(question.in_full):
        return [Computed(number_entity(str(len(rows))), "count", places, extent=extent)]
    members = tuple(
        (Entity(id=thing, label=thing), evidence_of_row(first, row, question)) for row, thing in things.items()
    )
    return [Computed(members[0][0], "list", places, members=members, extent=extent)]


def _explained(question: Question, table: Table, words: AbstractSet[str]) -> frozenset[str]:
    """Return the words that name a table, or the doers in it: "sings" of a column "Singer"."""
    names, doers = title_words(table, question) | table.headers, question.language.operations.with_doers
    keyword = question.language.properties.keyword
    return frozenset(word for word in words if {word, *map(keyword, doers(frozenset({word})))} & names)


def _names(table: Table, words: AbstractSet[str] = frozenset()) -> _Names:
    """Return the names of the rows of a table, or those in the column that some words name."""
    named = [column for column in table.columns if column.order is None and column.keywords & words]
    column = named[0] if named else table.name_column
    return {} if column is None else _names_in(table, column)


def _names_in(table: Table, column: Column) -> _Names:
    rows = {}
    for row, cell in enumerate(column.cells):
        if cell is not None and row not in table.totals:
            rows[cell["text"]] = row
    return {name: row for name, row in rows.items() if not column.is_empty(row)}


def _names_like(table: Table, names: _Names, words: AbstractSet[str]) -> _Names:
    """Return the folded names in the column of a table that has most of some names, of two the one that words name."""
    sought = {*map(fold, names)}
    best, most = _Names(), (-1, False)
    for column in table.columns:
        folded = {fold(name): row for name, row in _names_in(table, column).items()}
        shared = len(sought & folded.keys()), bool(column.keywords & words)
        if shared > most:
            best, most = folded, shared
    return best


def _place(question: Question, words: AbstractSet[str]) -> int:
    """Return where the first of some keywords begins in a question."""
    keywords = question.language.properties.keywords
    for match in re.finditer(r"[^\s?,]+", question.in_full):
        if keywords(match[0]) & words:
            return match.start()
    return len(question.in_full)
